"""Witnesses acted out: a whole other table is written down, and everything that is published of it is computed anew."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.views import CellRelease, ColumnRelease, SensitiveColumn
from querygate.methods.views.holders import Holders, Possible
from querygate.methods.views.swaps import find_swaps
from querygate.methods.views.windows import Windows
from querygate.methods.views.worlds import World

Trade = dict[int, int]
"""By atom how many holders of one bin get the other; negative the other way."""


@dataclass
class Cell:
    """One column of one cell: bins and values by record, and what is published of them."""

    windows: Windows
    labels: Ints
    bins: list[int]
    values: list[list[int]]

    def published(self, bins: list[int], values: list[list[int]]) -> object:
        """Histograms and cells of sums of all classes of all views."""
        told: dict[tuple[int, int], list[object]] = {}
        for view, label in enumerate(self.labels.tolist()):
            for name in set(label):
                members = [i for i, own in enumerate(label) if own == name]
                entry: list[object] = [sorted(int(self.windows.public[bins[i]]) for i in members)]
                for measure, value in zip(self.windows.told.measures, values, strict=True):
                    known = [i for i in members if measure.has_number[self.windows.public[bins[i]]]]
                    low, high = (sum(int(e[self.windows.public[bins[i]]]) for i in known) for e in measure.ends)
                    cells = (high - low + 1) // measure.step if len(known) >= measure.fewest else 1
                    entry.append(min((sum(value[i] for i in known) - low) // measure.step, max(1, cells) - 1))
                told[view, name] = entry
        return told

    def fits(self, bins: list[int], values: list[list[int]]) -> bool:
        """Is it a table with the same figures, every value inside its public bin?"""
        for measure, value in zip(self.windows.told.measures, values, strict=True):
            for own, number in zip(self.windows.public[bins].tolist(), value, strict=True):
                if measure.has_number[own] and not measure.low[own] <= number <= measure.high[own]:
                    return False
        return self.published(bins, values) == self.published(self.bins, self.values)


def unplayable(column: SensitiveColumn, cell: CellRelease, one: ColumnRelease, values: int) -> list[str]:
    """Claims of the certificates that could not be acted out."""
    if not one.views:
        return []
    leaf = cell.leaf[list(one.views)]
    windows = Windows.of(column, cell.records)
    holders = Holders.of(windows, one.safe.views, leaf)
    labels = np.stack([view.of(own) for view, own in zip(one.safe.views, leaf, strict=True)])
    here = Cell(
        windows,
        labels,
        windows.column.codes.tolist(),
        [np.where(m.has_number[windows.column.codes], m.values, 0).tolist() for m in windows.column.measures],
    )
    atom = holders.atom[holders.row_group]
    possible = Possible.begin(holders, values)
    wrong = _direct(here, holders, possible, atom)
    for world in one.safe.worlds:
        known = possible.bins.copy()
        find_swaps(possible, world)
        for group, place in zip(*np.nonzero(possible.bins & ~known), strict=True):
            own, other = int(holders.bin[group]), int(place)
            trade = _cycle(holders, world, int(holders.atom[group]), own, other)
            if trade is None or not _acts(here, holders, world, atom, own, other, trade):
                wrong.append(f"a holder of {own} cannot have {other}")
    if not possible.is_safe().all():
        wrong.append("somebody is not safe")
    return wrong


def _direct(here: Cell, holders: Holders, possible: Possible, atom: Ints) -> list[str]:
    """Two people of one atom change places."""
    wrong = []
    for group, place in zip(*np.nonzero(possible.bins), strict=True):
        own, other = int(holders.bin[group]), int(place)
        i = next(i for i, b in enumerate(here.bins) if b == own and atom[i] == holders.atom[group])
        j = next((j for j, b in enumerate(here.bins) if b == other and atom[j] == atom[i]), None)
        if j is None:
            wrong.append("there is nobody to change with")
            continue
        bins, values = list(here.bins), [list(value) for value in here.values]
        bins[i], bins[j] = bins[j], bins[i]
        for value in values:
            value[i], value[j] = value[j], value[i]
        if not here.fits(bins, values):
            wrong.append("changing places changes a figure")
    return wrong


def _cycle(holders: Holders, world: World, atom: int, own: int, other: int) -> Trade | None:
    """A cycle through the atom in the exact view and another one, inside its classes of all further views."""
    for view in holders.atoms.divided:
        further = [one for one in holders.atoms.divided if one not in (world.exact, view)]
        inside = (holders.atoms.labels[further] == holders.atoms.labels[further][:, [atom]]).all(axis=0)
        if view != world.exact and (trade := _cycle_inside(holders, world, view, inside, atom, own, other)):
            return trade
    return None


def _cycle_inside(
    holders: Holders, world: World, view: int, inside: Bools, atom: int, own: int, other: int
) -> Trade | None:
    """Along classes that have room, found breadth first."""
    room = world.room(holders, np.array([own]), np.array([other]))[0]
    first, second = (holders.atoms.labels[one] + holders.atoms.offsets[one] for one in (world.exact, view))
    free = inside & (room[second] > 0)
    steps: dict[tuple[int, int], list[tuple[int, tuple[int, int]]]] = defaultdict(list)
    for a in np.flatnonzero(free).tolist():
        if holders.held[a, own]:
            steps[0, int(first[a])].append((a, (1, int(second[a]))))
        if holders.held[a, other]:
            steps[1, int(second[a])].append((a, (0, int(first[a]))))
    if not free[atom]:
        return None
    begin, goal = (1, int(second[atom])), (0, int(first[atom]))
    came: dict[tuple[int, int], tuple[int, tuple[int, int]]] = {}
    waiting = deque([begin])
    while waiting and goal not in came:
        at = waiting.popleft()
        for a, to in steps[at]:
            if to not in came and to != begin:
                came[to] = (a, at)
                waiting.append(to)
    if goal not in came:
        return None
    trade: Trade = {atom: 1}
    at = goal
    while at != begin:
        a, before = came[at]
        trade[a] = trade.get(a, 0) + (1 if before[0] == 0 else -1)
        at = before
    return trade


def _acts(here: Cell, holders: Holders, world: World, atom: Ints, own: int, other: int, trade: Trade) -> bool:
    """The other table: the numbers of the world, and after the trade those of partners in the exact view swapped."""
    values = [_numbers(here, holders, atom, number, totals) for number, totals in enumerate(world.totals)]
    if not here.fits(here.bins, values):
        return False
    bins = list(here.bins)
    given: dict[int, list[int]] = defaultdict(list)
    taken: dict[int, list[int]] = defaultdict(list)
    label = here.labels[world.exact]
    for a, times in trade.items():
        bin_, side = (own, given) if times > 0 else (other, taken)
        chosen = [i for i in range(len(bins)) if atom[i] == a and here.bins[i] == bin_][: abs(times)]
        if len(chosen) < abs(times):
            return False
        for i in chosen:
            side[int(label[i])].append(i)
    for name in {*given, *taken}:
        if len(given[name]) != len(taken[name]):
            return False
        for i, j in zip(given[name], taken[name], strict=True):
            bins[i], bins[j] = other, own
            for value in values:
                value[i], value[j] = value[j], value[i]
    return here.fits(bins, values) and bins != here.bins


def _numbers(here: Cell, holders: Holders, atom: Ints, number: int, totals: Ints) -> list[int]:
    """Numbers by record that have these totals by atom, each as low as can be until the rest is given out."""
    measure = here.windows.column.measures[number]
    low, high = measure.ends
    value = [int(low[b]) for b in here.bins]
    for a in range(holders.atoms.number):
        members = [i for i in range(len(value)) if atom[i] == a]
        rest = int(totals[a]) - sum(value[i] for i in members)
        for i in members:
            more = min(rest, int(high[here.bins[i]] - low[here.bins[i]]))
            value[i], rest = value[i] + more, rest - more
        assert rest == 0
    return value
