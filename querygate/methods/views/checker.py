"""The certificates of views, made or measured again by other means; shares no code with what makes views.

Plain arrays in: the class of each record in each view (any numbers that tell classes apart), its persons, its bin, its
value. Slow and simple on purpose: flows where the maker contracts graphs, closures where it has components, and whole
numbers or fractions throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from querygate.core.types import Bools, Ints

LARGEST_FLOW = 2**30


@dataclass(frozen=True)
class BinnedNumber:
    """A number behind the bins: values by record, ends by bin (low above high: none), guard and width of sum cells."""

    values: Ints
    low: Ints
    high: Ints
    span: int
    step: int


@dataclass(frozen=True)
class BalanceGiven:
    """Numbers by atom over a denominator that show one atom, atoms in order of their classes."""

    atom: int
    numbers: Sequence[int]
    denominator: int


@dataclass(frozen=True)
class TotalsGiven:
    """A world: totals by number and atom, atoms in order of their classes; in view `exact` partners swap numbers."""

    exact: int
    totals: Ints


@dataclass(frozen=True)
class MoveGiven:
    """A trade of two bins: by atom how many holders of `own` get `other`, or the other way if it is negative."""

    own: int
    other: int
    atoms: Sequence[int]
    times: Sequence[int]


def fewest_people(label: Ints, persons: Ints | None = None) -> int:
    """Distinct people of the smallest class (R1)."""
    people = np.arange(label.size) if persons is None else persons
    pairs = np.unique(np.stack([label, people]), axis=1)
    return int(np.unique(pairs[0], return_counts=True)[1].min())


def person_shares(records: int, persons: Ints | None = None) -> tuple[Ints, int]:
    """Per record its part of a person, whose records share them equally, in parts of a whole that is returned too."""
    if persons is None:
        return np.ones(records, dtype=np.int64), 1
    times: dict[int, int] = {}
    for person in persons.tolist():
        times[person] = times.get(person, 0) + 1
    whole = min(lcm(*times.values()), 720_720)
    return np.array([whole // times[person] for person in persons.tolist()], dtype=np.int64), whole


def least_support(first: Ints, second: Ints, weight: Ints) -> int:
    """The least weight of the records that any combination of the classes of two views tells of (R2).

    The least cut of each component is the least flow from one of its vertices to any other.
    """
    names_1, one = np.unique(first, return_inverse=True)
    names_2, two = np.unique(second, return_inverse=True)
    size = names_1.size + names_2.size
    capacity = np.zeros((size, size), dtype=np.int64)
    np.add.at(capacity, (one.reshape(-1), names_1.size + two.reshape(-1)), weight)
    capacity += capacity.T
    if capacity.max() >= LARGEST_FLOW:
        raise ValueError("weights are too large for flows; divide persons into fewer parts")
    graph = csr_array(capacity.astype(np.int32))
    least, seen = None, np.zeros(size, dtype=np.bool_)
    for source in range(size):
        if seen[source]:
            continue
        members = breadth_first_order(graph, source, directed=False, return_predecessors=False)
        seen[members] = True
        for sink in members[1:].tolist():
            flow = int(maximum_flow(graph, source, sink).flow_value)
            least = flow if least is None else min(least, flow)
    return least or 0


def unbalanced(labels: Ints, weight: Ints, least: int, certificates: Sequence[BalanceGiven]) -> list[int]:
    """Atoms of less than the `least` weight without a certificate that holds (R2*); `labels` are views x records."""
    atoms, atom = np.unique(labels, axis=1, return_inverse=True)
    held = [0] * atoms.shape[1]
    for place, share in zip(atom.reshape(-1).tolist(), weight.tolist(), strict=True):
        held[place] += share
    shown = set()
    for one in certificates:
        z = [Fraction(number, one.denominator) for number in one.numbers]
        fits = len(z) == len(held) and z[one.atom] >= least - held[one.atom]
        fits = fits and all(abs(value) <= held[b] for b, value in enumerate(z) if b != one.atom)
        if fits and not any(_class_sums(atoms, z)):
            shown.add(one.atom)
    return [place for place, share in enumerate(held) if share < least and place not in shown]


def _class_sums(atoms: Ints, figures: Sequence[Fraction]) -> list[Fraction]:
    sums: dict[tuple[int, int], Fraction] = {}
    for view, row in enumerate(atoms.tolist()):
        for name, figure in zip(row, figures, strict=True):
            sums[view, name] = sums.get((view, name), Fraction(0)) + figure
    return list(sums.values())


def histogram(label: Ints, bins: Ints, size: int) -> Ints:
    """Records by class in rising order and by bin."""
    return np.stack([np.bincount(bins[label == name], minlength=size) for name in np.unique(label)])


def sum_ends(label: Ints, bins: Ints, number: BinnedNumber) -> list[tuple[int, int]]:
    """The least and the greatest sum of the published cell of each class in rising order."""
    ends = []
    for name in np.unique(label):
        total = sum(number.values[(label == name) & (number.low <= number.high)[bins]].tolist())
        low = (total // number.step) * number.step
        ends.append((low, low + number.step - 1))
    return ends


class WitnessCheck:
    """Who of one cell is shown to be able to have another value, with the same figures in every view (R3)."""

    def __init__(self, labels: Ints, bins: Ints, numbers: Sequence[BinnedNumber], values: int) -> None:
        self.labels, self.told, self.values = labels, numbers, values
        self.public, self.bins, self.numbers = _windows(bins, numbers)
        self.atoms, atom = np.unique(labels, axis=1, return_inverse=True)
        self.atom = atom.reshape(-1)
        self.holders: dict[tuple[int, int], int] = {}
        for pair in zip(self.atom.tolist(), self.bins.tolist(), strict=True):
            self.holders[pair] = self.holders.get(pair, 0) + 1
        here: dict[int, set[int]] = {}
        for a, own in self.holders:
            here.setdefault(a, set()).add(own)
        self.can: dict[tuple[int, int], set[int]] = {(a, own): set(here[a]) for a, own in self.holders}

    def room(self, world: TotalsGiven) -> list[dict[tuple[int, int], int]] | None:
        """By number, how far each class's sum lies inside its cell in this world; None if it is no world at all."""
        found = []
        for number, totals in zip(self.numbers, world.totals, strict=True):
            inside: dict[tuple[int, int], int] = {}
            known = (number.low <= number.high)[self.bins]
            for a, total in enumerate(totals.tolist()):
                bins = self.bins[(self.atom == a) & known]
                if not int(number.low[bins].sum()) <= total <= int(number.high[bins].sum()):
                    return None
            for view, row in enumerate(self.atoms):
                for name, ends in zip(np.unique(row), sum_ends(self.labels[view], self.bins, number), strict=True):
                    total = int(totals[row == name].sum())
                    inside[view, int(name)] = min(total - ends[0], ends[1] - total)
            if min(inside.values()) < 0:
                return None
            found.append(inside)
        return found

    def swap(self, world: TotalsGiven) -> bool:
        """Look for swaps on cycles, where two views divide the cell, in this world; False if it is none."""
        room = self.room(world)
        if room is None:
            return False
        divided = [view for view, row in enumerate(self.atoms) if (row != row[0]).any()]
        if len(divided) != 2:
            return True
        for own in range(len(self.public)):
            for other in range(own + 1, len(self.public)):
                is_another = self.public[own] != self.public[other]
                if is_another and any(self._is_unsafe(pair) for pair in self.holders if pair[1] in (own, other)):
                    self._swap_pair(own, other, divided, world, room)
        return True

    def _swap_pair(
        self,
        own: int,
        other: int,
        divided: Sequence[int],
        world: TotalsGiven,
        room: Sequence[dict[tuple[int, int], int]],
    ) -> None:
        first, second = (np.unique(row, return_inverse=True)[1].reshape(-1) for row in self.atoms[list(divided)])
        size = int(first.max()) + 1
        reach = np.eye(size + int(second.max()) + 1, dtype=np.float64)
        free = [self._allows(a, own, other, 1, world, room) for a in range(self.atoms.shape[1])]
        for a, is_free in enumerate(free):
            if is_free and (a, own) in self.holders:
                reach[first[a], size + second[a]] = 1
            if is_free and (a, other) in self.holders:
                reach[size + second[a], first[a]] = 1
        for _ in range(len(reach).bit_length()):
            reach = np.minimum(reach @ reach, 1.0)
        for a, is_free in enumerate(free):
            if is_free and (a, own) in self.holders and reach[size + second[a], first[a]]:
                self.can[a, own].add(other)
            if is_free and (a, other) in self.holders and reach[first[a], size + second[a]]:
                self.can[a, other].add(own)

    def _allows(
        self, a: int, own: int, other: int, times: int, world: TotalsGiven, room: Sequence[dict[tuple[int, int], int]]
    ) -> bool:
        """Do the sums of the atom's classes bear so many trades in them?"""
        for number, inside in zip(self.numbers, room, strict=True):
            moved = sum(int(number.high[b] - number.low[b]) for b in (own, other) if number.low[b] <= number.high[b])
            for view in range(len(self.atoms)):
                is_free = view == world.exact or (self.atoms[view] == self.atoms[view, 0]).all()
                if not is_free and inside[view, int(self.atoms[view, a])] < times * moved:
                    return False
        return True

    def move(self, one: MoveGiven, world: TotalsGiven) -> bool:
        """Take a move into account; False if it is not one."""
        room = self.room(world)
        times = dict(zip(one.atoms, one.times, strict=True))
        if room is None or any(
            n > self.holders.get((a, one.own), 0) or -n > self.holders.get((a, one.other), 0) for a, n in times.items()
        ):
            return False
        for view, row in enumerate(self.atoms):
            for name in set(row[list(times)].tolist()):
                inside = [n for a, n in times.items() if row[a] == name]
                given = sum(n for n in inside if n > 0)
                a = next(a for a in times if row[a] == name)
                is_free = view == world.exact or (row == row[0]).all()  # the whole cell sums classes of the exact view
                if sum(inside) or not (is_free or self._bears(view, a, one, given, room)):
                    return False
        for a, n in times.items():
            if n:
                self.can[a, one.own if n > 0 else one.other].add(one.other if n > 0 else one.own)
        return True

    def _bears(self, view: int, a: int, one: MoveGiven, given: int, room: Sequence[dict[tuple[int, int], int]]) -> bool:
        name = int(self.atoms[view, a])
        for number, inside in zip(self.numbers, room, strict=True):
            ends = [(number.low[b], number.high[b]) for b in (one.own, one.other)]
            if inside[view, name] < given * sum(int(high - low) for low, high in ends if low <= high):
                return False
        return True

    def _is_unsafe(self, pair: tuple[int, int]) -> bool:
        can = {self.public[b] for b in self.can[pair]}
        if len(can) < self.values:
            return True
        for number in self.told:
            known = [b for b in can if number.low[b] <= number.high[b]]
            ends = [number.high[b] for b in known], [number.low[b] for b in known]
            if self.public[pair[1]] in known and max(ends[0]) - min(ends[1]) + 1 < number.span:
                return True
        return False

    def unsafe(self) -> Bools:
        """Per record whether nothing shows that it could be otherwise."""
        return np.array([self._is_unsafe(pair) for pair in zip(self.atom.tolist(), self.bins.tolist(), strict=True)])


def _windows(bins: Ints, numbers: Sequence[BinnedNumber]) -> tuple[list[int], Ints, list[BinnedNumber]]:
    """Bins with more values than a sixth of a sum cell divided into windows of so many, from their low end up.

    Returns the public bin of each window that occurs, in order, the window of each record, and the numbers with the
    ends of windows.
    """
    names: list[tuple[int, ...]] = []
    for record, own in enumerate(bins.tolist()):
        parts = [own]
        for number in numbers:
            size = max(1, number.step // 6)
            is_wide = number.high[own] - number.low[own] >= size
            parts.append(int(number.values[record] - number.low[own]) // size if is_wide else 0)
        names.append(tuple(parts))
    order = sorted(set(names))
    place = {name: i for i, name in enumerate(order)}
    finer = []
    for which, number in enumerate(numbers):
        low, high = [], []
        for name in order:
            first, last = int(number.low[name[0]]), int(number.high[name[0]])
            size = max(1, number.step // 6)
            if last - first >= size:
                first += name[1 + which] * size
                last = min(first + size - 1, last)
            low.append(first)
            high.append(last)
        finer.append(BinnedNumber(number.values, np.array(low), np.array(high), number.span, number.step))
    return [name[0] for name in order], np.array([place[name] for name in names]), finer
