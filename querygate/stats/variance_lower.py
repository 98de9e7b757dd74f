"""The smallest variance: min over m and over selections of mean distance(m, box)^2, a joint minimum, so no gap.

With certain records only it is convex in m. With optional records it is not: for a level t, the sum G(m) of d^2 - t
over the certain records and the optional ones with d^2 < t is piecewise quadratic with several local minima. Prefix
sums along the sorted ends bound G on a whole interval of m in O(log n); intervals that cannot hold the minimum are
dropped, and inside the others every piece is minimised. Proof: docs/explanation/proofs/spread.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.stats.numerics import UNIT, dot_bounds, down, exact_sum, prefix_sums, tree_sum
from querygate.stats.variance_upper import Boxes

_STEPS = 100
_CELLS, _SPLIT = 2048, 16


class Lower(NamedTuple):
    """No variance is below `bound`; `reached` is the variance with every record as near to `centre` as it can be."""

    bound: float
    reached: float
    centre: float
    level: float  # square distance up to which optional records are taken


def smallest_variance(boxes: Boxes, ddof: int) -> Lower:
    """The smallest variance of more than ddof records.

    Requires: more than ddof certain records; finite ends.
    Ensures:  as `Lower` says.
    """
    if float(boxes.low.max()) <= float(boxes.high.min()):
        return Lower(0.0, 0.0, float(boxes.low.max()), 0.0)
    certain = _certain(boxes, ddof)
    if np.array_equal(boxes.least, boxes.most):
        return certain
    return _uncertain(boxes, ddof, certain)


# -- certain records -------------------------------------------------------------------------------------


def _pulled(boxes: Boxes, centre: float) -> Floats:
    """Signed distance of each box from the centre: what is left when it is pulled as near as it can be."""
    distance: Floats = np.maximum(boxes.low - centre, 0.0) - np.maximum(centre - boxes.high, 0.0)
    return distance


def _certain(boxes: Boxes, ddof: int) -> Lower:
    """Convex in m: the root of the sum of signed distances, by the secant with bisection as a safeguard."""
    boxes = boxes.part(boxes.least > 0)
    left, right = float(boxes.high.min()), float(boxes.low.max())
    if left >= right:
        return Lower(0.0, 0.0, left, 0.0)
    at_left = tree_sum(boxes.least * _pulled(boxes, left))[0]
    at_right = tree_sum(boxes.least * _pulled(boxes, right))[0]
    best = (abs(at_left), left)
    for turn in range(_STEPS):
        centre = (left + right) / 2
        if turn % 3 < 2 and at_left > 0.0 > at_right:
            centre = left + (right - left) * at_left / (at_left - at_right)
        if not left < centre < right:
            break
        pull = tree_sum(boxes.least * _pulled(boxes, centre))[0]
        if pull > 0.0:
            left, at_left = centre, pull
        else:
            right, at_right = centre, pull
        best = min(best, (abs(pull), centre))
        if pull == 0.0:
            break
    return _certified(boxes, best[1], ddof)


def _certified(boxes: Boxes, centre: float, ddof: int) -> Lower:
    """The tangent at the centre: no m has a smaller sum of squares than value - |slope| * (how far m can be)."""
    distance = _pulled(boxes, centre)
    squares = dot_bounds(boxes.least, distance * distance, 3)
    slope = dot_bounds(boxes.least, distance, 1)
    reach = max(float(boxes.high.max()) - centre, centre - float(boxes.low.min()))
    value = squares.low - 2.0 * max(abs(slope.low), abs(slope.high)) * reach * (1.0 + 8 * UNIT)
    records = exact_sum(boxes.least) - ddof
    reached = (tree_sum(boxes.least * distance * distance)[0]) / records
    return Lower(max(0.0, down(value / records, 3)), reached, centre, 0.0)


# -- optional records ------------------------------------------------------------------------------------


class Side(NamedTuple):
    """Ends sorted, with prefix sums of count, sum and sum of squares for certain and for optional records."""

    ends: Floats
    certain: Floats  # 3 x (n + 1)
    optional: Floats
    height: int


def _side(ends: Floats, boxes: Boxes) -> Side:
    order = np.argsort(ends)
    ends, least, free = ends[order], boxes.least[order], (boxes.most - boxes.least)[order]
    certain, optional = _moments(ends, least), _moments(ends, free)
    return Side(ends, certain[0], optional[0], certain[1])


def _moments(ends: Floats, counts: Ints) -> tuple[Floats, int]:
    first, height = prefix_sums(counts * ends)
    second, _ = prefix_sums(counts * ends * ends)
    return np.stack([np.concatenate([[0], np.cumsum(counts)]).astype(np.float64), first, second]), height


class Sweep(NamedTuple):
    """Both sorted sides: right of m a suffix of the lower ends counts, left of m a prefix of the upper ends."""

    lows: Side
    highs: Side
    margin: float  # what a value of G may be off by

    def pieces(self, left: Floats, right: Floats, level: float | Floats) -> tuple[Floats, Floats, Floats]:
        """Moments of the boxes beyond `right` and of those before `left`, and the number of records that count.

        Optional records count while they are nearer than the level; those that touch [left, right] all do.
        """
        radius, lows, highs = np.sqrt(level), self.lows, self.highs
        after = np.searchsorted(lows.ends, right, side="right")
        within = np.maximum(np.searchsorted(lows.ends, right + radius), after)
        before = np.searchsorted(highs.ends, left)
        beyond = np.minimum(np.searchsorted(highs.ends, left - radius), before)
        right_sums = lows.certain[:, -1:] - lows.certain[:, after] + lows.optional[:, within] - lows.optional[:, after]
        left_sums = highs.certain[:, before] + highs.optional[:, before] - highs.optional[:, beyond]
        touching = lows.optional[0, after] - highs.optional[0, before]
        near_right = lows.optional[0, within] - lows.optional[0, after]
        near_left = highs.optional[0, before] - highs.optional[0, beyond]
        return right_sums, left_sums, lows.certain[0, -1] + touching + near_right + near_left

    def bound(self, left: Floats, right: Floats, level: float | Floats) -> Floats:
        """A lower bound of G on [left, right], each box measured from the nearer end; G itself where they coincide."""
        beyond, before, records = self.pieces(left, right, level)
        squares: Floats = beyond[2] - 2 * right * beyond[1] + right**2 * beyond[0]
        squares = squares + before[2] - 2 * left * before[1] + left**2 * before[0]
        return squares - level * records

    def breakpoints(self, left: float, right: float, level: float) -> Floats:
        """Where G changes its formula inside [left, right]."""
        radius = math.sqrt(level)
        parts = [np.array([left, right])]
        for side, shift in ((self.lows, 0.0), (self.highs, 0.0), (self.lows, -radius), (self.highs, radius)):
            ends = side.ends
            parts.append(ends[np.searchsorted(ends, left - shift) : np.searchsorted(ends, right - shift)] + shift)
        points: Floats = np.clip(np.sort(np.concatenate(parts)), left, right)
        return points


def make_sweep(boxes: Boxes) -> Sweep:
    """Sort both kinds of ends once; the margin is proved in docs/explanation/proofs/spread.md."""
    lows, highs = _side(boxes.low, boxes), _side(boxes.high, boxes)
    reach = max(float(np.abs(lows.ends).max()), float(np.abs(highs.ends).max()))
    return Sweep(lows, highs, 32 * (lows.height + 16) * UNIT * exact_sum(boxes.most) * reach * reach)


def _uncertain(boxes: Boxes, ddof: int, start: Lower) -> Lower:
    """Newton's method on the level: it falls from one reached variance to the next until none is lower."""
    sweep = make_sweep(boxes)
    records, margin = exact_sum(boxes.least) - ddof, sweep.margin
    level, centre = start.reached, start.centre
    for _ in range(_STEPS):
        lowest, at, variance = _minimise(sweep, level, ddof)
        if lowest >= -margin or not variance < level:
            break
        level, centre = max(variance, 0.0), at
    else:
        lowest = _minimise(sweep, level, ddof)[0]
    shortfall = max(0.0, margin - min(lowest, 0.0))
    return Lower(max(0.0, down(level - shortfall / records, 2)), level, centre, level)


def _minimise(sweep: Sweep, level: float, ddof: int) -> tuple[float, float, float]:
    """The least G(m) + ddof * level over all m, where it is, and the variance reached there."""
    edges = np.linspace(float(sweep.highs.ends[0]), float(sweep.lows.ends[-1]), _CELLS + 1)
    left, right = _promising(sweep, edges[:-1], edges[1:], level)
    parts = np.arange(_SPLIT + 1) / _SPLIT
    finer = left[:, None] + (right - left)[:, None] * parts
    left, right = _promising(sweep, finer[:, :-1].ravel(), finer[:, 1:].ravel(), level)
    gaps = np.flatnonzero(left[1:] > right[:-1])
    starts, stops = left[np.append(0, gaps + 1)], right[np.append(gaps, left.size - 1)]
    points = [sweep.breakpoints(float(p), float(q), level) for p, q in zip(starts, stops, strict=True)]
    first, last = np.concatenate([p[:-1] for p in points]), np.concatenate([p[1:] for p in points])
    middle = (first + last) / 2
    beyond, before, records = sweep.pieces(middle, middle, level)
    squared, linear, constant = beyond + before
    with np.errstate(invalid="ignore", divide="ignore"):
        lowest = np.where(squared > 0, linear / squared, middle)
    centres = np.clip(lowest, first, last)
    squares = constant - 2 * centres * linear + centres * centres * squared
    values = squares - level * (records - ddof)
    best = int(np.argmin(values))
    return float(values[best]), float(centres[best]), float(squares[best] / (records[best] - ddof))


def _promising(sweep: Sweep, left: Floats, right: Floats, level: float) -> tuple[Floats, Floats]:
    """The intervals that may hold the minimum: their bound is not above the best value seen."""
    middle = (left + right) / 2
    best = sweep.bound(middle, middle, level).min()
    kept = sweep.bound(left, right, level) <= best
    return left[kept], right[kept]
