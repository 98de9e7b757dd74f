"""The best feasible cut of one attribute, in every node of a batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.anonymise.cells import Batch, Cells, Line, argsort_packed, starts_of
from querygate.anonymise.guards import CutGuard, Guard
from querygate.core.types import Bools, Floats, Ints

TRIES = 64
"""Cuts per node and attribute shown to the guards that judge candidates only, before the attribute is given up."""


@dataclass(frozen=True)
class Candidate:
    """One cut per node: which positions of the batch go right, and how many records stay left (0: no cut)."""

    right: Ints
    left_records: Ints

    @property
    def exists(self) -> Bools:
        return self.left_records > 0


@dataclass(frozen=True)
class _Pool:
    """Feasible cuts, ordered by node: place on which line, records on the left, own loss."""

    node: Ints
    line: Ints
    at: Ints
    left: Ints
    loss: Floats

    def take(self, which: Ints | Bools) -> _Pool:
        return _Pool(self.node[which], self.line[which], self.at[which], self.left[which], self.loss[which])

    def best(self) -> Ints:
        """The cut of least loss in each node, the first among equals."""
        starts = starts_of(self.node)
        if not starts.size:
            return starts
        least = np.repeat(np.minimum.reduceat(self.loss, starts), np.diff(starts, append=self.node.size))
        hits = np.flatnonzero(self.loss == least)
        return hits[starts_of(self.node[hits])]


def best_cut(batch: Batch, cells: Cells, k: int, guards: Sequence[Guard], *, public: bool) -> Candidate:
    """The feasible cut of least own loss of this attribute in each node; of public cuts only, if so wanted.

    Every feasible cut is weighed: "the median or none" can never cut off a majority value at the end of the order.
    """
    # Missing values can stay with either end, so both orders are tried where there are any.
    lines = [Line.of(cells, nulls_first=f) for f in ((False, True) if cells.attribute.has_nulls else (False,))]
    pool = _feasible(batch, lines, k, guards, public=public)
    judges = [g for g in guards if not isinstance(g, CutGuard)]
    chosen = _judged(batch, lines, pool, judges) if judges else pool.take(pool.best())
    left = np.zeros(batch.nodes, dtype=np.int64)
    left[chosen.node] = chosen.left
    return Candidate(cells.spread(_right_cells(lines, chosen, batch.nodes)), left)


def _feasible(batch: Batch, lines: Sequence[Line], k: int, guards: Sequence[Guard], *, public: bool) -> _Pool:
    """All cuts that leave k records on both sides and pass the guards that judge cuts."""
    pools = []
    for index, line in enumerate(lines):
        possible = (line.left >= k) & (line.right >= k)
        if public:
            possible[:-1] &= _crosses_public_cut(line)
        at = np.flatnonzero(possible)
        for guard in guards:
            if isinstance(guard, CutGuard):
                at = at[guard.cuts(batch, line, at)]
        node, left = line.node[at], line.left[at]
        pools.append(_Pool(node, np.full(at.size, index), at, left, _own_loss(line, at)))
    if len(pools) == 1:
        return pools[0]
    merged = _concatenated(pools)
    return merged.take(argsort_packed(merged.node)[0])


def _judged(batch: Batch, lines: Sequence[Line], pool: _Pool, judges: Sequence[Guard]) -> _Pool:
    """The best cut in each node whose two children satisfy the judges, among the first TRIES."""
    accepted = []
    for _ in range(TRIES):
        best = pool.best()
        if not best.size:
            break
        tried = pool.take(best)
        fine = _satisfied(batch, lines, tried, judges)
        accepted.append(tried.take(fine))
        unsettled = np.ones(batch.nodes, dtype=np.bool_)
        unsettled[tried.node[fine]] = False
        rest = unsettled[pool.node]
        rest[best] = False
        pool = pool.take(rest)
    return _concatenated([*accepted, pool.take(np.zeros(0, dtype=np.int64))])


def _concatenated(pools: Sequence[_Pool]) -> _Pool:
    return _Pool(*(np.concatenate([getattr(p, f) for p in pools]) for f in _Pool.__dataclass_fields__))


def _satisfied(batch: Batch, lines: Sequence[Line], cuts: _Pool, judges: Sequence[Guard]) -> Bools:
    """Per cut whether both children satisfy every judge."""
    right = lines[0].cells.spread(_right_cells(lines, cuts, batch.nodes))
    index = np.full(batch.nodes, -1)
    index[cuts.node] = np.arange(cuts.node.size)
    asked = np.flatnonzero(index[batch.node] >= 0)
    label = 2 * index[batch.node[asked]] + right[asked]
    fine = np.ones(cuts.node.size, dtype=np.bool_)
    for judge in judges:
        fine &= judge.classes(batch.rows[asked], label, 2 * cuts.node.size).reshape(-1, 2).all(axis=1)
    return fine


def _right_cells(lines: Sequence[Line], cuts: _Pool, nodes: int) -> Ints:
    """Per cell 1 where it lies behind the cut of its node."""
    right = np.zeros(lines[0].node.size, dtype=np.int64)
    for index, line in enumerate(lines):
        mine = cuts.line == index
        at = np.full(nodes, -1)
        at[cuts.node[mine]] = cuts.at[mine]
        right |= line.right_of(at)
    return right


def _crosses_public_cut(line: Line) -> Bools:
    """Whether a public cut lies between each place and the next.

    For an attribute with public cuts the border of "missing" counts as one: a predicate on it is unknown for a missing
    value, so a class that mixes both straddles every query.
    """
    attribute = line.cells.attribute
    region = np.searchsorted(np.sort(attribute.cuts), np.arange(attribute.size + 1), side="right")
    region[attribute.size] = -1
    return np.not_equal(region[line.code[1:]], region[line.code[:-1]])


def _own_loss(line: Line, at: Ints) -> Floats:
    """Records times width of the attribute itself, both sides of each cut."""
    cells, node = line.cells, line.node[at]
    nulls = cells.is_null[cells.last][node]
    leads, trails = nulls & line.nulls_first, nulls & (not line.nulls_first)
    begin, end = cells.first[node] + leads, cells.last[node] - trails  # the places that hold values
    left, right = _widths(line, begin, at, end)
    # Missing values alone have no width; beside values they have all of it.
    left, right = np.where(leads, at >= begin, left), np.where(trails, at < end, right)
    return line.left[at] * left + line.right[at] * right


def _widths(line: Line, begin: Ints, at: Ints, end: Ints) -> tuple[Floats, Floats]:
    """Width, as a share, of the values from begin to at, and from behind at to end."""
    attribute = line.cells.attribute
    if not attribute.ordered:
        left, right = at - begin + 1.0, (end - at).astype(np.float64)
        return np.where(left > 1, left, 0.0) / attribute.span, np.where(right > 1, right, 0.0) / attribute.span
    lower, upper = line.cells.lower[line.order], line.cells.upper[line.order]
    span = attribute.span or 1.0
    return (upper[at] - lower[begin]) / span, (upper[end] - lower[at + 1]) / span
