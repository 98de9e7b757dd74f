"""Rank swapping (Moore, U.S. Bureau of the Census 1996): values change places with others of nearly the same rank.

The values of a column stay what they are; which record has which does not. Each is swapped with one that is at most a
share of all ranks away and was not swapped yet. Missing values (below 0) stay.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints


def rank_swapped(ranks: Ints, window: float, rng: np.random.Generator) -> Ints:
    """For each record, the record whose value it gets.

    >>> got = rank_swapped(np.array([3, 1, 2, -1]), 1.0, np.random.default_rng(1))
    >>> sorted(got.tolist()), int(got[3])
    ([0, 1, 2, 3], 3)
    """
    if not 0 < window <= 1:
        raise ValueError("window is a share of all records, above 0")
    known = np.flatnonzero(ranks >= 0)
    order = known[np.lexsort([rng.random(known.size), ranks[known]])]  # ties in an order of their own
    reach = max(1, round(window * order.size))
    got, free = np.arange(ranks.size), np.ones(order.size, dtype=np.bool_)
    for place in range(order.size):
        if free[place]:
            others = place + 1 + np.flatnonzero(free[place + 1 : place + 1 + reach])
            free[place] = False
            if others.size:
                other = int(rng.choice(others))
                free[other] = False
                got[order[place]], got[order[other]] = order[other], order[place]
    return got
