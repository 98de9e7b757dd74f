"""How far a variance that a database computes may be off: updating formulas in doubles, in any order, with any merging.

With N records, |x| <= M and x within R of each other, the computed sum of squared deviations D' of the true D satisfies
|D' - D| <= A + gamma (D + A), A = 4 e sqrt(W D) + 4 e^2 W, where e bounds the error of every running mean and
W = N log2 N / 2 the merging. Proof: docs/explanation/proofs/welford.md.
"""

from __future__ import annotations

import math

from querygate.stats.numerics import TINY, UNIT, gamma


def mean_error(records: int, size: float, reach: float) -> float:
    """A bound of the error of every running mean: values of magnitude <= size, within reach of each other."""
    return 1.01 * UNIT * (3.0 * reach + (2.5 * records + 4.0) * size) + TINY


def deviation_error(records: int, size: float, reach: float) -> float:
    """tau: the computed deviation is at most (sigma + tau) times the factor below."""
    if records < 2:
        return 0.0
    return 2.0 * mean_error(records, size, reach) * math.sqrt(max(1.0, math.log2(records)))


def widened(low: float, high: float, records: int, size: float, reach: float) -> tuple[float, float]:
    """A range of the real variance, widened for the database's rounding. Never below 0.

    >>> widened(1.0, 1.0, 10, 5.0, 4.0)[0] < 1.0 < widened(1.0, 1.0, 10, 5.0, 4.0)[1]
    True
    """
    tau, factor = deviation_error(records, size, reach), gamma(2 * records + 16)
    upper = (math.sqrt(high) + tau) ** 2 * (1.0 + factor)
    spread = (math.sqrt(low) + tau) ** 2
    lower = low - (spread - low) - factor * spread
    slack = 8 * UNIT
    return max(0.0, lower - slack * spread - TINY), upper * (1.0 + slack) + TINY
