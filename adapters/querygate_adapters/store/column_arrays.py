"""Columns of a result as plain arrays: engines return masked arrays where values are missing."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Array, Floats, Ints


def ints(column: Array) -> Ints:
    """Whole numbers, -1 where missing."""
    return np.asarray(np.ma.filled(column, -1), dtype=np.int64)


def floats(column: Array) -> Floats:
    """Doubles, NaN where missing."""
    return np.asarray(np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan), dtype=np.float64)
