"""Moments of classes in a store: the sum and the variance of a sensitive number in each class, as public cells.

    class_moment(column_id, class, n, sum_lo, sum_hi, var_lo, var_hi)     variances may be NULL; one row per class

A store that publishes no moments has no such table, and one that does says so in its catalog.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from querygate.core.block import ClassMoments
from querygate.core.types import Array, Catalog, Column
from querygate_adapters.store.column_arrays import floats

TABLE = "class_moment"
COLUMNS = "column_id, class, n, sum_lo, sum_hi, var_lo, var_hi"
"""Table and columns; `class` and `n` are whole numbers, the cells doubles."""


def has_moments(catalog: Catalog) -> bool:
    return any(column.moments != "none" for column in catalog.columns)


def wanted_columns(catalog: Catalog, names: Collection[str], margin: int | None = None) -> list[Column]:
    """The columns of these names that have moments, in the margin where there is one."""
    named = [column for column in catalog.columns if column.name in names and column.moments != "none"]
    return named if margin is None else [c for c in named if c.name in catalog.margins[margin].columns]


def make_moments(found: Sequence[Array]) -> ClassMoments:
    """From class, n, sum_lo, sum_hi, var_lo, var_hi as arrays, in order of class; a missing variance is NaN."""
    # Only one kind of zero, since engines differ in whether they keep -0.0 or 0.0.
    label, n = (np.asarray(column, dtype=np.int64) for column in found[:2])
    told = ClassMoments(label, n, *(floats(column) + 0.0 for column in found[2:]))
    if (np.diff(told.label) <= 0).any() or not (told.sum_low <= told.sum_high).all():
        raise ValueError("the moments of the classes are damaged")
    return told
