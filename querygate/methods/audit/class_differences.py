"""Two partitions of the same people, of which only sizes are known and which classes can share people.

Classes B of one that can share people with classes A of the other alone are inside them, and what is left of A is that
many people: n(A) - n(B). The least of these is found by flows, after pairs were left out that can share nobody:

- Sizes are met by some table. In its residual graph (from A to B always, back where the table has people) pairs between
  different strong components have nobody in any table, and inside a component every difference is above zero.
- With one class inside A and another outside, the least n(A) - n(B) is a closure: a cut in which a class of B costs its
  size where it is left out, one of A where it is taken in, and B takes in all that it can meet (Picard 1976). One fixed
  class against every other, in and out, is all pairs that matter.

Of many classes only the unions are looked at that are all that one class can meet: flows would take hours.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

from querygate.core.types import Bools, Ints

MOST_CLASSES = 100
"""Of the smaller side of a component; with more of them, flows take longer than a second or two."""


def least_difference(meet: Bools, first: Ints, second: Ints) -> int:
    """The fewest people that classes are about, alone or minus others. `meet` is classes of the first partition
    x classes of the second; sizes are whole numbers above zero, and equal in total.

    >>> least_difference(np.array([[True, False], [True, True]]), np.array([20, 20]), np.array([23, 17]))
    3
    """
    if int(first.sum()) != int(second.sum()):
        raise ValueError("both have the same people")
    found = [one for part in _components(meet, first, second) for one in _differences(*part)]
    return min(int(first.min()), int(second.min()), *found)


def _components(meet: Bools, first: Ints, second: Ints) -> Iterator[tuple[Bools, Ints, Ints]]:
    """Parts of the graph in which every pair that is left can share somebody; the smaller side first."""
    rows, columns = meet.shape
    shared = _table(meet, first, second)
    forth = np.zeros((rows + columns, rows + columns), dtype=np.bool_)
    forth[:rows, rows:], forth[rows:, :rows] = meet, shared.T > 0
    _, part = connected_components(csr_array(forth), directed=True, connection="strong")
    for number in np.unique(part[:rows]).tolist():
        one, other = np.flatnonzero(part[:rows] == number), np.flatnonzero(part[rows:] == number)
        inside = meet[np.ix_(one, other)]
        yield (inside, first[one], second[other]) if one.size <= other.size else (inside.T, second[other], first[one])


def _table(meet: Bools, first: Ints, second: Ints) -> Ints:
    """People by pair, in some table of these sizes."""
    rows, columns = meet.shape
    sink, source = rows + columns, rows + columns + 1
    room = np.zeros((source + 1, source + 1), dtype=np.int32)
    room[source, :rows], room[rows:sink, sink] = first, second
    room[:rows, rows:sink] = np.where(meet, first.sum(), 0)
    flow = maximum_flow(csr_array(room), source, sink)
    if flow.flow_value != first.sum():
        raise ValueError("no table has these sizes")
    found: Ints = flow.flow.toarray()[:rows, rows:sink].astype(np.int64)
    return found


def _differences(meet: Bools, first: Ints, second: Ints) -> Iterator[int]:
    """The least n(A) - n(B) among them, where A is neither none nor all of the first side."""
    rows, columns = meet.shape
    if rows > MOST_CLASSES:
        yield from _around_classes(meet, first, second)
        yield from _around_classes(meet.T, second, first)
        return
    sink, source, whole = rows + columns, rows + columns + 1, int(first.sum())
    room = np.zeros((source + 1, source + 1), dtype=np.int32)
    room[:rows, sink], room[source, rows:sink] = first, second
    room[rows:sink, :rows] = np.where(meet.T, 2 * whole, 0)

    def left(inside: int, outside: int) -> int:
        forced = room.copy()
        forced[source, inside] = forced[outside, sink] = 2 * whole
        return int(maximum_flow(csr_array(forced), source, sink).flow_value) - whole

    for other in range(1, rows):
        yield left(0, other)
        yield left(other, 0)


def _around_classes(meet: Bools, inner: Ints, outer: Ints) -> Iterator[int]:
    """What is left of all that a class can meet, without the classes that can meet nothing else."""
    inside = ~((~meet).astype(np.int64) @ meet.astype(np.int64).T > 0)
    left = meet @ outer - inside @ inner
    yield from left[left > 0].tolist()
