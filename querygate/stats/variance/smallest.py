"""The smallest variance: min over m and over selections of mean distance(m, box)^2, a joint minimum, so no gap.

With certain records only it is convex in m. With optional records it is not: for a level t, the sum G(m) of d^2 - t
over the certain records and the optional ones with d^2 < t is piecewise quadratic with several local minima. Prefix
sums along the sorted ends bound G on a whole interval of m in O(log n); intervals that cannot hold the minimum are
dropped, and inside the others every piece is minimised. With very many cells a grid first shows which m remain, and
only ends near these are sorted. Proof: docs/explanation/proofs/spread.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats
from querygate.stats.numerics import UNIT, dot_bounds, down, exact_sum, prefix_sums, tree_sum
from querygate.stats.variance.largest import SAMPLE, Boxes, falling_root

_STEPS = 100
_CELLS, _SPLIT = 2048, 16
_EDGES = 4096  # of the grid that is tried first for many cells


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
    if np.array_equal(boxes.least, boxes.most):
        return _certified(boxes, _centre(boxes), ddof)
    return _uncertain(boxes, ddof)


# -- certain records -------------------------------------------------------------------------------------


def _pulled(boxes: Boxes, centre: float) -> Floats:
    """Signed distance of each box from the centre."""
    distance: Floats = np.minimum(np.maximum(boxes.low, centre), boxes.high) - centre
    return distance


def _centre(boxes: Boxes) -> float:
    """Where the certain records alone have the least sum of squares, which is convex: the root of their pull."""
    low, high = float(boxes.high.min()), float(boxes.low.max())
    guess, stride = (low + high) / 2, high - low
    if boxes.low.size > 4 * SAMPLE:
        sample = boxes.part(slice(None, None, boxes.low.size // SAMPLE))
        if sample.least.any():
            guess, stride = _centre(sample), 1e-3 * (high - low)
    weights = boxes.least.astype(np.float64)
    root = falling_root(lambda centre: tree_sum(weights * _pulled(boxes, centre))[0], low, high, guess, stride)
    return min(root, key=lambda centre: abs(tree_sum(weights * _pulled(boxes, centre))[0]))


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


class SortedEnds(NamedTuple):
    """Ends sorted, with prefix sums of count, sum and sum of squares for certain and for optional records."""

    ends: Floats
    certain: Floats  # 3 x (n + 1)
    optional: Floats
    height: int


def _side(ends: Floats, least: Floats, free: Floats) -> SortedEnds:
    certain, optional = _moments(ends, least), _moments(ends, free)
    return SortedEnds(ends, certain[0], optional[0], certain[1])


def _moments(ends: Floats, counts: Floats) -> tuple[Floats, int]:
    products = counts * ends
    first, height = prefix_sums(products)
    second, _ = prefix_sums(products * ends)
    return np.stack([np.append(0.0, np.cumsum(counts)), first, second]), height


class Sweep(NamedTuple):
    """Both sorted sides: right of m a suffix of the lower ends counts, left of m a prefix of the upper ends."""

    lows: SortedEnds
    highs: SortedEnds
    margin: float  # how far a value of G may be off

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
    least, free = boxes.least.astype(np.float64), (boxes.most - boxes.least).astype(np.float64)
    sides = []
    for ends in (boxes.low, boxes.high):
        order = np.argsort(ends)
        sides.append(_side(ends[order], least[order], free[order]))
    return _sweep(boxes, sides[0], sides[1])


def _sweep(boxes: Boxes, lows: SortedEnds, highs: SortedEnds, height: int = 0) -> Sweep:
    reach = max(-float(boxes.low.min()), float(boxes.high.max()))
    return Sweep(lows, highs, 32 * (height + lows.height + 16) * UNIT * exact_sum(boxes.most) * reach * reach)


def _uncertain(boxes: Boxes, ddof: int) -> Lower:
    """Newton's method on the level: it falls from one reached variance to the next until none is lower."""
    centre, level = _start(boxes, ddof)
    if boxes.low.size > 4 * SAMPLE:
        first, last = _range(boxes, ddof, centre, level)
        sweep = _narrow_sweep(boxes, first, last, math.sqrt(level))
    else:
        first, last, sweep = float(boxes.high.min()), float(boxes.low.max()), make_sweep(boxes)
    records, margin = exact_sum(boxes.least) - ddof, sweep.margin
    for _ in range(_STEPS):
        lowest, at, variance = _minimise(sweep, first, last, level, ddof)
        if lowest >= -margin or not variance < level:
            break
        level, centre = max(variance, 0.0), at
    else:
        lowest = _minimise(sweep, first, last, level, ddof)[0]
    shortfall = max(0.0, margin - min(lowest, 0.0))
    return Lower(max(0.0, down(level - shortfall / records, 2)), level, centre, level)


def _start(boxes: Boxes, ddof: int) -> tuple[float, float]:
    """A centre, and the least variance about it: that of a sample, or that of the certain records."""
    centre = None
    if boxes.low.size > 4 * SAMPLE:
        sample = boxes.part(slice(None, None, boxes.low.size // SAMPLE))
        if exact_sum(sample.least) > ddof and float(sample.low.max()) > float(sample.high.min()):
            centre = _uncertain(sample, ddof).centre
    if centre is None:
        centre = _centre(boxes.part(boxes.least > 0))
    squares, spare = _pulled(boxes, centre) ** 2, boxes.spare
    base, records = tree_sum(boxes.least * squares)[0], exact_sum(boxes.least) - ddof
    squares, free = squares[spare], boxes.most[spare] - boxes.least[spare]
    level = base / records
    for _ in range(_STEPS):
        taken = free * (squares < level)
        lower = (base + tree_sum(taken * squares)[0]) / (records + exact_sum(taken))
        if not lower < level:
            break
        level = lower
    return centre, level


def _range(boxes: Boxes, ddof: int, centre: float, level: float) -> tuple[float, float]:
    """An interval outside which no m can give a variance below the level: boxes grown to a grid are sorted by counting.

    G + ddof t falls with t, so that what is positive at the level stays so at lower ones.
    """
    low, high = float(boxes.low.min()), float(boxes.high.max())
    edges, spare = np.linspace(low, high, _EDGES + 1), boxes.spare
    least, free = boxes.least.astype(np.float64), (boxes.most[spare] - boxes.least[spare]).astype(np.float64)
    sides = []
    for ends, up in ((boxes.low, 0), (boxes.high, 1)):
        # a millionth of a step is far more than rounding can change a place
        places = (ends - low) * (_EDGES / (high - low)) + (1e-6 if up else -1e-6)
        steps = np.clip(places.astype(np.int64) + up, 0, _EDGES)
        certain, optional = np.bincount(steps, least, _EDGES + 1), np.bincount(steps[spare], free, _EDGES + 1)
        sides.append(_side(edges, certain.astype(np.float64), optional.astype(np.float64)))
    sweep = _sweep(boxes, sides[0], sides[1])
    bounds = sweep.bound(edges[:-1], edges[1:], level) + ddof * level
    open_ = np.flatnonzero(bounds <= max(sweep.margin, bounds.min()))
    return min(float(edges[open_[0]]), centre), max(float(edges[open_[-1] + 1]), centre)


def _narrow_sweep(boxes: Boxes, first: float, last: float, radius: float) -> Sweep:
    """A sweep for m in [first, last] and levels up to radius^2: ends far from every such m are merged."""
    least, spare = boxes.least.astype(np.float64), boxes.spare
    free = np.zeros(least.size)
    free[spare] = boxes.most[spare] - boxes.least[spare]
    sides = []
    for ends, before, after in ((boxes.low, 0.0, radius), (boxes.high, radius, 0.0)):
        near = (ends >= first) & (ends <= last)
        near[spare] = (ends[spare] >= first - before) & (ends[spare] <= last + after)
        kept, outer = np.flatnonzero(near), [np.flatnonzero(part & ~near) for part in (ends < first, ends > last)]
        kept = kept[np.argsort(ends[kept])]
        side = _side(ends[kept], least[kept], free[kept])
        certain, optional = (
            _joined(sums, *(_total(ends[part], counts[part]) for part in outer))
            for counts, sums in ((least, side.certain), (free, side.optional))
        )
        sides.append(SortedEnds(np.concatenate([[-math.inf], side.ends, [math.inf]]), certain, optional, side.height))
    return _sweep(boxes, sides[0], sides[1], tree_sum(least)[1] + 2)


def _joined(sums: Floats, before: Floats, after: Floats) -> Floats:
    """Prefix sums with one more end that stands for all before, and one for all after."""
    inner = sums + before
    return np.concatenate([np.zeros((3, 1)), inner, inner[:, -1:] + after], axis=1)


def _total(ends: Floats, counts: Floats) -> Floats:
    """Count, sum and sum of squares."""
    products = counts * ends
    return np.array([[tree_sum(column)[0]] for column in (counts, products, products * ends)])


def _minimise(sweep: Sweep, first: float, last: float, level: float, ddof: int) -> tuple[float, float, float]:
    """The least G(m) + ddof * level over m in [first, last], where it is, and the variance reached there."""
    edges = np.linspace(first, last, _CELLS + 1)
    left, right = _promising(sweep, edges[:-1], edges[1:], level)
    parts = np.arange(_SPLIT + 1) / _SPLIT
    finer = left[:, None] + (right - left)[:, None] * parts
    left, right = _promising(sweep, finer[:, :-1].ravel(), finer[:, 1:].ravel(), level)
    gaps = np.flatnonzero(left[1:] > right[:-1])
    starts, stops = left[np.append(0, gaps + 1)], right[np.append(gaps, left.size - 1)]
    points = [sweep.breakpoints(float(p), float(q), level) for p, q in zip(starts, stops, strict=True)]
    begins, ends = np.concatenate([p[:-1] for p in points]), np.concatenate([p[1:] for p in points])
    middle = (begins + ends) / 2
    beyond, before, records = sweep.pieces(middle, middle, level)
    squared, linear, constant = beyond + before
    with np.errstate(invalid="ignore", divide="ignore"):
        lowest = np.where(squared > 0, linear / squared, middle)
    centres = np.clip(lowest, begins, ends)
    squares = constant - 2 * centres * linear + centres * centres * squared
    values = squares - level * (records - ddof)
    best = int(np.argmin(values))
    return float(values[best]), float(centres[best]), float(squares[best] / (records[best] - ddof))


def _promising(sweep: Sweep, left: Floats, right: Floats, level: float) -> tuple[Floats, Floats]:
    """The intervals that may hold the minimum: their bound is not above the best value seen, roundings aside."""
    middle = (left + right) / 2
    best = sweep.bound(middle, middle, level).min()
    kept = sweep.bound(left, right, level) <= best + sweep.margin
    return left[kept], right[kept]
