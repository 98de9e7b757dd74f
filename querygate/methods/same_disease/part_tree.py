"""The tree of parts: split where the instance risk rises least, then take back the splits that cost most.

A part of n records and N people adds n^2/N to R times the number of records. Splitting it into (a, A) and (b, B)
raises that by (aN - nA)^2 / (N A B), never less than nothing (Cauchy and Schwarz), and by nothing when both sides have
the same share of people in the file. So the best cut is the one that leaves both sides as much alike in that share as
can be, and R can never fall below the share of the file in the population. Sides without a record would take people
away from the others and are not made.

Many cuts are about as good. A blind one raises the sum by n/N on average (the variance of a share); cuts that cost less
than a small part of that count as equal, and of equals the one is taken that narrows the widest column, nearest to the
middle: a class with both sexes and births of one week is of less use than one with one sex and births of two.

Cuts are sought over all columns with orders that are sorted once and handed down, so a level of the tree costs one
pass over the people: O(N log N) in all for a tree of ordinary depth.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from querygate.core.types import Bools, Ints

EQUAL = 0.05
"""Cuts that cost less than this part of a blind one are equally good."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What every part keeps to: enough records and people, and no greater instance risk than the limit.

    A part of more than `max_records` records is split wherever the other rules allow it, whatever the risk. Without
    that bound the cheapest way to many classes may be one that is large and many that are small.
    """

    min_records: int = 1
    min_people: int = 1
    limit: float = 1.0
    max_records: int | None = None

    def __post_init__(self) -> None:
        if self.min_records < 1 or self.min_people < 1 or not 0 < self.limit <= 1:
            raise ValueError("at least one record, at least one person, and a limit between 0 and 1")


LEAST = Rules()


@dataclass(frozen=True, slots=True)
class CodeAtoms:
    """Combinations of codes, each once: how many people and records have it. Sorted, whatever the order of rows."""

    codes: tuple[Ints, ...]  # one array for each column
    people: Ints
    records: Ints
    depths: tuple[Ints, ...]  # for each column, of each cut, the most general level that it divides


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes in the order in which they were made, parents first. A node is a run of `atoms`; -1 is no child."""

    atoms: Ints
    start: Ints
    end: Ints
    people: Ints
    records: Ints
    left: Ints
    right: Ints


class _Cut(NamedTuple):
    """The least is the best."""

    rise: float
    narrow: float  # 1 less the width of the column in this part
    uneven: float  # the less, the more alike the sides are in people
    column: int
    at: int  # so many atoms of the order of the column are on the left


def grow(atoms: CodeAtoms, rules: Rules) -> Tree:
    """Split until no cut keeps to the rules."""
    inside = np.zeros(atoms.people.size, dtype=np.bool_)
    placed = np.empty(atoms.people.size, dtype=np.int64)
    nodes: list[list[int]] = []
    orders = [(column, np.argsort(codes, kind="stable")) for column, codes in enumerate(atoms.codes)]
    waiting = [(orders, 0, -1, 0)]
    while waiting:
        orders, start, parent, side = waiting.pop()
        mine = orders[0][1]
        node = [start, start + mine.size, int(atoms.people[mine].sum()), int(atoms.records[mine].sum()), -1, -1]
        if parent >= 0:
            nodes[parent][4 + side] = len(nodes)
        nodes.append(node)
        cut = _best(atoms, orders, node[2], node[3], rules)
        if cut is None:
            placed[start : start + mine.size] = mine
            continue
        on_left = dict(orders)[cut.column][: cut.at]
        inside[on_left] = True
        left = [(column, order[inside[order]]) for column, order in orders]
        right = [(column, order[~inside[order]]) for column, order in orders]
        inside[on_left] = False
        me = len(nodes) - 1
        waiting.append((right, start + cut.at, me, 1))
        waiting.append((left, start, me, 0))
    return Tree(placed, *np.asarray(nodes, dtype=np.int64).T)


def _best(atoms: CodeAtoms, orders: Sequence[tuple[int, Ints]], people: int, records: int, rules: Rules) -> _Cut | None:
    if records < 2 * rules.min_records or people < 2 * rules.min_people:
        return None
    found = [_cut(atoms, column, order, people, records, rules) for column, order in orders]
    return min((cut for cut in found if cut is not None), default=None)


def _cut(atoms: CodeAtoms, column: int, order: Ints, people: int, records: int, rules: Rules) -> _Cut | None:
    """The best cut of one column. Between areas before inside them: the most general level that can be cut is."""
    codes = atoms.codes[column][order]
    at = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    n, many = np.cumsum(atoms.records[order])[at - 1], np.cumsum(atoms.people[order])[at - 1]
    m, few = records - n, people - many
    able = (np.minimum(n, m) >= rules.min_records) & (np.minimum(many, few) >= rules.min_people)
    able &= (n <= rules.limit * many) & (m <= rules.limit * few)
    at, n, many, few = at[able], n[able], many[able], few[able]
    if not at.size:
        return None
    depth = _depth(atoms.depths[column], codes, at)
    balance = many.astype(np.float64) * few
    # In units of what a blind cut costs, n/N.
    rise = (n * people - records * many).astype(np.float64) ** 2 / balance / records
    rise = np.maximum(rise, EQUAL)
    best = int(np.lexsort((-balance, rise, depth))[0])
    width = (codes[-1] - codes[0]) / atoms.depths[column].size
    return _Cut(float(rise[best]), 1 - float(width), -float(balance[best]), column, int(at[best]))


def _depth(depths: Ints, codes: Ints, at: Ints) -> Ints:
    """The most general level divided between the codes on both sides of a cut, which need not be neighbours."""
    if not depths.any():
        return np.zeros(at.size, dtype=np.int64)
    ends = np.stack([codes[at - 1], codes[at]], axis=1).reshape(-1)
    # reduceat takes the least of each stretch [low, high); the stretches between them are left out.
    return np.asarray(np.minimum.reduceat(np.append(depths, depths.max()), ends)[::2], dtype=np.int64)


def prune(tree: Tree, classes: int, max_records: int) -> Ints:
    """The nodes to publish: at least so many (or all leaves), of the least R that taking back splits gives.

    Weakest links first (Breiman et al., "Classification and Regression Trees", 1984, section 3.3): the next split to
    take back is the one below which each further class costs the most. Descendants stand behind their node, so what
    is below it is a run.
    """
    own = tree.records.astype(np.float64) ** 2 / np.maximum(np.maximum(tree.people, tree.records), 1)
    leaves, below, parent = np.ones(own.size, dtype=np.int64), own.copy(), np.full(own.size, -1)
    for node in np.flatnonzero(tree.left >= 0)[::-1].tolist():
        children = [tree.left[node], tree.right[node]]
        leaves[node], below[node], parent[children] = leaves[children].sum(), below[children].sum(), node
    behind = np.arange(own.size) + 2 * leaves - 1
    closed = leaves == 1

    def link(node: int) -> tuple[float, int, int]:
        return float(own[node] - below[node]) / (int(leaves[node]) - 1), node, int(leaves[node])

    small = tree.records <= max_records
    links = [link(node) for node in np.flatnonzero(~closed & small).tolist()]
    heapq.heapify(links)
    while links and leaves[0] > classes:
        _, node, count = heapq.heappop(links)
        if closed[node] or count != leaves[node] or leaves[0] - count + 1 < classes:
            continue
        fewer, less, at = count - 1, below[node] - own[node], node
        closed[node : behind[node]] = True
        while at >= 0:
            leaves[at] -= fewer
            below[at] -= less
            if small[at] and not closed[at]:
                heapq.heappush(links, link(at))
            at = int(parent[at])
    return _outermost(closed, behind)


def _outermost(closed: Bools, behind: Ints) -> Ints:
    found, at = [], 0
    while at < closed.size:
        if closed[at]:
            found.append(at)
        at = int(behind[at]) if closed[at] else at + 1
    return np.asarray(found, dtype=np.int64)
