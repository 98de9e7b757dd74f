"""Witnesses for any number of views: holders of two bins that trade them, each class losing what it gains (R3).

A move says per atom how many holders of x get y (positive) or of y get x (negative). Over every class of every view it
adds up to zero, so no histogram changes. A programme looks for the smallest one through a given atom; it counts only
if its whole numbers are right.

Proof: docs/explanation/proofs/views-witnesses.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack

from querygate.core.types import Floats, Ints
from querygate.methods.views.holders import Holders, Possible
from querygate.methods.views.programme import whole_zero_sums, zero_sums
from querygate.methods.views.worlds import World

MOST_PARTNERS = 6
"""So many other bins are tried for a group before its class is made coarser."""

MOST_SECONDS = 1.0
"""No whole numbers are looked for longer than this where the programme has a fraction; the classes decide then."""

SAME = 1e-6


@dataclass(frozen=True)
class Move:
    """Holders of bin `own` get `other` where `times` is positive, and the other way where it is negative."""

    own: int
    other: int
    atoms: tuple[int, ...]
    times: tuple[int, ...]

    def holds(self, holders: Holders, room: Ints) -> bool:
        """Checked in whole numbers: enough holders, every class balanced, and room for its sums."""
        times = np.zeros(holders.atoms.number, dtype=np.int64)
        times[list(self.atoms)] = self.times
        if (times > holders.held[:, self.own]).any() or (-times > holders.held[:, self.other]).any():
            return False
        given = holders.atoms.sums(np.maximum(times, 0))
        return not holders.atoms.sums(times).any() and bool((given <= room).all())


def find_moves(possible: Possible, world: World) -> list[Move]:
    """Add what moves show in this world; returns those that were used."""
    holders, used = possible.holders, []
    unsafe = ~possible.is_safe()
    for group in np.flatnonzero(unsafe).tolist():
        own, atom = int(holders.bin[group]), int(holders.atom[group])
        for other in holders.partners(own)[:MOST_PARTNERS].tolist():
            if not unsafe[group]:
                break
            if possible.has(group, other):
                continue
            room = world.room(holders, np.array([own]), np.array([other]))[0]
            move = _through(holders, atom, own, other)
            if move is None or not move.holds(holders, room):
                continue
            used.append(move)
            times = np.zeros(holders.atoms.number, dtype=np.int64)
            times[list(move.atoms)] = move.times
            possible.add_one(times > 0, own, other)
            possible.add_one(times < 0, other, own)
            unsafe = ~possible.is_safe()
    return used


def _through(holders: Holders, atom: int, own: int, other: int) -> Move | None:
    """The smallest move that changes a holder of `own` in the atom."""
    number, matrix = holders.atoms.number, holders.atoms.incidence
    most = np.concatenate([holders.held[:, own], holders.held[:, other]]).astype(np.float64)
    least = np.zeros(2 * number)
    least[atom] = 1.0
    both, goal = csr_array(hstack([matrix, -matrix])), np.ones(2 * number)
    corner = zero_sums(goal, both, least, most)
    if corner is None:
        return None
    found: Floats | None = corner.found
    if np.abs(corner.found - np.rint(corner.found)).max() > SAME:
        found = whole_zero_sums(goal, both, least, most, MOST_SECONDS)
    if found is None:
        return None
    rounded = np.rint(found).astype(np.int64)
    times = rounded[:number] - rounded[number:]
    used = np.flatnonzero(times)
    return Move(own, other, tuple(used.tolist()), tuple(times[used].tolist()))
