"""Witnesses for two views: who can have another bin, all published figures being the same (R3).

For two bins x and y, holders of x are arcs from their class of the first view to that of the second, holders of y arcs
back. Somebody on a cycle can change: along it every holder of x gets y and every holder of y gets x, and each class
loses and gains one of each. A holder is on a cycle exactly if both its classes are strongly connected.

Proof: docs/explanation/proofs/views-witnesses.md.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from querygate.core.types import Bools, Ints
from querygate.methods.views.holders import Holders, Possible
from querygate.methods.views.worlds import World


def find_swaps(possible: Possible, world: World) -> None:
    """Add what swaps show in this world, until everybody is safe or every pair of bins was tried."""
    holders = possible.holders
    tried: set[tuple[int, int]] = set()
    unsafe = ~possible.is_safe()
    for own in np.unique(holders.bin[unsafe]).tolist():
        for other in holders.partners(own).tolist():
            if not unsafe[holders.bin == own].any():
                break
            if (pair := (min(own, other), max(own, other))) not in tried:
                tried.add(pair)
                on_cycle = swapped_atoms(holders, world.room(holders, own, other), own, other)
                possible.add(on_cycle & (holders.held[:, own] > 0), own, other)
                possible.add(on_cycle & (holders.held[:, other] > 0), other, own)
                unsafe = ~possible.is_safe()


def swapped_atoms(holders: Holders, room: Ints, own: int, other: int) -> Bools:
    """The atoms whose classes are strongly connected, by classes that have room."""
    atoms = holders.atoms
    first, second = atoms.labels[0], atoms.labels[1] + atoms.sizes[0]
    free = (room[first] > 0) & (room[second] > 0)
    out, back = free & (holders.held[:, own] > 0), free & (holders.held[:, other] > 0)
    heads, tails = np.concatenate([first[out], second[back]]), np.concatenate([second[out], first[back]])
    size = sum(atoms.sizes)
    graph = csr_matrix((np.ones(heads.size), (heads, tails)), shape=(size, size))
    _, component = connected_components(graph, connection="strong")
    return free & (component[first] == component[second])
