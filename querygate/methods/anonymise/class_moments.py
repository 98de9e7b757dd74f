"""Moments of classes that may be published beside their intervals: sums and variances, as public cells or as they are.

Rounded: the sum of a class of m is told as the half-open cell [q s, (q + 1) s) that holds it, s = e, so its mean as a
cell of width e / m. All members but one who pool their values then know the last within s >= e. What they know besides
is its interval (its bin, or the hull of the class), and the two together may leave less: so the range that is left is
measured for every member, and the cell is taken wider until it is e for each of them, or the class tells no sum. The
variance likewise, in cells of e (e + 2 R) / m, R the published reach of the class: who knows all others knows
(x - mean of the others)^2 within e (e + 2 R) >= e^2 + 2 e d for every distance d <= R, so x within e.

Exact: sums as they are. All members but one know the last. Against others: t power sums need t + 4 members, and every
member must keep a range of e.

What is decided by data can be reasoned about: that a cell is wide tells that a narrower one would have told too much.
No trace of it is published but the cell itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from querygate.core.types import Array, Bools, Floats, Ints

WIDER = tuple(Fraction(quarters, 4) for quarters in (4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96, 128))
"""The largest width of a cell, in steps."""

SPARE = 4
"""How many more members than exact power sums a class needs."""

LEAST_FOR_VARIANCE = 6

EXACT = 2.0**53
_ROUNDING = 1e-9  # share of e that rounding of doubles may take from a range of width e
_UNIT = 2.0**-53


@dataclass(frozen=True)
class Members:
    """The known values of a number by class: distinct (class, value) in rising order, records, published interval.

    Values and ends are int64 for whole numbers, else float64.
    """

    label: Ints
    value: Array
    count: Ints
    low: Array
    high: Array

    @property
    def whole(self) -> bool:
        return bool(np.issubdtype(self.value.dtype, np.integer))

    @property
    def unit(self) -> int:
        """By how much an interval of whole numbers is wider than the difference of its ends."""
        return 1 if self.whole else 0

    @cached_property
    def classes(self) -> Ints:
        return np.unique(self.label)

    @cached_property
    def starts(self) -> Ints:
        return np.searchsorted(self.label, self.classes)

    @cached_property
    def group(self) -> Ints:
        """The position of each entry's class."""
        return np.searchsorted(self.classes, self.label)

    @cached_property
    def size(self) -> Ints:
        records: Ints = self.added(self.count)
        return records

    def added(self, figures: Array) -> Array:
        """Sums by class."""
        return np.add.reduceat(figures, self.starts) if self.label.size else figures

    def least(self, figures: Array) -> Array:
        return np.minimum.reduceat(figures, self.starts) if self.label.size else figures

    def greatest(self, figures: Array) -> Array:
        return np.maximum.reduceat(figures, self.starts) if self.label.size else figures

    def part(self, chosen: Bools) -> Members:
        """Some of the classes."""
        kept = chosen[self.group]
        return Members(*(column[kept] for column in (self.label, self.value, self.count, self.low, self.high)))

    def slices(self) -> list[list[tuple[float, int]]]:
        """(value, records) of each class, for arithmetic without rounding."""
        ends = np.append(self.starts, self.label.size).tolist()
        pairs = list(zip(self.value.tolist(), self.count.tolist(), strict=True))
        return [pairs[a:b] for a, b in pairwise(ends)]


@dataclass(frozen=True)
class MomentRelease:
    """What is published per class, in order of class: NaN where a sum or a variance is not published.

    `residual` is the least range that is left for a member of the class when all others pool their values.
    """

    classes: Ints
    size: Ints
    sum_low: Floats
    sum_high: Floats
    var_low: Floats
    var_high: Floats
    residual: Floats

    @property
    def kept(self) -> Bools:
        return ~np.isnan(self.sum_low)


def rounded_moments(members: Members, e: float, k: int, *, guarded: bool = True) -> MomentRelease:
    """Means and variances of classes as public cells. If unguarded, the range left for the last member is not
    checked."""
    told = _nothing(members)
    if not _is_addable(members):
        return told
    able = members.size >= k
    for wider in WIDER:
        open_ = able & ~told.kept
        if not open_.any():
            break
        part = members.part(open_)
        low, high, sure = _sum_cells(part, e, wider)
        left = _left_by_sum(part, low, high)
        fine = sure & ((left >= e * (1.0 - _ROUNDING)) | (not guarded))
        _put(told, np.flatnonzero(open_)[fine], low[fine], high[fine], left[fine])
    _add_variances(members, told, e, k, guarded)
    return told


def exact_moments(members: Members, e: float, *, guarded: bool = True) -> MomentRelease:
    """Sums and variances as they are, where enough members share them and each keeps a range of e against outsiders.

    Unguarded, both rules are off.
    """
    told = _nothing(members)
    if not _is_addable(members):
        return told
    low, high = _sums(members)
    spare, least = (SPARE, e * (1.0 - _ROUNDING)) if guarded else (0, -math.inf)
    able = (members.size >= 1 + spare) & (_left_to_outsiders(members, low, high) >= least)
    at = np.flatnonzero(able)
    _put(told, at, low[at], high[at], np.zeros(at.size))
    if not at.size:
        return told
    part = members.part(able)
    value, error = _variances(part)
    mean = part.added(part.count * part.value) / part.size
    reach = np.sqrt(np.maximum(value, 0.0) * (part.size - 1))
    kept = np.minimum(part.greatest(part.high), mean + reach) - np.maximum(part.least(part.low), mean - reach)
    fine = (part.size >= 2 + spare) & (kept + part.unit >= least)
    told.var_low[at[fine]] = np.maximum(np.nextafter(value - error, -np.inf), 0.0)[fine]
    told.var_high[at[fine]] = np.nextafter(value + error, np.inf)[fine]
    return told


def _nothing(members: Members) -> MomentRelease:
    number = members.classes.size
    return MomentRelease(members.classes, members.size, *(np.full(number, np.nan) for _ in range(5)))


def _put(told: MomentRelease, at: Ints, low: Floats, high: Floats, left: Floats) -> None:
    told.sum_low[at], told.sum_high[at], told.residual[at] = low, high, left


def _is_addable(members: Members) -> bool:
    """Sums must be exact as doubles, in which they are published: whole numbers below 2^53."""
    if not members.label.size:
        return False
    reach = float(max(np.abs(members.low).max(), np.abs(members.high).max(), 1))
    return reach * float(members.size.max()) < (EXACT if members.whole else 1e290)


# -- sums ------------------------------------------------------------------------------------------------------------


def _sums(members: Members) -> tuple[Floats, Floats]:
    """Doubles around the sum of each class: itself on whole numbers, neighbours of the nearest on others."""
    if members.whole:
        total = members.added(members.count * members.value).astype(np.float64)
        return total, total
    nearest = np.array([math.fsum(x for x, n in part for _ in range(n)) for part in members.slices()])
    return np.nextafter(nearest, -np.inf), np.nextafter(nearest, np.inf)


def _sum_cells(members: Members, e: float, wider: Fraction) -> tuple[Floats, Floats, Bools]:
    """The cell of each sum, closed; and whether the sum is in it for certain."""
    step = _exact(e) * wider
    if members.whole:
        total = members.added(members.count * members.value)
        a, b = step.numerator, step.denominator
        q = (total * b) // a
        low, high = -((-q * a) // b), -((-(q + 1) * a) // b) - 1
        return low.astype(np.float64), high.astype(np.float64), np.ones(total.size, dtype=np.bool_)
    first, last = _sums(members)
    cells = [_real_cell(*ends, step) for ends in zip(first.tolist(), last.tolist(), strict=True)]
    low, high = np.array([cell[0] for cell in cells]), np.array([cell[1] for cell in cells])
    return low, high, (low <= first) & (last <= high)


def _real_cell(first: float, last: float, step: Fraction) -> tuple[float, float]:
    """The doubles of [q s, (q + 1) s) around a sum that lies between two doubles; in whole numbers, which are fast."""
    a, b = step.numerator, step.denominator
    n, d = first.as_integer_ratio()
    q = (n * b) // (d * a)
    n, d = last.as_integer_ratio()
    if n * b >= (q + 1) * a * d:
        q += 1
    bottom, top = q * a / b, (q + 1) * a / b
    n, d = bottom.as_integer_ratio()
    low = bottom if n * b >= q * a * d else math.nextafter(bottom, math.inf)
    n, d = top.as_integer_ratio()
    return low, top if n * b < (q + 1) * a * d else math.nextafter(top, -math.inf)


def _exact(value: float) -> Fraction:
    """The decimal number a float is written as."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def _window(members: Members, low: Floats, high: Floats) -> tuple[Array, Array]:
    """The range that the others can infer for each member: the sum minus theirs, clipped to the member's interval."""
    total = members.added(members.count * members.value)
    value = members.value.astype(np.float64)
    below, above = (total - low)[members.group], (high - total)[members.group]
    return np.maximum(value - below, members.low), np.minimum(value + above, members.high)


def _left_by_sum(members: Members, low: Floats, high: Floats) -> Floats:
    """The least range that the sum leaves for a member of each class when all others pool their values."""
    first, last = _window(members, low, high)
    left: Floats = members.least(last - first + members.unit)
    return left


def _left_to_outsiders(members: Members, low: Floats, high: Floats) -> Floats:
    """The smallest range that the sum and intervals leave for a member when nobody reveals anything."""
    lows, highs = members.added(members.count * members.low), members.added(members.count * members.high)
    first = np.maximum(members.low, low[members.group] - (highs[members.group] - members.high))
    last = np.minimum(members.high, high[members.group] - (lows[members.group] - members.low))
    left: Floats = members.least((last - first + members.unit).astype(np.float64))
    return left


# -- variances -------------------------------------------------------------------------------------------------------


def _variances(members: Members) -> tuple[Floats, Floats]:
    """The variance of each class, and its largest possible error.

    About a value near the mean: x - c is exact on whole numbers and one rounding otherwise, squares and sums in any
    order add one rounding for each term (Higham 2002, section 4.2).
    """
    mean = members.added(members.count * members.value) / members.size
    centre = np.rint(mean) if members.whole else mean
    off = members.value - centre[members.group]
    squares = members.added(members.count * off * off) / members.size
    drift = members.added(members.count * off) / members.size
    terms = np.diff(np.append(members.starts, members.label.size))
    return squares - drift * drift, 8 * (terms + 8) * _UNIT * (squares + drift * drift)


def _add_variances(members: Members, told: MomentRelease, e: float, k: int, guarded: bool) -> None:
    able = told.kept & (members.size >= max(LEAST_FOR_VARIANCE, k))
    for wider in WIDER:
        open_ = able & np.isnan(told.var_low)
        if not open_.any():
            return
        part, at = members.part(open_), np.flatnonzero(open_)
        value, error = _variances(part)
        reach = part.greatest(part.high) - part.least(part.low) + part.unit
        step = e * (e + 2.0 * reach) / part.size * float(wider)
        q = np.floor(value / step)
        low, high = q * step, (q + 1) * step
        sure = ((low <= value - error) | (q == 0)) & (value + error <= high)
        left = _left_by_both(part, told.sum_low[at], told.sum_high[at], value, low, high)
        fine = sure & ((left >= e * (1.0 - _ROUNDING)) | (not guarded))
        told.var_low[at[fine]], told.var_high[at[fine]] = low[fine], high[fine]
        told.residual[at[fine]] = np.minimum(told.residual[at[fine]], left[fine])


def _left_by_both(members: Members, low: Floats, high: Floats, value: Floats, first: Floats, last: Floats) -> Floats:
    """The least range left for a member by sum and variance together when all others pool their values.

    With x as the last value, n V = W + (n - 1) / n (x - u)^2, u the mean and W the square deviations of the others: so
    x lies in two bands about u, within the window of the sum.
    """
    group, size = members.group, members.size.astype(np.float64)
    n = size[group]
    total = members.added(members.count * members.value)
    others = (total[group] - members.value) / (n - 1)
    away = (members.value - others) ** 2
    rest = value[group] * n - (n - 1) / n * away
    inner, outer = (np.sqrt(np.maximum((v[group] * n - rest) * n / (n - 1), 0.0)) for v in (first, last))
    left, right = _window(members, low, high)
    within = _room(left, right, others, outer, members.whole, -1.0)
    nearer = _room(left, right, others, inner, members.whole, 1.0)
    kept: Floats = members.least(within - np.where(inner > 0.0, nearer, 0.0))
    return kept


def _room(left: Floats, right: Floats, middle: Floats, radius: Floats, whole: bool, side: float) -> Floats:
    """How much of a window is within a radius: a length, or a count of whole numbers.

    A radius that decides about a whole number is taken shorter (side -1) or longer (1): roundings count against it.
    """
    low, high = middle - radius, middle + radius
    if whole:
        slack = side * 1e-9 * (1.0 + np.abs(middle) + radius)
        low, high = np.ceil(low - slack), np.floor(high + slack)
    found: Floats = np.maximum(np.minimum(right, high) - np.maximum(left, low) + (1.0 if whole else 0.0), 0.0)
    return found
