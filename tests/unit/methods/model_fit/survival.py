"""The survival data of the tests, as columns."""

from __future__ import annotations

import csv
import gzip
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.places import DATA

FOLDER = DATA / "survival"
MISSING = {"", "NA"}


@cache
def survival(name: str) -> dict[str, NDArray[Any]]:
    """Columns of numbers (NaN is missing) where all values are, else of texts (None is missing)."""
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        header, *records = csv.reader(file)
    return {column: _column(values) for column, values in zip(header, zip(*records, strict=True), strict=True)}


def _column(values: tuple[str, ...]) -> NDArray[Any]:
    try:
        return np.array([np.nan if value in MISSING else float(value) for value in values])
    except ValueError:
        return np.array([None if value in MISSING else value for value in values], dtype=object)
