"""The largest total and mean of selections whose classes have a cap: one device for means and for mean squares.

In class c the selected members have a total of at most sum(s v), v the most that each can have, and of at most
spare + sum(s w), w the least that a member has who is not selected: the total of the class is capped, and what is not
selected takes its least part of it. For every share p of [0, 1] the selected total is at most

    (1 - p) spare + sum(s (p v + (1 - p) w)),

and for the best p that is the minimum of both (linear programming duality, one multiplier per class). So any p gives a
bound: the search for p need not be trusted, only the ordinary largest mean that is taken at what it finds.
Proof: docs/explanation/proofs/class-sums.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.stats.largest_mean import Choices, quiet_largest_mean
from querygate.stats.numerics import UNIT, dot_bounds, exact_sum, tree_sum, up

_ROUNDS = 20
_CLOSE = 1e-13


class CapRows(NamedTuple):
    """Rows that can be selected: what a selected member has at most, what another has at least, and its class.

    `spare` is per class the cap of the total less the least total of all its members, rounded up.
    """

    value: Floats
    base: Floats
    least: Ints
    most: Ints
    group: Ints
    spare: Floats


class CapBound(NamedTuple):
    """No selection exceeds `bound`; `reached` is what the best selection found has, where its cap is reached too."""

    bound: float
    reached: float


def largest_capped_sum(rows: CapRows) -> CapBound:
    """The largest total; that of the empty selection counts, where it is possible."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = _Shares(rows).at(0.0)
    weight, fixed = _Weights(rows).at(share)
    taken = np.where(weight > 0.0, rows.most, rows.least)
    bound = up(dot_bounds(taken, weight).high + fixed)
    return CapBound(bound, _reached(rows, share, 0.0)[0])


def largest_capped_mean(rows: CapRows, ddof: int, start: float, *, reached: bool = True) -> CapBound:
    """The largest total divided by the number of selected members less ddof; what is reached if it is asked for.

    From any level the best shares there give a bound that is no higher, and the best shares at that bound the next: a
    few rounds reach the least of all (Newton's method on a convex function that falls).

    Requires: more than ddof members that are selected for certain; otherwise there is no bound.
    """
    certain = exact_sum(rows.least)
    if certain <= ddof:
        return CapBound(math.inf, math.nan)
    best, level, share = math.inf, start, np.ones_like(rows.spare)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shares, means = _Shares(rows), _CappedMeans(rows, certain)
        for _ in range(_ROUNDS):
            tried = shares.at(level)
            if best < math.inf and np.array_equal(tried, share):
                break  # and so would be the bound
            bound = means.bound(tried, ddof)
            gained = best - bound  # infinite in the first round; not a number where nothing can be told
            best, share = (bound, tried) if bound < best else (best, share)
            if not gained > _CLOSE * abs(best):
                break
            level = best
    if not reached:
        return CapBound(best, math.nan)
    total, count = _reached(rows, share, best)
    return CapBound(best, total / (count - ddof))


class _CappedMeans:
    """The ordinary largest mean at shares: what is fixed is laid upon the members that are certain."""

    def __init__(self, rows: CapRows, certain: int) -> None:
        free = rows.most - rows.least
        self._certain, self._weights = certain, _Weights(rows)
        (self._sure,), (self._free,) = rows.least.nonzero(), free.nonzero()
        sure, free = rows.least[self._sure], free[self._free]
        none, nobody = np.zeros_like(sure), np.zeros_like(free)
        self._least, self._most = np.concatenate([sure, nobody]), np.concatenate([sure, free])
        self._extra, self._records = np.concatenate([none, free]), exact_sum(self._most)

    def bound(self, share: Floats, ddof: int) -> float:
        weight, fixed = self._weights.at(share)
        laid = np.nextafter(weight[self._sure] + up(fixed / self._certain), np.inf)
        values = np.concatenate([laid, weight[self._free]])
        choices = Choices(values, self._least, self._most, self._extra, self._certain, self._records)
        return quiet_largest_mean(choices, ddof).bound


class _Weights:
    """p v + (1 - p) w of each row, and the sum of (1 - p) spare, both rounded up."""

    def __init__(self, rows: CapRows) -> None:
        self._rows, self._width = rows, rows.value - rows.base
        self._slack = 8 * UNIT * (np.abs(rows.value) + np.abs(rows.base))
        self._spare_slack = 4 * UNIT * np.abs(rows.spare)

    def at(self, share: Floats) -> tuple[Floats, float]:
        rows = self._rows
        p = share[rows.group]
        weight = rows.base + p * self._width + self._slack
        kept = (share < 1.0).nonzero()[0]
        fixed = np.nextafter((1.0 - share[kept]) * rows.spare[kept] + self._spare_slack[kept], np.inf)
        return np.where(p < 1.0, weight, rows.value), up(math.fsum(fixed.tolist()))


class _Shares:
    """The best share of each class at a level: where its bound, convex in p, stops falling.

    A row is worth taking from the p on at which p v + (1 - p) w exceeds the level; each that is taken adds its
    (most - least)(v - w) to the slope, which begins at -spare.
    """

    def __init__(self, rows: CapRows) -> None:
        self._rows, self._width = rows, rows.value - rows.base
        self._free, self._sure = (rows.most - rows.least) * self._width, rows.least * self._width
        self._may_rise = self._free > 0.0

    def at(self, level: float) -> Floats:
        rows, free = self._rows, self._free
        at = np.where(rows.base > level, 0.0, np.where(rows.value > level, (level - rows.base) / self._width, 1.0))
        now = at == 0.0
        slope = np.bincount(rows.group, self._sure + np.where(now, free, 0.0), rows.spare.size) - rows.spare
        falls = slope < 0.0
        share = np.where(slope >= 0.0, 0.0, 1.0)
        later = ((at > 0.0) & (at < 1.0) & self._may_rise & falls[rows.group]).nonzero()[0]
        if not later.size:
            return share
        later = later[np.lexsort((at[later], rows.group[later]))]
        group, added, at = rows.group[later], free[later], at[later]
        climbed = np.cumsum(added)
        climbed -= (climbed - added)[group.searchsorted(group)]
        flat = (slope[group] + climbed >= 0.0).nonzero()[0]
        np.minimum.at(share, group[flat], at[flat])
        return share


def _reached(rows: CapRows, share: Floats, level: float) -> tuple[float, int]:
    """Total and number of a selection as good as whole members allow. Its caps are reached, so it is a value."""
    p = share[rows.group]
    weight, width = rows.base + p * (rows.value - rows.base), rows.value - rows.base
    close = (np.abs(weight - level) <= 1e-9 * (np.abs(weight) + abs(level))) & (p > 0.0) & (p < 1.0) & (width > 0.0)
    taken = np.where((weight > level) & ~close, rows.most, rows.least)
    classes = rows.spare.size
    room = rows.spare - np.bincount(rows.group, taken * width, classes)
    some = np.flatnonzero(close)
    _, one = np.unique(rows.group[some], return_index=True)  # one row of a class is taken in part
    at = some[one]
    more = np.floor(np.clip(room[rows.group[at]] / width[at], 0, rows.most[at] - rows.least[at]))
    taken[at] += more.astype(np.int64)
    plain = np.bincount(rows.group, taken * rows.value, classes)
    capped = rows.spare + np.bincount(rows.group, taken * rows.base, classes)
    return tree_sum(np.minimum(plain, capped))[0], exact_sum(taken)
