"""A reference that cannot be wrong: every data set that small cells allow, one by one.

`datasets` lists all selections and all values; `TRUTHS` says what the database makes of each. Nothing here shares code
with the product.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from querygate.core.types import Cells
from tests.unit.stats import shape_reference

Truth = Callable[..., "int | float | None"]


def datasets(cells: Cells, points: int = 0) -> Iterator[tuple[float, ...]]:
    """Every selection with every value: all whole numbers of a cell, or `points` per cell where given."""
    choices: list[list[tuple[float, ...]]] = []
    for low, high, least, most in zip(cells.low, cells.high, cells.least, cells.most, strict=True):
        if points and low < high:
            values = [float(v) for v in np.linspace(low, high, points)]
        elif cells.integer:
            values = list(range(int(low), int(high) + 1))
        else:
            values = sorted({float(low), float(high)})
        options: list[tuple[float, ...]] = []
        for size in range(least, most + 1):
            options.extend(combinations_with_replacement(values, size))
        choices.append(options)
    for parts in product(*choices):
        yield tuple(value for part in parts for value in part)


@lru_cache(maxsize=1)
def small_cases(number: int = 500, limit: int = 400) -> list[tuple[Cells, list[tuple[float, ...]]]]:
    """Random small integer cells with all their data sets: certain, possible and empty ones, points, nested boxes."""
    random = np.random.default_rng(20)
    cases: list[tuple[Cells, list[tuple[float, ...]]]] = []
    while len(cases) < number:
        size = int(random.integers(1, 4))
        low = random.integers(-4, 8, size) if random.random() < 0.7 else random.integers(1, 9, size)
        high = low + random.integers(0, 4, size)
        most = random.integers(0, 4, size)
        least = np.where(random.random(size) < 0.5, most, random.integers(0, most + 1))
        if most.sum() > 6:
            continue
        cells = Cells(low, high, least, most, integer=True)
        every = list(datasets(cells))
        if len(every) <= limit:
            cases.append((cells, every))
    return cases


def answers(truth: Truth, every: Sequence[Any], *parameters: Any) -> list[Any]:
    """What the database may answer to each data set. Where the order of rows decides, both orders are tried."""
    if truth in DEPENDS_ON_ORDER:
        every = [sorted(data, reverse=backwards) for data in every for backwards in (False, True)]
    return [truth(data, *parameters) for data in every]


def extremes(truth: Truth, every: Sequence[Sequence[float]], *parameters: float) -> tuple[float, float, bool] | None:
    """Smallest and largest value, and whether NULL occurs; None where it is always NULL."""
    values = answers(truth, [list(data) for data in every], *parameters)
    defined = [value for value in values if value is not None and not math.isnan(value)]
    return (min(defined), max(defined), len(defined) < len(values)) if defined else None


def _nullable(minimum: int = 1) -> Callable[[Truth], Truth]:
    """NULL below a number of records."""

    def wrap(truth: Truth) -> Truth:
        return lambda data, *parameters: truth(data, *parameters) if len(data) >= minimum else None

    return wrap


def _sum(data: list[float]) -> float:
    total = data[0]
    for value in data[1:]:
        total += value
    return total


def _quantile_disc(data: list[float], p: float) -> float:
    return sorted(data)[max(1, math.ceil(Fraction(str(p)) * len(data))) - 1]


def _quantile_cont(data: list[float], p: float) -> float:
    ordered, position = sorted(data), (len(data) - 1) * p
    low, high = ordered[math.floor(position)], ordered[math.ceil(position)]
    return float(low + (high - low) * (position - math.floor(position)))


def _mad(data: list[float]) -> float:
    middle = _quantile_cont(data, 0.5)
    return _quantile_cont([abs(value - middle) for value in data], 0.5)


def _mode(data: list[float]) -> float:
    """The most frequent value; of several the one that comes first."""
    tally = Counter(data)
    return max(tally, key=lambda value: tally[value])


def _geometric(data: list[float]) -> float | None:
    return math.exp(_sum([math.log(value) for value in data]) / len(data)) if min(data) > 0 else None


def _harmonic(data: list[float]) -> float | None:
    total = _sum([1 / value for value in data]) if 0 not in data else 0
    return len(data) / total if total else None


def _deviations(data: list[float]) -> float:
    """Sum of squared deviations by the updating formula that databases use."""
    mean = total = 0.0
    for number, value in enumerate(data, 1):
        updated = mean + (value - mean) / number
        total += (value - updated) * (value - mean)
        mean = updated
    return total


TRUTHS: dict[str, Truth] = {
    "count": len,
    "sum": _nullable()(_sum),
    "avg": _nullable()(lambda data: _sum(data) / len(data)),
    "min": _nullable()(min),
    "max": _nullable()(max),
    "quantile_disc": _nullable()(_quantile_disc),
    "quantile_cont": _nullable()(_quantile_cont),
    "median": _nullable()(lambda data: _quantile_cont(data, 0.5)),
    "mad": _nullable()(_mad),
    "mode": _nullable()(_mode),
    "geometric_mean": _nullable()(_geometric),
    "harmonic_mean": _nullable()(_harmonic),
    "exceedance": _nullable()(lambda data, t: sum(value > t for value in data) / len(data)),
    "range": _nullable()(lambda data: max(data) - min(data)),
    "var_pop": _nullable()(lambda data: _deviations(data) / len(data)),
    "var_samp": _nullable(2)(lambda data: _deviations(data) / (len(data) - 1)),
    "stddev_pop": _nullable()(lambda data: math.sqrt(_deviations(data) / len(data))),
    "stddev_samp": _nullable(2)(lambda data: math.sqrt(_deviations(data) / (len(data) - 1))),
    "cv": _nullable()(lambda data: math.sqrt(_deviations(data) / len(data)) / (_sum(data) / len(data) or math.nan)),
    "iqr": _nullable()(lambda data: _quantile_cont(data, 0.75) - _quantile_cont(data, 0.25)),
    **shape_reference.TRUTHS,
}

DEPENDS_ON_ORDER: tuple[Truth, ...] = (TRUTHS["mode"],)
"""Truths that are not the same for every order of the rows."""

PARAMETERS: dict[str, list[tuple[float, ...]]] = {
    "quantile_disc": [(0.0,), (0.25,), (0.3,), (0.5,), (0.99,), (1.0,)],
    "quantile_cont": [(0.0,), (0.1,), (0.25,), (0.7,), (1.0,)],
    "exceedance": [(0.0,), (2.5,)],
    **shape_reference.PARAMETERS,
}
"""Values to try for each statistic that takes parameters."""
