"""Boxes directed by the mean gradient of a statistic, and by its gradient at every record, as published.

Xiang, O'Rawe, Kreinovich, Hajagos and Ferson (2014) direct each box by the gradient where it stands; they print no
figures. Two correlated numbers of 1,500 people (age, and a pressure that rises with it), k = 10: the width of the range
of a statistic from the boxes alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from querygate.core.types import Cells
from querygate.methods.anonymise import (
    ANONYMISERS,
    Attribute,
    Intervals,
    Table,
    boxes,
    directed,
    directed_by_record,
    record_weights,
    statistic_weights,
)
from querygate.stats import PAIR_STATISTICS, STATISTICS, PairCells
from tests.bench.literature import figure

K = 10
WANTED = {
    "mean": (("age",), "avg"),
    "var": (("age",), "var_samp"),
    "cov": (("age", "sbp"), "covar_samp"),
    "corr": (("age", "sbp"), "corr"),
}


def rows() -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    age = np.clip(rng.gamma(6, 8, 1500), 0, 119.9)
    sbp = np.clip(90 + 0.6 * age + rng.normal(0, 15, 1500), 60, 249.9)
    table = Table((_axis("age", age, 0, 120, 480), _axis("sbp", sbp, 60, 250, 760)), np.ones(1500, dtype=int))
    spans, values = {"age": 120.0, "sbp": 190.0}, {"age": age, "sbp": sbp}
    lines = []
    for kind, (columns, name) in WANTED.items():
        told = [(kind, columns)], {c: values[c] for c in columns}, {c: spans[c] for c in columns}
        mean = ANONYMISERS.get("boxes")(directed(table, statistic_weights(*told)), K)
        each = ANONYMISERS.get("boxes-by-point")(directed_by_record(table, record_weights(*told)), K)
        ratio = _width(table, each, columns, name) / _width(table, mean, columns, name)
        lines.append(figure(f"width by points over width by the mean, {kind}", ratio, "", "no figures"))
    return lines


def _axis(name: str, values: np.ndarray, low: float, high: float, steps: int) -> Attribute:
    edges = np.linspace(low, high, steps + 1)
    return Attribute.ordered_by(name, np.searchsorted(edges, values, side="right") - 1, edges)


def _width(table: Table, labels: np.ndarray, columns: tuple[str, ...], name: str) -> float:
    ends = []
    for attribute, box in zip(table.attributes, boxes(table, labels), strict=True):
        assert isinstance(box, Intervals)
        if attribute.name in columns:
            ends += [attribute.edges[0][box.low], attribute.edges[1][box.high]]
    count = np.bincount(labels).astype(np.int64)
    if len(columns) == 1:
        found = STATISTICS.get(name).range(Cells(ends[0], ends[1], count, count, integer=False))
    else:
        found = PAIR_STATISTICS.get(name).range(PairCells(*ends, count, count))
    return float(found.high - found.low)
