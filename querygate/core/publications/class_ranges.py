"""Ranges of classes whose cells memory holds, for tables that have more."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from querygate.core.types import Ints

CELL_BYTES, CELL_BYTES_EACH = 70, 30
"""Memory of a cell while it is made or verified, and for each published column in addition (measured with 7 million).
A class has no more cells than records, so that records are counted."""


def records_held(room_bytes: int, columns: int) -> int:
    """Of how many records memory has room for the cells."""
    return max(1, room_bytes // (CELL_BYTES + CELL_BYTES_EACH * columns))


def ranges_of(sizes: Ints, most: int) -> list[range]:
    """Neighbouring classes, by their places, of at most so many records together; a larger class is alone.

    >>> ranges_of(np.array([3, 4, 9, 2, 2]), 8)
    [range(0, 2), range(2, 3), range(3, 5)]
    """
    until, bounds = np.cumsum(sizes), [0]
    while bounds[-1] < sizes.size:
        before = until[bounds[-1] - 1] if bounds[-1] else 0
        bounds.append(max(bounds[-1] + 1, int(np.searchsorted(until, before + most, side="right"))))
    return [range(first, behind) for first, behind in pairwise(bounds)]
