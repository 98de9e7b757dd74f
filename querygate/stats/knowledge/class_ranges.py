"""Ranges of sum, mean and variance over cells whose classes have published sums, and perhaps variances.

A class has several rows (bins, or parts that other columns tell apart), of which some members are selected; one sum
holds for all its members together. What is used is only this: selected members lie in [low, high], the others of a row
in [floor, ceiling], and the class adds up. That is true whatever selected them, so the ranges are sound for every
condition, one on the summed column itself included. Proof: docs/explanation/proofs/class-sums.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Bools, ClassCells, Floats, Ints, Range
from querygate.stats.cells import leaning_up
from querygate.stats.knowledge.class_caps import CapBound, CapRows, largest_capped_mean, largest_capped_sum
from querygate.stats.numerics import EXACT, SQUARABLE, UNIT, centred, down, enclose, exact_sum, gamma, up
from querygate.stats.variance.largest import Boxes
from querygate.stats.variance.smallest import smallest_variance
from querygate.stats.variance.welford import widened

_SECTIONS = 12
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_UNDERFLOW = 1e-140  # a reach whose square is still far from the subnormal numbers


def class_sum(cells: ClassCells) -> Range | None:
    """Range of the sum as the database computes it, None where classes tell nothing.

    Ensures: every computed sum of a consistent, non-empty selection is in the range.
    """
    if not is_usable(cells):
        return None
    exact = _is_exact(cells)
    whole = _whole_sum(cells, exact)
    if whole is not None:
        return _told(cells, [*whole], CapBound(whole[1], whole[1]), CapBound(-whole[0], -whole[0]))
    records = exact_sum(cells.most)
    margin = 0.0 if exact else up(gamma(records) * reach_of(cells) * records)
    high, low = (largest_capped_sum(_capped(each, exact)) for each in (cells, mirrored(cells)))
    ends: list[int | float] = [-up(low.bound + margin), up(high.bound + margin)]
    if cells.integer:
        ends = [math.ceil(ends[0]), math.floor(ends[1])]
    return _told(cells, ends, high, low)


def class_mean(cells: ClassCells) -> Range | None:
    """Range of the mean as the database computes it, None where classes tell nothing.

    Ensures: every computed mean of a consistent, non-empty selection is in the range.
    """
    if not is_usable(cells) or not is_certain(cells):
        return None
    exact = _is_exact(cells)
    whole = _whole_sum(cells, exact)
    if whole is not None:
        ends = [Fraction(total, exact_sum(cells.size)) for total in whole]
        first, last = enclose(ends[0]), enclose(ends[1])
        return _told(cells, [first.low, last.high], CapBound(0.0, float(ends[1])), CapBound(0.0, -float(ends[0])))
    high, low = _largest_mean(cells, exact), _largest_mean(mirrored(cells), exact)
    margin = 0.0
    if not exact:
        reach = reach_of(cells)
        margin = up(gamma(exact_sum(cells.most)) * reach + 4 * UNIT * reach)
    return _told(cells, [-up(low.bound + margin), up(high.bound + margin)], high, low)


def class_variance(cells: ClassCells, ddof: int) -> Range | None:
    """Range of the variance as the database computes it, None where classes tell nothing. No end is claimed attained.

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
    if not floor <= bound:  # roundings only: the data is somewhere
        floor, bound = min(floor, bound), max(floor, bound)
    low, high = widened(floor, bound, exact_sum(cells.most), reach_of(cells), top - bottom)
    return Range(low, high, None, None, sharp=False)


# -- sums and means --------------------------------------------------------------------------------------------------


def _whole_sum(cells: ClassCells, exact: bool) -> tuple[int, int] | None:
    """Both ends of the sum of whole numbers where everybody is selected: classes add up without any search."""
    if not exact or not np.array_equal(cells.least, cells.size):
        return None
    number = cells.sum_low.size
    least, most = (np.bincount(cells.group, cells.size * end, number) for end in (cells.low, cells.high))
    low, high = np.maximum(cells.sum_low, least), np.minimum(cells.sum_high, most)
    return math.ceil(math.fsum(low.tolist())), math.floor(math.fsum(high.tolist()))


def _largest_mean(cells: ClassCells, exact: bool) -> CapBound:
    """What is reached in one margin others may exclude, so there nobody is told."""
    start = float(cells.high[cells.most > 0].max())
    return largest_capped_mean(_capped(cells, exact), 0, start, reached=cells.frame is None)


def _capped(cells: ClassCells, exact: bool) -> CapRows:
    """Values against the sums of the classes; `exact` is whether whole numbers add up to doubles."""
    least, most = _leaning(cells)
    held = most > 0
    value, base = cells.high.astype(np.float64), cells.floor.astype(np.float64)
    spare = spare_of(cells.sum_high, base, cells, exact=exact)
    return CapRows(value[held], base[held], least[held], most[held], cells.group[held], spare)


def _leaning(cells: ClassCells) -> tuple[Ints, Ints]:
    """How many of each row are selected if the largest are taken first, where it is known how many of a class are.

    Whoever is left out then has no more to lose: so only where rows with larger values have larger floors too.
    """
    if cells.total_least is None or cells.total_most is None:
        return cells.least, cells.most
    order = np.lexsort((cells.floor, cells.high, cells.group))
    same = np.diff(cells.group[order]) == 0
    if (np.diff(cells.floor[order])[same] < 0).any():
        return cells.least, cells.most
    return leaning_up(cells.high, cells.least, cells.most, cells.group, (cells.total_least, cells.total_most))


def spare_of(total: Floats, base: Floats, cells: ClassCells, *, exact: bool = False) -> Floats:
    """total - sum(n base) of each class, rounded up. Sums of any order are off by u per term and magnitude."""
    least = np.bincount(cells.group, cells.size * base, total.size)
    if exact:
        return total - least
    size = np.bincount(cells.group, cells.size * np.abs(base), total.size) + np.abs(total)
    rows = np.bincount(cells.group, minlength=total.size)
    spare: Floats = np.nextafter(total - least + (2 * rows + 16) * UNIT * size, np.inf)
    return spare


def _told(cells: ClassCells, ends: list[int | float], high: CapBound, low: CapBound) -> Range:
    """A range with what is attained, where nothing but the sums ties the values of a class together."""
    attained = [-low.reached, high.reached]
    certain = is_certain(cells)
    if ends[0] == ends[1]:
        return replace(Range.exact(ends[0]), may_be_null=not certain)
    alone = cells.apart and bool(np.isnan(cells.var_high).all()) and certain
    if not alone or not all(map(math.isfinite, attained)):
        return Range(ends[0], ends[1], None, None, sharp=False, may_be_null=not certain)
    close = 1e-12 * reach_of(cells)
    near = [abs(end - value) <= 1e-9 * abs(value) + close for end, value in zip(ends, attained, strict=True)]
    return Range(ends[0], ends[1], attained[0], attained[1], sharp=all(near))


# -- variance --------------------------------------------------------------------------------------------------------


class Spreads(NamedTuple):
    """Per class: members, and between what their mean and their variance lie."""

    size: Ints
    mean_low: Floats
    mean_high: Floats
    low: Floats
    high: Floats


def class_spreads(cells: ClassCells) -> Spreads:
    """What sums, variances and intervals say together about each class."""
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
    exact = _is_exact(cells)
    ends = [-_largest_mean(mirrored(cells), exact).bound, _largest_mean(cells, exact).bound]
    low, high = max(ends[0], float(cells.floor.min())), min(ends[1], float(cells.ceiling.max()))

    def bound(centre: float) -> float:
        return largest_capped_mean(
            _squares(cells, known, centre), ddof, (high - low + reach_of(cells)) ** 2, reached=False
        ).bound

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
    held = cells.most > 0
    value = np.nextafter(far * far * more, np.inf)
    return CapRows(value[held], base[held], cells.least[held], cells.most[held], cells.group[held], spare)


def _smallest(cells: ClassCells, known: Spreads, ddof: int) -> float:
    """Classes selected whole are their mean, with their own variance on top; others are what their rows say."""
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


# -- helpers ---------------------------------------------------------------------------------------------------------


def is_certain(cells: ClassCells) -> bool:
    """Somebody is selected for certain."""
    return bool(cells.least.any() or (cells.total_least is not None and cells.total_least.any()))


def is_usable(cells: ClassCells) -> bool:
    """Somebody can be selected, and ends are doubles."""
    if not cells.most.any() or not (np.isfinite(cells.sum_low).all() and np.isfinite(cells.sum_high).all()):
        return False
    reaches = _reaches(cells)
    return all(map(math.isfinite, reaches)) and not (cells.integer and max(reaches) >= EXACT)


def _is_exact(cells: ClassCells) -> bool:
    """Whole numbers whose sums are doubles."""
    return cells.integer and reach_of(cells) * exact_sum(cells.size) < EXACT


def reach_of(cells: ClassCells) -> float:
    return max(_reaches(cells))


def _reaches(cells: ClassCells) -> list[float]:
    return [float(np.abs(end).max(initial=0)) for end in (cells.floor, cells.ceiling, cells.low, cells.high)]


def mirrored(cells: ClassCells) -> ClassCells:
    """The cells of -x, so that a lower end is the upper end of the mirror image."""
    return replace(
        cells,
        low=-cells.high,
        high=-cells.low,
        floor=-cells.ceiling,
        ceiling=-cells.floor,
        sum_low=-cells.sum_high,
        sum_high=-cells.sum_low,
    )
