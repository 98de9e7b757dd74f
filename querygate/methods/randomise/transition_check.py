"""What a transition matrix really promises, measured entry by entry: the judge of what made it.

>>> amplification(np.array([[0.75, 0.25], [0.25, 0.75]])), amplification(np.eye(2))
(3.0, inf)
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints

SIGMAS = 6.0


def amplification(matrix: Floats) -> float:
    """How many times as likely a released value is from one value as from another, at most."""
    greatest = 1.0
    for column in matrix.T.tolist():
        if max(column) > 0:
            greatest = max(greatest, max(column) / min(column) if min(column) > 0 else float("inf"))
    return greatest


def strays(before: Ints, after: Ints, matrix: Floats) -> int:
    """Pairs of values that turn into each other far more, or less, often than the matrix says: by six deviations, which
    chance does not do.
    """
    found = 0
    for value in np.unique(before).tolist():
        mine = after[before == value]
        expected = mine.size * matrix[value]
        spread = np.sqrt(np.maximum(expected * (1 - matrix[value]), 0)) + 1.0
        counts = np.bincount(mine, minlength=len(matrix))
        found += int((np.abs(counts - expected) > SIGMAS * spread).sum() + ((matrix[value] == 0) & (counts > 0)).sum())
    return found


def worst_known_belief(counts: Ints, matrix: Floats, rho1: float) -> float:
    """What somebody who knows how frequent the values are comes to believe of one, at most, by what came out: of the
    values that they believed with at most rho1. By Bayes, value by value.

    >>> worst_known_belief(np.array([1, 1, 2]), np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]), 0.4)
    0.5
    """
    shares = counts / max(1, counts.sum())
    worst = 0.0
    for came in range(len(matrix)):
        joint = shares * matrix[:, came]
        if joint.sum() > 0:
            worst = max(worst, *(float(one / joint.sum()) for one, share in zip(joint, shares, strict=True)
                                 if share <= rho1), 0.0)  # fmt: skip
    return worst
