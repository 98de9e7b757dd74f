"""Least cuts of a graph, in whole numbers.

Maximum adjacency orders (Stoer and Wagner, J. ACM 1997; Nagamochi and Ibaraki, SIAM J. Discrete Math. 1992): an edge
that is scanned when its later end is already attached by `least` joins two vertices that no smaller cut parts, so they
become one; so do the last two of each order, after the last one's own cut was looked at. Few orders are needed.

Proof: docs/explanation/proofs/views-cuts.md.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from querygate.core.types import Bools, Ints


def cuts_below(weights: Ints, least: int) -> list[Bools]:
    """Cuts of components that weigh less than `least`, each as one side of it.

    None is returned exactly if there is none. `weights` is a symmetric matrix of whole numbers.
    """
    graph, group = weights.copy(), np.arange(len(weights))
    np.fill_diagonal(graph, 0)
    found: dict[bytes, Bools] = {}
    joined = graph >= least
    while True:
        graph, group = _contracted(graph, group, joined)
        degree = graph.sum(axis=0)
        for vertex in np.flatnonzero((degree > 0) & (degree < least)).tolist():
            side = group == vertex
            found.setdefault(side.tobytes(), side)
        if not degree.any():
            return list(found.values())
        joined = _joined_by_order(graph, least)


def least_cut(weights: Ints) -> int | None:
    """The weight of the least cut of any component; None if no vertex has an edge."""
    degree = weights.sum(axis=0) - weights.diagonal()
    if not degree.any():
        return None
    bound = int(degree[degree > 0].min())
    while found := cuts_below(weights, bound):
        bound = min(int(weights[np.ix_(side, ~side)].sum()) for side in found)
    return bound


def _contracted(graph: Ints, group: Ints, joined: Bools) -> tuple[Ints, Ints]:
    number, label = connected_components(joined, directed=False)
    if number == len(graph):
        return graph, group
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(number))
    rows = np.add.reduceat(graph[order], starts, axis=0)
    smaller: Ints = np.add.reduceat(rows[:, order], starts, axis=1)
    np.fill_diagonal(smaller, 0)
    return smaller, label.astype(np.int64)[group]


def _joined_by_order(graph: Ints, least: int) -> Bools:
    """Which vertices become one after an order of the whole graph."""
    size = len(graph)
    joined = np.zeros((size, size), dtype=np.bool_)
    attached, seen = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.bool_)
    before = -1
    last_two = (-1, -1)
    for _ in range(size):
        vertex = int(np.argmax(np.where(seen, -1, attached)))
        if attached[vertex] == 0 and last_two[0] >= 0:  # a component is through
            joined[last_two] = True
        last_two = (before, vertex) if attached[vertex] > 0 else (-1, -1)
        seen[vertex], before = True, vertex
        edges = graph[vertex]
        attached += edges
        joined[vertex] = (edges > 0) & ~seen & (attached >= least)
    if last_two[0] >= 0:
        joined[last_two] = True
    return joined
