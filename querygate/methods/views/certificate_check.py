"""The certificates of views, made or measured again by other means; shares no code with what makes views.

Plain arrays in: the class of each record in each view (any numbers that tell classes apart), its persons, its bin, its
value. Flows where the maker orders vertices, closures where it has components, and whole numbers throughout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from querygate.core.types import Bools, Ints

LARGEST_ROOM = 2**62
NO_LEAST, NO_MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
"""In the place of the ends of a sum's cell, where bins allow no more anyway."""


TRIES = (4, 16, None)
"""With how many others a bin is paired, commonest first, as long as somebody is not shown safe; in the end with all."""

AT_ONCE = 512
"""Pairs of bins that are looked at together."""


@dataclass(frozen=True)
class BinnedNumber:
    """A number behind the bins: values by record, ends by bin (low above high: none), guard and width of sum cells
    (0: no sums are told). Of fewer than `fewest` numbers a sum is only known from bins.
    """

    values: Ints
    low: Ints
    high: Ints
    span: int
    step: int
    fewest: int = 1

    @property
    def has_number(self) -> Bools:
        """By bin."""
        return self.low <= self.high

    @property
    def widths(self) -> Ints:
        """Of bins; 0 where there is no number."""
        return np.where(self.has_number, self.high - self.low, 0)

    def cell(self, total: int, least: int, greatest: int, known: int) -> tuple[int, int]:
        """The cell of the sum of so many numbers, whose bins allow what lies between least and greatest: cells of the
        width `step` from the least on, what is left over belonging to the last.
        """
        if not self.step or known < self.fewest or greatest - least + 1 < 2 * self.step:
            return least, greatest
        begin = total - (total - least) % self.step
        if greatest - begin + 1 < self.step:
            begin -= self.step
        return begin, greatest if greatest - begin + 1 < 2 * self.step else begin + self.step - 1


@dataclass(frozen=True)
class OtherBins:
    """Other margins of the same column, which come first: their bins (margins x records), by number the ends of all of
    these by record, and by number, margin and record the ends of the cell of its class's sum (see closed_ends).
    """

    bins: Ints
    low: Ints
    high: Ints
    least: Ints
    most: Ints


@dataclass(frozen=True)
class TotalsGiven:
    """A world: totals by number and atom, atoms in order of their classes; in view `exact` partners swap numbers."""

    exact: int
    totals: Ints


@dataclass(frozen=True)
class SidedGiven:
    """A world with the views on two sides, 0 and 1; on side `exact` partners swap numbers."""

    sides: Sequence[int]
    exact: int
    totals: Ints


# -- people: R1 and R2 -------------------------------------------------------------------------------------------------


# -- figures -----------------------------------------------------------------------------------------------------------


def histogram(label: Ints, bins: Ints, size: int) -> Ints:
    """Records by class in rising order and by bin."""
    names, place = np.unique(label, return_inverse=True)
    return np.bincount(place.reshape(-1) * size + bins, minlength=names.size * size).reshape(names.size, size)


def sum_ends(label: Ints, bins: Ints, number: BinnedNumber) -> list[tuple[int, int]]:
    """The least and the greatest sum of the published cell of each class in rising order."""
    names, place = np.unique(label, return_inverse=True)
    known = number.has_number[bins]
    parts = (number.values, number.low[bins], number.high[bins], np.ones_like(bins))
    sums = (sums_at(place.reshape(-1), np.where(known, part, 0), names.size).tolist() for part in parts)
    return [number.cell(*one) for one in zip(*sums, strict=True)]


def closed_ends(label: Ints, bins: Ints, number: BinnedNumber) -> tuple[Ints, Ints]:
    """The same without ends that bins have anyway: numbers in their bins never add up to less, nor to more."""
    names, place = np.unique(label, return_inverse=True)
    known = number.has_number[bins]
    least, greatest = (
        sums_at(place.reshape(-1), np.where(known, end[bins], 0), names.size) for end in (number.low, number.high)
    )
    begin, end = np.array(sum_ends(label, bins, number), dtype=np.int64).reshape(-1, 2).T
    return np.where(begin == least, NO_LEAST, begin), np.where(end == greatest, NO_MOST, end)


# -- witnesses: R3 -----------------------------------------------------------------------------------------------------


class WitnessCheck:
    """Who of one cell is shown to be able to have another value, with the same figures in every view (R3).

    Records in one class of every view that have one bin (or a window of it, where it is wide) are a group. `columns`
    says of joint bins which value of each column they have.
    """

    def __init__(
        self,
        labels: Ints,
        bins: Ints,
        numbers: Sequence[BinnedNumber],
        values: int,
        columns: Sequence[Ints] = (),
        others: OtherBins | None = None,
    ) -> None:
        self.told, self.values = numbers, values
        self.columns = columns or [np.arange(int(bins.max(initial=0)) + 1)]
        found = _windows(bins, numbers, others)
        self.public, self.kind, self.ends, self.numbers = found.public, found.kind, found.ends, found.numbers
        window = found.window
        self.atoms, atom = distinct(labels)
        self.classes = [np.unique(row, return_inverse=True)[1].reshape(-1) for row in self.atoms]
        self.divided = [view for view, row in enumerate(self.classes) if row.any()]
        self.held = np.zeros((self.atoms.shape[1], self.public.size), dtype=np.int64)
        np.add.at(self.held, (atom, window), 1)
        self.totals = [
            sums_at(atom, np.where(one.has_number[window], one.values, 0), self.atoms.shape[1]) for one in self.numbers
        ]
        own = self.classes[0 if others is None else len(others.bins) :]
        self.cells = [[closed_ends(row[atom], bins, number) for row in own] for number in numbers]
        if others is not None:
            given = (_given_ends(self.classes, atom, *ends) for ends in zip(others.least, others.most, strict=True))
            self.cells = [[*one, *cells] for one, cells in zip(given, self.cells, strict=True)]
        self.atom, self.window = np.nonzero(self.held)
        place = np.zeros_like(self.held)
        place[self.atom, self.window] = np.arange(self.atom.size)
        self.place = place
        self.group = place[atom, window]
        self.can: Bools = self.held[self.atom] > 0  # by group and window: they exchange values inside their atom

    def world(self, exact: int) -> TotalsGiven:
        """The table as it is."""
        return TotalsGiven(exact, np.array(self.totals, dtype=np.int64).reshape(len(self.totals), len(self.held)))

    def room(self, world: TotalsGiven) -> list[list[Ints]] | None:
        """By number and view, how far each class's sum lies inside its cell in this world; None if it is none."""
        if np.shape(world.totals) != (len(self.numbers), len(self.held)):
            return None
        found = []
        for number, cells, totals in zip(self.numbers, self.cells, np.asarray(world.totals), strict=True):
            low, high = (self.held @ np.where(number.has_number, end, 0) for end in (number.low, number.high))
            if not ((low <= totals) & (totals <= high)).all():
                return None
            views = []
            for row, (begin, end) in zip(self.classes, cells, strict=True):
                total = sums_at(row, totals, int(row.max()) + 1)
                below = np.where(begin == NO_LEAST, LARGEST_ROOM, total - begin)
                views.append(np.minimum(below, np.where(end == NO_MOST, LARGEST_ROOM, end - total)))
            if min(int(inside.min()) for inside in views) < 0:
                return None
            found.append(views)
        return found

    def swap(self, world: TotalsGiven) -> bool:
        """Look for swaps on cycles in this world; False if it is none."""
        room = self.room(world)
        if room is None:
            return False
        if world.exact in self.divided:
            for own, other in self._pairs():
                for view in self.divided:
                    if view != world.exact:
                        further = [self.classes[one] for one in self.divided if one not in (world.exact, view)]
                        first, second = (
                            distinct(np.stack([self.classes[one], *further]))[1] for one in (world.exact, view)
                        )
                        self._swap(own, other, self._allowed(own, other, view, room), first, second)
        return True

    def trade(self, given: SidedGiven) -> bool:
        """Look for swaps between two sides, where all who are together in every view of a side are one class of it;
        with numbers on cycles of four people, if several views are on the side that is not exact. False if it is no
        world.
        """
        room = self.room(TotalsGiven(0, given.totals))
        if room is None or len(given.sides) != len(self.classes) or given.exact not in (0, 1):
            return False
        sides = [[self.classes[v] for v in self.divided if (given.sides[v] == 1) == bool(one)] for one in (0, 1)]
        first, second = (
            distinct(np.stack(views))[1] if views else np.zeros(len(self.held), dtype=np.int64) for views in sides
        )
        is_free = all(bool((inside == LARGEST_ROOM).all()) for views in room for inside in views)
        for own, other in self._pairs():
            bears = np.ones((own.size, len(self.held)), dtype=np.bool_)
            for number, inside in zip(self.numbers, room, strict=True):
                moved = number.widths[own] + number.widths[other]
                for view in self.divided:
                    if (given.sides[view] == 1) != bool(given.exact):
                        bears &= inside[view][self.classes[view]] >= moved[:, None]
            if is_free or len(sides[1 - given.exact]) < 2:  # a cycle meets each class of that side once
                self._swap(own, other, bears, first, second)
                continue
            for one, two, atoms in zip(own.tolist(), other.tolist(), bears, strict=True):
                self._four(one, two, np.flatnonzero(atoms), first, second)
        return True

    def _four(self, own: int, other: int, atoms: Ints, first: Ints, second: Ints) -> None:
        """Holders of `own` and of `other` in turn, the first two of one class of the first side, the second and third
        of one of the second side, and so on back to the first.
        """
        shape = int(first.max()) + 1, int(second.max()) + 1
        where = {one: atoms[self.held[atoms, one] > 0] for one in (own, other)}
        holds = {}
        for one, at in where.items():
            holds[one] = csr_array((np.ones(at.size, dtype=np.int64), (first[at], second[at])), shape=shape)
        for one, two in ((own, other), (other, own)):
            back = (holds[two] @ (holds[one].T @ holds[two])).toarray()
            at = where[one]
            self.can[self.place[at[back[first[at], second[at]] > 0], one], two] = True

    def _pairs(self) -> Iterator[tuple[Ints, Ints]]:
        """Windows of different bins, one of which has somebody who is not shown safe."""
        common = np.argsort(-self.held.sum(axis=0), kind="stable")
        tried = np.equal.outer(self.public, self.public)
        for most in TRIES:
            wanted = np.zeros_like(tried)
            for one in np.unique(self.window[self._unsafe_groups()]).tolist():
                partners = common[self.public[common] != self.public[one]]
                alike = sum((of[self.public[partners]] == of[self.public[one]]).astype(np.int64) for of in self.columns)
                partners = partners[np.argsort(alike, kind="stable")][:most]
                wanted[np.minimum(one, partners), np.maximum(one, partners)] = True
            own, other = np.nonzero(wanted & ~tried)
            tried |= wanted
            for begin in range(0, own.size, AT_ONCE):
                yield own[begin : begin + AT_ONCE], other[begin : begin + AT_ONCE]

    def _allowed(self, own: Ints, other: Ints, view: int, room: Sequence[Sequence[Ints]]) -> Bools:
        """Per pair of windows and atom: does the sum of the atom's class in the view bear a trade?"""
        allowed = np.ones((own.size, len(self.held)), dtype=np.bool_)
        for number, inside in zip(self.numbers, room, strict=True):
            moved = number.widths[own] + number.widths[other]
            allowed &= inside[view][self.classes[view]] >= moved[:, None]
        return allowed

    def _swap(self, own: Ints, other: Ints, allowed: Bools, first: Ints, second: Ints) -> None:
        """Holders of `own` are arcs from their class on the first side to that on the second, those of `other` arcs
        back. Who is on a cycle can have the other window.
        """
        split = int(first.max()) + 1
        size = split + int(second.max()) + 1
        sides = [np.nonzero(allowed & (self.held[:, window].T > 0)) for window in (own, other)]
        tails = [pair * size + first[atom] for pair, atom in sides]
        heads = [pair * size + split + second[atom] for pair, atom in sides]
        tails[1], heads[1] = heads[1], tails[1]
        reach = _closure(np.concatenate(tails), np.concatenate(heads), own.size, size)
        for (pair, atom), tail, head, mine, theirs in zip(sides, tails, heads, (own, other), (other, own), strict=True):
            back = tail % size
            on_cycle = reach[head, back // 64] >> (back % 64).astype(np.uint64) & np.uint64(1) > 0
            groups = self.place[atom[on_cycle], mine[pair[on_cycle]]]
            self.can[groups, theirs[pair[on_cycle]]] = True

    def _unsafe_groups(self) -> Bools:
        _, first, place = np.unique(self.kind, return_index=True, return_inverse=True)
        names = self.public[first]
        can = np.zeros((self.atom.size, names.size), dtype=np.bool_)
        for window, name in enumerate(place.reshape(-1).tolist()):
            can[:, name] |= self.can[:, window]
        unsafe: Bools = np.zeros(len(can), dtype=np.bool_)
        for of in self.columns:
            reached = [can[:, of[names] == value].any(axis=1) for value in np.unique(of[names])]
            unsafe |= np.sum(reached, axis=0) < self.values
        for number, (low, high) in zip(self.told, self.ends, strict=True):
            known = can & number.has_number[names]
            greatest = np.where(known, high[first], np.iinfo(np.int64).min).max(axis=1)
            least = np.where(known, low[first], np.iinfo(np.int64).max).min(axis=1)
            own = number.has_number[self.public[self.window]]  # then one is known
            unsafe[own] |= greatest[own] - least[own] + 1 < number.span
        return unsafe

    def unsafe(self) -> Bools:
        """Per record whether nothing shows that it could be otherwise."""
        return self._unsafe_groups()[self.group]


def _closure(tails: Ints, heads: Ints, graphs: int, size: int) -> NDArray[np.uint64]:
    """Where each vertex of some graphs of the same size leads to, as bits, by following arcs until nothing is new."""
    reach = np.zeros((graphs * size, (size + 63) // 64), dtype=np.uint64)
    vertex = np.arange(graphs * size)
    reach[vertex, vertex % size // 64] = np.uint64(1) << (vertex % size % 64).astype(np.uint64)
    order = np.argsort(tails, kind="stable")
    tails, heads = tails[order], heads[order]
    begin = np.flatnonzero(np.append(True, np.diff(tails) != 0)) if tails.size else tails
    while tails.size:
        further = reach[tails[begin]] | np.bitwise_or.reduceat(reach[heads], begin, axis=0)
        if np.array_equal(further, reach[tails[begin]]):
            break
        reach[tails[begin]] = further
    return reach


@dataclass(frozen=True)
class _Windows:
    """Those that occur, in order: the public bin of each, the kind (its bin there and in other margins), and by number
    the ends of these bins and the numbers with the ends of windows. `window` is by record.
    """

    public: Ints
    kind: Ints
    ends: list[tuple[Ints, Ints]]
    numbers: list[BinnedNumber]
    window: Ints


def _windows(bins: Ints, numbers: Sequence[BinnedNumber], others: OtherBins | None) -> _Windows:
    """Bins with more values than a sixth of a sum cell divided into windows of so many, from their low end up; and all
    of them by the bins of other margins.
    """
    keys = [bins, bins * 0 if others is None else distinct(others.bins)[1]]
    for number in numbers:
        size = max(1, number.step // 6)
        is_wide = (number.high - number.low >= size) & (number.step > 0)
        keys.append(np.where(is_wide[bins], (number.values - number.low[bins]) // size, 0))
    names, window = distinct(np.stack(keys))
    public, told, finer = names[0], [], []
    for place, (number, parts) in enumerate(zip(numbers, names[2:], strict=True)):
        size = max(1, number.step // 6)
        low, high = ends = number.low[public], number.high[public]
        is_wide = (high - low >= size) & (number.step > 0)
        low = np.where(is_wide, low + parts * size, low)
        high = np.where(is_wide, np.minimum(low + size - 1, high), high)
        if others is not None:
            inner, outer = np.full_like(low, NO_LEAST), np.full_like(high, NO_MOST)
            np.maximum.at(inner, window, others.low[place])
            np.minimum.at(outer, window, others.high[place])
            held = number.has_number[public]
            inner, outer = np.where(held, inner, NO_LEAST), np.where(held, outer, NO_MOST)
            low, high = np.maximum(low, inner), np.minimum(high, outer)
            ends = np.maximum(ends[0], inner), np.minimum(ends[1], outer)
        told.append(ends)
        finer.append(replace(number, low=low, high=high))
    return _Windows(public, distinct(names[:2])[1], told, finer, window)


def _given_ends(classes: Sequence[Ints], atom: Ints, least: Ints, most: Ints) -> list[tuple[Ints, Ints]]:
    """By class of the first margins what is given by record."""
    found = []
    for row, begin, end in zip(classes, least, most, strict=False):
        low, high = (np.zeros(int(row.max()) + 1, dtype=np.int64) for _ in range(2))
        low[row[atom]], high[row[atom]] = begin, end
        found.append((low, high))
    return found


def distinct(rows: Ints) -> tuple[Ints, Ints]:
    """The different columns of a matrix in order, and which of them each column is."""
    order = np.lexsort(rows[::-1])
    sorted_rows = rows[:, order]
    is_new = np.append(True, (np.diff(sorted_rows, axis=1) != 0).any(axis=0))[: order.size]
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.cumsum(is_new) - 1
    return sorted_rows[:, is_new], place


def sums_at(place: Ints, figures: Ints, size: int) -> Ints:
    """Figures added up by place, in whole numbers."""
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, place, figures)
    return total
