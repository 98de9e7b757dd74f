"""Numbers inside their bounds, and whole ones, that keep the mean of a cluster, and its spread where they can.

Draws are normal, so of a count near 0 some are negative. Cutting those off alone would raise the mean and lower the
spread, and a model would find a steeper slope than there is.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats
from querygate.methods.synthesis.cluster_sums import Clusters

HALVINGS = 60
ROUNDS = 40
MOST_STRETCH = 3.0
"""Beyond this the spread is given up: one draw would have to stand out as far as the one original that made it."""


def bounded(values: Floats, clusters: Clusters, means: Floats, low: float, high: float) -> Floats:
    """Values in [low, high] with these means per cluster. Clusters that lie inside already stay as they are.

    The others are stretched until what is left after cutting off has the standard deviation they had before, and then
    moved as the mean wants it.

    >>> values, clusters = np.array([-1.0, 1.0, 3.0]), Clusters(np.array([0, 0, 0]))
    >>> bounded(values, clusters, np.array([1.0]), 0.0, 9.0).round(3)
    array([0., 0., 3.])
    """
    outside = clusters.sums((values < low) | (values > high)) > 0
    if not outside.any():
        return values
    rows = np.flatnonzero(outside[clusters.labels])
    some = Clusters(np.unique(clusters.labels[rows], return_inverse=True)[1])
    stretched = _stretched(values[rows], some, means[outside], low, high)
    made = values.copy()
    made[rows] = shifted(stretched, some, means[outside], low, high)
    return made


def _stretched(values: Floats, clusters: Clusters, means: Floats, low: float, high: float) -> Floats:
    """a + b (value - mean), with a and b corrected by what the cut values still lack; b is from 1 to the most."""
    away = values - clusters.means(values[:, None])[clusters.labels, 0]
    wanted = np.sqrt(clusters.sums(np.square(away)))
    stretch, move = np.ones(clusters.count), means.copy()
    for _ in range(ROUNDS):
        cut = np.clip(move[clusters.labels] + stretch[clusters.labels] * away, low, high)
        now = clusters.means(cut[:, None])[:, 0]
        spread = np.sqrt(clusters.sums(np.square(cut - now[clusters.labels])))
        move += means - now
        ratio = np.divide(wanted, spread, out=np.ones_like(spread), where=spread > 0)
        stretch = np.clip(stretch * np.clip(ratio, 0.5, 2.0), 1.0, MOST_STRETCH)
    made: Floats = move[clusters.labels] + stretch[clusters.labels] * away
    return made


def shifted(values: Floats, clusters: Clusters, means: Floats, low: float, high: float) -> Floats:
    """The nearest values in [low, high] with these means: clip(value - t), t per cluster by halving.

    The mean of clip(value - t) falls in t; it is at least the wanted one at t = least value - mean and at most at
    t = largest value - mean, since the wanted one lies inside the bounds.
    """
    ordered = values[clusters.order]
    below = np.minimum.reduceat(ordered, clusters.starts) - means
    above = np.maximum.reduceat(ordered, clusters.starts) - means
    for _ in range(HALVINGS):
        middle = (below + above) / 2
        cut = np.clip(ordered - np.repeat(middle, clusters.sizes), low, high)
        too_high = np.add.reduceat(cut, clusters.starts) > means * clusters.sizes
        below, above = np.where(too_high, middle, below), np.where(too_high, above, middle)
    return np.clip(values - ((below + above) / 2)[clusters.labels], low, high)


def whole(values: Floats, clusters: Clusters, sums: Floats, low: float, high: float) -> Floats:
    """Whole numbers with these sums per cluster: rounded down, or up for those of largest remainder.

    >>> whole(np.array([1.4, 1.3, 1.3]), Clusters(np.array([0, 0, 0])), np.array([4.0]), 0.0, 9.0)
    array([2., 1., 1.])
    """
    floors = np.floor(values)
    ups = np.clip(np.rint(sums - clusters.sums(floors)), 0, clusters.sizes).astype(np.int64)
    made: Floats = np.clip(floors + clusters.highest(values - floors, ups), low, high)
    return made
