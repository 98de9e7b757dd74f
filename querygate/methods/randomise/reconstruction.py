"""How often each value was there, from how often it was released: expectation maximisation (Agrawal & Aggarwal, PODS
2001; its first form is the iteration of Agrawal & Srikant, SIGMOD 2000).

>>> reconstructed(np.array([50, 50]), np.array([[0.75, 0.25], [0.25, 0.75]])).round(3).tolist()
[0.5, 0.5]
>>> reconstructed(np.array([75, 25]), np.array([[0.75, 0.25], [0.25, 0.75]])).round(3).tolist()
[1.0, 0.0]
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints

ROUNDS = 5_000
SETTLED = 1e-9


def reconstructed(counts: Ints, matrix: Floats, *, smooth: bool = False) -> Floats:
    """The most likely shares of the original values.

    Of many parts with noise between neighbours the most likely shares are jagged: they follow what chance did. `smooth`
    stops as soon as the expected counts are as near to what was released as chance would have them (chi-squared no more
    than the number of values), in the spirit of Agrawal and Srikant, who stop when their estimates hardly differ.
    """
    seen = counts / max(1, counts.sum())
    shares = np.full(len(matrix), 1 / len(matrix))
    for _ in range(ROUNDS):
        expected = shares @ matrix
        if smooth and _is_near(seen, expected, int(counts.sum())):
            break
        ratio = np.divide(seen, expected, out=np.zeros_like(seen), where=expected > 0)
        after = shares * (matrix @ ratio)
        after = after / max(after.sum(), 1e-300)
        if np.abs(after - shares).max() < SETTLED:
            return np.asarray(after, dtype=np.float64)
        shares = after
    return np.asarray(shares, dtype=np.float64)


def _is_near(seen: Floats, expected: Floats, many: int) -> bool:
    possible = expected > 0
    return bool(many * ((seen - expected)[possible] ** 2 / expected[possible]).sum() <= possible.sum())
