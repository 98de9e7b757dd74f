"""Closer clusters of the same sizes: records of two clusters change places where both together come nearer.

Bringing clusters up to k moves records from wherever there are too many, often far. Exchanging them afterwards takes
the squared error back near that of k-means without sizes, and no size changes.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.synthesis.cluster_sums import Clusters

ROUNDS = 30
SETTLED = 0.002
"""No further round once fewer than this share of the records changed places."""


def exchanged(points: Floats, labels: Ints) -> Ints:
    """Clusters of the same sizes and smaller squared error; labels are 0..c-1, no cluster empty.

    >>> exchanged(np.array([[0.0], [9.0], [8.0], [2.0]]), np.array([0, 0, 1, 1]))
    array([0, 1, 1, 0])
    """
    for _ in range(ROUNDS):
        labels, swaps = _round(points, labels)
        if 2 * swaps <= SETTLED * len(points):
            break
    return labels


def _round(points: Floats, labels: Ints) -> tuple[Ints, int]:
    """Per pair of clusters the best exchange, best pairs first, no record twice; how many there were.

    With centres held still what an exchange gains does not depend on the others, so all of them may be made at once;
    moving the centres to the new means only lowers the error more.
    """
    clusters = Clusters(labels)
    gains = _gains(points, clusters)
    best = np.maximum.reduceat(gains, clusters.starts, axis=0)
    both = np.triu(best + best.T, 1)
    ones, others = np.nonzero(both > 1e-9 * np.abs(gains).max(initial=0.0))
    free = np.ones(labels.size, dtype=np.bool_)
    labels, swaps = labels.copy(), 0
    for pair in np.argsort(-both[ones, others], kind="stable"):
        one, other = int(ones[pair]), int(others[pair])
        leaves, comes = _keenest(gains, clusters, one, other), _keenest(gains, clusters, other, one)
        if free[leaves] and free[comes]:
            free[leaves] = free[comes] = False
            labels[leaves], labels[comes] = other, one
            swaps += 1
    return labels, swaps


def _gains(points: Floats, clusters: Clusters) -> Floats:
    """By how much half the squared distance falls when a record, in the order of the clusters, joins each of them."""
    centres = clusters.means(points)
    ordered = points[clusters.order]
    distances = np.square(centres).sum(axis=1) / 2 - ordered @ centres.T
    own: Floats = distances[np.arange(len(ordered)), clusters.labels[clusters.order]]
    gains: Floats = own[:, None] - distances
    return gains


def _keenest(gains: Floats, clusters: Clusters, home: int, target: int) -> int:
    """The record of `home` that gains most by joining `target`."""
    begin = clusters.starts[home]
    place = int(np.argmax(gains[begin : begin + clusters.sizes[home], target]))
    return int(clusters.order[begin + place])
