"""Relaxed Mondrian: a cut may go through a value, whose records are then divided between both children.

Strict cuts stop where a value is too heavy: cut before it and the left side has fewer than k records, cut behind it and
the right side has. Dividing its records keeps k on both sides (LeFevre, DeWitt, Ramakrishnan, ICDE 2006). Boxes of
neighbours may then touch in the divided value. Everything else is as in the strict method: in each node the best strict
cut and the best division of every attribute are compared by the loss of the children over all attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.division.cuts import Candidate, width
from querygate.methods.anonymise.division.mondrian import DivisionSearch, Progress
from querygate.methods.anonymise.division.node_cells import Batch, Line, NodeCells, starts_of
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import Table


def relaxed(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each record, 0..m-1: at least k records in each, and every guard holds.

    The table has one row per record. Which of the records that share the divided value go left follows from their other
    values, in the order of the attributes. Raises Infeasible if the table as a whole does not keep a promise.
    """
    return _Search(table, k, guards, progress).run(_in_order(table))


def _in_order(table: Table) -> Batch:
    """The root, with rows in lexicographic order of their codes, whatever their order in the table."""
    whole = Batch.whole(table)
    order = np.lexsort(whole.codes[::-1])
    return Batch(order, whole.node, 1, tuple(c[order] for c in whole.codes), whole.counts[order])


class _Search(DivisionSearch):
    def candidates(self, batch: Batch, all_cells: Sequence[NodeCells], *, public: bool) -> list[Candidate]:
        strict = super().candidates(batch, all_cells, public=public)
        if public:
            return strict
        return strict + [best_division(batch, cells, self.k, self.guards) for cells in all_cells]


def best_division(batch: Batch, cells: NodeCells, k: int, guards: Sequence[Guard]) -> Candidate:
    """In each node the division of one value of this attribute that has least own loss, where the guards allow it."""
    lines = [Line.of(cells, nulls_first=f) for f in ((False, True) if cells.attribute.has_nulls else (False,))]
    divisions = [_Divisions.of(line, k) for line in lines]
    best = np.min([d.best_loss(batch.nodes) for d in divisions], axis=0)
    right = np.zeros_like(batch.node)
    done = np.zeros(batch.nodes, dtype=np.bool_)
    for line, division in zip(lines, divisions, strict=True):
        mine = division.first_with(best, ~done)
        right |= _right_of(batch, line, mine)
        done[mine.node] = True
    return _kept(batch, right, k, guards)


@dataclass(frozen=True)
class _Divisions:
    """Values that may be divided, ordered by node: place on the line, records of it that go left, own loss."""

    node: Ints
    at: Ints
    left: Ints
    loss: Floats

    @classmethod
    def of(cls, line: Line, k: int) -> _Divisions:
        cells = line.cells
        count = cells.count[line.order]
        before = line.left - count
        least, most = np.maximum(k - before, 1), np.minimum(count - 1, count + line.right - k)
        possible = (least <= most) & ~cells.is_null[line.order]
        at = np.flatnonzero(possible)
        node, least, most = line.node[at], least[at], most[at]
        wide_left, wide_right = _both_widths(line, at)
        size = cells.total[node]
        # The narrower side takes all it can; between equals the halves are even, which leaves most cuts to come.
        even = np.clip(size // 2 - before[at], least, most)
        left = np.where(wide_left > wide_right, least, np.where(wide_left < wide_right, most, even))
        records = before[at] + left
        return cls(node, at, left, records * wide_left + (size - records) * wide_right)

    def take(self, which: Ints | Bools) -> _Divisions:
        return _Divisions(self.node[which], self.at[which], self.left[which], self.loss[which])

    def best_loss(self, nodes: int) -> Floats:
        best = np.full(nodes, np.inf)
        np.minimum.at(best, self.node, self.loss)
        return best

    def first_with(self, loss: Floats, wanted: Bools) -> _Divisions:
        """In each wanted node the first division of this loss, if there is one."""
        hits = self.take((self.loss == loss[self.node]) & wanted[self.node])
        return hits.take(starts_of(hits.node))


def _both_widths(line: Line, at: Ints) -> tuple[Floats, Floats]:
    """Width, as a share, up to and from the value at each place; missing values at an end give that side all of it."""
    cells, node = line.cells, line.node[at]
    nulls = cells.is_null[cells.last][node]
    leads, trails = nulls & line.nulls_first, nulls & (not line.nulls_first)
    begin, end = cells.first[node] + leads, cells.last[node] - trails
    return np.where(leads, 1.0, width(line, begin, at)), np.where(trails, 1.0, width(line, at, end))


def _right_of(batch: Batch, line: Line, divisions: _Divisions) -> Ints:
    """Per position 1 where it goes right; positions of a divided value are told apart by their order."""
    cells = line.cells
    at, left = np.full(batch.nodes, line.order.size), np.zeros(batch.nodes, dtype=np.int64)
    at[divisions.node], left[divisions.node] = divisions.at, divisions.left
    rank = np.empty_like(cells.order)
    length = np.diff(cells.starts, append=cells.order.size)
    rank[cells.order] = np.arange(cells.order.size) - np.repeat(cells.starts, length)
    place, here = line.places(), at[batch.node]
    behind: Bools = (place > here) | ((place == here) & (rank >= left[batch.node]))
    return behind.astype(np.int64)


def _kept(batch: Batch, right: Ints, k: int, guards: Sequence[Guard]) -> Candidate:
    """The divisions whose two children really keep every promise."""
    label = 2 * batch.node + right
    records = np.bincount(label, batch.counts, 2 * batch.nodes).reshape(-1, 2).astype(np.int64)
    fine = np.asarray((records >= k).all(axis=1))
    for guard in guards:
        if fine.any():
            asked = np.flatnonzero(fine[batch.node])
            label = 2 * (np.cumsum(fine) - 1)[batch.node[asked]] + right[asked]
            fine[fine] = guard.classes(batch.rows[asked], label, 2 * int(fine.sum())).reshape(-1, 2).all(axis=1)
    return Candidate(right * fine[batch.node], np.where(fine, records[:, 0], 0))
