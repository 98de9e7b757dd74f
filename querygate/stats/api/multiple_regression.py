"""Multiple regression, with a range for each coefficient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.stats.enclosure import Enclosure
from querygate.stats.inputs import Column, Counts, read_counts, read_ends
from querygate.stats.regression.box_design import RegressionCells
from querygate.stats.regression.coefficients import MODELS


@dataclass(frozen=True, slots=True)
class Regression:
    """The coefficients of a regression by name, each an `Enclosure`.

    >>> found = regression([[1], [2], [4]], [[1], [2], [4]], [2, 4, 7], [3, 5, 8])
    >>> found["x1"].sharp, found.coefficients["intercept"].width < 3
    (True, True)
    """

    coefficients: dict[str, Enclosure]

    def __getitem__(self, name: str) -> Enclosure:
        return self.coefficients[name]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.coefficients.values()))


def regression(
    x_low: Column,
    x_high: Column,
    y_low: Column,
    y_high: Column,
    counts: Counts = None,
    *,
    intercept: bool = True,
    names: Sequence[str] | None = None,
) -> Regression:
    """Coefficients of the regression of y on the columns of x by least squares.

    x has a row for each cell and a column for each variable: a table of pandas, an array, or a list of rows. Each of
    the records of a cell has values of its own; `counts` are numbers of records, or pairs (least, most). Where some
    data set might not determine the coefficients they are without bounds.

    >>> regression([[0, 1], [1, 0], [2, 2], [3, 1]], None, [1, 2, 6, 6], [2, 3, 7, 7], names=["age", "dose"])
    intercept: -0.26 .. 1.42, sharp
    age: 1.333 .. 2.001, sharp
    dose: 0.49 .. 1.84, sharp
    """
    low, given = _columns(x_low)
    high = low if x_high is None else _columns(x_high)[0]
    if len(low) != len(high):
        raise ValueError(f"x has {len(low)} columns of lower ends and {len(high)} of upper ends")
    named = list(names or given or [f"x{k}" for k in range(1, len(low) + 1)])
    if len(named) != len(low):
        raise ValueError(f"there are {len(low)} columns of x and {len(named)} names")
    y = read_ends(y_low, y_high)
    x = [read_ends(*ends) for ends in zip(low, high, strict=True)]
    if any(ends[0].size != y[0].size for ends in x):
        raise ValueError(f"there are {y[0].size} intervals of y and {x[0][0].size} rows of x")
    lows, highs = (np.array([ends[side] for ends in x], dtype=np.float64) for side in (0, 1))
    bottom, top = y[0].astype(np.float64), y[1].astype(np.float64)
    cells = RegressionCells(lows, highs, bottom, top, *read_counts(counts, bottom.size))
    ranges = MODELS.get("regression").ranges(cells, intercept)
    every = ["intercept", *named] if intercept else named
    return Regression({name: Enclosure(name, found) for name, found in zip(every, ranges, strict=True)})


def _columns(table: object) -> tuple[list[Column], list[str]]:
    """The columns of a table, and their names where it has names."""
    if hasattr(table, "columns") and hasattr(table, "iloc"):
        return [table.iloc[:, k] for k in range(len(table.columns))], [str(name) for name in table.columns]
    rows = np.asarray(table)
    if rows.ndim not in (1, 2) or rows.size == 0:
        raise ValueError("x must be a table of numbers with one column per variable")
    return list(rows.T) if rows.ndim == 2 else [rows], []
