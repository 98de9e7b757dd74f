"""The frontiers of one sensitive column in a frame cell.

They are equal to those of counts, or coarser where its guards (R1) or the witnesses of its holders (R3) need it. Where
the whole cell as one class is not enough, the column is withheld there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.views.frontier import Collapse, Frontier, collapse_greedily
from querygate.methods.views.holders import Holders, Possible
from querygate.methods.views.swaps import find_swaps
from querygate.methods.views.table import SensitiveColumn
from querygate.methods.views.two_sides import SidedWorld, choose_sides, find_trades
from querygate.methods.views.windows import FinerBins, Windows
from querygate.methods.views.worlds import World, roomy_world

WITNESS = "somebody's value would have been certain"


@dataclass(frozen=True)
class ColumnFrontiers:
    """What is published of a column, and why it is safe. No views: the column is withheld in this cell."""

    views: tuple[Frontier, ...]
    worlds: tuple[World, ...] = ()
    sided: tuple[SidedWorld, ...] = ()
    """Beside earlier versions, in the place of worlds."""
    collapses: tuple[Collapse, ...] = ()

    @property
    def is_withheld(self) -> bool:
        return not self.views


@dataclass(frozen=True)
class CellRecords:
    """The records of a cell with their leaves (views x records)."""

    records: Ints
    leaf: Ints


def find_frontiers(
    column: SensitiveColumn,
    cell: CellRecords,
    views: Sequence[Frontier],
    fixed: int,
    values: int,
    finer: FinerBins | None = None,
) -> ColumnFrontiers:
    """Coarsen the views after the first `fixed` ones until guards and witnesses hold. `finer`: whom the bins of other
    views tell apart.
    """
    now: list[Frontier] = list(views)
    done: list[Collapse] = []
    windows = Windows.of(column, cell.records, finer=finer)
    if min(np.unique(value[windows.public]).size for value in column.values) < values:
        return ColumnFrontiers((), collapses=(Collapse(fixed, 0, f"withheld: {WITNESS}", cell.records.size),))
    while True:
        failed = _failing(column, cell, now, fixed)
        if failed is None:
            shown, unsafe = witnesses(windows, cell.leaf, now, values)
            if not unsafe.any():
                return ColumnFrontiers(tuple(now), shown.worlds, shown.sided, tuple(done))
            hits, reason = _parents_of_groups(now, shown.holders, unsafe, fixed), WITNESS
        else:
            hits, reason = _parents_of_classes(now, *failed[:2]), failed[2]
        free, more = collapse_greedily(now, hits, reason)
        if not more:
            return ColumnFrontiers((), collapses=(*done, Collapse(fixed, 0, f"withheld: {reason}", cell.records.size)))
        now, done = free, done + more


@dataclass(frozen=True)
class Witnesses:
    """What shows that holders can have other values."""

    holders: Holders
    worlds: tuple[World, ...] = ()
    sided: tuple[SidedWorld, ...] = ()


def witnesses(windows: Windows, leaf: Ints, views: Sequence[Frontier], values: int) -> tuple[Witnesses, Bools]:
    """The worlds that show holders safe, and the groups that are not. Beside earlier versions, whose views come first,
    by swaps between two sides.
    """
    holders = Holders.of(windows, views, leaf)
    possible = Possible.begin(holders, values)
    if windows.finer is None:
        found = Witnesses(holders, worlds=_worlds(possible))
    else:
        found = Witnesses(holders, sided=_sided_worlds(possible))
    return found, ~possible.is_safe()


def _sided_worlds(possible: Possible) -> tuple[SidedWorld, ...]:
    found: list[SidedWorld] = []
    sides = choose_sides(possible.holders.atoms)
    for exact in (0, 1):
        if not possible.is_safe().all() and (possible.holders.column.measures or not found):
            found.append(find_trades(possible, sides, exact))
    return tuple(found)


def _worlds(possible: Possible) -> tuple[World, ...]:
    holders = possible.holders
    worlds: list[World] = []
    divided = holders.atoms.divided
    for exact in divided if len(divided) > 1 else ():  # one partition has no swaps but those inside a class
        if possible.is_safe().all() or (worlds and len(divided) == 2 and not holders.column.measures):
            break
        worlds.append(roomy_world(holders, exact))
        find_swaps(possible, worlds[-1])
    return tuple(worlds)


def _failing(
    column: SensitiveColumn, cell: CellRecords, views: Sequence[Frontier], fixed: int
) -> tuple[int, Bools, str] | None:
    """The first view with classes that break a guard: its place, which classes, and the guard."""
    for place in range(fixed, len(views)):
        view = views[place]
        for guard in column.guards:
            holds = guard.classes(cell.records, view.of(cell.leaf[place]), view.classes)
            if not holds.all():
                return place, ~holds, f"not given by smaller classes: {guard.name}"
    return None


def _parents_of_classes(views: Sequence[Frontier], place: int, failed: Bools) -> list[Bools]:
    """Each failing class is a problem, and its parent ends it."""
    nodes = views[place].nodes[failed]
    hits = [np.zeros((nodes.size, view.tree.nodes), dtype=np.bool_) for view in views]
    _mark(hits[place], np.arange(nodes.size), views[place], nodes)
    return hits


def _parents_of_groups(views: Sequence[Frontier], holders: Holders, unsafe: Bools, fixed: int) -> list[Bools]:
    """Each group that is not shown safe is a problem, and the parent of each of its classes ends it."""
    atom = holders.atom[unsafe]
    hits = [np.zeros((atom.size, view.tree.nodes), dtype=np.bool_) for view in views]
    for place in range(fixed, len(views)):
        _mark(hits[place], np.arange(atom.size), views[place], views[place].nodes[holders.atoms.labels[place][atom]])
    return hits


def _mark(hits: Bools, problems: Ints, view: Frontier, nodes: Ints) -> None:
    parent = view.tree.parent[nodes]
    hits[problems[parent >= 0], parent[parent >= 0]] = True
