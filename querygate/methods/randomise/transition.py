"""Transition matrices: with which probability each value becomes each other.

rho1-to-rho2 privacy (Evfimievski, Gehrke, Srikant, PODS 2003): whatever somebody believed of a person with probability
at most rho1 they believe with at most rho2 after seeing the randomised value. It holds for every prior belief if the
matrix is *amplifying* by no more than rho2 (1 - rho1) / (rho1 (1 - rho2)): no released value is that many times as
likely from one value as from another. Amplifications of columns that are randomised apart multiply.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints


def allowed_amplification(rho1: float, rho2: float) -> float:
    """The largest gamma that keeps a belief of rho1 from becoming one above rho2.

    >>> round(allowed_amplification(0.05, 0.5), 9)
    19.0
    """
    if not 0 < rho1 < rho2 < 1:
        raise ValueError("0 < rho1 < rho2 < 1")
    return rho2 * (1 - rho1) / (rho1 * (1 - rho2))


def worst_posterior(gamma: float, prior: float) -> float:
    """What a belief can become at most by a value from a matrix that amplifies by gamma.

    >>> round(worst_posterior(19, 0.05), 9), worst_posterior(float("inf"), 0.05)
    (0.5, 1.0)
    """
    return prior / (prior + (1 - prior) / gamma) if prior else 0.0


def uniform(size: int, gamma: float) -> Floats:
    """Keep the value, or give any value with the same probability; amplifies by exactly gamma, and keeps the most that
    such a matrix can.

    >>> uniform(3, 4.0).round(3).tolist()
    [[0.667, 0.167, 0.167], [0.167, 0.667, 0.167], [0.167, 0.167, 0.667]]
    """
    if size < 1 or gamma < 1:
        raise ValueError("at least one value, and gamma at least 1")
    matrix = np.ones((size, size)) + (gamma - 1) * np.eye(size)
    made: Floats = matrix / (size - 1 + gamma)
    return made


def invariant(shares: Floats, kept: float) -> Floats:
    """Invariant PRAM (Gouweleeuw, Kooiman, Willenborg, de Wolf, J. Official Statistics 14, 1998): keep the value, or
    draw one by the shares of all. Expected counts stay what they are.

    >>> matrix = invariant(np.array([0.2, 0.8]), 0.5)
    >>> (np.array([0.2, 0.8]) @ matrix).round(9).tolist()
    [0.2, 0.8]
    """
    if not 0 <= kept <= 1 or abs(shares.sum() - 1) > 1e-9:
        raise ValueError("shares add up to 1, and kept is a share")
    made: Floats = kept * np.eye(shares.size) + (1 - kept) * shares[None, :]
    return made


def responses(codes: Ints, matrix: Floats, rng: np.random.Generator) -> Ints:
    """A value for each, drawn from the row of its own.

    >>> responses(np.array([0, 1]), np.eye(2), np.random.default_rng(1)).tolist()
    [0, 1]
    """
    upto = np.cumsum(matrix, axis=1)
    upto[:, -1] = 1.0
    drawn = rng.random(codes.size)
    found = np.empty(codes.size, dtype=np.int64)
    for value in np.unique(codes).tolist():
        mine = codes == value
        found[mine] = np.searchsorted(upto[value], drawn[mine], side="right")
    return np.minimum(found, len(matrix) - 1)
