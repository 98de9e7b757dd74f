"""Two columns at a time: cells that are boxes, their registry, SUM(x) / SUM(y) and SUM(y * x) / SUM(y).

Proof: docs/explanation/proofs/pairs.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.registry import Registry
from querygate.core.types import Cells, Floats, Ints, Range
from querygate.stats.cells import selectable
from querygate.stats.numerics import SQUARABLE, UNIT, are_within, dot_bounds, exact_sum, gamma, tree_sum, up
from querygate.stats.registry import PROOFS
from querygate.stats.sums_and_means import avg


@dataclass(frozen=True, slots=True)
class PairCells:
    """Cells of one group for two measures: x in [x_low, x_high] and y in [y_low, y_high] for each of the records,
    between `least` and `most` of which are selected. Records with a NULL in either column are not among them. `whole`
    says that all values are whole numbers: then those that differ at all differ by more than rounding."""

    x_low: Floats | Ints
    x_high: Floats | Ints
    y_low: Floats | Ints
    y_high: Floats | Ints
    least: Ints
    most: Ints
    whole: bool = False

    @property
    def x(self) -> Cells:
        return Cells(self.x_low, self.x_high, self.least, self.most)

    @property
    def y(self) -> Cells:
        return Cells(self.y_low, self.y_high, self.least, self.most)

    @property
    def mirrored(self) -> PairCells:
        """The cells of (x, -y)."""
        return replace(self, y_low=-self.y_high, y_high=-self.y_low)


@dataclass(frozen=True, slots=True)
class PairStatistic:
    """A statistic of two columns, in the order of SQL: y first where it is the dependent one."""

    name: str
    range: Callable[[PairCells], Range]
    proof: str
    summary: str


PAIR_STATISTICS: Registry[PairStatistic] = Registry("statistic of two columns")
"""Statistics of two columns, by the name SQL gives them."""

Algorithm = Callable[[PairCells], Range]


def pair_statistic(
    name: str, *, proof: str, summary: str, needs: int = 1, by_order: bool = False
) -> Callable[[Algorithm], Algorithm]:
    """Register the decorated algorithm; it only sees cells that can be selected, with at least `needs` records in all.

    With `by_order` it depends only on the order of values, and sees the ranks of ends among all ends of a column.
    """

    def register(algorithm: Algorithm) -> Algorithm:
        def guarded(cells: PairCells) -> Range:
            cells = _selectable(_ordered(cells) if by_order else cells)
            if exact_sum(cells.most) < needs:
                return Range.null()
            found = algorithm(cells)
            return replace(found, may_be_null=found.may_be_null or exact_sum(cells.least) < needs)

        guarded.__doc__ = algorithm.__doc__
        PAIR_STATISTICS.register(name, PairStatistic(name, guarded, f"{PROOFS}/{proof}", summary))
        return guarded

    return register


def places(low: Floats | Ints, high: Floats | Ints) -> tuple[Floats, Floats]:
    """Ends as their ranks among all ends: whole numbers that would be equal as doubles stay distinct.

    >>> places(np.array([7, 2**60]), np.array([9, 2**60 + 1]))
    (array([0., 2.]), array([1., 3.]))
    """
    known = np.unique(np.concatenate([low, high]))
    below, above = (np.searchsorted(known, end).astype(np.float64) for end in (low, high))
    return below, above


def _ordered(cells: PairCells) -> PairCells:
    x, y = places(cells.x_low, cells.x_high), places(cells.y_low, cells.y_high)
    return PairCells(*x, *y, cells.least, cells.most, whole=True)


def _selectable(cells: PairCells) -> PairCells:
    x, y = selectable(cells.x), selectable(cells.y)
    return PairCells(x.low, x.high, y.low, y.high, x.least, x.most, cells.whole)


@pair_statistic("ratio_of_sums", proof="pairs.md", summary="sum(x) / sum(y) over the same records")
def ratio_of_sums(cells: PairCells) -> Range:
    """Range of sum(x) / sum(y), both over the same selection. Never the quotient of two ranges.

    Requires: y > 0, or the sum of y may vanish; ends below 10^140. Otherwise there is no bound.
    Ensures:  every computed ratio is in the range; both ends attained up to rounding.
    """
    if cells.whole and (cells.y_low == 1).all() and (cells.y_high == 1).all():
        return avg(replace(cells.x, integer=True))
    y_low, y_high = cells.y_low.astype(np.float64), cells.y_high.astype(np.float64)
    if np.any(y_low <= 0.0) or not are_within(SQUARABLE, cells.x_low, cells.x_high, y_high):
        return Range(-math.inf, math.inf, None, None, sharp=False, may_be_null=True)
    x_low, x_high = cells.x_low.astype(np.float64), cells.x_high.astype(np.float64)
    high = _largest_ratio(x_high, y_low, y_high, cells.least, cells.most)
    low = _largest_ratio(-x_low, y_low, y_high, cells.least, cells.most)
    bound_low = max(-low[0], 0.0) if x_low.min() >= 0.0 else -low[0]  # sums of one sign keep it when rounded
    bound_high = min(high[0], 0.0) if x_high.max() <= 0.0 else high[0]
    sharp = math.isfinite(low[0]) and math.isfinite(high[0])
    return Range(bound_low, bound_high, -low[1], high[1], sharp=sharp)


def _largest_ratio(x: Floats, y_low: Floats, y_high: Floats, least: Ints, most: Ints) -> tuple[float, float]:
    """Dinkelbach: x - t y with y at its lower end where t >= 0, at its upper end where t < 0."""
    ratio = float(np.max(x / np.where(x > 0, y_low, y_high)))  # of one record, the best where none is certain
    if least.any():
        total = tree_sum(least * x)[0]
        climbed, ratio = total / tree_sum(least * (y_low if total >= 0.0 else y_high))[0], -math.inf
        while climbed > ratio:
            ratio = climbed
            y = y_low if ratio >= 0.0 else y_high
            taken = np.where(x > ratio * y, most, least)
            climbed = tree_sum(taken * x)[0] / tree_sum(taken * y)[0]
    return _certified_ratio(x, y_low, y_high, least, most, ratio), ratio


def _certified_ratio(x: Floats, y_low: Floats, y_high: Floats, least: Ints, most: Ints, ratio: float) -> float:
    """A t with sum s (x + g|x| - t (1 - g) y) <= 0 for every selection; g covers the sums of the database."""
    g = gamma(2 * exact_sum(most) + 8)
    # A ratio of 0 gives no scale: the first step is then tiny beside what one record can contribute.
    step = 8 * UNIT * abs(ratio) + 2.0**-100 * float(np.max(np.abs(x)) / np.min(y_low)) + 1e-300
    for _ in range(200):
        t = ratio + step
        y = y_low * (1.0 - g) if t >= 0.0 else y_high * (1.0 + g)
        gains = x + g * np.abs(x) - t * y
        slack = 8 * UNIT * (np.abs(x) + abs(t) * y) + 1e-320
        taken = np.where(gains + slack > 0.0, most, least)
        if not taken.any() or dot_bounds(taken, gains + slack, 1).high <= 0.0:
            return up(t, 3)
        step *= 4.0
    return math.inf


@pair_statistic("weighted_mean", proof="pairs.md", summary="sum(y x) / sum(y): the mean of x with weights y")
def weighted_mean(cells: PairCells) -> Range:
    """Range of sum(y x) / sum(y). A record has the same weight in numerator and denominator, so the result is a mean of
    values of x.

    Requires: y > 0, ends below 10^140. Otherwise there is no bound.
    Ensures:  every computed mean is in the range; both ends attained up to rounding.
    """
    y_low, y_high = cells.y_low.astype(np.float64), cells.y_high.astype(np.float64)
    x_low, x_high = cells.x_low.astype(np.float64), cells.x_high.astype(np.float64)
    if np.any(y_low <= 0.0) or not are_within(SQUARABLE, x_low, x_high, y_high):
        return Range(-math.inf, math.inf, None, None, sharp=False, may_be_null=True)
    high = _largest_weighted(x_high, y_low, y_high, cells.least, cells.most)
    low = _largest_weighted(-x_low, y_low, y_high, cells.least, cells.most)
    bound_low = max(-low[0], 0.0) if x_low.min() >= 0.0 else -low[0]
    bound_high = min(high[0], 0.0) if x_high.max() <= 0.0 else high[0]
    return Range(bound_low, bound_high, -low[1], high[1], sharp=math.isfinite(low[0]) and math.isfinite(high[0]))


def _largest_weighted(x: Floats, y_low: Floats, y_high: Floats, least: Ints, most: Ints) -> tuple[float, float]:
    """Dinkelbach: y (x - t) with y at its upper end and all records where x > t, at its lower end and few elsewhere."""
    mean = float(np.max(x))  # of one record, the best where none is certain
    if least.any():
        climbed, mean = tree_sum(least * y_low * x)[0] / tree_sum(least * y_low)[0], -math.inf
        while climbed > mean:
            mean = climbed
            weight = np.where(x > mean, most * y_high, least * y_low)
            climbed = tree_sum(weight * x)[0] / tree_sum(weight)[0]
    return _certified_mean(x, y_low, y_high, least, most, mean), mean


def _certified_mean(x: Floats, y_low: Floats, y_high: Floats, least: Ints, most: Ints, mean: float) -> float:
    """A t with sum s y (x + g|x| - t (1 - g)) <= 0 for every selection; g covers products and sums of the database."""
    g = gamma(2 * exact_sum(most) + 10)
    step = 8 * UNIT * abs(mean) + 2.0**-100 * float(np.max(np.abs(x))) + 1e-300
    for _ in range(200):
        t = mean + step
        gains = x + g * np.abs(x) - t * (1.0 - g if t >= 0.0 else 1.0 + g)
        gains = gains + 8 * UNIT * (np.abs(x) + abs(t)) + 1e-320
        taken = np.where(gains > 0.0, most, least)
        parts = np.where(gains > 0.0, y_high, y_low) * gains
        if not taken.any() or dot_bounds(taken, parts + 4 * UNIT * np.abs(parts), 1).high <= 0.0:
            return up(t, 3)
        step *= 4.0
    return math.inf
