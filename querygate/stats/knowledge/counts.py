"""How many members of each class a condition on the known column selects.

Proof: docs/explanation/proofs/knowledge.md.
"""

from __future__ import annotations

import math

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.stats.knowledge.classes import Classes
from querygate.stats.numerics import UNIT


def members_between(classes: Classes, first: float = -math.inf, last: float = math.inf) -> tuple[Ints, Ints]:
    """Least and most number of members with first <= x <= last; for open ends give the next number.

    With tight ends the two members at the ends are known to be inside or outside. Sharp.

    >>> from querygate.stats.knowledge import make_classes
    >>> members_between(make_classes([1, 4], [5, 9], sizes=[4, 4], counts=[4, 4], tight=True), 2, 9)
    (array([1, 4]), array([3, 4]))
    """
    low, high, size = classes.low, classes.high, classes.size
    if classes.integer:
        first, last = np.ceil(first), np.floor(last)
    inside = (low >= first) & (high <= last)
    outside = (high < first) | (low > last)
    if first > last:
        outside = np.ones_like(outside)
    least, most = np.zeros_like(size), size
    if classes.tight:
        low_in, high_in = (low >= first) & (low <= last), (high >= first) & (high <= last)
        least = low_in.astype(np.int64) + high_in
        most = size - ~low_in - ~high_in
    return np.where(outside, 0, np.where(inside, size, least)), np.where(inside, size, np.where(outside, 0, most))


def members_above(classes: Classes, threshold: float) -> tuple[Ints, Ints]:
    """Least and most number of members with x >= threshold, given the sums of the classes (Markov's inequality).

    >>> from querygate.stats.knowledge import make_classes
    >>> members_above(make_classes([100], [200], counts=[5], sums=[620], integer=True), 140)
    (array([0]), array([3]))
    """
    if classes.sum_low is None:
        return members_between(classes, threshold)
    first, last = classes.sums
    threshold = math.ceil(threshold) if classes.integer and math.isfinite(threshold) else threshold
    low, high, size = classes.low, classes.high, classes.size
    every, none = low >= threshold, high < threshold
    cut = np.where(every | none, high, threshold)  # a harmless number where nothing is computed
    # Others are below the threshold: by one at least on whole numbers, by as little as one likes otherwise.
    below = cut - 1 if classes.integer else cut
    margin = 0 if classes.integer else 64 * UNIT * classes.reach * size
    most = _quotient(last - size * low + margin, cut - low)
    short = first - size * below - margin
    if classes.integer:
        least = -_quotient(-short, high - below)
    else:
        least = np.where(short < 0, 0, np.minimum(_quotient(short, high - below) + 1, size))
        least = np.where(high > cut, least, 0)
    least, most = np.clip(least, 0, size), np.clip(most, 0, size)
    return np.where(every, size, np.where(none, 0, least)), np.where(every, size, np.where(none, 0, most))


def _quotient(dividend: Floats | Ints, divisor: Floats | Ints) -> Ints:
    """Rounded down, 0 where there is nothing to divide by; divisors are positive where it matters."""
    safe = np.where(divisor > 0, divisor, 1)
    limited = np.clip(np.asarray(dividend) // safe, -(2.0**62), 2.0**62)
    return np.where(divisor > 0, limited, 0).astype(np.int64)
