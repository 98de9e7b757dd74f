"""Witnesses where two views divide a cell: who can have another bin, all published figures being the same (R3).

For two bins x and y, holders of x are arcs from their class of the first view to that of the second, holders of y arcs
back. Somebody on a cycle can change: along it every holder of x gets y and every holder of y gets x, and each class
loses and gains one of each. A holder is on a cycle exactly if both its classes are strongly connected.

Proof: docs/explanation/proofs/views-witnesses.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from querygate.core.types import Bools, Ints
from querygate.methods.views.atoms import distinct_columns
from querygate.methods.views.holders import Possible
from querygate.methods.views.worlds import World

PARTNERS = (4, 32)
"""With so many other bins a bin is tried, the most promising ones: a few are enough for most people, and a joint bin of
linked columns has hundreds of others.
"""

AT_ONCE = 1_000
"""Pairs of bins whose graphs are laid side by side."""


def find_swaps(possible: Possible, world: World) -> None:
    """Add what swaps show in this world."""
    holders = possible.holders
    for own, other in pairs_to_try(possible):
        room = world.room(holders, own, other)
        for view in holders.atoms.divided:
            if view != world.exact:
                _add_swaps(possible, room, own, other, (world.exact, view))


def pairs_to_try(possible: Possible) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of bins, some at a time; more are tried for those whom the first few do not show safe."""
    holders = possible.holders
    tried: set[tuple[int, int]] = set()
    for most in PARTNERS:
        pairs = [
            (min(own, other), max(own, other))
            for own in np.unique(holders.bin[~possible.is_safe()]).tolist()
            for other in holders.partners(own)[:most].tolist()
        ]
        new = sorted(set(pairs) - tried)
        tried |= set(new)
        for begin in range(0, len(new), AT_ONCE):
            own, other = np.array(new[begin : begin + AT_ONCE]).T
            yield own, other


def _add_swaps(possible: Possible, room: Ints, own: Ints, other: Ints, views: tuple[int, int]) -> None:
    """Per pair of bins: holders can have the other one if their classes of the two views are strongly connected, by
    classes that have room and inside one class of every further view.
    """
    atoms = possible.holders.atoms
    moved = atoms.labels[views[1]] + atoms.offsets[views[1]]
    further = [view for view in atoms.divided if view not in views]
    first, second = (distinct_columns(atoms.labels[[view, *further]])[1] for view in views)
    add_cycles(possible, (first, second), room > 0, moved, own, other)


def add_cycles(
    possible: Possible, classes: tuple[Ints, Ints], has_room: Bools, place: Ints, own: Ints, other: Ints
) -> None:
    """Per pair of bins: holders can have the other one if their classes of two partitions are strongly connected, by
    atoms that have room. Both partitions say the class of each atom, and `place` where its room is told.
    """
    holders, first = possible.holders, classes[0]
    second = classes[1] + int(first.max()) + 1
    size = int(second.max()) + 1
    arcs, gets, group = [], [], []
    for bins, others, tail, head in ((own, other, first, second), (other, own, second, first)):
        pair, who = holders.having(bins)
        free = has_room[pair, place[holders.atom[who]]]
        pair, who = pair[free], who[free]
        arcs.append((pair * size + tail[holders.atom[who]], pair * size + head[holders.atom[who]]))
        gets.append(others[pair])
        group.append(who)
    tails, heads = (np.concatenate(part) for part in zip(*arcs, strict=True))
    whole = own.size * size
    graph = csr_array((np.ones(tails.size, dtype=np.int8), (tails, heads)), shape=(whole, whole))
    component = connected_components(graph, connection="strong")[1]
    on_cycle: Bools = component[tails] == component[heads]
    possible.bins[np.concatenate(group)[on_cycle], np.concatenate(gets)[on_cycle]] = True
