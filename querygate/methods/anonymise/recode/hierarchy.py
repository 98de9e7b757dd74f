"""Generalisation hierarchies: the values of a category as leaves of a tree, whose nodes are what may be published.

Leaves stand in a row so that those under a node are neighbours. A class then holds a stretch of the row, and its lowest
common ancestor is that of the first and the last leaf: methods that divide numbers divide hierarchies as well.

>>> tree = Hierarchy.of([("37203", "372", "*"), ("38103", "381", "*"), ("37212", "372", "*")])
>>> tree.leaves
('37203', '37212', '38103')
>>> first, last = tree.ancestors(np.array([0, 0, 2]), np.array([1, 2, 2]))
>>> first, last
(array([0, 0, 2]), array([1, 2, 2]))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from querygate.core.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """`levels[h]` numbers the ancestor of each leaf at height h: height 0 parts all leaves, the last joins them."""

    leaves: tuple[str, ...]
    levels: tuple[Ints, ...]

    @classmethod
    def of(cls, rows: Sequence[Sequence[str]]) -> Hierarchy:
        """From one row per leaf: the value, its ancestor at each height, and the root, the same for all.

        A node is known by the way to it, so two that are called alike under different parents are two.
        """
        codes = [_numbered(column) for column in zip(*rows, strict=True)]
        if not codes or len({row[0] for row in rows}) < len(rows) or codes[-1].any():
            raise ValueError("a hierarchy has one row for each leaf, and one root")
        order = np.lexsort(codes)  # by root, then by its children in the order of their first row, and so on
        begins = np.zeros(order.size, dtype=np.bool_)
        levels = []
        for code in reversed(codes):
            begins = begins | (np.diff(code[order], prepend=code[order][:1]) != 0)
            levels.append(np.cumsum(begins))
        return cls(tuple(rows[i][0] for i in order.tolist()), tuple(reversed(levels)))

    @property
    def size(self) -> int:
        return len(self.leaves)

    def ancestors(self, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """First and last leaf under the lowest common ancestor of leaves low to high; -1 (missing) stays -1."""
        first, last = low.copy(), high.copy()
        open_ = low != high
        for level, (begin, end) in zip(self.levels[1:], self._ranges[1:], strict=True):
            node = level[low]
            first, last = np.where(open_, begin[node], first), np.where(open_, end[node], last)
            open_ = open_ & (level[low] != level[high])
        return first, last

    def widths(self, low: Ints, high: Ints) -> Floats:
        """Leaves under the lowest common ancestor as a share of all; none where there is one leaf only.

        The loss of a category by its hierarchy: Iyengar, "Transforming Data to Satisfy Privacy Constraints", KDD 2002,
        with the leaf itself counted as no loss, as everywhere here.
        """
        first, last = self.ancestors(low, high)
        return np.where(last > first, last - first + 1, 0) / self.size

    @cached_property
    def positions(self) -> Floats:
        """The leaves on a line: neighbours are as far apart as the node that joins them is large, as a share of all.

        It stands in for `widths` where methods choose cuts, since a cut between two children of a node brings the first
        part nothing before the second is cut, and a greedy search would stop there (docs/decisions/0018).
        """
        index = np.arange(self.size)
        return np.concatenate(([0.0], np.cumsum(self.widths(index[:-1], index[1:]))))

    @cached_property
    def _ranges(self) -> tuple[tuple[Ints, Ints], ...]:
        """First and last leaf of each node, by height."""
        begins = [np.flatnonzero(np.diff(level, prepend=-1)) for level in self.levels]
        return tuple((begin, np.append(begin[1:], self.size) - 1) for begin in begins)


def _numbered(column: Sequence[str]) -> Ints:
    """A number for each different text, by first occurrence."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(text, len(known)) for text in column], dtype=np.int64)
