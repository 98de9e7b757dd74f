"""What the database makes of a data set, for statistics of shape, of distinct values and of confidence.

Nothing here shares code with the product.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cache

from scipy.stats import t as student


def moments(data: list[float]) -> tuple[float, float, float]:
    """Central moments of degree 2 to 4 by the updating formulas that databases use."""
    mean = two = three = four = 0.0
    for n, value in enumerate(data, 1):
        away = value - mean
        step = away / n
        term = away * step * (n - 1)
        mean += step
        four += term * step * step * (n * n - 3 * n + 3) + 6 * step * step * two - 4 * step * three
        three += term * step * (n - 2) - 3 * step * two
        two += term
    return two / len(data), three / len(data), four / len(data)


def skewness(data: list[float]) -> float | None:
    n = len(data)
    if n < 3 or len(set(data)) == 1:
        return None
    two, three, _ = moments(data)
    return math.sqrt(n * (n - 1)) / (n - 2) * three / two**1.5 if two > 0 else None


def kurtosis_pop(data: list[float]) -> float | None:
    if len(data) < 2 or len(set(data)) == 1:
        return None
    two, _, four = moments(data)
    return four / two**2 - 3 if two > 0 and two**2 > 0 else None


def kurtosis(data: list[float]) -> float | None:
    n, excess = len(data), kurtosis_pop(data)
    if n < 4 or excess is None:
        return None
    return (n - 1) * ((n + 1) * (excess + 3) - 3 * (n - 1)) / ((n - 2) * (n - 3))


def entropy(data: list[float]) -> float:
    return sum(n / len(data) * math.log2(len(data) / n) for n in Counter(data).values())


@cache
def quantile(level: float, freedom: int) -> float:
    return float(student.ppf((1 + level) / 2, freedom))


def half_width(data: list[float], level: float) -> float:
    n = len(data)
    return quantile(level, n - 1) * math.sqrt(max(moments(data)[0], 0.0) * n / (n - 1)) / math.sqrt(n)


def mean_ci_low(data: list[float], level: float) -> float | None:
    return sum(data) / len(data) - half_width(data, level) if len(data) > 1 else None


def mean_ci_high(data: list[float], level: float) -> float | None:
    return sum(data) / len(data) + half_width(data, level) if len(data) > 1 else None


TRUTHS = {
    "count_distinct": lambda data: len(set(data)),
    "skewness": skewness,
    "kurtosis": kurtosis,
    "kurtosis_pop": kurtosis_pop,
    "entropy": entropy,
    "mean_ci_low": mean_ci_low,
    "mean_ci_high": mean_ci_high,
}
PARAMETERS: dict[str, list[tuple[float, ...]]] = {"mean_ci_low": [(0.95,)], "mean_ci_high": [(0.9,)]}
