"""Made-up rows from the description of a dataset alone: each column by itself, evenly over what it may hold.

For datasets whose policy holds back part of what is published, or whose store is too large to draw from. Whoever may
read the description knows all that goes in here.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from querygate.core.dates import date_of, datetime_of
from querygate.core.types import Bools, Catalog, Column, Ints

MISSING_SHARE = 0.1
"""Of the values of a column that may be missing: any share would do, and a program has to meet some."""

_WIDEST = 2**62


def draw_described(catalog: Catalog, rows: int, random: np.random.Generator) -> pa.Table:
    """So many rows, lists of codes apart."""
    columns = [column for column in catalog.columns if not column.is_codes]
    return pa.Table.from_arrays(
        [_values(column, rows, random) for column in columns], names=[column.name for column in columns]
    )


def _values(column: Column, rows: int, random: np.random.Generator) -> pa.Array:
    missing = random.random(rows) < MISSING_SHARE if column.nullable else np.zeros(rows, dtype=np.bool_)
    if column.type == "boolean":
        return pa.array(random.random(rows) < 0.5, pa.bool_(), mask=missing)
    if not column.is_numeric:
        values = np.array([*column.values] or [""], dtype=object)
        return pa.array(values[random.integers(0, len(values), rows)], pa.string(), mask=missing)
    low, high = (column.low or 0, column.high if column.high is not None else column.low or 0)
    if not column.is_discrete:
        return pa.array(np.round(random.uniform(low, high, rows), 6), pa.float64(), mask=missing)
    first, last = max(int(low), -_WIDEST), min(int(high), _WIDEST)
    return whole_array(column, random.integers(first, last, rows, endpoint=True), missing)


def whole_array(column: Column, numbers: Ints, missing: Bools) -> pa.Array:
    """Whole numbers as what they stand for: dates, timestamps, or themselves."""
    whole = [int(value) for value in numbers]
    if column.type == "date":
        return pa.array([date_of(value) for value in whole], pa.date32(), mask=missing)
    if column.type == "timestamp":
        return pa.array([datetime_of(value) for value in whole], pa.timestamp("us"), mask=missing)
    return pa.array(whole, pa.int64(), mask=missing)
