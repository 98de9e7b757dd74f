"""Synthetic records with exactly the mean and the covariance of a cluster (Aggarwal & Yu, EDBT 2004, section 2)."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats
from querygate.methods.synthesis.cluster_sums import Clusters


def synthesise(matrix: Floats, clusters: Clusters, rng: np.random.Generator) -> Floats:
    """New points for every record, cluster by cluster."""
    made = np.empty_like(matrix)
    for rows in clusters.members():
        made[rows] = like(matrix[rows], rng)
    return made


def like(points: Floats, rng: np.random.Generator) -> Floats:
    """As many random points, with the sample mean and covariance of these up to rounding.

    Principal components come from the singular values U S V' of the centred points: that is the transpose trick where
    there are more features than points, since no matrix larger than the smaller side is decomposed. Each component is
    drawn independently normal. A sample of draws has not quite mean 0 and covariance 1, so it is made to: columns after
    the first of the orthogonal factor of [1, draws] have sum 0, length 1 and right angles between them. With such Q,
    Y = mean + Q S V' has Y's covariance V S² V', the original's, whatever the rank: that is at most n - 1, so Q exists.

    Requires: at least 3 points, else mean and covariance tell the points themselves.

    >>> points = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 0.0], [6.0, 2.0]])
    >>> new = like(points, np.random.default_rng(1))
    >>> np.allclose(new.mean(axis=0), points.mean(axis=0)), np.allclose(np.cov(new.T), np.cov(points.T))
    (True, True)
    """
    mean = points[0] + (points - points[0]).mean(axis=0)  # of equal values exactly that value
    centred = points - mean
    # Each column is brought to length 1, so that one of small spread in this cluster keeps its precision.
    spread = np.sqrt(np.square(centred).sum(axis=0))
    varies = spread > 0
    made = np.repeat(mean[None, :], len(points), axis=0)
    if not varies.any():
        return made
    _, lengths, axes = np.linalg.svd(centred[:, varies] / spread[varies], full_matrices=False)
    rank = min(int((lengths > lengths[0] * len(points) * np.finfo(np.float64).eps).sum()), len(points) - 1)
    draws = rng.standard_normal((len(points), rank))
    unit = np.linalg.qr(np.column_stack([np.ones(len(points)), draws]))[0][:, 1:]
    made[:, varies] += (unit * lengths[:rank]) @ axes[:rank] * spread[varies]
    return made
