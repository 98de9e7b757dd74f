"""What a class gives away about its members, and the shape of a distribution. This measures; it shares no code with the
methods that make classes. Who is found in a release is measured by `querygate.methods.risk`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from querygate.core.types import Bools, Floats, Ints

LIKELY = 0.8
"""From this share of a class on, a guess of its sensitive value is as good as knowledge."""


# -- what a class gives away ---------------------------------------------------------------------------------------


class ClassDisclosure(NamedTuple):
    """Classes that give something away, and the records in them."""

    classes: int
    records: int

    @classmethod
    def of(cls, which: Bools, sizes: Ints) -> ClassDisclosure:
        return cls(int(which.sum()), int(sizes[which].sum()))


def shared_values(classes: Ints, values: Ints, counts: Ints) -> tuple[ClassDisclosure, ClassDisclosure]:
    """Classes in which all members have one value, and those in which one value has a share of `LIKELY` or more.

    Entries are (class, value, records), classes 0..m-1; a missing value is a value.

    >>> import numpy as np
    >>> shared_values(np.array([0, 1, 1, 2, 2]), np.array([7, 7, 8, 7, 8]), np.array([3, 1, 1, 9, 1]))
    (ClassDisclosure(classes=1, records=3), ClassDisclosure(classes=2, records=13))
    """
    size: Ints = np.bincount(classes, counts).astype(np.int64)
    _, value = np.unique(values, return_inverse=True)
    pairs, which = np.unique(classes * (int(value.max(initial=0)) + 1) + value.reshape(-1), return_inverse=True)
    held = np.bincount(which.reshape(-1), counts)
    of = pairs // (int(value.max(initial=0)) + 1)
    greatest = np.zeros(size.size)
    np.maximum.at(greatest, of, held)
    there = size > 0
    return ClassDisclosure.of(there & (greatest == size), size), ClassDisclosure.of(
        there & (greatest >= LIKELY * size), size
    )


def narrow_hulls(sizes: Ints, low: Floats, high: Floats, width: float) -> ClassDisclosure:
    """Classes whose known values span less than `width`; nan where a class has none."""
    return ClassDisclosure.of(np.nan_to_num(high - low, nan=np.inf) < width, sizes)


# -- the shape of a distribution -----------------------------------------------------------------------------------


def quantiles(values: Floats, counts: Ints, shares: Sequence[float] = (0.25, 0.5, 0.75)) -> tuple[float, ...]:
    """For each share, the smallest value with at least that share of the records at or below it.

    >>> import numpy as np
    >>> quantiles(np.array([3.0, 1.0, 2.0]), np.array([1, 2, 1]))
    (1.0, 1.0, 2.0)
    """
    if not values.size:
        return tuple(0.0 for _ in shares)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])
    places = np.searchsorted(reached, np.array(shares) * reached[-1] * (1 - 1e-12))
    return tuple(values[order][np.minimum(places, values.size - 1)].tolist())


def fence(values: Floats, counts: Ints) -> float:
    """Above it a value is an outlier: a box plot's upper fence (Tukey, "Exploratory Data Analysis", 1977)."""
    first, _, third = quantiles(values, counts)
    return third + 1.5 * (third - first)
