"""Two columns: random small boxes with data sets at corners, sides and middles, and what the database makes of each.

Nothing here shares code with the product.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from scipy.stats import kendalltau, spearmanr

from querygate.stats import PairCells

Pairs = tuple[tuple[float, float], ...]
MOST_DATA_SETS = 500


def co_moments(data: Pairs) -> tuple[float, float, float, float, float]:
    """Means and sums of squared deviations by the updating formulas that databases use."""
    mean_x = mean_y = square_x = square_y = both = 0.0
    for number, (x, y) in enumerate(data, 1):
        dx, dy = x - mean_x, y - mean_y
        mean_x, mean_y = mean_x + dx / number, mean_y + dy / number
        square_x, square_y, both = square_x + dx * (x - mean_x), square_y + dy * (y - mean_y), both + dx * (y - mean_y)
    return mean_x, mean_y, square_x, square_y, both


def ratio(data: Pairs) -> float | None:
    below = sum(y for _, y in data)
    return sum(x for x, _ in data) / below if below else None


def slope(data: Pairs) -> float | None:
    _, _, square_x, _, both = co_moments(data)
    return both / square_x if square_x > 0 else None


def correlation(data: Pairs) -> float | None:
    _, _, square_x, square_y, both = co_moments(data)
    return both / math.sqrt(square_x * square_y) if square_x * square_y > 0 else None


def intercept(data: Pairs) -> float | None:
    mean_x, mean_y, *_ = co_moments(data)
    found = slope(data)
    return None if found is None else mean_y - found * mean_x


def r_squared(data: Pairs) -> float | None:
    _, _, square_x, square_y, _ = co_moments(data)
    if square_x == 0:
        return None
    return 1.0 if square_y == 0 else (correlation(data) or 0.0) ** 2


def spearman(data: Pairs) -> float | None:
    return _of_software(spearmanr, data)


def kendall(data: Pairs) -> float | None:
    return _of_software(kendalltau, data)


def _of_software(statistic: Any, data: Pairs) -> float | None:
    """What scipy makes of it; None where a column is constant."""
    columns = list(zip(*data, strict=True))
    if len(data) < 2 or any(len(set(column)) < 2 for column in columns):
        return None
    return float(statistic(*columns).statistic)


TRUTHS: dict[str, Callable[[Pairs], float | None]] = {
    "ratio_of_sums": ratio,
    "weighted_mean": lambda data: sum(x * y for x, y in data) / sum(y for _, y in data) if data else None,
    "covar_pop": lambda data: co_moments(data)[4] / len(data) if data else None,
    "covar_samp": lambda data: co_moments(data)[4] / (len(data) - 1) if len(data) > 1 else None,
    "corr": correlation,
    "regr_slope": slope,
    "regr_intercept": intercept,
    "regr_r2": r_squared,
    "spearman": spearman,
    "kendall": kendall,
}


def make_pairs(random: np.random.Generator) -> tuple[PairCells, list[Pairs]] | None:
    """Small boxes with their data sets; None where there are too many."""
    size = int(random.integers(1, 5))
    x_low, y_low = random.integers(-2, 7, size), random.integers(1, 8, size)
    x_high, y_high = x_low + random.integers(0, 3, size), y_low + random.integers(0, 3, size)
    most = random.integers(1, 3, size)
    least = np.where(random.random(size) < 0.6, most, 0)
    cells = PairCells(x_low, x_high, y_low, y_high, least, most)
    every = datasets(cells)
    return (cells, every) if every else None


def datasets(cells: PairCells) -> list[Pairs]:
    """All selections with values at both ends and in the middle; none where there are too many."""
    choices = []
    for x0, x1, y0, y1, least, most in zip(
        cells.x_low, cells.x_high, cells.y_low, cells.y_high, cells.least, cells.most, strict=True
    ):
        points = [(float(x), float(y)) for x in {x0, (x0 + x1) / 2, x1} for y in {y0, (y0 + y1) / 2, y1}]
        choices.append([pick for n in range(least, most + 1) for pick in combinations_with_replacement(points, n)])
        if math.prod(len(options) for options in choices) > MOST_DATA_SETS:
            return []
    return [tuple(pair for part in parts for pair in part) for parts in product(*choices)]
