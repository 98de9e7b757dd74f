"""Coefficients of a regression in rational arithmetic, and small random boxes with data sets at ends and middles.

Nothing here shares code with the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np

from querygate.stats import RegressionCells

Row = tuple[tuple[float, ...], float]
"""One record: its x, and its y."""

MOST_DATA_SETS = 100


def coefficients(data: Sequence[Row], intercept: bool) -> list[Fraction] | None:
    """The solution of the normal equations by elimination; None where it is not unique."""
    rows = [([Fraction(1)] * intercept + [Fraction(v) for v in x], Fraction(y)) for x, y in data]
    size = len(rows[0][0]) if rows else 0
    system = [
        [sum(x[i] * x[j] for x, _ in rows) for j in range(size)] + [sum(x[i] * y for x, y in rows)] for i in range(size)
    ]
    for i in range(size):
        pivot = next((r for r in range(i, size) if system[r][i] != 0), None)
        if pivot is None:
            return None
        system[i], system[pivot] = system[pivot], system[i]
        for r in range(size):
            if r != i:
                factor = system[r][i] / system[i][i]
                system[r] = [a - factor * b for a, b in zip(system[r], system[i], strict=True)]
    return [system[i][size] / system[i][i] for i in range(size)] if size else None


def coefficient(data: Sequence[Row], which: int, intercept: bool) -> Fraction | None:
    found = coefficients(data, intercept)
    return None if found is None else found[which]


def datasets(cells: RegressionCells) -> list[list[Row]]:
    """Every selection with every corner of a box and, where x is not exact, its middle."""
    choices = []
    for i in range(cells.y_low.size):
        columns = [sorted({float(a), float(b)}) for a, b in zip(cells.x_low[:, i], cells.x_high[:, i], strict=True)]
        heights = sorted({float(cells.y_low[i]), float(cells.y_high[i])})
        points: list[Row] = [(x, y) for x in product(*columns) for y in heights]
        if len(points) > len(heights):
            middle = tuple(sum(column) / len(column) for column in columns)
            points.append((middle, sum(heights) / len(heights)))
        sizes = range(int(cells.least[i]), int(cells.most[i]) + 1)
        choices.append([chosen for size in sizes for chosen in combinations_with_replacement(points, size)])
    return [[row for part in parts for row in part] for parts in product(*choices)]


def make_regression(random: np.random.Generator) -> tuple[RegressionCells, list[list[Row]]] | None:
    """Two columns in four to six cells: x exact or a little uncertain, one or two records, some only possible."""
    size = int(random.integers(4, 7))
    x_low = random.integers(0, 9, (2, size)).astype(float)
    x_high = x_low + (random.integers(0, 2, (2, size)) * 0.25 if random.random() < 0.4 else 0.0)
    y_low = np.rint(x_low[0] + 2 * x_low[1] + random.integers(-2, 3, size))
    y_high = y_low + random.integers(0, 3, size)
    most = np.where(random.random(size) < 0.85, 1, 2)
    least = np.where(random.random(size) < (1.0 if random.random() < 0.5 else 0.8), most, 0)
    cells = RegressionCells(x_low, x_high, y_low, y_high, least, most)
    options = (1 << int(np.sum(x_low < x_high))) * (1 << int(np.sum(y_low < y_high))) * (1 << int(np.sum(least < most)))
    if options > MOST_DATA_SETS:
        return None
    every = datasets(cells)
    return (cells, every) if len(every) <= MOST_DATA_SETS else None
