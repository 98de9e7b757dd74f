"""Weights of attributes that keep named statistics sharp.

A statistic C of the records moves by about the sum of |dC/dx_i| times the width of each x_i, so a box should be narrow
where the gradient is steep: half-widths in proportion to 1 / a_i, with a_i = |dC/dx_i| (Xiang, O'Rawe, Kreinovich,
Hajagos, Ferson, "Data anonymization that leads to the most accurate estimates of statistical characteristics", 2014).
Here a_i is the mean over the records, times the span of the column, so that weights have no unit.

>>> import numpy as np
>>> values = {"age": np.array([20.0, 40, 60, 80]), "sbp": np.array([110.0, 120, 150, 160])}
>>> statistic_weights([("mean", ("age",))], values, {"age": 100.0, "sbp": 200.0})
{'age': 1.0}
>>> statistic_weights([("cov", ("age", "sbp"))], values, {"age": 100.0, "sbp": 200.0})
{'age': 0.5, 'sbp': 1.0}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from querygate.core.types import Floats
from querygate.methods.anonymise.table import Table

FLOOR = 0.05
"""The weight of an attribute that no statistic needs, but that people may still query."""


def statistic_weights(
    statistics: Sequence[tuple[str, tuple[str, ...]]], values: Mapping[str, Floats], spans: Mapping[str, float]
) -> dict[str, float]:
    """A weight from FLOOR to 1 for every column that a statistic uses; each statistic counts the same.

    Values are by record, nan where missing. Kinds: mean, median (as the mean), var, sd, cov, corr; others have no pull.
    """
    total: dict[str, float] = {}
    for kind, columns in statistics:
        pulls = {name: float(np.mean(g)) * spans[name] for name, g in _gradients(kind, columns, values).items()}
        whole = sum(pulls.values())
        for name, pull in pulls.items():
            total[name] = total.get(name, 0.0) + (pull / whole if whole > 0 else 0.0)
    greatest = max(total.values(), default=0.0)
    return {name: max(FLOOR, pull / greatest) if greatest else 1.0 for name, pull in total.items()}


def record_weights(
    statistics: Sequence[tuple[str, tuple[str, ...]]], values: Mapping[str, Floats], spans: Mapping[str, float]
) -> dict[str, Floats]:
    """The same of each record by itself, as the paper has it: how steep a statistic is at the record.

    Where all columns of a statistic are not there, a record has the mean. Nothing is below FLOOR of the greatest mean.

    >>> age = {"age": np.array([20.0, 40, 60, 80])}
    >>> record_weights([("var", ("age",))], age, {"age": 100.0})["age"].tolist()
    [1.5, 0.5, 0.5, 1.5]
    """
    total: dict[str, Floats] = {}
    for kind, columns in statistics:
        known = np.logical_and.reduce([~np.isnan(values[name]) for name in columns]) if columns else None
        found = {name: slopes * spans[name] for name, slopes in _gradients(kind, columns, values).items()}
        whole = sum(float(np.mean(slopes)) for slopes in found.values())
        for name, slopes in found.items():
            each = np.full(values[name].size, float(np.mean(slopes)))
            each[known] = slopes
            total[name] = total.get(name, np.zeros(each.size)) + (each / whole if whole > 0 else 0.0)
    greatest = max((float(each.mean()) for each in total.values()), default=0.0)
    return {
        name: np.maximum(FLOOR, each / greatest) if greatest else np.ones(each.size) for name, each in total.items()
    }


def directed_by_record(table: Table, weights: Mapping[str, Floats]) -> Table:
    """The table with these weights of its rows; FLOOR for every attribute that has none."""
    given = (
        replace(a, weight=FLOOR if a.name not in weights else 1.0, pull=weights.get(a.name)) for a in table.attributes
    )
    return replace(table, attributes=tuple(given))


def directed(table: Table, weights: Mapping[str, float]) -> Table:
    """The table with these weights, and FLOOR for every attribute that has none."""
    return replace(table, attributes=tuple(replace(a, weight=weights.get(a.name, FLOOR)) for a in table.attributes))


def _gradients(kind: str, columns: tuple[str, ...], values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Per column |dC/dx_i| of each record with all values there, up to the factor 1/n that all share."""
    x = [values[name] for name in columns]
    known = np.logical_and.reduce([~np.isnan(column) for column in x]) if x else np.zeros(0, dtype=np.bool_)
    if not known.any():
        return {}
    off = [column[known] - column[known].mean() for column in x]
    deviation = [float(np.sqrt(np.mean(d**2))) or 1.0 for d in off]
    match kind:
        case "mean" | "median":
            slopes = [np.ones_like(off[0])]
        case "var" | "sd":
            slopes = [off[0]]
        case "cov":
            slopes = [off[1], off[0]]
        case "corr":
            a, b = (d / s for d, s in zip(off, deviation, strict=True))
            r = float(np.mean(a * b))
            slopes = [(b - r * a) / deviation[0], (a - r * b) / deviation[1]]
        case _:
            slopes = []
    return {name: np.abs(slope) for name, slope in zip(columns, slopes, strict=False)}
