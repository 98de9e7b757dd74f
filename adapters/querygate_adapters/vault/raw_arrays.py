"""Columns of raw rows as arrays, and arrays as columns that DuckDB reads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from querygate.core.types import Array
from querygate_adapters.store.column_arrays import floats


def arrow_array(values: Array) -> pa.Array:
    if isinstance(values, np.ma.MaskedArray):
        return pa.array(values.data, mask=np.ma.getmaskarray(values))
    return pa.array(values)


def raw_array(column: Array, *, is_number: bool) -> Array:
    """Numbers as floats with NaN, texts as objects with None."""
    if is_number:  # all may be missing: then the engine gives no type
        return floats(column)
    texts = np.array(np.ma.getdata(column), dtype=object)
    texts[np.ma.getmaskarray(column)] = None
    return texts
