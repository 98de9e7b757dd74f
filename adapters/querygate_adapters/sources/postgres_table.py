"""A table or view of a PostgreSQL database as a source.

    postgresql://user@host:5432/hospital#schema.table      (without a schema: the first on the user's search path)

One COPY in a read-only transaction, as text, turned into Arrow batches on its way, so that memory is bounded whatever
the size of the table. Whole numbers, floating-point numbers and truth values come typed. Everything else (dates,
decimals, texts ...) comes as PostgreSQL writes it, and the policy says what it means, as with a CSV: values that cannot
be read are then reported with their row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import duckdb
import psycopg
import pyarrow as pa
from psycopg import sql
from pyarrow import csv

from querygate.core.derived_columns import EventCondition
from querygate.core.errors import ConfigError
from querygate_adapters.store.postgres_connection import Connection, Location, as_told, told

CODE = "QG802"
BLOCK_BYTES = 4 * 2**20
LISTED = 30

_ARROW = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
}

# A moment arrives in the time zone of the session, without naming it: its day there is published.
_WRITTEN = {"timestamptz": sql.SQL("{}::timestamp")}

_WHOLE, _TEXTS = ("int2", "int4", "int8"), ("text", "varchar")

_SESSION = "SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL extra_float_digits = 1"

_TABLES = """
SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
"""


class PostgresTable:
    """One table or view. Every read is a separate transaction on a separate connection."""

    def __init__(self, location: str) -> None:
        self._location = Location.read(location, CODE)
        schema, dot, table = self._location.fragment.partition(".")
        self._wanted = (schema, table) if dot else (None, schema)
        if not self._wanted[1]:
            raise ConfigError(
                CODE, "The source names no table.", "Write postgresql://user@host:port/database#schema.table."
            )
        self._trouble: ConfigError | None = None
        with told(CODE), self._location.connect() as connection:
            self._table = self._find(connection)
            self._types = self._read_types(connection)

    def columns(self) -> tuple[str, ...]:
        return tuple(self._types)

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        """The wanted columns as a stream of Arrow record batches."""
        return self._read(columns, sql.SQL("TRUE"))

    def selected(self, columns: Sequence[str], either: Sequence[EventCondition]) -> pa.RecordBatchReader:
        """The same for rows for which a condition may be true: the server leaves the others out."""
        tests = [self._may_be_true(test) for test in either]
        return self._read(columns, sql.SQL(" OR ").join(tests))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """The engine that pulls the stream wraps our errors in its own, which may quote rows; ours are kept
        separately."""
        try:
            yield
        except (psycopg.Error, duckdb.Error, pa.ArrowException, UnicodeDecodeError):
            unread = ConfigError(CODE, "PostgreSQL: a row cannot be read.", "The text in the table must be UTF-8.")
            raise self._trouble or unread from None

    # -- what there is ---------------------------------------------------------------------------------------------

    def _find(self, connection: Connection) -> sql.Identifier:
        schema, table = self._wanted
        named = " AND c.relname = %s AND " + ("n.nspname = %s" if schema else "pg_catalog.pg_table_is_visible(c.oid)")
        found = connection.execute(_TABLES.encode() + named.encode(), [table, schema] if schema else [table]).fetchone()
        if found is None:
            order = f" ORDER BY 1, 2 LIMIT {LISTED + 1}"
            known = [f"{s}.{t}" for s, t in connection.execute(_TABLES.encode() + order.encode()).fetchall()]
            listed = ", ".join(known[:LISTED]) + (" ..." if len(known) > LISTED else "")
            raise ConfigError(
                CODE, "PostgreSQL: there is no table with this name.", f"Accepted: {listed or 'there are none'}."
            )
        return sql.Identifier(*found)

    def _read_types(self, connection: Connection) -> dict[str, str]:
        """Column names with PostgreSQL's names of their types."""
        cursor = connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(self._table))
        known = {entry.oid: entry.name for entry in psycopg.adapters.types}
        return {column.name: known.get(column.type_code, "") for column in cursor.description or ()}

    # -- the stream ------------------------------------------------------------------------------------------------

    def _may_be_true(self, test: EventCondition) -> sql.Composable:
        """For whole numbers a test that an index can answer; for texts, that they contain the wanted text, since the
        reader later ignores spaces around them.
        """
        column, kind = sql.Identifier(test.column), self._type(test.column)
        if kind in _WHOLE and test.texts and not test.begins:
            numbers = [int(text) for text in test.texts if re.fullmatch(r"-?[0-9]{1,18}", text)]
            return sql.SQL("{} = ANY({}::bigint[])").format(column, sql.Literal(numbers))
        if kind not in _TEXTS or not (test.texts or test.begins):
            return sql.SQL("TRUE")
        found = [sql.SQL("strpos({}, {}) > 0").format(column, sql.Literal(t)) for t in (*test.texts, *test.begins)]
        return sql.SQL("({})").format(sql.SQL(" OR ").join(found))

    def _read(self, columns: Sequence[str], where: sql.Composable) -> pa.RecordBatchReader:
        schema = pa.schema([(name, _ARROW.get(self._type(name), pa.string())) for name in columns])
        return pa.RecordBatchReader.from_batches(schema, self._stream(schema, where))

    def _stream(self, schema: pa.Schema, where: sql.Composable) -> Iterator[pa.RecordBatch]:
        try:
            with self._location.connect() as connection:
                connection.execute(_SESSION)
                with connection.cursor().copy(self._copy(schema.names, where)) as copy:
                    yield from _batches(_Reader(copy), schema)
        except psycopg.Error as error:
            self._trouble = as_told(error, CODE)
            raise self._trouble from None

    def _copy(self, columns: Sequence[str], where: sql.Composable) -> sql.Composed:
        written = [_WRITTEN.get(self._type(name), sql.SQL("{}")).format(sql.Identifier(name)) for name in columns]
        return sql.SQL("COPY (SELECT {} FROM {} WHERE {}) TO STDOUT (FORMAT csv, HEADER)").format(
            sql.SQL(", ").join(written), self._table, where
        )

    def _type(self, column: str) -> str:
        return self._types.get(column, "")  # the server refuses a table that does not exist


class _Reader:
    """The blocks of a COPY as a file that is read once."""

    closed = False

    def __init__(self, copy: psycopg.Copy) -> None:
        self._copy, self._rest = copy, b""

    def read(self, size: int) -> bytes:
        parts, length = [self._rest], len(self._rest)
        while length < size and (part := self._copy.read()):
            parts.append(bytes(part))
            length += len(part)
        found = b"".join(parts)
        self._rest = found[size:]
        return found[:size]

    def close(self) -> None:
        pass


def _batches(stream: _Reader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """CSV as COPY writes it: a missing value is an empty field, an empty text two quotes."""
    reader = csv.open_csv(
        pa.PythonFile(stream, mode="r"),
        csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types=schema,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    )
    yield from reader
