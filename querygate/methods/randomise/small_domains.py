"""Small-domain randomisation (Chaytor & Wang, PVLDB 3, 2010): values are replaced within small groups of values, so far
more of them are kept than where any value may come out.

Which group somebody's value is in is then known. So the promise is a weaker one than that of amplification: it is about
somebody who knows how frequent the values are, and nothing else. Who believes a value with at most rho1 believes it
with at most rho2 after seeing what came out. Values more frequent than rho1 are not protected, as in rho1-to-rho2
privacy.

Groups are made of values of about the same frequency, which is when most can be kept: of n values equally frequent a
share of rho2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.types import Floats, Ints

LARGEST = 12
"""Values of a group at most; more would keep no more."""


def small_domains(counts: Ints, rho1: float, rho2: float) -> list[list[int]]:
    """The places of the values of each group: of the sizes that are tried the one that keeps most values.

    >>> small_domains(np.array([9, 10, 1, 1, 10, 1]), 0.4, 0.5)
    [[1, 4, 0], [2, 3, 5]]
    """
    order = np.lexsort([np.arange(counts.size), -counts]).tolist()
    best: tuple[float, list[list[int]]] = (-1.0, [order])
    for size in range(2, min(LARGEST, counts.size) + 1):
        groups = _merged(counts, [order[at : at + size] for at in range(0, counts.size, size)], rho1, rho2)
        kept = sum(counts[group].sum() * _kept(counts, group, rho1, rho2) for group in groups) / max(1, counts.sum())
        if kept > best[0] + 1e-12:
            best = (float(kept), groups)
    return best[1]


def _merged(counts: Ints, groups: list[list[int]], rho1: float, rho2: float) -> list[list[int]]:
    """Groups that may become known: one in which a value is believed with more than rho2 is joined to its neighbour."""
    made: list[list[int]] = []
    for group in groups:
        if made and _most(counts, made[-1], rho1) > rho2:
            made[-1] = made[-1] + group
        else:
            made.append(group)
    while len(made) > 1 and _most(counts, made[-1], rho1) > rho2:
        last = made.pop()
        made[-1] = made[-1] + last
    return made


def small_domain_matrix(counts: Ints, groups: Sequence[Sequence[int]], rho1: float, rho2: float) -> Floats:
    """Keep the value, or give any other of its group, all alike."""
    matrix = np.zeros((counts.size, counts.size))
    for group in groups:
        kept = _kept(counts, group, rho1, rho2)
        matrix[np.ix_(group, group)] = (1 - kept) / max(1, len(group) - 1)
        matrix[group, group] = kept
    return matrix


def _kept(counts: Ints, group: Sequence[int], rho1: float, rho2: float) -> float:
    """The greatest share that may be kept: by the value of the group that is believed most among those protected.

    Of a value with share s in its group the belief is s p / (s p + (1 - s) (1 - p) / (n - 1)) after it came out.
    """
    most = _most(counts, group, rho1)
    odds = max(1.0, rho2 * (1 - most) / (most * (1 - rho2)))
    return odds / (odds + len(group) - 1)


def _most(counts: Ints, group: Sequence[int], rho1: float) -> float:
    """What the value believed most is believed with, of those protected, by whoever knows the group alone."""
    mine = counts[list(group)]
    protected = mine[mine <= rho1 * counts.sum()]
    return max(float(protected.max()) / max(1, mine.sum()) if protected.size else 0.0, 1 / len(group))
