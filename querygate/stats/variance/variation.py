"""Coefficient of variation: standard deviation over mean. Proof: docs/explanation/proofs/variation.md.

For positive values E^2 / M2 = max over t of mean(2 t x - t^2 x^2), so every t bounds it from below, which bounds the
coefficient from above; and 1 - E^2 / M2 = min over m of mean((x - m)^2) / m^2, a joint minimum that is found by
covering the line with intervals of m.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Cells, Floats, Ints, Range
from querygate.stats.largest_mean import largest_mean
from querygate.stats.numerics import SQUARABLE, UNIT, are_within, exact_sum, gamma, tree_sum
from querygate.stats.registry import statistic
from querygate.stats.sums_and_means import avg
from querygate.stats.variance.largest import Boxes
from querygate.stats.variance.smallest import Sweep, make_sweep
from querygate.stats.variance.spread import stddev_pop
from querygate.stats.variance.welford import deviation_error

_STEPS = 50
_GAP = 1e-5  # relative precision at which the covering stops
_CELLS = 20_000


@statistic("cv", proof="variation.md", result="number", summary="coefficient of variation, stddev_pop(x) / avg(x)")
def cv(cells: Cells) -> Range:
    """Range of stddev_pop(x) / avg(x).

    Requires: ends below 10^140. Where the mean can be 0 there is no bound and the answer may be NULL.
    Ensures:  sound; on positive values within 10^-5 of the best lower end, the upper end by weak duality.
    """
    if not are_within(SQUARABLE, cells.low, cells.high):
        return Range(-math.inf, math.inf, None, None, sharp=False, may_be_null=True)
    spread, mean = stddev_pop(cells), avg(cells)
    if spread.low is None or spread.high is None or mean.low is None or mean.high is None:
        return Range.null()
    if mean.low <= 0.0 <= mean.high:
        return Range(-math.inf, math.inf, None, None, sharp=False, may_be_null=True)
    if spread.high == 0.0:
        return Range(0.0, 0.0, 0.0, 0.0)
    quotients = [s / m for s in (spread.low, spread.high) for m in (mean.low, mean.high)]
    slack = 1.0 + 4 * UNIT
    low, high = min(quotients), max(quotients)
    low, high = low / slack if low > 0 else low * slack, high * slack if high > 0 else high / slack
    if not np.all(cells.low > 1e-140):  # squares must not underflow
        return Range(low, high, None, None, sharp=False)
    return _refined(cells, low, high, float(mean.low))


def _refined(cells: Cells, low: float, high: float, mean_low: float) -> Range:
    """The range on positive values, widened for the database's rounding, within the plain quotient of ranges."""
    boxes = Boxes(cells.low.astype(np.float64), cells.high.astype(np.float64), cells.least, cells.most)
    records, top = exact_sum(cells.most), float(boxes.high.max())
    shift = deviation_error(records, top, top - float(boxes.low.min())) / mean_low
    factor = 1.0 + 4.0 * gamma(records + 16)
    upper, attained_high = _largest(boxes)
    lower, attained_low = _smallest(boxes)
    high = min(high, (upper + shift) * factor)
    low = max(low, math.sqrt(max(0.0, lower**2 - 2 * lower * shift - shift**2)) / factor)
    return Range(low, high, max(low, attained_low), min(high, attained_high), sharp=False)


def _largest(boxes: Boxes) -> tuple[float, float]:
    """Weak duality in t: golden section finds a good t, any t is sound. Also the coefficient of the data set found."""

    def values(t: float) -> Floats:
        """2 t x - t^2 x^2 is concave in x, so least at an end."""
        ends = np.stack([boxes.low, boxes.high]) * t
        least: Floats = np.minimum.reduce(ends * (2.0 - ends))
        lowered: Floats = least - 8 * UNIT * (np.abs(least) + ends[1] * ends[1] + 1.0)
        return lowered

    def share(t: float) -> float:
        """A lower bound of E^2 / M2."""
        return -largest_mean(-values(t), boxes.least, boxes.most).bound

    t = _golden(share, 0.5 / float(boxes.high.max()), 1.0 / float(boxes.low.min()))
    best = share(t)
    if not best > 0.0:
        return math.inf, math.inf
    ends = np.where(boxes.low * (2.0 - t * boxes.low) < boxes.high * (2.0 - t * boxes.high), boxes.low, boxes.high)
    taken = np.where(values(t) < best, boxes.most, boxes.least)
    bound = math.sqrt(max(0.0, 1.0 / best - 1.0) * (1.0 + 8 * UNIT) + 4 * UNIT)
    return bound, _coefficient(taken if taken.any() else boxes.most, ends)


def _golden(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a concave function is largest, nearly: golden section, one evaluation a step."""
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(_STEPS):
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
        if at_left == at_right:
            break
    return left if at_left > at_right else right


def _coefficient(taken: Ints, values: Floats) -> float:
    """The coefficient of variation of one data set."""
    records = exact_sum(taken)
    mean = tree_sum(taken * values)[0] / records
    return math.sqrt(tree_sum(taken * (values - mean) ** 2)[0] / records) / mean


def _smallest(boxes: Boxes) -> tuple[float, float]:
    """The joint minimum k of mean((x - m)^2) / m^2 gives the coefficient sqrt(k / (1 - k)): bound and one reached."""
    first, last = float(boxes.high.min()), float(boxes.low.max())
    if exact_sum(boxes.least) <= 1 or last <= first:
        return 0.0, 0.0
    bound, reached = _cover(make_sweep(boxes), first, last)
    return math.sqrt(bound / (1.0 - bound)), math.sqrt(reached / (1.0 - reached))


def _cover(sweep: Sweep, first: float, last: float) -> tuple[float, float]:
    """Intervals of m are split until none of them can go below the target.

    On [p, q] a record counts while it is nearer than sqrt(k) q: with that level the sweep bounds sum(d^2 - k m^2).
    """
    edges = np.linspace(first, last, 1025)
    left, right = edges[:-1], edges[1:]
    reached, gap = 1.0, _GAP
    for _ in range(_STEPS):
        middle = (left + right) / 2
        reached = min(reached, _least_quotient(sweep, middle, reached))
        target = reached * (1.0 - gap)
        open_ = sweep.bound(left, right, target * right * right) < sweep.margin
        if not open_.any():
            return target * (1.0 - 16 * UNIT), reached
        left, middle, right = left[open_], middle[open_], right[open_]
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        if left.size > _CELLS:
            gap *= 10.0
        if gap >= 1.0 or is_time_up():
            break
    return 0.0, reached


def _least_quotient(sweep: Sweep, centres: Floats, start: float) -> float:
    """The least mean((x - m)^2) / m^2 over some m, by Newton's method on each."""
    level = np.full(centres.size, start)
    for _ in range(20):
        beyond, before, records = sweep.pieces(centres, centres, level * centres * centres)
        count, linear, constant = beyond + before
        squares = constant - 2 * centres * linear + centres * centres * count
        better = np.minimum(level, np.maximum(squares, 0.0) / (records * centres * centres))
        if np.all(better >= level * (1.0 - 1e-12)):
            break
        level = better
    return float(level.min())
