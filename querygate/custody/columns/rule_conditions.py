"""The conditions of mined rules: values of other columns, as codes that both the guard and the verifier use.

A category counts as it is, a number as the quarter of its public domain; missing is a value.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from querygate.core.types import Array, Ints
from querygate.custody.policy import ColumnPolicy, Policy

PARTS = 4


def rule_columns(policy: Policy) -> tuple[ColumnPolicy, ...]:
    """The columns that rules may use: those that people are known by."""
    return policy.named("quasi-identifier")


def rule_conditions(column: ColumnPolicy, raw: Array | pa.Array) -> Ints:
    """A code for each raw value."""
    if not column.is_numeric:
        texts = raw if isinstance(raw, pa.Array) else pa.array(raw, from_pandas=True)
        coded = texts.dictionary_encode().indices.fill_null(-1)
        return np.asarray(coded, dtype=np.int64) + 1
    values = np.asarray(raw, dtype=np.float64)
    low, high = (float(np.asarray(end, dtype=np.float64)) for end in (column.low or 0, column.high or 0))
    part = np.floor((np.nan_to_num(values, nan=low) - low) / max(high - low, 1e-300) * PARTS)
    return np.where(np.isnan(values), -1, np.clip(part, 0, PARTS - 1)).astype(np.int64) + 1
