"""How many random cases a test tries: some of them each time, and all of them in `make soak ONLY=seeds`."""

from __future__ import annotations

import os

EVERY = "QUERYGATE_EVERY_SEED"
"""The variable of the environment that has all of them tried."""

SHARE, LEAST = 12, 3
"""One in so many is tried each time, but no fewer than these."""


def seeds(number: int) -> range:
    """The numbers of the random cases, the same ones every time."""
    return range(cases(number))


def cases(number: int) -> int:
    """How many of so many cases are tried."""
    return number if EVERY in os.environ else min(number, max(LEAST, number // SHARE))
