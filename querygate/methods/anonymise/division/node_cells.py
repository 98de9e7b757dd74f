"""Nodes of the search tree as flat arrays: a batch of nodes, and per attribute its cells (node, value) in order.

Nothing here is an object per node or per record. All nodes of a batch are handled together; every sum, minimum and
cut is taken along arrays in which the cells of one node lie side by side (the attribute lists of Shafer, Agrawal and
Mehta, "SPRINT", VLDB 1996, with one sort, or one count, in place of the lists).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from querygate.core.types import Array, Bools, Floats, Ints
from querygate.methods.anonymise.table import NULL, Attribute, Table


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


def _sums(figures: Ints, starts: Ints) -> Ints:
    """Sum of each run, from running sums: runs are short, and `reduceat` costs as much per run as ten figures."""
    last = np.empty_like(starts)
    last[:-1], last[-1:] = starts[1:] - 1, figures.size - 1
    until = np.cumsum(figures)[last]
    until[1:] -= until[:-1].copy()
    return until


@dataclass(frozen=True)
class Batch:
    """Nodes that are looked at together. Rows are combinations of the table; `node` runs 0..nodes-1, none empty.

    `codes` (of four bytes each) hold a missing value as `size`, so that it sorts behind the values.
    """

    rows: Ints
    node: Ints
    nodes: int
    codes: tuple[NDArray[np.int32], ...]
    counts: Ints

    @classmethod
    def whole(cls, table: Table) -> Batch:
        """The root alone."""
        codes = tuple(np.where(a.codes == NULL, np.int32(a.size), a.codes.astype(np.int32)) for a in table.attributes)
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

    @cached_property
    def kept(self) -> dict[object, Array]:
        """What a guard has looked up of these rows, once for all attributes: its own data lie scattered."""
        return {}

    @cached_property
    def weights(self) -> Floats:
        """The counts as `bincount` wants them; up to 2**53 records nothing is rounded."""
        return self.counts.astype(np.float64)

    def sizes(self) -> Ints:
        """Records per node."""
        return np.bincount(self.node, self.weights, self.nodes).astype(np.int64)

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

    def none(self) -> Batch:
        """No nodes, of as many attributes."""
        return self.part(np.zeros(self.nodes, dtype=np.bool_))

    def bare(self) -> Batch:
        """Nothing but which row is in which node."""
        return Batch(self.rows, self.node, self.nodes, (), self.counts[:0])

    def relabelled(self, node: Ints, nodes: int) -> Batch:
        return Batch(self.rows, node, nodes, self.codes, self.counts)

    def by_node(self) -> Batch:
        """The same with the positions of each node side by side, in the order they had."""
        order, node = argsort_packed(self.node)
        return Batch(self.rows[order], node, self.nodes, tuple(c[order] for c in self.codes), self.counts[order])

    def groups(self, size: int) -> Iterator[Batch]:
        """The nodes in groups of about so many positions. They lie side by side, so a group is a view of the batch."""
        starts = np.append(starts_of(self.node), self.node.size)
        begin = 0
        while begin < self.nodes:
            end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + size, side="right")) - 1)
            here = slice(starts[begin], starts[end])
            codes = tuple(c[here] for c in self.codes)
            yield Batch(self.rows[here], self.node[here] - begin, end - begin, codes, self.counts[here])
            begin = end


@dataclass(frozen=True)
class NodeCells:
    """The cells of one attribute: each (node, value) that occurs, ordered by node and then by code."""

    attribute: Attribute
    cell: Ints  # the cell of each position of the batch
    node: Ints
    code: Ints
    count: Ints  # records
    first: Ints  # first cell of each node
    total: Ints  # records of each node

    @classmethod
    def of(cls, batch: Batch, index: int, attribute: Attribute) -> NodeCells:
        width = attribute.size + 1
        key = batch.node * width + batch.codes[index]
        there, cell = _numbered(key, batch.nodes * width)
        count = np.bincount(cell, batch.weights, there.size).astype(np.int64)
        node = there // width
        first = starts_of(node)
        return cls(attribute, cell, node, there - node * width, count, first, _sums(count, first))

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

    @cached_property
    def order(self) -> Ints:
        """Positions of the batch, sorted by cell."""
        return argsort_packed(self.cell)[0]

    @cached_property
    def starts(self) -> Ints:
        """First place in `order` of each cell."""
        return starts_of(self.cell[self.order])

    def spread(self, per_cell: Array) -> Array:
        """A figure per cell, given to every position of the batch."""
        return per_cell[self.cell]

    def greatest(self, per_position: Array) -> Array:
        """The greatest figure in each cell."""
        found = np.full(self.node.size, np.iinfo(per_position.dtype).min, dtype=per_position.dtype)
        np.maximum.at(found, self.cell, per_position)
        return found

    def union(self, per_position: Array) -> Array:
        """The bits that occur in each cell."""
        found = np.zeros(self.node.size, dtype=per_position.dtype)
        np.bitwise_or.at(found, self.cell, per_position)
        return found


def _numbered(key: Ints, limit: int) -> tuple[Ints, Ints]:
    """The keys that occur, rising, and the number of each position's key among them; keys are below the limit."""
    if limit <= key.size:  # so few that they can be counted in place, without sorting
        there = np.flatnonzero(np.bincount(key, minlength=limit))
        number = np.empty(limit, dtype=np.int64)
        number[there] = np.arange(there.size)
        return there, number[key]
    order, key = argsort_packed(key)
    number = np.empty(key.size, dtype=np.int64)
    number[0], number[1:] = 0, np.cumsum(key[1:] != key[:-1])
    cell = np.empty_like(number)
    cell[order] = number
    return key[starts_of(key)], cell


@dataclass(frozen=True)
class Line:
    """The cells of each node in the order in which they may be cut: a cut after place p parts left from right.

    Numbers stand by value. Categories stand by falling frequency inside the node: cutting after the j most frequent
    values is the best two-way split of the attribute's own loss, k apart. With d_L = j fixed the loss
    n_L j + n_R (D - j) equals n_L (2j - D) + n (D - j), so j < D/2 wants the heaviest j values on the left, and j > D/2
    is the mirror image. Missing values stand at one end, so one cut sets them apart and every other cut leaves them on
    one side.
    """

    cells: NodeCells
    order: Ints  # cells in cutting order
    node: Ints
    code: Ints
    left: Ints  # records up to and with this place, in its node
    right: Ints  # records behind it
    nulls_first: bool

    @classmethod
    def of(cls, cells: NodeCells, nulls_first: bool) -> Line:
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
        places: Ints = self.cells.spread(place)
        return places

    def behind(self, cut: Ints) -> Bools:
        """For every position of the batch whether its cell lies behind the place at which its node is cut."""
        right = np.empty(self.order.size, dtype=np.bool_)
        right[self.order] = np.arange(self.order.size) > cut[self.node]
        behind: Bools = self.cells.spread(right)
        return behind
