"""Ranges of sum, mean and variance over cells whose classes have published sums, and perhaps variances.

A class has several rows (bins, or parts that other columns tell apart), of which some members are selected; one sum
holds for all its members together. Only this is used: selected members lie in [low, high], the others of a row in
[floor, ceiling], and the class adds up. That is true whatever selected them, so the ranges are sound for every
condition, even one on the summed column itself. Proof: docs/explanation/proofs/class-sums.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from querygate.core.cell_stack import ClassStack
from querygate.core.limits.pace import is_time_up
from querygate.core.types import Bools, ClassCells, Floats, Ints, Range
from querygate.stats.knowledge.class_caps import CapRows, joined, largest_capped_means, largest_capped_sums
from querygate.stats.knowledge.class_means import (
    capped,
    is_exact,
    is_usable,
    largest_means,
    mirrored,
    reach_of,
    spare_of,
    told_range,
    whole_sum,
)
from querygate.stats.numerics import SQUARABLE, UNIT, centred, down, exact_sum, gamma, up
from querygate.stats.variance.largest import Boxes
from querygate.stats.variance.smallest import smallest_variance
from querygate.stats.variance.welford import widened

_SECTIONS = 12
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_UNDERFLOW = 1e-140  # a reach whose square is still far from the subnormal numbers


def class_sum(cells: ClassCells) -> Range | None:
    """Range of the sum as the database computes it; None where no class sums help.

    Ensures: every computed sum of a consistent, non-empty selection is in the range.
    """
    if not is_usable(cells):
        return None
    exact = is_exact(cells)
    whole = whole_sum(cells, exact)
    if whole is not None:
        return told_range(cells, whole, whole)
    records = exact_sum(cells.most)
    margin = 0.0 if exact else up(gamma(records) * reach_of(cells) * records)
    both = (capped(ClassStack.of_one(each), exact) for each in (cells, mirrored(cells)))
    bound, reached = (column.tolist() for column in largest_capped_sums(joined(*both)))
    ends: list[int | float] = [-up(bound[1] + margin), up(bound[0] + margin)]
    if cells.integer:
        ends = [math.ceil(ends[0]), math.floor(ends[1])]
    return told_range(cells, ends, [-reached[1], reached[0]])


def class_variance(cells: ClassCells, ddof: int) -> Range | None:
    """Range of the variance as the database computes it; None where no class sums help. No end is claimed to be
    attained.

    Ensures: sound for every selection of more than ddof records.
    """
    if not is_usable(cells) or exact_sum(cells.least) <= ddof or reach_of(cells) >= SQUARABLE or is_time_up():
        return None
    bottom, top = float(cells.floor.min()), float(cells.ceiling.max())
    if top - bottom < _UNDERFLOW:
        return None
    moved = _moved(cells, bottom / 2 + top / 2)
    known = class_spreads(moved)
    floor, bound = _smallest(moved, known, ddof), _largest(moved, known, ddof)
    if not floor <= bound:  # only rounding can cause this: some data exists
        floor, bound = min(floor, bound), max(floor, bound)
    low, high = widened(floor, bound, exact_sum(cells.most), reach_of(cells), top - bottom)
    return Range(low, high, None, None, sharp=False)


# -- variance --------------------------------------------------------------------------------------------------------


class Spreads(NamedTuple):
    """Per class: members, and the ranges of their mean and variance."""

    size: Ints
    mean_low: Floats
    mean_high: Floats
    low: Floats
    high: Floats


def class_spreads(cells: ClassCells) -> Spreads:
    """The ranges that sums, variances and intervals together give for each class."""
    classes = cells.sum_low.size
    size = np.bincount(cells.group, cells.size, classes).astype(np.int64)
    slack = 8 * UNIT * reach_of(cells)
    bottom = np.bincount(cells.group, cells.size * cells.floor, classes) / size
    top = np.bincount(cells.group, cells.size * cells.ceiling, classes) / size
    rows = np.bincount(cells.group, minlength=classes)
    blur = (2 * rows + 8) * UNIT * reach_of(cells)
    low = np.maximum(cells.sum_low / size - slack, bottom - blur)
    high = np.minimum(cells.sum_high / size + slack, top + blur)
    low, high = np.minimum(low, high), np.maximum(low, high)
    least, most = _least_variance(cells, low, high, size), _most_variance(cells, low, high, size)
    told_low, told_high = np.nan_to_num(cells.var_low, nan=0.0), np.nan_to_num(cells.var_high, nan=np.inf)
    return Spreads(size, low, high, np.maximum(least, told_low), np.minimum(most, told_high))


def _least_variance(cells: ClassCells, low: Floats, high: Floats, size: Ints) -> Floats:
    """Members are no nearer to the mean than their interval is."""
    gap = np.maximum(np.maximum(cells.floor - high[cells.group], low[cells.group] - cells.ceiling), 0.0)
    squares = np.bincount(cells.group, cells.size * gap * gap, size.size)
    rows = np.bincount(cells.group, minlength=size.size)
    return np.maximum(squares * (1.0 - (2 * rows + 16) * UNIT) / size, 0.0)


def _most_variance(cells: ClassCells, low: Floats, high: Floats, size: Ints) -> Floats:
    """Members at ends of their intervals, as far from the mean as the sum lets them be.

    About a centre c: the sum of (x - c)^2 is at most the sum of max over ends of (x - c)^2 + t (x - c), less t times
    the sum of x - c, for every t. The best t is where the members that go to their upper ends make up the sum: ends
    change at t = 2 c - floor - ceiling.
    """
    centre = (low + high) / 2
    below, above = cells.floor - centre[cells.group], cells.ceiling - centre[cells.group]
    change = -(below + above)
    order = np.lexsort((change, cells.group))
    group = cells.group[order]
    rise = np.cumsum((cells.size * (above - below))[order])
    begins = np.searchsorted(group, group)
    rise = rise - (rise - (cells.size * (above - below))[order])[begins]
    start = np.bincount(cells.group, cells.size * below, size.size)
    last = np.full(size.size, -np.inf)
    np.maximum.at(last, group, change[order])
    t = last.copy()
    crossed = start[group] + rise >= 0.0
    np.minimum.at(t, group[crossed], change[order][crossed])
    by_row = t[cells.group]
    farthest = np.maximum(below * below + by_row * below, above * above + by_row * above)
    part = np.bincount(cells.group, cells.size * farthest, size.size)
    spread = np.maximum(np.abs(low - centre), np.abs(high - centre))
    reach = np.maximum(np.abs(below), np.abs(above))
    scale = np.bincount(cells.group, cells.size * (reach * reach + np.abs(by_row) * reach), size.size)
    rows = np.bincount(cells.group, minlength=size.size)
    squares = part + np.abs(t) * spread * size + (2 * rows + 32) * UNIT * (scale + np.abs(t) * spread * size)
    found: Floats = np.nextafter(np.maximum(squares, 0.0) / size, np.inf)
    return found


def _largest(cells: ClassCells, known: Spreads, ddof: int) -> float:
    """Every centre gives a bound; the best lies where the mean of the selection can be."""
    top, bottom = largest_means(ClassStack.of_one(cells), is_exact(cells), reached=False).bound.tolist()
    low, high = max(-bottom, float(cells.floor.min())), min(top, float(cells.ceiling.max()))

    def bound(centre: float) -> float:
        return float(largest_capped_means(_squares(cells, known, centre), ddof, reached=False).bound[0])

    best = math.inf
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = bound(left), bound(right)
    for _ in range(_SECTIONS):
        best = min(best, at_left, at_right)
        if not left < right or abs(at_left - at_right) <= 1e-12 * best:
            break
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = bound(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = bound(right)
    return min(best, at_left, at_right)


def _squares(cells: ClassCells, known: Spreads, centre: float) -> CapRows:
    """Square distances from a centre against those of the whole class, n (V + (M - centre)^2)."""
    more, less = 1.0 + 8 * UNIT, 1.0 - 8 * UNIT
    far = np.maximum(np.abs(cells.low - centre), np.abs(cells.high - centre))
    near = np.maximum(np.maximum(cells.floor - centre, centre - cells.ceiling), 0.0)
    off = np.maximum(np.abs(known.mean_low - centre), np.abs(known.mean_high - centre))
    total = known.size * (known.high + off * off) * more
    base = near * near * less
    spare = spare_of(total, base, cells)
    value = np.nextafter(far * far * more, np.inf)
    selection = np.zeros(spare.size, dtype=np.int64)
    return CapRows(value, base, cells.least, cells.most, cells.group, spare, selection, 1).held()


def _smallest(cells: ClassCells, known: Spreads, ddof: int) -> float:
    """Classes selected whole are replaced by their mean, plus their own variance; other classes keep their rows."""
    whole = whole_classes(cells)
    rows = (cells.most > 0) & ~whole[cells.group]
    boxes = Boxes(
        np.concatenate([known.mean_low[whole], cells.low[rows]]),
        np.concatenate([known.mean_high[whole], cells.high[rows]]),
        np.concatenate([known.size[whole], cells.least[rows]]),
        np.concatenate([known.size[whole], cells.most[rows]]),
    )
    inside = math.fsum((known.size[whole] * known.low[whole] * (1.0 - 4 * UNIT)).tolist())
    within = down(max(inside, 0.0) / (exact_sum(cells.most) - ddof), 2)
    return max(0.0, down(smallest_variance(boxes, ddof).bound + within))


def whole_classes(cells: ClassCells) -> Bools:
    """Which classes are selected with all their members for certain."""
    found: Bools = np.bincount(cells.group, cells.size - cells.least, cells.sum_low.size) == 0
    return found


def _moved(cells: ClassCells, middle: float) -> ClassCells:
    """About the middle of the reach, so that no digits are lost to an offset; everything is rounded outwards."""
    size = np.bincount(cells.group, cells.size, cells.sum_low.size)
    slack = 8 * UNIT * size * (reach_of(cells) + abs(middle))
    low, floor = (centred(end.astype(np.float64), middle, -math.inf) for end in (cells.low, cells.floor))
    high, ceiling = (centred(end.astype(np.float64), middle, math.inf) for end in (cells.high, cells.ceiling))
    sums = cells.sum_low - size * middle - slack, cells.sum_high - size * middle + slack
    return replace(
        cells, low=low, high=high, floor=floor, ceiling=ceiling, sum_low=sums[0], sum_high=sums[1], integer=False
    )
