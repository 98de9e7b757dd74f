"""The shadow itself: an engine in memory, locked, with tables of PostgreSQL's catalog and empty ones of the datasets.

It is made anew when what somebody may know of has changed. Nothing that it could be made to tell is a secret: it holds
the schemas that its reader may see anyway. It may not reach files or the network, and its time and memory are limited.
"""

from __future__ import annotations

import string
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa

from querygate.core.errors import UnsupportedSQL
from querygate.core.limits.cancellation import check_cancelled, is_called_off
from querygate.core.limits.deadline import over_the_limit
from querygate.core.types import Catalog
from querygate.site.open_gate import now
from querygate.sql.postgres.catalog_growth import MOST_COLUMNS
from querygate.sql.postgres.catalog_statement import Shadow, translate
from querygate.wire.catalog.functions import FUNCTIONS, macros
from querygate.wire.catalog.rows import CatalogRow, all_rows
from querygate.wire.session_settings import DATABASE, VERSION
from querygate.wire.types import (
    BOOL,
    BOOLS,
    CHAR,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT2S,
    INT4,
    INT4S,
    INT8,
    INT8S,
    NUMERIC,
    OF_COLUMN,
    OID,
    OIDS,
    TEXT,
    TEXTS,
    TIMESTAMP,
    Field,
    PgType,
    Value,
    size_of,
)  # fmt: skip

KEPT = 16
LONGEST_S = 5.0
LOOK_S = 0.05
MEMORY_MB = 64
MOST_ROWS = 20_000
MOST_BYTES = 8 * 2**20
ROWS_AT_ONCE = 20

_ENGINE = {
    "oid": "UINTEGER", "int2": "SMALLINT", "int4": "INTEGER", "int8": "BIGINT", "bool": "BOOLEAN", "float4": "FLOAT",
    "float8": "DOUBLE", "text": "VARCHAR", "name": "VARCHAR", "char": "letter", "timestamptz": "TIMESTAMP",
    "timestamp": "TIMESTAMP", "date": "DATE", "_text": "VARCHAR[]", "_name": "VARCHAR[]", "_oid": "UINTEGER[]",
    "_int2": "SMALLINT[]",
}  # fmt: skip
_DEFAULTS: dict[str, Value] = {"oid": 0, "int2": 0, "int4": 0, "bool": False, "float4": 0.0}
_FIELDS: dict[str, PgType] = {
    "BOOLEAN": BOOL, "SMALLINT": INT2, "TINYINT": INT2, "INTEGER": INT4, "BIGINT": INT8, "UINTEGER": OID,
    "FLOAT": FLOAT4, "HUGEINT": NUMERIC, "UBIGINT": NUMERIC, "DOUBLE": FLOAT8, "DATE": DATE, "TIMESTAMP": TIMESTAMP,
    "VARCHAR[]": TEXTS, "UINTEGER[]": OIDS, "SMALLINT[]": INT2S, "INTEGER[]": INT4S,
    "BIGINT[]": INT8S, "BOOLEAN[]": BOOLS,
}  # fmt: skip
_SPACES = {"pg_catalog": "cat", "information_schema": "info"}


@cache
def own_tables() -> dict[str, list[tuple[str, str]]]:
    """The tables of PostgreSQL's catalog by name: columns and their types, as version 15 has them."""
    found = {"pg_catalog.qg_type": [("qg_type_oid", "oid"), ("qg_type_name", "name"), ("qg_type_written", "text")]}
    for line in Path(__file__).with_name("postgresql_15.txt").read_text().splitlines():
        name, _, columns = line.partition(": ")
        found[name] = [(column, kind) for column, _, kind in (one.partition(" ") for one in columns.split(", "))]
    return found


@cache
def letters() -> frozenset[str]:
    """Columns of PostgreSQL's type "char"."""
    return frozenset(column for columns in own_tables().values() for column, kind in columns if kind == "char")


class ShadowCatalogs:
    """Shadows for those who asked last. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shadows: OrderedDict[tuple[object, ...], _Engine] = OrderedDict()

    def read(
        self, user: str, served: Sequence[Catalog], sql: str, settings: Mapping[str, str]
    ) -> tuple[tuple[Field, ...], list[list[Value]]]:
        """What the catalog says, to this person."""
        engine = self._engine(user, served)
        names = {*own_tables(), *(f"public.{catalog.dataset}" for catalog in served)}
        shadow = Shadow(
            names, engine.empty, letters(), FUNCTIONS, settings, user, DATABASE, f"PostgreSQL {VERSION} (QueryGate)",
            str(now().replace(tzinfo=None)),
        )  # fmt: skip
        return engine.run(translate(sql, shadow))

    def _engine(self, user: str, served: Sequence[Catalog]) -> _Engine:
        key = (user, *((catalog.dataset, catalog.version, catalog.policy_hash) for catalog in served))
        with self._lock:
            found = self._shadows.get(key)
            if found is None:
                found = self._shadows[key] = _Engine(user, served)
                if len(self._shadows) > KEPT:
                    self._shadows.popitem(last=False)
            self._shadows.move_to_end(key)
            return found


class _Engine:
    """One database in memory; one statement at a time."""

    def __init__(self, user: str, served: Sequence[Catalog]) -> None:
        self._lock = threading.Lock()
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "threads": 1,
                "memory_limit": f"{MEMORY_MB}MB",
                "enable_external_access": False,
                "python_enable_replacements": False,
                "temp_directory": "",  # nor does it write
            },
        )
        self.empty = _fill(self._connection, user, served)
        self._connection.execute("SET lock_configuration = true")

    def run(self, sql: str) -> tuple[tuple[Field, ...], list[list[Value]]]:
        with self._lock, self._stopped_in_time():
            try:
                if len(self._connection.sql(sql).columns) > MOST_COLUMNS:  # nothing is computed for this
                    raise _too_much()
                found = self._connection.execute(sql)
                kinds = [_field(str(column[0]), str(column[1])) for column in found.description or ()]
                rows = _rows(found)
            except duckdb.InterruptException:
                check_cancelled()
                raise over_the_limit() from None
            except duckdb.Error:
                raise UnsupportedSQL(
                    "QG206",
                    "This statement about PostgreSQL's catalog is not supported.",
                    "List the datasets with \\dt, and their columns with \\d NAME.",
                ) from None
        return tuple(kinds), rows

    @contextmanager
    def _stopped_in_time(self) -> Iterator[None]:
        """Around a statement, which is stopped when it has had its time or is called off."""
        check_cancelled()
        ended, until_s, here = threading.Event(), time.monotonic() + LONGEST_S, copy_context()

        def watch() -> None:
            while not ended.wait(LOOK_S):
                if here.run(is_called_off) or time.monotonic() > until_s:
                    self._connection.interrupt()

        watcher = threading.Thread(target=watch, name="wire-catalog", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()


def _rows(found: duckdb.DuckDBPyConnection) -> list[list[Value]]:
    """All rows, some at a time: what is fetched is not in the engine's memory any more, and not in its limit."""
    rows: list[list[Value]] = []
    size = 0
    while some := found.fetchmany(ROWS_AT_ONCE):
        rows += [list(map(_cell, row)) for row in some]
        size += sum(size_of(cell) for row in rows[-len(some) :] for cell in row)
        if len(rows) > MOST_ROWS or size > MOST_BYTES:
            raise _too_much()
    return rows


def _too_much() -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG206",
        "This statement about PostgreSQL's catalog returns too much.",
        "Ask for fewer rows or columns.",
    )


def _field(name: str, kind: str) -> Field:
    if kind.startswith("ENUM"):
        return Field(name, CHAR)
    return Field(name, NUMERIC if kind.startswith("DECIMAL") else _FIELDS.get(kind, TEXT))


def _cell(value: object) -> Value:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return [_cell(one) for one in value] if isinstance(value, list) else str(value)


# -- made of ----------------------------------------------------------------------------------------------------------


def _fill(connection: duckdb.DuckDBPyConnection, user: str, served: Sequence[Catalog]) -> frozenset[str]:
    """Make all tables; which of PostgreSQL's own have no row."""
    tables = own_tables()
    letters = ", ".join(f"'{letter}'" for letter in ["", *string.ascii_letters, ","])
    made = [f"CREATE TYPE letter AS ENUM ({letters})"]  # PostgreSQL's "char", which drivers tell apart from a text
    made += ["CREATE SCHEMA cat", "CREATE SCHEMA info", "CREATE SCHEMA data", "SET search_path = 'main,data'"]
    made += [
        _table(_place(name), [(column, _ENGINE[kind]) for column, kind in columns]) for name, columns in tables.items()
    ]
    for catalog in served:
        columns = [(c.name, _ENGINE.get(OF_COLUMN.get(c.type, TEXT).name, "VARCHAR")) for c in catalog.columns]
        made.append(_table(f"data.{_quoted(catalog.dataset)}", columns))
    for statement in [*made, *macros()]:
        connection.execute(statement)
    rows: dict[str, list[CatalogRow]] = {}
    for name, row in all_rows(served, user, DATABASE, [name for name in tables if "qg_" not in name]):
        rows.setdefault(name, []).append(row)
    for name, found in rows.items():
        _insert(connection, name, tables[name], found)
    return frozenset(tables) - set(rows)


def _place(name: str) -> str:
    schema, _, table = name.partition(".")
    return f"{_SPACES[schema]}.{_quoted(table)}"


def _table(place: str, columns: Sequence[tuple[str, str]]) -> str:
    return f"CREATE TABLE {place} ({', '.join(f'{_quoted(name)} {kind}' for name, kind in columns)})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _insert(
    connection: duckdb.DuckDBPyConnection, name: str, columns: Sequence[tuple[str, str]], rows: Sequence[CatalogRow]
) -> None:
    arrays = {column: [row.get(column, _DEFAULTS.get(kind)) for row in rows] for column, kind in columns}
    connection.register("filled", pa.table(arrays))
    connection.execute(f"INSERT INTO {_place(name)} SELECT * FROM filled")  # noqa: S608  # names are our own
    connection.unregister("filled")
