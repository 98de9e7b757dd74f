"""Clusters of at least k by k-means (Gal, Tucker, Gangopadhyay, Chen, J. Biomed. Inform. 50, 2014, steps 2 and 3).

An exchange of records follows, which the paper does not have: see exchange.py.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.synthesis.swap import exchanged

ITERATIONS = 20
SETTLED = 0.002
"""No further round once fewer than this share of the records changed cluster."""

CHUNK = 4_000_000
"""Distances held at once."""


def kmeans_of_least(points: Floats, k: int, rng: np.random.Generator) -> Ints:
    """The cluster of each point, 0..floor(n/k)-1, each of k to 2k-1 points.

    >>> points = np.array([[0.0], [9.0], [0.1], [9.1], [0.2], [9.2]])
    >>> labels = kmeans_of_least(points, 3, np.random.default_rng(0))
    >>> bool((labels[[0, 2, 4]] == labels[0]).all()), np.bincount(labels)
    (True, array([3, 3]))
    """
    count = max(len(points) // k, 1)
    labels, centres = _lloyd(points, _seeds(points, count, rng))
    return exchanged(points, _fill(points, labels, centres, k))


def _seeds(points: Floats, count: int, rng: np.random.Generator) -> Floats:
    """k-means++ (Arthur & Vassilvitskii 2007): each seed drawn by squared distance to the seeds before it."""
    chosen = np.empty(count, dtype=np.int64)
    chosen[0] = rng.integers(len(points))
    nearest = _distances_to(points, points[chosen[0]])
    for place in range(1, count):
        total = np.cumsum(nearest)
        if total[-1] > 0:
            chosen[place] = min(np.searchsorted(total, rng.random() * total[-1], side="right"), len(points) - 1)
        else:  # fewer different points than clusters
            chosen[place] = rng.integers(len(points))
        np.minimum(nearest, _distances_to(points, points[chosen[place]]), out=nearest)
    return points[chosen]


def _lloyd(points: Floats, centres: Floats) -> tuple[Ints, Floats]:
    labels = nearest_centre(points, centres)
    for _ in range(ITERATIONS):
        centres = _centres(points, labels, centres)
        moved = nearest_centre(points, centres)
        changed = np.count_nonzero(moved != labels)
        labels = moved
        if changed <= SETTLED * len(points):
            break
    return labels, _centres(points, labels, centres)


def nearest_centre(points: Floats, centres: Floats) -> Ints:
    """Of each point the nearest centre, by |c|² - 2 p·c: one matrix product per chunk of points."""
    half = np.square(centres).sum(axis=1) / 2
    found = np.empty(len(points), dtype=np.int64)
    step = max(CHUNK // len(centres), 1)
    for begin in range(0, len(points), step):
        found[begin : begin + step] = np.argmin(half - points[begin : begin + step] @ centres.T, axis=1)
    return found


def _centres(points: Floats, labels: Ints, before: Floats) -> Floats:
    """Means of the clusters; an empty one stays where it was."""
    sizes = np.bincount(labels, minlength=len(before))
    sums = np.column_stack([np.bincount(labels, column, minlength=len(before)) for column in points.T])
    return np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], before)


def _fill(points: Floats, labels: Ints, centres: Floats, k: int) -> Ints:
    """Smallest clusters first, those under k take the nearest records of clusters above k.

    There are floor(n/k) clusters, so those above k always have enough to give; none gives below k.
    """
    labels = labels.copy()
    sizes = np.bincount(labels, minlength=len(centres))
    for cluster in np.argsort(sizes, kind="stable"):
        wanted = k - sizes[cluster]
        if wanted <= 0:
            break
        donors = np.flatnonzero((sizes > k)[labels])
        by_distance = donors[np.argsort(_distances_to(points[donors], centres[cluster]), kind="stable")]
        gives = _place_in_group(labels[by_distance]) < (sizes - k)[labels[by_distance]]
        moved = by_distance[gives][:wanted]
        sizes -= np.bincount(labels[moved], minlength=sizes.size)
        sizes[cluster] += moved.size
        labels[moved] = cluster
    return labels


def _place_in_group(groups: Ints) -> Ints:
    """Of each entry, how many of its group come before it."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    places = np.empty(groups.size, dtype=np.int64)
    places[order] = np.arange(groups.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places


def _distances_to(points: Floats, centre: Floats) -> Floats:
    away = points - centre
    squares: Floats = np.einsum("ij,ij->i", away, away)
    return squares
