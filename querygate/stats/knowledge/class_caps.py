"""The largest total and mean of selections whose classes have a cap; used for means and for mean squares.

In class c the selected members have a total of at most sum(s v), v the most that each can have, and of at most
spare + sum(s w), w the least that a member has who is not selected: the total of the class is capped, and what is not
selected takes its least part of it. For every share p of [0, 1] the selected total is at most

    (1 - p) spare + sum(s (p v + (1 - p) w)),

and for the best p that is the minimum of both (linear programming duality, one multiplier per class). So any p gives a
bound: the search for p need not be trusted, only the sum that is taken at what it finds. Many selections (groups of a
statement, readings of a group, both ends) are searched at once: arrays for all of them cost little more than for one.
Proof: docs/explanation/proofs/class-sums.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.stats.numerics import UNIT, sums_by_place, totals

_ROUNDS = 30
_CLOSE = 1e-15
_NO_ROWS, _NO_MEMBERS = np.zeros(0, dtype=np.int64), np.zeros(0)


class CapRows(NamedTuple):
    """Rows that can be selected: what a selected member has at most, what another has at least, and its class.

    Per class `spare` is the cap of the total less the least total of all its members, rounded up, and `selection` the
    place of the selection that it belongs to: rows of selection after selection, each by its rising classes.
    """

    value: Floats
    base: Floats
    least: Ints
    most: Ints
    group: Ints
    spare: Floats
    selection: Ints
    selections: int

    def some(self, classes: Bools, rows: Bools) -> CapRows:
        """These classes and their rows, with the same selections."""
        group = (np.cumsum(classes) - 1)[self.group[rows]]
        value, base, least, most = self.value[rows], self.base[rows], self.least[rows], self.most[rows]
        return CapRows(value, base, least, most, group, self.spare[classes], self.selection[classes], self.selections)

    def held(self) -> CapRows:
        """Without rows that cannot be selected."""
        (rows,) = self.most.nonzero()
        value, base, least, most = self.value[rows], self.base[rows], self.least[rows], self.most[rows]
        return CapRows(value, base, least, most, self.group[rows], self.spare, self.selection, self.selections)


class CapBounds(NamedTuple):
    """Per selection: nothing exceeds `bound`; `reached` is what the best one found has, where its caps are reached."""

    bound: Floats
    reached: Floats


def joined(first: CapRows, second: CapRows) -> CapRows:
    """The selections of both, those of the second behind those of the first."""
    return CapRows(
        np.concatenate([first.value, second.value]),
        np.concatenate([first.base, second.base]),
        np.concatenate([first.least, second.least]),
        np.concatenate([first.most, second.most]),
        np.concatenate([first.group, second.group + first.spare.size]),
        np.concatenate([first.spare, second.spare]),
        np.concatenate([first.selection, second.selection + first.selections]),
        first.selections + second.selections,
    )


def largest_capped_sums(rows: CapRows) -> CapBounds:
    """The largest totals, including that of the empty selection where it is possible."""
    with np.errstate(all="ignore"):
        search = _Search(rows)
        level = np.zeros(rows.selections)
        found = search.at(level)
        bound = search.excess(found.share, level, 0).bound
        return CapBounds(np.where(np.isnan(bound), np.inf, bound), search.reached(found)[0])


def largest_capped_means(rows: CapRows, ddof: int = 0, *, reached: bool = True) -> CapBounds:
    """The largest totals divided by the number of selected members less ddof; also the reached values, if requested.

    Requires: more than ddof members that are selected for certain; otherwise there is no bound.
    """
    with np.errstate(all="ignore"):
        search = _Search(rows)
        certain = search.added(rows.least) - ddof
        if not reached:
            bound = _certified(search, *search.climbed_apart(ddof), certain, ddof)
            return CapBounds(bound, np.full(rows.selections, np.nan))
        found, level = search.climbed(search.first_level(ddof), ddof)
        bound = _certified(search, found.share, level, certain, ddof)
        total, count = search.reached(found)
        return CapBounds(bound, np.where(certain > 0, total / (count - ddof), np.nan))


def _certified(search: _Search, share: Floats, level: Floats, certain: Floats, ddof: int) -> Floats:
    """A number t with F(t) <= 0 for certain: then no mean exceeds t (weak duality).

    F falls by the number of certain members at least, so t = level + F(level) / certain is one. A smaller step is tried
    where far more are selected than are certain."""
    over, count = search.excess(share, level, ddof)
    bound = np.where(over <= 0.0, level, _above(level + _above(over / certain)))
    step = 3.0 * over / (count - ddof)
    if (2.0 * step < bound - level).any():
        guess = _above(level + np.maximum(step, 0.0))
        again, _ = search.excess(share, guess, ddof)
        bound = np.where((again <= 0.0) & (guess < bound), guess, bound)
    return np.where((certain > 0) & ~np.isnan(bound), bound, np.inf)


def _above(value: Floats) -> Floats:
    found: Floats = np.nextafter(value, np.inf)
    return found


class _Found(NamedTuple):
    """The best selection at a level: the share of each class; members by row, and those of some rows, `later`, beyond
    that, of which one in a class may be a part of a member."""

    share: Floats
    taken: Ints
    later: Ints
    more: Floats
    room: Floats


class _Excess(NamedTuple):
    """Per selection an upper bound of F, and how many members reach it."""

    bound: Floats
    members: Floats


class _Search:
    """Selections, with everything that does not depend on the level computed once."""

    def __init__(self, rows: CapRows) -> None:
        self.rows, self.of = rows, rows.selection[rows.group]
        self.width, self.free = rows.value - rows.base, rows.most - rows.least
        self.may_rise: Bools = (self.free > 0) & (self.width > 0.0)
        self.slack = 8 * UNIT * (np.abs(rows.value) + np.abs(rows.base))
        self.whose = np.concatenate([self.of, rows.selection])

    def added(self, numbers: Floats | Ints) -> Floats:
        """By selection, for the search, which need not be trusted, and for numbers of members, which add up exactly."""
        return totals(self.of, numbers, self.rows.selections)

    def first_level(self, ddof: int) -> Floats:
        """Where a search begins: the means of all records that can be selected."""
        return self.added(self.rows.most * self.rows.value) / (self.added(self.rows.most) - ddof)

    def climbed_apart(self, ddof: int) -> tuple[Floats, Floats]:
        """The share of each class and the levels that `climbed` ends with, but for rounding. Most conditions leave open
        who is selected in a few classes only, so those of the others are added up once, and not at every level."""
        rows, free = self.rows, totals(self.rows.group, self.free, self.rows.spare.size) > 0.0
        level, at_least = self.first_level(ddof), self._found(rows.least)
        if free.all():
            found, level = self.climbed(level, ddof)
            return found.share, level
        open_, share = free[rows.group], at_least.share
        room = np.where(free, 0.0, np.minimum(at_least.room, 0.0))
        settled = np.where(open_, 0, rows.least)
        total = self.added(settled * rows.value) + totals(rows.selection, room, rows.selections)
        if open_.any():
            found, level = _Search(rows.some(free, open_)).climbed(level, ddof, total, self.added(settled))
            share[free] = found.share
        else:
            level = total / (self.added(settled) - ddof)
        return share, level

    def climbed(
        self, level: Floats, ddof: int, more_total: Floats | float = 0.0, more_count: Floats | float = 0.0
    ) -> tuple[_Found, Floats]:
        """Dinkelbach (1967): the mean of the best selection at a level is the next level. It never exceeds the largest
        mean, so it rises to it; a few rounds suffice, since only rows near the level change."""
        for _ in range(_ROUNDS):
            found = self.at(level)
            total, count = self._totals(found)
            total, count = total + more_total, count + more_count
            before, level = level, total / (count - ddof)
            if not (np.abs(level - before) > _CLOSE * np.abs(level)).any():
                break
        return found, level

    def at(self, level: Floats) -> _Found:
        """The best selection of each class: the maximum over s of min(sum(s v), spare + sum(s w)) - level sum(s).

        Members with w above the level are taken whatever the share. Then those with v above it, in the order of the
        smallest p at which p v + (1 - p) w passes the level, until the cap is used up."""
        rows, by_row = self.rows, level[self.of]
        above = rows.base > by_row
        found = self._found(np.where(above, rows.most, rows.least))
        share, taken, room = found.share, found.taken, found.room
        later = ((rows.value > by_row) & ~above & self.may_rise & (share[rows.group] > 0.0)).nonzero()[0]
        if not later.size:
            return found
        group, width = rows.group[later], self.width[later]
        passed = (by_row[later] - rows.base[later]) / width
        if (group[1:] == group[:-1]).any():
            order = np.lexsort((passed, group))
            later, group, width, passed = later[order], group[order], width[order], passed[order]
        # As fractions of the free range of each class, at most 1: sums over classes of any size keep their digits.
        free, room_of = self.free[later], room[group]
        part = np.minimum(free * width / room_of, 1.0)
        before = np.cumsum(part) - part
        left = 1.0 - (before - before[group.searchsorted(group)])
        full = (left <= part).nonzero()[0]
        np.minimum.at(share, group[full], passed[full])
        return _Found(share, taken, later, np.minimum(np.maximum(left * room_of / width, 0.0), free), room)

    def _found(self, taken: Ints) -> _Found:
        """These members and no more."""
        room = self.rows.spare - totals(self.rows.group, taken * self.width, self.rows.spare.size)
        return _Found(np.where(room > 0.0, 1.0, 0.0), taken, _NO_ROWS, _NO_MEMBERS, room)

    def _totals(self, found: _Found) -> tuple[Floats, Floats]:
        """The totals of the selections, and their numbers of members."""
        rows, later, selections = self.rows, found.later, self.rows.selections
        lost = totals(rows.selection, np.minimum(found.room, 0.0), selections)
        total, count = self.added(found.taken * rows.value) + lost, self.added(found.taken)
        of = self.of[later]
        total += totals(of, found.more * rows.value[later], selections)
        return total, count + totals(of, found.more, selections)

    def reached(self, found: _Found) -> tuple[Floats, Floats]:
        """Totals and numbers of selections of whole members. Their caps are reached, so they are values."""
        rows, classes = self.rows, self.rows.spare.size
        taken = found.taken.copy()
        taken[found.later] += np.floor(found.more).astype(np.int64)
        plain = totals(rows.group, taken * rows.value, classes)
        capped = rows.spare + totals(rows.group, taken * rows.base, classes)
        total = totals(rows.selection, np.minimum(plain, capped), rows.selections)
        return total, self.added(taken)

    def excess(self, share: Floats, level: Floats, ddof: int) -> _Excess:
        """F(level), the largest total less level times the number less ddof, at these shares. All roundings are
        covered."""
        rows = self.rows
        p = share[rows.group]
        weight = np.where(p < 1.0, rows.base + p * self.width + self.slack, rows.value)
        gains = weight - level[self.of]  # one rounding; its sign is right
        taken = np.where(gains > 0.0, rows.most, rows.least)
        fixed = _above((1.0 - share) * rows.spare + 4 * UNIT * np.abs(rows.spare))
        terms = np.concatenate([taken * gains, np.where(share < 1.0, fixed, 0.0)])
        bound = sums_by_place(terms, self.whose, rows.selections, 3).high
        return _Excess(_above(bound + ddof * level) if ddof else bound, self.added(taken))
