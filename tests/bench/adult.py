"""Information loss and time of strict Mondrian on UCI Adult: 30,162 records, eight quasi-identifiers.

Loss is the common NCP in percent: width of the values over the range of the data for age, different values over all
values for a category, 0 for a single one. "against" is the best figure found among public tools at the same k.
"""

from __future__ import annotations

import csv
import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np

from querygate.anonymise import Attribute, Table, mondrian, ncp, verify
from tests.report import row

DATA = Path(__file__).parents[1] / "data" / "adult_30162.csv.gz"
QUASI_IDENTIFIERS = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
)
LOSS = {5: (9.4, 3.4), 10: (12.4, 5.6)}  # k: (best public tool, target), percent
SECONDS = 0.5


def adult_table(path: Path = DATA) -> Table:
    """The distinct combinations of the eight quasi-identifiers, with their numbers of records."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file, delimiter=";"))
    domains, columns = [], []
    for name in QUASI_IDENTIFIERS:
        text = np.array([r[name] for r in records])
        domain, codes = np.unique(text.astype(np.float64) if name == "age" else text, return_inverse=True)
        domains.append(domain)
        columns.append(codes)
    codes, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    attributes = [
        _attribute(name, domain, np.ascontiguousarray(column))
        for name, domain, column in zip(QUASI_IDENTIFIERS, domains, codes.T, strict=True)
    ]
    return Table(tuple(attributes), counts)


def _attribute(name: str, domain: np.ndarray, codes: np.ndarray) -> Attribute:
    if name != "age":
        return Attribute.nominal(name, codes, domain.size)
    span = float(domain[-1] - domain[0])
    return Attribute(name, codes, domain.size, ordered=True, span=span, lower=domain, upper=domain)


def run() -> list[dict[str, Any]]:
    """One row per figure, for the bench report."""
    table = adult_table()
    rows = []
    for k, (public, target) in LOSS.items():
        begin = time.perf_counter()
        labels = mondrian(table, k)
        seconds = time.perf_counter() - begin
        if verify.smallest_class(labels, table.counts) < k:
            raise AssertionError(f"a class of fewer than {k} records")
        loss = 100 * ncp(table, labels)
        against = f"best public tool {public} %"
        rows.append(
            row(f"Adult NCP, k={k}", loss, "%", against, ratio=loss / public, target=target, met=loss <= target)
        )
        rows.append(row(f"Adult Mondrian, k={k}", seconds, "s", target=SECONDS, met=seconds <= SECONDS))
    return rows
