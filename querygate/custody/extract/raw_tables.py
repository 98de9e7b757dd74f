"""Raw records in the forms that other modules need: Arrow tables, arrays for models, and microdata for condensing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from querygate.core.types import Floats, Ints
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.methods.synthesis import Microdata, Variable

_KINDS = {"integer": "integer", "number": "number", "date": "integer", "timestamp": "integer", "boolean": "boolean"}


def out_of(policy: Policy) -> tuple[ColumnPolicy, ...]:
    """The columns that may be released, without lists of codes, which are neither numbers nor categories."""
    return tuple(column for column in policy.columns if column.is_published and column.codes is None)


def model_columns(table: pa.Table) -> dict[str, Any]:
    """Numbers as floats with NaN, categories as texts with None, for fitting models."""
    return {name: _for_models(table[name]) for name in table.column_names}


def model_levels(policy: Policy, raw: pa.Table) -> dict[str, tuple[str, ...]]:
    """The levels of each category: those of the raw records, before and after."""
    return {
        column.name: tuple(sorted({t for t in texts_of(raw[column.name].unique()) if t is not None}))
        for column in out_of(policy)
        if not column.is_numeric
    }


def _for_models(column: pa.ChunkedArray) -> Any:
    if pa.types.is_string(column.type) or pa.types.is_boolean(column.type) or pa.types.is_large_string(column.type):
        return np.array(texts_of(column), dtype=object)
    return floats_of(column)


def floats_of(column: pa.ChunkedArray) -> Floats:
    values: Floats = numbers_of(column).astype(np.float64)
    values[np.asarray(pc.is_null(column))] = np.nan
    return values


def numbers_of(raw: pa.Array) -> Any:
    """Numbers unchanged, dates as days or microseconds; 0 where missing."""
    if isinstance(raw, pa.ChunkedArray):
        raw = raw.combine_chunks()
    if pa.types.is_date(raw.type):
        raw = raw.cast(pa.int32())
    elif pa.types.is_timestamp(raw.type):
        raw = raw.cast(pa.int64())
    return np.asarray(pc.fill_null(raw, 0))


def texts_of(raw: pa.Array) -> list[str | None]:
    """Categories unchanged, booleans as true and false."""
    return list(raw.cast(pa.string()).to_pylist())


def microdata_of(policy: Policy, raw: pa.Table) -> Microdata:
    """Numbers clipped to their public domain, categories by their position among the existing values."""
    variables: list[Variable] = []
    columns: dict[str, Floats | Ints] = {}
    levels = model_levels(policy, raw)
    for column in out_of(policy):
        kind: Any = _KINDS.get(str(column.type), "category")
        if column.is_numeric:
            variables.append(Variable(column.name, kind, _float(column.low), _float(column.high)))
            columns[column.name] = floats_of(raw[column.name])
        else:
            texts = ("false", "true") if kind == "boolean" else levels[column.name]
            variables.append(Variable(column.name, kind, size=len(texts)))
            columns[column.name] = _codes(texts_of(raw[column.name]), texts)
    return Microdata(tuple(variables), columns)


def table_of(policy: Policy, data: Microdata, raw: pa.Table) -> pa.Table:
    """The records as a table with the raw table's types."""
    levels = model_levels(policy, raw)
    return pa.table({c.name: _array(c, data, levels, raw.schema.field(c.name).type) for c in out_of(policy)})


def _array(column: ColumnPolicy, data: Microdata, levels: Mapping[str, tuple[str, ...]], kind: pa.DataType) -> pa.Array:
    values = data.columns[column.name]
    if not column.is_numeric:
        texts = np.array(
            [*(("false", "true") if column.type == "boolean" else levels[column.name]), None], dtype=object
        )
        return pa.array(texts[values.astype(np.int64)], type=pa.string()).cast(kind)
    missing = np.isnan(values)
    if column.type == "number":
        return pa.array(values, mask=missing).cast(kind)
    whole = np.where(missing, 0, values).astype(np.int64)
    return pa.array(whole.astype(np.int32) if column.type == "date" else whole, mask=missing).cast(kind)


def _codes(texts: list[str | None], levels: tuple[str, ...]) -> Ints:
    place: dict[str | None, int] = {None: -1, **{text: i for i, text in enumerate(levels)}}
    return np.array([place[text] for text in texts], dtype=np.int64)


def _float(end: int | float | None) -> float | None:
    return None if end is None else float(end)
