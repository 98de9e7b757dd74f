"""Witnesses for any number of views: holders of two bins that trade them, each class losing what it gains (R3).

A move says per atom how many holders of x get y (positive) or of y get x (negative). Over every class of every view it
adds up to zero, so no histogram changes. A programme in whole numbers looks for moves that change as many people as
can be who are not yet shown safe; a move counts only if its numbers are right.

Proof: docs/explanation/proofs/views-witnesses.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack

from querygate.core.types import Bools, Ints
from querygate.methods.views.holders import Holders, Possible
from querygate.methods.views.programme import whole_zero_sums
from querygate.methods.views.worlds import UNLIMITED, World

COST = 1 / 64
"""What a change of somebody who need not change costs: the fewer take part, the more room is left."""


@dataclass(frozen=True)
class Move:
    """Holders of bin `own` get `other` where `times` is positive, and the other way where it is negative."""

    own: int
    other: int
    atoms: tuple[int, ...]
    times: tuple[int, ...]

    def by_atom(self, holders: Holders) -> Ints:
        times = np.zeros(holders.atoms.number, dtype=np.int64)
        times[list(self.atoms)] = self.times
        return times

    def holds(self, holders: Holders, room: Ints) -> bool:
        """Checked in whole numbers: enough holders, every class balanced, and room for its sums."""
        times = self.by_atom(holders)
        if (times > holders.held[:, self.own]).any() or (-times > holders.held[:, self.other]).any():
            return False
        given = holders.atoms.sums(np.maximum(times, 0))
        return not holders.atoms.sums(times).any() and bool((given <= room).all())


def find_moves(possible: Possible, world: World) -> list[Move]:
    """Add what moves show in this world; returns those that were used."""
    holders = possible.holders
    used: list[Move] = []
    tried: set[tuple[int, int]] = set()
    for own in np.unique(holders.bin[~possible.is_safe()]).tolist():
        for other in holders.partners(own).tolist():
            if (other, own) not in tried:
                tried.add((own, other))
                used += _trades(possible, world, own, other)
    return used


def _trades(possible: Possible, world: World, own: int, other: int) -> list[Move]:
    """Moves of one pair of bins, as long as they show something new."""
    holders = possible.holders
    used: list[Move] = []
    room = world.room(holders, np.array([own]), np.array([other]))[0]
    while True:
        wanted = [possible.lacks(own, other), possible.lacks(other, own)]
        move = _widest(holders, room, own, other, wanted) if any(map(np.any, wanted)) else None
        if move is None or not move.holds(holders, room):
            return used
        times = move.by_atom(holders)
        if not ((times > 0) & wanted[0] | (times < 0) & wanted[1]).any():
            return used
        used.append(move)
        possible.add_one(times > 0, own, other)
        possible.add_one(times < 0, other, own)


def _widest(holders: Holders, room: Ints, own: int, other: int, wanted: list[Bools]) -> Move | None:
    """A move that changes many of the wanted atoms, and few others."""
    number, matrix = holders.atoms.number, holders.atoms.incidence
    most = np.concatenate([holders.held[:, own], holders.held[:, other]]).astype(np.float64)
    who = np.concatenate(wanted)
    most[who] = 1.0
    tight = room < UNLIMITED
    gives = csr_array(hstack([matrix[tight], csr_array((int(tight.sum()), number))]))
    goal = np.where(who, -1.0, COST)
    found = whole_zero_sums(goal, csr_array(hstack([matrix, -matrix])), gives, room[tight].astype(np.float64), most)
    if found is None:
        return None
    rounded = np.rint(found).astype(np.int64)
    times = rounded[:number] - rounded[number:]
    used = np.flatnonzero(times)
    return Move(own, other, tuple(used.tolist()), tuple(times[used].tolist())) if used.size else None
