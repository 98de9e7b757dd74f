"""A hierarchy of codes as ranges: codes are put in an order in which those under any node stand side by side.

A hierarchy comes as levels: `levels[h][code]` is the group of a code at height h. Height 0 is the code itself, the last
has one group. Groups that hold the same codes are one node.

>>> import numpy as np
>>> tree = Subtrees.of([np.arange(4), np.array([0, 1, 0, 1]), np.zeros(4, dtype=np.int64)])
>>> tree.order, tree.codes(int(tree.parent[tree.leaf[0]])), tree.codes(tree.root)
(array([0, 2, 1, 3]), (0, 2), (0, 1, 2, 3))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.code_lists.baskets import Baskets, Items


@dataclass(frozen=True)
class Subtrees:
    """Node i holds the codes order[begin[i] : end[i]]; its parent is parent[i], of the root the root itself.

    `leaf` is the node of each place in the order. Nodes are numbered from the leaves up, so a parent has a larger
    number than its children and the root has the largest.
    """

    order: Ints
    begin: Ints
    end: Ints
    parent: Ints
    leaf: Ints

    @classmethod
    def of(cls, levels: Sequence[Ints]) -> Subtrees:
        check_levels(levels)
        size = levels[0].size
        order = np.lexsort(levels).astype(np.int64)
        place = np.arange(size, dtype=np.int64)
        begin, end, parent = [place], [place + 1], [place.copy()]
        node, total = place.copy(), size  # the highest node so far that holds each place
        for level in levels[1:]:
            group = level[order]
            first = np.flatnonzero(np.diff(group, prepend=group[0] - 1)).astype(np.int64)
            last = np.append(first[1:], size)
            new = np.flatnonzero(node[first] != node[last - 1])
            numbers = total + np.arange(new.size)
            above = np.concatenate(parent)
            for number, a, b in zip(numbers.tolist(), first[new].tolist(), last[new].tolist(), strict=True):
                above[node[a:b]] = number
                node[a:b] = number
            parent = [above, numbers]
            begin.append(first[new])
            end.append(last[new])
            total += new.size
        return cls(order, np.concatenate(begin), np.concatenate(end), np.concatenate(parent), place)

    @property
    def size(self) -> int:
        return self.order.size

    @property
    def root(self) -> int:
        return self.parent.size - 1

    @property
    def leaves(self) -> Ints:
        """How many codes are under each node."""
        return self.end - self.begin

    @property
    def loss(self) -> Floats:
        """Loss of publishing each node in place of a code under it: share of all codes, none for the code itself."""
        return np.where(self.leaves == 1, 0.0, self.leaves / self.size)

    def children(self) -> list[Ints]:
        """The children of each node."""
        below = np.argsort(self.parent[: self.root], kind="stable")
        number = np.bincount(self.parent[: self.root], minlength=self.parent.size)
        return list(np.split(below, np.cumsum(number)[:-1]))

    def codes(self, node: int) -> tuple[int, ...]:
        """The codes under a node, rising."""
        return tuple(sorted(self.order[self.begin[node] : self.end[node]].tolist()))

    def ordered(self, baskets: Baskets) -> Baskets:
        """The same records with codes numbered by their places."""
        if baskets.size != self.size:
            raise ValueError("a hierarchy has one place for each code")
        place = np.empty(self.size, dtype=np.int64)
        place[self.order] = np.arange(self.size)
        key = np.sort(baskets.of_record * max(1, self.size) + place[baskets.members])
        return Baskets(baskets.starts, key % max(1, self.size), self.size)

    def items(self, node: Ints) -> Items:
        """Items of a cut: `node` tells for each place the node that is published. Numbered by their first code."""
        label = np.empty(self.size, dtype=np.int64)
        label[self.order] = self.begin[node]
        _, first, item = np.unique(label, return_index=True, return_inverse=True)
        rank = np.empty(first.size, dtype=np.int64)
        rank[np.argsort(first)] = np.arange(first.size)
        return Items(rank[item])


def halved(levels: Sequence[Ints]) -> list[Ints]:
    """A finer hierarchy in which no node has more than two children: groups of one node are joined by pairs, in order.

    Where a node gives way to all of its children at once, many children make that hard: one rare child is enough to
    keep the node. With halves in between far less is lost, and every item still lies inside a node of the levels.

    >>> [level.tolist() for level in halved([np.arange(5), np.zeros(5, dtype=np.int64)])]
    [[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    """
    check_levels(levels)
    made = [levels[0]]
    for lower, upper in pairwise(levels):
        _, first, group = np.unique(lower, return_index=True, return_inverse=True)
        parent = upper[first]
        by_parent = np.argsort(parent, kind="stable")
        rank = np.empty(parent.size, dtype=np.int64)
        rank[by_parent] = np.arange(parent.size) - np.searchsorted(parent[by_parent], parent[by_parent])
        while rank.max() > 1:
            rank >>= 1
            _, half = np.unique(np.stack([parent, rank]), axis=1, return_inverse=True)
            made.append(half.ravel()[group].astype(np.int64))
        made.append(upper)
    return made


def check_levels(levels: Sequence[Ints]) -> None:
    """Levels make a tree: one entry for each code, codes apart at the bottom, one root, groups inside groups."""
    if not levels or levels[0].size == 0:
        raise ValueError("a hierarchy has at least one level and one code")
    if any(level.shape != levels[0].shape for level in levels):
        raise ValueError("every level of a hierarchy has one group for each code")
    if np.unique(levels[0]).size != levels[0].size or np.unique(levels[-1]).size != 1:
        raise ValueError("height 0 of a hierarchy tells all codes apart, and the last height has one group")
    for lower, upper in pairwise(levels):
        pairs = np.unique(np.stack([lower, upper]), axis=1)
        if np.unique(lower).size != pairs.shape[1]:
            raise ValueError("a group of a hierarchy lies in one group of the next height")
