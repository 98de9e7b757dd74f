"""TFRP: two fixed reference points (Chang, Li, Huang, J. Syst. Softw. 80, 2007)."""

from __future__ import annotations

from itertools import cycle

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.synthesis.cluster_sums import Clusters
from querygate.methods.synthesis.kmeans import nearest_centre
from querygate.methods.synthesis.random_groups import nearest


def tfrp(points: Floats, k: int, rng: np.random.Generator | None = None) -> Ints:
    """Groups of k around the points farthest from the corner of all minima and from that of all maxima, in turn.

    What is left joins the group of nearest centre. In the second phase, groups of largest squared error first, each is
    dissolved into its neighbours where that lowers the error of all. Nothing is random.
    """
    labels = np.full(len(points), -1, dtype=np.int64)
    left, rest = np.arange(len(points)), points
    corners = cycle([points.min(axis=0), points.max(axis=0)])
    group = 0
    while left.size >= k:
        far = rest[int(np.argmax(np.square(rest - next(corners)).sum(axis=1)))]
        chosen = nearest(rest, far, k)
        labels[left[chosen]] = group
        left, rest = np.delete(left, chosen), np.delete(rest, chosen, axis=0)
        group += 1
    if left.size:
        labels[left] = nearest_centre(rest, Clusters(labels[labels >= 0]).means(points[labels >= 0]))
    return _dissolved(points, labels)


def _dissolved(points: Floats, labels: Ints) -> Ints:
    """Dissolve groups while it pays. Joining b points of centre B to a of centre A costs ab/(a+b) |A - B|²."""
    labels = labels.copy()
    clusters = Clusters(labels.copy())
    centres, sizes = clusters.means(points), clusters.sizes.copy()
    errors = clusters.sums(np.square(points - centres[labels]).sum(axis=1))
    alive = np.ones(sizes.size, dtype=np.bool_)
    for group in np.argsort(-errors, kind="stable"):
        others = np.flatnonzero(alive & (np.arange(sizes.size) != group))
        if not others.size:
            break
        rows = np.flatnonzero(labels == group)
        targets, homes = np.unique(others[nearest_centre(points[rows], centres[others])], return_inverse=True)
        joining = Clusters(homes)
        means = joining.means(points[rows])
        inner = joining.sums(np.square(points[rows] - means[homes]).sum(axis=1))
        shared = joining.sizes * sizes[targets] / (joining.sizes + sizes[targets])
        added = inner + shared * np.square(means - centres[targets]).sum(axis=1)
        own = float(np.square(points[rows] - points[rows].mean(axis=0)).sum())
        if float(added.sum()) < own:
            share = (joining.sizes / (joining.sizes + sizes[targets]))[:, None]
            centres[targets] += share * (means - centres[targets])
            sizes[targets] += joining.sizes
            labels[rows] = targets[homes]
            alive[group] = False
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
