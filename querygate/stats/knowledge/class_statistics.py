"""Statistics of one column that class sums make sharper, by name.

Means and variances come from the classes directly (`class_ranges`); the others follow from them, or from how far one
member can be from the mean of its class. Each holds by itself, so the gate intersects it with the plain range. Proof:
docs/explanation/proofs/class-sums.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from querygate.core.types import ClassCells, Range
from querygate.stats.confidence_limits import QUANTILE, Student
from querygate.stats.knowledge.class_means import class_mean, is_usable, mirrored, reach_of, spare_of
from querygate.stats.knowledge.class_ranges import class_spreads, class_sum, class_variance, whole_classes
from querygate.stats.numerics import SQUARABLE, UNIT, exact_sum, gamma, up


def class_deviation(cells: ClassCells, ddof: int) -> Range | None:
    """The standard deviation: the square root is monotone and correctly rounded."""
    found = class_variance(cells, ddof)
    if found is None or found.low is None or found.high is None:
        return None
    return replace(found, low=math.sqrt(found.low), high=math.sqrt(found.high))


def class_cv(cells: ClassCells) -> Range | None:
    """stddev_pop(x) / avg(x), both at their ends; None where the mean can be 0."""
    mean, spread = class_mean(cells), class_deviation(cells, 0)
    if mean is None or spread is None or mean.low is None or mean.high is None or mean.low <= 0.0 <= mean.high:
        return None
    quotients = [s / m for s in (spread.low or 0.0, spread.high or 0.0) for m in (mean.low, mean.high)]
    slack = 4 * UNIT * max(map(abs, quotients))
    return Range(min(quotients) - slack, max(quotients) + slack, None, None, sharp=False)


def class_ci_high(cells: ClassCells, level: float) -> Range | None:
    """avg(x) + t stddev_samp(x) / sqrt(count(x)): t / sqrt(n) falls with the number of records."""
    mean, spread = class_mean(cells), class_deviation(cells, 1)
    if mean is None or spread is None or mean.low is None or mean.high is None:
        return None
    student = Student((1.0 + level) / 2.0)
    fewest, most = (exact_sum(counts) for counts in (cells.least, cells.most))
    low = mean.low + (spread.low or 0.0) * student.standard(most)
    high = mean.high + (spread.high or 0.0) * student.standard(fewest)
    slack = 2 * QUANTILE * (spread.high or 0.0) * student.standard(fewest) + 16 * UNIT * (reach_of(cells) + abs(high))
    return Range(low - slack, high + slack, None, None, sharp=False)


def class_ci_low(cells: ClassCells, level: float) -> Range | None:
    return _negative(class_ci_high(mirrored(cells), level))


def class_max(cells: ClassCells) -> Range | None:
    """The largest value is no less than a mean, and no member is farther above its class than the others allow.

    A member of row j has at most what remains of the sum when all others are at their least, and is at most sd
    sqrt(m - 1) from the mean of its class of m (Samuelson 1968).
    """
    if not is_usable(cells) or not cells.least.any() or reach_of(cells) >= SQUARABLE:
        return None
    known, floor, held = class_spreads(cells), cells.floor.astype(np.float64), cells.most > 0
    spare = spare_of(cells.sum_high, floor, cells)
    far = known.mean_high + np.sqrt(known.high * (known.size - 1)) * (1.0 + 16 * UNIT) + 16 * UNIT * reach_of(cells)
    caps = np.minimum(np.nextafter(floor + spare[cells.group], np.inf), far[cells.group])
    high = float(np.minimum(cells.high.astype(np.float64), caps)[held].max())
    mean = class_mean(cells)
    whole = known.mean_low[whole_classes(cells)]
    low = max(-math.inf if mean is None or mean.low is None else mean.low, float(whole.max(initial=-math.inf)))
    low -= 4 * gamma(exact_sum(cells.most)) * reach_of(cells)  # the real mean, not the computed one
    if cells.integer:
        return Range(math.ceil(low), math.floor(high), None, None, sharp=False)
    return Range(low, high, None, None, sharp=False)


def class_min(cells: ClassCells) -> Range | None:
    return _negative(class_max(mirrored(cells)))


def class_geometric_mean(cells: ClassCells) -> Range | None:
    """No greater than the mean, where all values are positive."""
    lowest = float(cells.low[cells.most > 0].min(initial=1.0))
    mean = class_mean(cells)
    if mean is None or mean.high is None or lowest <= 0.0:
        return None
    sizes = [abs(math.log(end)) for end in (lowest, float(cells.high.max()))]
    room = gamma(exact_sum(cells.most) + 32) * (2.0 + max(sizes))
    return Range(0.0, up(mean.high * (1.0 + 4 * room)), None, None, sharp=False)


def class_harmonic_mean(cells: ClassCells) -> Range | None:
    """No greater than the geometric mean."""
    return class_geometric_mean(cells)


def _negative(found: Range | None) -> Range | None:
    """The range of minus the statistic."""
    if found is None or found.low is None or found.high is None:
        return None
    return replace(found, low=-found.high, high=-found.low)


CLASS_STATISTICS: dict[str, Callable[..., Range | None]] = {
    "sum": class_sum,
    "avg": class_mean,
    "var_pop": lambda cells: class_variance(cells, 0),
    "var_samp": lambda cells: class_variance(cells, 1),
    "stddev_pop": lambda cells: class_deviation(cells, 0),
    "stddev_samp": lambda cells: class_deviation(cells, 1),
    "cv": class_cv,
    "mean_ci_low": class_ci_low,
    "mean_ci_high": class_ci_high,
    "min": class_min,
    "max": class_max,
    "geometric_mean": class_geometric_mean,
    "harmonic_mean": class_harmonic_mean,
}
"""By the name of the statistic; each takes the cells and then its parameters."""
