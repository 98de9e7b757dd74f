"""MDAV: maximum distance to average vector (Domingo-Ferrer & Torra, Data Min. Knowl. Disc. 11, 2005, MDAV-generic)."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.synthesis.random_groups import nearest


def mdav(points: Floats, k: int, rng: np.random.Generator | None = None) -> Ints:
    """Groups of k around the point farthest from the centre and around the one farthest from that; the last to 2k-1.

    Nothing is random; of equally far points the first is taken.

    >>> mdav(np.array([[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]]), 3)
    array([0, 0, 0, 1, 1, 1])
    """
    labels = np.zeros(len(points), dtype=np.int64)
    left, rest = np.arange(len(points)), points
    group = 0
    while left.size >= 2 * k:
        far = rest[_farthest(rest, rest.mean(axis=0))]
        seeds = [far, rest[_farthest(rest, far)]] if left.size >= 3 * k else [far]
        for seed in seeds:
            chosen = nearest(rest, seed, k)
            labels[left[chosen]] = group
            left, rest = np.delete(left, chosen), np.delete(rest, chosen, axis=0)
            group += 1
    labels[left] = group
    return labels


def _farthest(points: Floats, centre: Floats) -> int:
    return int(np.argmax(np.square(points - centre).sum(axis=1)))
