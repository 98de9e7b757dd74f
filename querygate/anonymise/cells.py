"""Nodes of the search tree as flat arrays: a batch of nodes, and per attribute its cells (node, value) in order.

Nothing here is an object per node or per record. All nodes of a batch are handled together; every sum, minimum and
cut is taken along arrays in which the cells of one node lie side by side (the attribute lists of Shafer, Agrawal and
Mehta, "SPRINT", VLDB 1996, with one sort in place of the lists).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from querygate.anonymise.table import NULL, Attribute, Table
from querygate.core.types import Bools, Floats, Ints


def argsort_packed(key: Ints) -> tuple[Ints, Ints]:
    """Stable order of non-negative keys, and the keys in that order.

    The position is packed into the low bits, because sorting plain integers is several times faster than argsort.
    """
    bits = int(key.size).bit_length()
    if int(key.max(initial=0)).bit_length() + bits > 62:
        order = np.argsort(key, kind="stable")
        return order, key[order]
    packed = (key << bits) | np.arange(key.size)
    packed.sort()
    return packed & ((1 << bits) - 1), packed >> bits


def starts_of(key: Ints) -> Ints:
    """Where each run of equal keys begins."""
    if not key.size:
        return np.zeros(0, dtype=np.int64)
    return np.concatenate(([0], np.flatnonzero(key[1:] != key[:-1]) + 1))


@dataclass(frozen=True)
class Batch:
    """Nodes that are looked at together. Rows are combinations of the table; `node` runs 0..nodes-1, none empty.

    `codes` hold a missing value as `size`, so that it sorts behind the values.
    """

    rows: Ints
    node: Ints
    nodes: int
    codes: tuple[Ints, ...]
    counts: Ints

    @classmethod
    def whole(cls, table: Table) -> Batch:
        """The root alone."""
        codes = tuple(np.where(a.codes == NULL, a.size, a.codes).astype(np.int64) for a in table.attributes)
        rows = np.arange(table.combinations)
        return cls(rows, np.zeros_like(rows), 1, codes, table.counts.astype(np.int64))

    @classmethod
    def join(cls, batches: Sequence[Batch]) -> Batch:
        """All nodes of several batches as one."""
        offsets = np.cumsum([0, *(b.nodes for b in batches)])
        return cls(
            np.concatenate([b.rows for b in batches]),
            np.concatenate([b.node + o for b, o in zip(batches, offsets[:-1], strict=True)]),
            int(offsets[-1]),
            tuple(np.concatenate(codes) for codes in zip(*(b.codes for b in batches), strict=True)),
            np.concatenate([b.counts for b in batches]),
        )

    def sizes(self) -> Ints:
        """Records per node."""
        return np.bincount(self.node, self.counts, self.nodes).astype(np.int64)

    def part(self, wanted: Bools) -> Batch:
        """The wanted nodes, renumbered."""
        if wanted.all():
            return self
        keep = np.flatnonzero(wanted[self.node])
        renumber = np.cumsum(wanted) - 1
        return Batch(
            self.rows[keep],
            renumber[self.node[keep]],
            int(wanted.sum()),
            tuple(c[keep] for c in self.codes),
            self.counts[keep],
        )

    def relabelled(self, node: Ints, nodes: int) -> Batch:
        return Batch(self.rows, node, nodes, self.codes, self.counts)


@dataclass(frozen=True)
class Cells:
    """The cells of one attribute: each (node, value) that occurs, ordered by node and then by code."""

    attribute: Attribute
    order: Ints  # positions of the batch, sorted by cell
    starts: Ints  # first place in `order` of each cell
    node: Ints
    code: Ints
    count: Ints  # records
    first: Ints  # first cell of each node
    total: Ints  # records of each node

    @classmethod
    def of(cls, batch: Batch, index: int, attribute: Attribute) -> Cells:
        code = batch.codes[index]
        order, key = argsort_packed(batch.node * (attribute.size + 1) + code)
        starts = starts_of(key)
        leader = order[starts]
        node = batch.node[leader]
        count = np.add.reduceat(batch.counts[order], starts)
        first = starts_of(node)
        return cls(attribute, order, starts, node, code[leader], count, first, np.add.reduceat(count, first))

    @cached_property
    def lower(self) -> Floats:
        """Lower edge of each cell; zero for a missing value."""
        return self.attribute.edges[0][self.code]

    @cached_property
    def upper(self) -> Floats:
        return self.attribute.edges[1][self.code]

    @cached_property
    def last(self) -> Ints:
        """Last cell of each node."""
        return np.append(self.first[1:], self.node.size) - 1

    @cached_property
    def is_null(self) -> Bools:
        return np.equal(self.code, self.attribute.size)

    def spread(self, per_cell: Ints) -> Ints:
        """A figure per cell, given to every position of the batch."""
        per_position = np.empty_like(self.order)
        per_position[self.order] = np.repeat(per_cell, np.diff(self.starts, append=self.order.size))
        return per_position


@dataclass(frozen=True)
class Line:
    """The cells of each node in the order in which they may be cut: a cut after place p parts left from right.

    Numbers stand by value. Categories stand by falling frequency inside the node: cutting after the j most frequent
    values is the best two-way split of the attribute's own loss, k apart. With d_L = j fixed the loss
    n_L j + n_R (D - j) equals n_L (2j - D) + n (D - j), so j < D/2 wants the heaviest j values on the left, and j > D/2
    is the mirror image. Missing values stand at one end, so one cut sets them apart and every other cut leaves them on
    one side.
    """

    cells: Cells
    order: Ints  # cells in cutting order
    node: Ints
    code: Ints
    left: Ints  # records up to and with this place, in its node
    right: Ints  # records behind it
    nulls_first: bool

    @classmethod
    def of(cls, cells: Cells, nulls_first: bool) -> Line:
        if cells.attribute.ordered and not nulls_first:
            order = np.arange(cells.node.size)
        else:
            top = int(cells.count.max())
            rank = cells.code if cells.attribute.ordered else top - cells.count
            rank = np.where(cells.is_null, 0 if nulls_first else top + cells.attribute.size, rank + 1)
            order, _ = argsort_packed(cells.node * (top + cells.attribute.size + 1) + rank)
        count = np.cumsum(cells.count[order])
        left = count - (count - cells.count[order])[cells.first][cells.node]
        right = cells.total[cells.node] - left
        return cls(cells, order, cells.node, cells.code[order], left, right, nulls_first)

    def places(self) -> Ints:
        """For every position of the batch the place of its cell."""
        place = np.empty_like(self.order)
        place[self.order] = np.arange(self.order.size)
        return self.cells.spread(place)
