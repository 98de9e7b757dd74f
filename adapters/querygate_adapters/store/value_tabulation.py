"""What DuckDB makes of an expression over the values of one column, by way of Arrow: apart from the rest of the engine,
for most statements need none of it, and it takes a while to load.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal

import duckdb
import pyarrow as pa

from querygate.core.errors import UnsupportedSQL
from querygate.core.ports import TabulatedValues
from querygate.core.types import SqlValue
from querygate_adapters.store.duckdb_lockdown import limited

LARGEST_BYTES, BATCH = 16 * 2**20, 20_000
"""What the results of one expression may take, and how many of them are fetched at once."""

OBJECT_BYTES = 64
"""What a result takes beside its text."""

_INPUTS = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "category": pa.string(),
    "boolean": pa.bool_(),
}


def tabulate(
    database: duckdb.DuckDBPyConnection, text: str, kind: str, values: Sequence[SqlValue], timeout_s: float
) -> tuple[TabulatedValues, int]:
    """What the expression over the column `x` makes of each value, and how many bytes that takes."""
    cursor = database.cursor()
    try:
        cursor.register("axis", pa.table({"x": pa.array(values, _INPUTS[kind])}))
        with limited(cursor, timeout_s):
            result = _fetch_column(cursor.sql(f"SELECT {text} AS result FROM axis"))
            cursor.unregister("axis")
    except duckdb.Error:
        raise UnsupportedSQL(
            "QG207",
            "This expression has no result, or none for some value of the column.",
            "Check the types, and that every value of the column's domain has a result.",
        ) from None
    finally:
        cursor.close()
    found = TabulatedValues(_type(result.type), tuple(map(_plain, result.to_pylist())))
    return found, result.nbytes + len(values) * (OBJECT_BYTES + 8)  # and its place in the tuple


def _fetch_column(relation: duckdb.DuckDBPyRelation) -> pa.ChunkedArray:
    """The only column, in parts, so that texts grown out of all proportion are noticed before they are all there."""
    reader = relation.to_arrow_reader(BATCH)
    parts: list[pa.Array] = []
    size = 0
    for batch in reader:
        parts.append(batch.column(0))
        size += batch.nbytes
        if size > LARGEST_BYTES:
            raise UnsupportedSQL(
                "QG207", "The results of this expression are too long.", "Use a function with shorter results."
            )
    return pa.chunked_array(parts, type=reader.schema.field(0).type)


def _type(found: pa.DataType) -> str:
    tests: dict[str, Callable[[pa.DataType], bool]] = {
        "integer": lambda t: pa.types.is_integer(t) or (pa.types.is_decimal(t) and t.scale == 0),
        "number": lambda t: pa.types.is_floating(t) or pa.types.is_decimal(t),
        "category": lambda t: pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t),
        "boolean": pa.types.is_boolean,
        "date": pa.types.is_date,
        "timestamp": pa.types.is_timestamp,
        "null": pa.types.is_null,
    }
    return next((name for name, test in tests.items() if test(found)), "other")


def _plain(value: SqlValue) -> SqlValue:
    """Whole decimals are whole numbers; a moment is told in ISO form."""
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    return value.isoformat(sep=" ") if isinstance(value, dt.datetime) else value
