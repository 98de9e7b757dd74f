"""Two views together: every combination of their classes is about k people or nobody (R2).

Classes of both views are the vertices of a graph, and records in both are the weights of its edges. The claim holds
exactly if every cut of every component weighs k people at least. Proof: docs/explanation/proofs/views-cuts.md.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints
from querygate.methods.views.frontier import Collapse, Frontier, collapse_greedily
from querygate.methods.views.least_cuts import cuts_below, least_cut

REASON = "together with the other view it would tell of fewer than k people"


def class_graph(first: Frontier, second: Frontier, leaf: Ints, weights: Ints) -> Ints:
    """The symmetric matrix of common weights; classes of the first view come first. `leaf` is views x rows."""
    size = first.classes + second.classes
    graph = np.zeros((size, size), dtype=np.int64)
    one, other = first.of(leaf[0]), first.classes + second.of(leaf[1])
    np.add.at(graph, (one, other), weights)
    return graph + graph.T


def uncrossed(
    first: Frontier, second: Frontier, leaf: Ints, weights: Ints, least: int
) -> tuple[list[Frontier], list[Collapse]]:
    """Both views, coarsened until no cut weighs less than `least`.

    Every collapse ends a cut, and a view at its root has none: so it ends.
    """
    views, done = [first, second], []
    while found := cuts_below(class_graph(views[0], views[1], leaf, weights), least):
        sides = np.stack(found)
        middle = views[0].classes
        hits = [views[0].divides(sides[:, :middle]), views[1].divides(sides[:, middle:])]
        views, more = collapse_greedily(views, hits, REASON)
        done += more
    return views, done


def least_crossing(first: Frontier, second: Frontier, leaf: Ints, weights: Ints) -> int:
    """The weight of the least cut, which is the least support of any combination."""
    return least_cut(class_graph(first, second, leaf, weights)) or 0
