"""Groups as in the condensation of Aggarwal & Yu (EDBT 2004, figure 1): random seeds and their nearest."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.synthesis.kmeans import nearest_centre


def random_groups(points: Floats, k: int, rng: np.random.Generator) -> Ints:
    """floor(n/k) times a random point and its k-1 nearest of those left; the rest joins the group of nearest centre."""
    labels = np.full(len(points), -1, dtype=np.int64)
    left, rest = np.arange(len(points)), points
    centres = []
    for group in range(len(points) // k):
        chosen = nearest(rest, rest[rng.integers(left.size)], k)
        labels[left[chosen]] = group
        centres.append(rest[chosen].mean(axis=0))
        left, rest = np.delete(left, chosen), np.delete(rest, chosen, axis=0)
    if left.size:
        labels[left] = nearest_centre(rest, np.array(centres))
    return labels


def nearest(points: Floats, centre: Floats, k: int) -> Ints:
    """The k points nearest to a place; of equally near ones, the first."""
    away = np.square(points - centre).sum(axis=1)
    if k >= away.size:
        return np.arange(away.size)
    edge = np.partition(away, k - 1)[k - 1]
    inside = np.flatnonzero(away < edge)
    return np.concatenate([inside, np.flatnonzero(away == edge)[: k - inside.size]])
