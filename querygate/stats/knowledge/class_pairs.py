"""Bounds on two columns at once from published class sums: means, variances and the covariance.

A class selected whole can be replaced by its mean: with M the means of the classes and x' the data in which whole
classes are at their means,

    n Cov(x, y) = n Cov(x', y') + sum over whole classes of m Cov_class,

because means stay as they are. The first term is an ordinary covariance over much narrower boxes. The second is
bounded class by class, by the deviations of the class (Cauchy and Schwarz) and by the corners of its rows.
Proof: docs/explanation/proofs/class-sums.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Bools, Cells, ClassCells, Floats, Range
from querygate.stats.association import as_sample, intercept_of, real_covariance, squared
from querygate.stats.association_error import VarianceRanges, correlation_error, covariance_error, slope_error
from querygate.stats.cells import meet
from querygate.stats.knowledge.class_means import class_mean, is_usable, reach_of
from querygate.stats.knowledge.class_ranges import Spreads, class_spreads, class_variance, whole_classes
from querygate.stats.numerics import UNIT, RealBounds, exact_sum, gamma
from querygate.stats.pairs import PairCells
from querygate.stats.sums_and_means import avg
from querygate.stats.variance.spread import var_pop
from querygate.stats.variance.welford import deviation_error

_MODERATE = 1e70  # whose fourth power is a double


class ToldPair(NamedTuple):
    """Boxes of two columns, and the same records with what is published of their classes, where anything is."""

    cells: PairCells
    x: ClassCells | None
    y: ClassCells | None

    @property
    def means(self) -> tuple[Range, Range]:
        return self._both(avg, class_mean)

    @property
    def variances(self) -> tuple[Range, Range]:
        return self._both(var_pop, lambda cells: class_variance(cells, 0))

    def _both(self, plain: Callable[[Cells], Range], told: Callable[[ClassCells], Range | None]) -> tuple[Range, Range]:
        """The range of a statistic of either column from intervals and classes together."""
        x, y = (
            meet(plain(cells), None if classes is None else told(classes))
            for cells, classes in ((self.cells.x, self.x), (self.cells.y, self.y))
        )
        return x, y

    def spread(self) -> VarianceRanges | None:
        """The ranges of the variances contain both the computed and the real ones."""
        x, y = self.variances
        ends = (x.low, x.high, y.low, y.high)
        cells, records = self.cells, exact_sum(self.cells.most)
        if any(end is None or not end < _MODERATE for end in ends):
            return None
        shifts = [
            deviation_error(records, float(max(abs(low.min()), abs(high.max()))), float(high.max()) - float(low.min()))
            for low, high in ((cells.x_low, cells.x_high), (cells.y_low, cells.y_high))
        ]
        x_low, x_high, y_low, y_high = (float(end or 0.0) for end in ends)
        return VarianceRanges(x_low, x_high, y_low, y_high, shifts[0], shifts[1], gamma(2 * records + 16))

    def covariance(self, spread: VarianceRanges) -> RealBounds:
        """In real arithmetic: between the product of the deviations and its negative, or the bounds from classes."""
        most = math.sqrt(spread.x_high * spread.y_high) * (1.0 + 8 * UNIT)
        told = None if self.x is None or self.y is None else class_covariance(self.x, self.y)
        return RealBounds(-most, most) if told is None else RealBounds(max(-most, told.low), min(most, told.high))


def class_covar_pop(pair: ToldPair) -> Range | None:
    spread = pair.spread()
    if spread is None:
        return None
    low, high = pair.covariance(spread)
    return replace(_range(low, high, covariance_error(spread)), may_be_null=not pair.cells.least.any())


def class_covar_samp(pair: ToldPair) -> Range | None:
    found, least, most = class_covar_pop(pair), exact_sum(pair.cells.least), exact_sum(pair.cells.most)
    return None if found is None or least < 2 else as_sample(found, least, most)


def class_corr(pair: ToldPair) -> Range | None:
    """The covariance over the product of the deviations; None where one of them may be (nearly) 0."""
    spread = pair.spread()
    if spread is None or not correlation_error(spread) < 1.0:
        return None
    low, high = pair.covariance(spread)
    least, most = math.sqrt(spread.x_low * spread.y_low), math.sqrt(spread.x_high * spread.y_high)
    ends = max(-1.0, -_quotient(-low, least, most)), min(1.0, _quotient(high, least, most))
    return _range(*ends, correlation_error(spread))


def class_slope(pair: ToldPair) -> Range | None:
    spread = pair.spread()
    if spread is None or not math.isfinite(slope_error(spread)):
        return None
    low, high = pair.covariance(spread)
    ends = -_quotient(-low, spread.x_low, spread.x_high), _quotient(high, spread.x_low, spread.x_high)
    return _range(*ends, slope_error(spread))


def class_intercept(pair: ToldPair) -> Range | None:
    slope = class_slope(pair)
    return None if slope is None else intercept_of(slope, *pair.means)


def class_r2(pair: ToldPair) -> Range | None:
    found = class_corr(pair)
    return None if found is None else squared(found)


def class_ratio_of_sums(pair: ToldPair) -> Range | None:
    """The quotient of the means, y > 0."""
    x, y = pair.means
    if x.low is None or x.high is None or y.low is None or y.high is None or y.low <= 0.0 or x.may_be_null:
        return None
    low, high = -_quotient(-x.low, y.low, y.high), _quotient(x.high, y.low, y.high)
    return _range(low, high, 16 * UNIT * max(abs(low), abs(high)))


def _quotient(above: float, least: float, most: float) -> float:
    """The largest above / below, 0 < least <= below <= most, some roundings up."""
    found = above / (least if above > 0.0 else most)
    return found + 16 * UNIT * abs(found)


def _range(low: float, high: float, error: float) -> Range:
    return Range(low - error, high + error, None, None, sharp=False)


CLASS_PAIR_STATISTICS: dict[str, Callable[[ToldPair], Range | None]] = {
    "covar_pop": class_covar_pop,
    "covar_samp": class_covar_samp,
    "corr": class_corr,
    "regr_slope": class_slope,
    "regr_intercept": class_intercept,
    "regr_r2": class_r2,
    "ratio_of_sums": class_ratio_of_sums,
}
"""Statistics of two columns from class sums, by name; None where these do not help."""


# -- the covariance --------------------------------------------------------------------------------------------------


def class_covariance(x: ClassCells, y: ClassCells) -> RealBounds | None:
    """Bounds of the population covariance in real arithmetic; None where no class is selected whole.

    Requires: the same rows can be selected in both, in the same order.
    """
    whole = whole_classes(x) & whole_classes(y)
    usable = is_usable(x) and is_usable(y) and max(reach_of(x), reach_of(y)) < _MODERATE
    if not whole.any() or not usable or not _are_aligned(x, y) or is_time_up():
        return None
    first, second = class_spreads(x), class_spreads(y)
    between = real_covariance(_at_means(x, y, first, second, whole))
    low, high = _within(x, y, first, second, whole)
    fewest, most = exact_sum(x.least), exact_sum(x.most)
    low, high = low / (fewest if low < 0.0 else most), high / (fewest if high > 0.0 else most)
    slack = 16 * UNIT * (abs(low) + abs(high) + abs(between.low) + abs(between.high))
    return RealBounds(between.low + low - slack, between.high + high + slack)


def _are_aligned(x: ClassCells, y: ClassCells) -> bool:
    columns = ((x.group, y.group), (x.least, y.least), (x.most, y.most))
    return all(np.array_equal(one[x.most > 0], two[y.most > 0]) for one, two in columns)


def _at_means(x: ClassCells, y: ClassCells, first: Spreads, second: Spreads, whole: Bools) -> PairCells:
    """The boxes of the means of whole classes, and the rows of the others as they are."""
    rows_x, rows_y = ((cells.most > 0) & ~whole[cells.group] for cells in (x, y))
    return PairCells(
        np.concatenate([first.mean_low[whole], x.low[rows_x].astype(np.float64)]),
        np.concatenate([first.mean_high[whole], x.high[rows_x].astype(np.float64)]),
        np.concatenate([second.mean_low[whole], y.low[rows_y].astype(np.float64)]),
        np.concatenate([second.mean_high[whole], y.high[rows_y].astype(np.float64)]),
        np.concatenate([first.size[whole], x.least[rows_x]]),
        np.concatenate([first.size[whole], x.most[rows_x]]),
    )


def _within(x: ClassCells, y: ClassCells, first: Spreads, second: Spreads, whole: Bools) -> tuple[float, float]:
    """The least and the largest sum of m Cov_class over whole classes.

    About any centres, m Cov = sum (x - cx)(y - cy) - m (Mx - cx)(My - cy); a product over a box is largest at a corner.
    """
    rows_x, rows_y = ((cells.most > 0) & whole[cells.group] for cells in (x, y))
    group, size, number = x.group[rows_x], x.size[rows_x], first.size.size
    centre_x, centre_y = ((told.mean_low + told.mean_high) / 2 for told in (first, second))
    left, right = (end[rows_x] - centre_x[group] for end in (x.low, x.high))
    bottom, top = (end[rows_y] - centre_y[group] for end in (y.low, y.high))
    corners = np.stack([left * bottom, left * top, right * bottom, right * top])
    off = _half(first, centre_x) * _half(second, centre_y) * first.size
    reach = np.bincount(group, size * np.abs(corners).max(axis=0), number) + off
    room = off + (4 * np.bincount(group, minlength=number) + 64) * UNIT * reach
    spread = first.size * np.sqrt(first.high * second.high) * (1.0 + 16 * UNIT)
    low = np.maximum(np.bincount(group, size * corners.min(axis=0), number) - room, -spread)[whole]
    high = np.minimum(np.bincount(group, size * corners.max(axis=0), number) + room, spread)[whole]
    margin = 4 * UNIT * math.fsum((np.abs(low) + np.abs(high)).tolist())
    return math.fsum(low.tolist()) - margin, math.fsum(high.tolist()) + margin


def _half(told: Spreads, centre: Floats) -> Floats:
    """How far the mean of a class can be from a centre."""
    half: Floats = np.maximum(told.mean_high - centre, centre - told.mean_low)
    return half
