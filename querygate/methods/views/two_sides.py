"""Witnesses for many partitions at once, such as those of several versions: they are put on two sides (R3).

On either side, people who are in one class of every partition there are together. Those are two partitions, and a cycle
of swaps through these keeps the histograms of all partitions. With sums, partners on the exact side swap their very
numbers. A cycle has four people then, unless the other side is one partition: in any class of that side the sum moves
by what one swap moves, or not at all.

Proof: docs/explanation/proofs/views-versions.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.views.atoms import Atoms, distinct_columns
from querygate.methods.views.holders import Holders, Possible
from querygate.methods.views.swaps import add_cycles, pairs_to_try
from querygate.methods.views.worlds import UNLIMITED, roomy_totals


@dataclass(frozen=True)
class SidedWorld:
    """On which side each partition is (0 or 1), on which of them partners swap numbers, and totals by measure and
    atom.
    """

    sides: tuple[int, ...]
    exact: int
    totals: Ints


def choose_sides(atoms: Atoms) -> tuple[int, ...]:
    """The two partitions that divide each other most are on different sides; every other joins the side that it divides
    least.
    """
    sides: tuple[list[int], list[int]] = ([], [])
    pairs = combinations(atoms.divided, 2)
    seeds = max(pairs, key=lambda pair: _size(atoms, list(pair)), default=tuple(atoms.divided))
    for side, view in zip(sides, seeds, strict=False):
        side.append(view)
    for view in atoms.divided:
        if view not in seeds:
            min(sides, key=lambda side: _size(atoms, [*side, view]) / _size(atoms, side)).append(view)
    return tuple(int(view in sides[1]) for view in range(len(atoms.sizes)))


def _size(atoms: Atoms, views: list[int]) -> int:
    return int(distinct_columns(atoms.labels[views])[0].shape[1]) if views else 1


def find_trades(possible: Possible, sides: tuple[int, ...], exact: int) -> SidedWorld:
    """Add what swaps between the sides show, in a world with much room on the side that is not exact."""
    holders = possible.holders
    free = [view for view, side in enumerate(sides) if side == exact]
    totals, margins = roomy_totals(holders, free)
    first, second = (_together(holders.atoms, sides, side) for side in (0, 1))
    others = [view for view in holders.atoms.divided if sides[view] != exact]
    # Then a cycle meets each class once, or may meet it as often as it likes.
    is_simple = len(others) < 2 or bool((margins == UNLIMITED).all())
    each = np.arange(holders.atoms.number)
    for own, other in pairs_to_try(possible):
        room = _has_room(holders, margins, sides, exact, own, other)
        if is_simple:
            add_cycles(possible, (first, second), room, each, own, other)
            continue
        for number, (one, two) in enumerate(zip(own.tolist(), other.tolist(), strict=True)):
            _add_four(possible, (first, second), room[number], one, two)
            _add_four(possible, (first, second), room[number], two, one)
    return SidedWorld(sides, exact, totals)


def _together(atoms: Atoms, sides: tuple[int, ...], side: int) -> Ints:
    """The class of each atom in the partition of all who are together on a side."""
    views = [view for view in atoms.divided if sides[view] == side]
    return distinct_columns(atoms.labels[views])[1] if views else np.zeros(atoms.number, dtype=np.int64)


def _has_room(holders: Holders, margins: Ints, sides: tuple[int, ...], exact: int, own: Ints, other: Ints) -> Bools:
    """Per pair of bins and atom: do the sums of its classes on the other side bear a swap?"""
    atoms = holders.atoms
    room = np.ones((own.size, atoms.number), dtype=np.bool_)
    for measure, inside in zip(holders.column.measures, margins, strict=True):
        moved = measure.widths[own] + measure.widths[other]
        for view in atoms.divided:
            if sides[view] != exact:
                room &= inside[atoms.labels[view] + atoms.offsets[view]] >= moved[:, None]
    return room


def _add_four(possible: Possible, classes: tuple[Ints, Ints], room: Bools, own: int, other: int) -> None:
    """Holders of `own` who are on a cycle of four can have the other bin."""
    holders, (first, second) = possible.holders, classes
    has = [np.zeros((int(first.max()) + 1, int(second.max()) + 1), dtype=np.float32) for _ in range(2)]
    for table, held in zip(has, (holders.held[:, own], holders.held[:, other]), strict=True):
        here = room & (held > 0)
        table[first[here], second[here]] = 1.0
    reached = has[1] @ has[0].T @ has[1]
    who = holders.groups_of[own]
    atom = holders.atom[who]
    on_cycle = room[atom] & (reached[first[atom], second[atom]] > 0)
    possible.bins[who[on_cycle], other] = True
