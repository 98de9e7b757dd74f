"""Groups of neighbours from a minimum spanning tree (Laszlo & Mukherjee, IEEE TKDE 17, 2005).

The longest edges are cut as long as both sides keep k points; what is 2k or more after that is divided by MDAV.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.synthesis.mdav import mdav


def mst_groups(points: Floats, k: int, rng: np.random.Generator | None = None) -> Ints:
    """Groups of at least k points; nothing is random.

    >>> mst_groups(np.array([[1.0], [2.0], [30.0], [31.0], [32.0], [3.0]]), 3)
    array([0, 0, 1, 1, 1, 0])
    """
    parent, length = spanning_tree(points)
    root = _cut(parent, length, k)
    labels = np.unique(root, return_inverse=True)[1].reshape(-1).astype(np.int64)
    for group in np.flatnonzero(np.bincount(labels) >= 2 * k).tolist():
        members = np.flatnonzero(labels == group)
        parts = mdav(points[members], k)
        labels[members] = np.where(parts == 0, group, labels.max() + parts)
    return _in_order(labels)


def spanning_tree(points: Floats) -> tuple[Ints, Floats]:
    """The parent of each point in a minimum spanning tree that begins at the first, and the length of the edge (Prim).

    Equal points are joined like others, at no length.
    """
    size = len(points)
    parent, length = np.zeros(size, dtype=np.int64), np.full(size, np.inf)
    inside, at = np.zeros(size, dtype=np.bool_), 0
    length[0] = 0.0
    for _ in range(size - 1):
        inside[at] = True
        distance = np.square(points - points[at]).sum(axis=1)
        nearer = ~inside & (distance < length)
        length[nearer], parent[nearer] = distance[nearer], at
        at = int(np.argmin(np.where(inside, np.inf, length)))
    return parent, np.sqrt(length)


def _cut(parent: Ints, length: Floats, k: int) -> Ints:
    """The root of the subtree that each point is in at the end: the longest edges are tried first."""
    size, above = np.ones(parent.size, dtype=np.int64), parent.copy()
    for point in _from_leaves(parent):
        size[parent[point]] += size[point]
    for point in np.argsort(-length, kind="stable").tolist():
        way = _way_up(above, point)
        if point != way[-1] and size[point] >= k and size[way[-1]] - size[point] >= k:
            for one in way[1:]:
                size[one] -= size[point]
            above[point] = point
    return np.array([_way_up(above, point)[-1] for point in range(parent.size)], dtype=np.int64)


def _from_leaves(parent: Ints) -> list[int]:
    """Every point but the first, each before its parent."""
    depth = np.array([len(_way_up(parent, point)) for point in range(parent.size)])
    return [point for point in np.argsort(-depth, kind="stable").tolist() if point]


def _way_up(parent: Ints, point: int) -> list[int]:
    way = [point]
    while (up := int(parent[way[-1]])) != way[-1]:
        way.append(up)
    return way


def _in_order(labels: Ints) -> Ints:
    """Numbered by their first point."""
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[which.reshape(-1)].astype(np.int64)
