"""The best feasible cut of one attribute, in every node of a batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.division.node_cells import Batch, Line, NodeCells, argsort_packed, starts_of
from querygate.methods.anonymise.guards.guard import Guard, judges_cuts

TRIES = 64
"""Cuts per node and attribute shown to the guards that judge candidates only, before the attribute is given up."""


@dataclass(frozen=True)
class Candidate:
    """One cut per node: which positions of the batch go right, and how many records stay left (0: no cut)."""

    right: Bools | Ints
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

    def take(self, which: Ints | Bools | slice) -> _Pool:
        return _Pool(self.node[which], self.line[which], self.at[which], self.left[which], self.loss[which])

    def best(self) -> Ints:
        """The cut of least loss in each node, the first among equals."""
        starts = starts_of(self.node)
        if not starts.size:
            return starts
        least = np.repeat(np.minimum.reduceat(self.loss, starts), np.diff(starts, append=self.node.size))
        hits = np.flatnonzero(self.loss == least)
        return hits[starts_of(self.node[hits])]


def best_cut(batch: Batch, cells: NodeCells, k: int, guards: Sequence[Guard], *, public: bool) -> Candidate:
    """The feasible cut of least own loss of this attribute in each node; of public cuts only, if so wanted.

    Every feasible cut is weighed: "the median or none" can never cut off a majority value at the end of the order.
    """
    # Missing values can stay with either end, so both orders are tried where there are any.
    lines = [Line.of(cells, nulls_first=f) for f in ((False, True) if cells.attribute.has_nulls else (False,))]
    pool = _feasible(batch, lines, k, guards, public=public)
    judges = [g for g in guards if not judges_cuts(g)]
    chosen = _judged(batch, lines, pool, judges) if judges else pool.take(pool.best())
    left = np.zeros(batch.nodes, dtype=np.int64)
    left[chosen.node] = chosen.left
    right = np.zeros(batch.node.size, dtype=np.bool_)
    for index, line in enumerate(lines):
        right |= line.behind(_cut_at(chosen, index, batch))
    return Candidate(right, left)


def _feasible(batch: Batch, lines: Sequence[Line], k: int, guards: Sequence[Guard], *, public: bool) -> _Pool:
    """All cuts that leave k records on both sides and pass the guards that judge cuts."""
    pools = []
    for index, line in enumerate(lines):
        possible = (line.left >= k) & (line.right >= k)
        if public:
            possible[:-1] &= _crosses_public_cut(line)
        at = np.flatnonzero(possible)
        for guard in guards:
            if judges_cuts(guard):
                at = at[guard.cuts(batch, line, at)]
        node, left = line.node[at], line.left[at]
        pools.append(_Pool(node, np.full(at.size, index), at, left, _own_loss(line, at)))
    if len(pools) == 1:
        return pools[0]
    merged = _concatenated(pools)
    return merged.take(argsort_packed(merged.node)[0])


def _judged(batch: Batch, lines: Sequence[Line], pool: _Pool, judges: Sequence[Guard]) -> _Pool:
    """The best cut in each node whose two children satisfy the judges, among the first TRIES."""
    places = [line.places() for line in lines]
    accepted = []
    asked = np.arange(batch.node.size)  # positions whose node has found no cut yet
    for _ in range(TRIES):
        tried = pool.best()
        if not tried.size:
            break
        cuts = pool.take(tried)
        waiting = np.zeros(batch.nodes, dtype=np.bool_)
        waiting[cuts.node] = True
        asked = asked[waiting[batch.node[asked]]]
        fine = _satisfied(cuts, batch, places, asked, judges)
        accepted.append(cuts.take(fine))
        waiting[cuts.node[fine]] = False
        rest = waiting[pool.node]
        rest[tried] = False
        pool = pool.take(rest)
    return _concatenated([*accepted, pool.take(slice(0))])


def _concatenated(pools: Sequence[_Pool]) -> _Pool:
    return _Pool(*(np.concatenate([getattr(p, f) for p in pools]) for f in _Pool.__dataclass_fields__))


def _satisfied(cuts: _Pool, batch: Batch, places: Sequence[Ints], asked: Ints, judges: Sequence[Guard]) -> Bools:
    """Per cut whether both children satisfy every judge; `asked` are the positions of the nodes that are cut."""
    index = np.empty(batch.nodes, dtype=np.int64)
    index[cuts.node] = np.arange(cuts.node.size)
    label = 2 * index[batch.node[asked]] + _right_of(cuts, batch, places, asked)
    fine = np.ones(cuts.node.size, dtype=np.bool_)
    for judge in judges:
        fine &= judge.classes(batch.rows[asked], label, 2 * cuts.node.size).reshape(-1, 2).all(axis=1)
    return fine


def _right_of(cuts: _Pool, batch: Batch, places: Sequence[Ints], asked: Ints) -> Ints:
    """Per position asked for, 1 where it lies behind the cut of its node."""
    node = batch.node[asked]
    right = np.zeros_like(node)
    for line, place in enumerate(places):
        right |= place[asked] > _cut_at(cuts, line, batch)[node]
    return right


def _cut_at(cuts: _Pool, line: int, batch: Batch) -> Ints:
    """The place of each node's cut on one line; behind the end where it has none there, and stays whole on the left."""
    mine = cuts.line == line
    at = np.full(batch.nodes, batch.node.size)
    at[cuts.node[mine]] = cuts.at[mine]
    return at


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
    left, right = width(line, begin, at), width(line, at + 1, end)
    # Missing values alone have no width; beside values they have all of it.
    left, right = np.where(leads, at >= begin, left), np.where(trails, at < end, right)
    return line.left[at] * left + line.right[at] * right


def width(line: Line, begin: Ints, end: Ints) -> Floats:
    """Width, as a share, of the values at the places from begin to end."""
    attribute = line.cells.attribute
    if not attribute.ordered:
        number = end - begin + 1.0
        return np.where(number > 1, number, 0.0) / attribute.span
    lower, upper = line.cells.lower[line.order], line.cells.upper[line.order]
    return (upper[end] - lower[begin]) / (attribute.span or 1.0)
