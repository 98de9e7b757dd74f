"""Conditional privacy: how wide the original stays for one who has the extract (Agrawal & Aggarwal, PODS 2001).

Π(A|B) = 2^h(A|B), with h the conditional differential entropy in bits: a value that is uniform on an interval of width
w, given the extract, has privacy w. It is in the unit of the column; 0 says that B gives A away. Record i of the
extract is the one made for record i of the original: of the same class, of the same cluster.

The estimator assumes no law and is no bound: nearest neighbours, after Kozachenko & Leonenko (1987). With ε_i the
distance of record i to its k-th neighbour in (A, B) by the greatest coordinate, and n_i the other records nearer than
ε_i in B alone, h(A|B) = mean ψ(n_i + 1) - ψ(k) + d·mean ln 2ε_i. Using one ε for both parts is what Kraskov, Stögbauer
& Grassberger (Phys. Rev. E 69, 2004) do for mutual information: the errors of h(A, B) and h(B) cancel, and B may have
ties, as centroids do.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma

from querygate.core.types import Floats

NEIGHBOURS = 4


def conditional_privacy(original: Floats, released: Floats, *, neighbours: int = NEIGHBOURS) -> float:
    """2^h(A|B) by nearest neighbours.

    A rounded column (whole numbers, one decimal ...) has no density. Its equal values are spread evenly over the step
    to which it is rounded, so that a value known to the step has privacy 1 step and none is less.
    """
    a, b, spans = _known(original, released)
    records, width = a.shape
    if records <= neighbours:
        raise ValueError(f"at least {neighbours + 1} records without missing values")
    if not (spans > 0).all():
        return 0.0
    a = _spread(a) / spans
    moved = b.std(axis=0)
    b = b / np.where(moved > 0, moved, 1.0)
    both = np.column_stack([a, b])
    reach = np.asarray(cKDTree(both).query(both, [neighbours + 1], p=np.inf)[0])[:, 0]
    # Strictly nearer than the neighbour: the next smaller number. The record itself is among those found.
    found = cKDTree(b).query_ball_point(b, np.nextafter(reach, 0), p=np.inf, return_length=True)
    entropy = float(np.mean(digamma(found)) - digamma(neighbours) + width * np.mean(np.log(2 * reach)))
    return math.exp(entropy + float(np.log(spans).sum()))


def _known(original: Floats, released: Floats) -> tuple[Floats, Floats, Floats]:
    """Records that have all values on both sides, as columns, and the standard deviations of the original."""
    a, b = (np.asarray(x, dtype=np.float64).reshape(len(x), -1) for x in (original, released))
    if len(a) != len(b):
        raise ValueError("record i of the extract is the one made for record i of the original")
    known = np.isfinite(a).all(axis=1) & np.isfinite(b).all(axis=1)
    return a[known], b[known], a[known].std(axis=0)


def _spread(values: Floats) -> Floats:
    """Equal values moved apart inside their step, by a sequence that fills it evenly (Kronecker): no chance in it."""
    spread = values.copy()
    for place in range(values.shape[1]):
        different = np.unique(values[:, place])
        if different.size < len(values):
            step = float(np.diff(different).min())
            turn = math.sqrt(_PRIMES[place % len(_PRIMES)])
            spread[:, place] += step * (np.modf(turn * np.arange(1, len(values) + 1))[0] - 0.5)
    return spread


_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
