"""Every form of noisy statement at length: 100,000 releases on each of two tables that differ by one person."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from pathlib import Path
from typing import Any

from tests.attack.noisy_forms import EPSILON, FORMS, LOUD, ROWS_OF_ONE, make_pair
from tests.report import row

RELEASES = int(os.environ.get("SOAK_RELEASES", "100000"))
CASES = [(form, ROWS_OF_ONE) for form in FORMS] + [(form, 1) for form in LOUD]


def run() -> list[dict[str, Any]]:
    with multiprocessing.get_context("spawn").Pool() as pool:
        measured = pool.map(_measured, CASES, chunksize=1)
    return [_row(form, rows, epsilon) for (form, rows), epsilon in zip(CASES, measured, strict=True)]


def _measured(case: tuple[str, int]) -> float:
    form, rows = case
    with tempfile.TemporaryDirectory() as folder:
        return make_pair(Path(folder)).epsilon(FORMS[form], RELEASES, rows=rows)


def _row(form: str, rows: int, epsilon: float) -> dict[str, Any]:
    enough = rows == ROWS_OF_ONE
    told = f"epsilon of {form}" + ("" if enough else ", noise for one row of three")
    met = epsilon <= EPSILON if enough else epsilon > EPSILON
    return row(told, epsilon, "at least", "at most 1" if enough else "more than 1", target=EPSILON, met=met)
