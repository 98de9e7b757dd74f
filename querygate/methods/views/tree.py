"""Trees: how the records of a frame cell divide over the columns of a view, down to the smallest classes with k people.

A node is split at the first column of the view that allows it: an ordered column at a preferred cut, a category by its
commonest value, or by the commonest node of its hierarchy, as high as possible. Where no such split is left, ordered
columns are cut anywhere. Both sides keep k people, and each value that a side is shown to have could be that of k. Only
the quasi-identifiers and k decide, and equal people are never parted.

Nodes are numbered from the root down, the left side before the right one, and leaves from left to right: so a node is
a range of leaves, and with all below it a range of nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.views.code_splits import balanced_cut, peeled
from querygate.methods.views.table import QuasiIdentifier
from querygate.methods.views.value_uncertainty import hides

ROOT = 0
WANTED, FINE = 4.0, 1.0
"""What a split is worth: at a preferred cut or a category, and at any other cut."""


@dataclass(frozen=True)
class Tree:
    """`first` to `last` (exclusive) are the leaves of each node; `worth` is what joining its two sides loses."""

    parent: Ints
    first: Ints
    last: Ints
    worth: Floats
    leaf: Ints
    """The leaf of each row that the tree was grown over."""
    heights: Ints | None = None
    """Nodes x columns: at which height of its hierarchy a column is published; 0 where it has none."""

    @property
    def nodes(self) -> int:
        return int(self.parent.size)

    @property
    def leaves(self) -> int:
        return int(self.last[ROOT])

    @property
    def leaf_nodes(self) -> Ints:
        """The node of each leaf."""
        return np.flatnonzero(self.last - self.first == 1)[np.argsort(self.first[self.last - self.first == 1])]

    def over(self, place: Ints) -> Tree:
        """The same tree over rows that stand at these places."""
        return replace(self, leaf=self.leaf[place])

    @property
    def behind(self) -> Ints:
        """The first node after each node and all its descendants: every split has two sides."""
        return np.arange(self.nodes) + 2 * (self.last - self.first) - 1

    def below(self, node: int) -> slice:
        """The node and all its descendants."""
        return slice(node, node + 2 * int(self.last[node] - self.first[node]) - 1)


@dataclass
class _Growth:
    parent: list[int]
    first: list[int]
    last: list[int]
    worth: list[float]
    heights: list[tuple[int, ...]]


@dataclass(frozen=True)
class _Split:
    """Who goes left, what the split is worth, and at which heights columns are published on both sides."""

    left: Bools
    worth: float
    heights: tuple[int, ...]


class _Wish(NamedTuple):
    """A split of the column at this place: the cuts that are allowed (None: any), the height of nodes, its worth."""

    place: int
    cuts: set[int] | None
    height: int
    worth: float


def grow(
    columns: Sequence[QuasiIdentifier],
    codes: Ints,
    weights: Ints,
    least: int,
    person: int = 1,
    divided: int | None = None,
) -> Tree:
    """The tree over rows with `codes` (columns x rows); `least` is the weight of k people, `person` that of one. The
    first `divided` columns are split, or all; others are told.
    """
    growth, leaf, leaves = _Growth([], [], [], [], []), np.zeros(weights.size, dtype=np.int64), 0
    top = tuple(column.top for column in columns)
    waiting: list[tuple[int, Ints, tuple[int, ...]]] = [(-1, np.arange(weights.size), top)]
    while waiting:
        parent, rows, heights = waiting.pop()
        node = len(growth.parent)
        wishes = list(_wishes(columns[:divided], heights))
        split = _split(columns, codes[:, rows], weights[rows], least, person, heights, wishes)
        growth.parent.append(parent)
        growth.first.append(leaves)
        growth.worth.append(0.0 if split is None else split.worth)
        growth.heights.append(heights)
        if split is None:
            leaf[rows] = leaves
            leaves += 1
        else:
            waiting += [(node, rows[~split.left], split.heights), (node, rows[split.left], split.heights)]
    parents, first, last_heights = np.array(growth.parent), np.array(growth.first), np.array(growth.heights)
    return Tree(parents, first, _last_leaves(parents, first, leaves), np.array(growth.worth), leaf, last_heights)


def _split(
    columns: Sequence[QuasiIdentifier],
    codes: Ints,
    weights: Ints,
    least: int,
    person: int,
    heights: tuple[int, ...],
    wishes: Sequence[_Wish],
) -> _Split | None:
    """The first that both sides allow. `heights` are those at which columns are told so far."""
    total = int(weights.sum())
    if total < 2 * least:
        return None
    for place, cuts, height, worth in wishes:
        column, nodes = columns[place], columns[place].lifted(codes[place], height)
        left = balanced_cut(nodes, weights, least, cuts) if column.ordered else peeled(nodes, weights, least, person)
        if left is None:
            continue
        told = (*heights[:place], height, *heights[place + 1 :])
        own = [(one, one.lifted(codes[i], told[i])) for i, one in enumerate(columns)]
        if all(
            hides([(one, lifted[side]) for one, lifted in own], int(weights[side].sum()), least, person)
            for side in (left, ~left)
        ):
            share = int(weights[left].sum()) / least
            return _Split(left, worth * share * (total / least - share), told)
    return None


def _wishes(columns: Sequence[QuasiIdentifier], heights: tuple[int, ...]) -> Iterator[_Wish]:
    """Splits in the order in which they are tried."""
    for place, column in enumerate(columns):
        for height in range(heights[place], -1, -1):
            yield _Wish(place, {0, *column.prefer}, height, WANTED)
    for place, column in enumerate(columns):
        if column.ordered:
            yield _Wish(place, None, 0, FINE)


def _last_leaves(parent: Ints, first: Ints, leaves: int) -> Ints:
    """The leaf behind each node: where the next node that is no descendant begins."""
    last = np.where(np.append(first[1:], leaves) > first, first + 1, 0)
    for node in range(parent.size - 1, 0, -1):
        last[parent[node]] = max(last[parent[node]], last[node])
    return last
