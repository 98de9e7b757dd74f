"""The published plane on a PostgreSQL server: reads versions that `postgres_writer` copied there.

    postgresql://gate@host:5432/database#schema        (without a fragment: the schema querygate)

    release      id, dataset, version, catalog         one row per version; never changed
    served       dataset, release                      which one is served; no row for a withdrawn dataset
    cells_7      the cells of release 7
    value_text, set_value                              values and sets of the categories, by release
    code_item, item_set                                items and sets of the code lists, by release
    class_moment                                       moments of the classes, by release

The server groups the cells. It returns eight-byte numbers as it holds them, so every end and every count is exact;
categories are ids, so collations do not matter.
"""

from __future__ import annotations

import math
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
import psycopg
from psycopg import sql

from querygate.core.block import Block, ClassMoments, CodeSets, Dictionary
from querygate.core.limits.deadline import over_the_limit, seconds_left
from querygate.core.ports import Limits
from querygate.core.rights import no_dataset
from querygate.core.types import Array, Catalog, Column, Scalar
from querygate_adapters.store.catalog_json import (
    NAME,
    KeptBlocks,
    Names,
    Row,
    catalog_from_json,
    withdrawn,
)
from querygate_adapters.store.cell_query import Dialect, Dictionaries, grouping, make_block, projection
from querygate_adapters.store.class_moments import COLUMNS, TABLE, make_moments, wanted_columns
from querygate_adapters.store.code_sets import read_code_sets
from querygate_adapters.store.postgres_connection import Connection, Location, lost_told

SCHEMA = "querygate"

HEAD, TAIL = 19, 2
"""Bytes before the first and after the last row of a binary COPY (PostgreSQL manual, "COPY", binary format)."""


class PostgresStore:
    """All datasets of one schema. Releases stay open and are shared by threads."""

    def __init__(self, location: str, *, memory_mb: int = 1024) -> None:
        found = Location.read(location, "QG805")
        self._schema = found.fragment or SCHEMA
        self._links = ConnectionPool(found)
        self._memory_mb = memory_mb
        self._open: dict[str, tuple[int, PostgresRelease]] = {}
        self._lock = threading.Lock()

    def datasets(self) -> tuple[str, ...]:
        return tuple(sorted(name for (name,) in self._ask("SELECT dataset FROM {served}")))

    def versions(self, dataset: str) -> tuple[int, ...]:
        if not NAME.fullmatch(dataset):
            raise no_dataset()
        found = self._ask("SELECT version FROM {release} WHERE dataset = %s ORDER BY version", dataset)
        return tuple(version for (version,) in found)

    def current(self, dataset: str) -> PostgresRelease:
        """The version being served, opened once and kept until another one is served."""
        if not NAME.fullmatch(dataset):
            raise no_dataset()
        found = self._ask("SELECT release FROM {served} WHERE dataset = %s", dataset)
        if not found:
            raise withdrawn() if self.versions(dataset) else no_dataset()
        number: int = found[0][0]
        with self._lock:
            known, release = self._open.get(dataset, (None, None))
            if release is None or known != number:
                release = PostgresRelease(self._links, self._schema, number, memory_mb=self._memory_mb)
                self._open[dataset] = (number, release)
            return release

    def _ask(self, text: str, *values: Scalar) -> list[Row]:
        """Rows from the tables of the schema; none if nothing was ever copied there."""
        tables = {name: sql.Identifier(self._schema, name) for name in ("served", "release")}
        try:
            with self._links.reading() as connection:
                return connection.execute(sql.SQL(text).format(**tables), values).fetchall()
        except psycopg.errors.UndefinedTable:
            return []


class PostgresRelease:
    """One published version. `project` groups cells inside PostgreSQL; only sums of counts come out."""

    def __init__(self, links: ConnectionPool, schema: str, number: int, *, memory_mb: int = 1024) -> None:
        self._links, self._schema, self._number, self._memory_mb = links, schema, number, memory_mb
        with links.reading() as connection:
            self.catalog: Catalog = read_catalog(connection, schema, number)
            self.dictionaries = read_dictionaries(connection, schema, number, self.catalog)
        self._blocks = KeptBlocks()
        self._moments: dict[int, ClassMoments] = {}

    def project(
        self,
        names: Collection[str],
        limits: Limits,
        moments: Collection[str] = (),
        margin: int | None = None,
        by_class: bool = False,
    ) -> Block:
        """The cells grouped by these columns, and by class if classes or their moments are wanted."""
        return self._blocks.get(names, moments, margin, by_class, partial(self._read, limits))

    def _read(self, limits: Limits, names: Names, moments: Names, margin: int | None, by_class: bool) -> Block:
        limits = replace(limits, memory_mb=min(limits.memory_mb, self._memory_mb))
        columns = [column for column in self.catalog.columns if column.name in names]
        cells = sql.Identifier(self._schema, f"cells_{self._number}")
        with self._links.reading() as connection:
            told = {}
            for column in wanted_columns(self.catalog, moments, margin):
                if column.index not in self._moments:
                    self._moments[column.index] = read_moments(connection, self._schema, self._number, column, limits)
                told[column.name] = self._moments[column.index]
            return read_block(
                connection, cells, self.catalog, columns, self.dictionaries, limits, told, margin, by_class=by_class
            )


class ConnectionPool:
    """A pool of connections for threads. A new one is made when all are in use."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._idle: deque[Connection] = deque()
        weakref.finalize(self, _close_all, self._idle)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection in a read-only transaction. ConfigError QG804 where the server is out of reach, or goes away."""
        with lost_told("QG804"):
            connection = self._take()
            try:
                with connection.transaction():
                    yield connection
            finally:
                if not connection.closed:
                    self._idle.append(connection)

    def _take(self) -> Connection:
        while self._idle:
            try:
                connection = self._idle.pop()
                connection.execute("")  # the server may have gone away in the meantime
            except IndexError:  # another thread was faster
                break
            except psycopg.Error:
                connection.close()
            else:
                return connection
        connection = self._location.connect()
        connection.autocommit = True  # a transaction begins when it is needed, read-only by the connection's setting
        return connection


def _close_all(connections: deque[Connection]) -> None:
    while connections:
        connections.pop().close()


# -- reading one version -------------------------------------------------------------------------------------------


def read_catalog(connection: Connection, schema: str, number: int) -> Catalog:
    wanted = sql.SQL("SELECT catalog FROM {} WHERE id = %s").format(sql.Identifier(schema, "release"))
    [(text,)] = connection.execute(wanted, [number]).fetchall()
    return catalog_from_json(text)


def read_dictionaries(connection: Connection, schema: str, number: int, catalog: Catalog) -> Dictionaries:
    def rows(text: str, table: str, column: Column) -> list[Row]:
        statement = sql.SQL(text).format(sql.Identifier(schema, table))
        return connection.execute(statement, [number, column.index]).fetchall()

    return {
        column.index: _code_sets(column, rows) if column.is_codes else _dictionary(column, rows)
        for column in catalog.columns
        if not column.is_numeric and not column.groups
    }


_WHERE = "FROM {} WHERE release = %s AND column_id = %s"
_Rows: TypeAlias = "Callable[[str, str, Column], list[Row]]"


def _dictionary(column: Column, rows: _Rows) -> Dictionary:
    texts = rows(f"SELECT text {_WHERE} ORDER BY value_id", "value_text", column)
    pairs = rows(f"SELECT set_id, value_id {_WHERE} ORDER BY set_id, value_id", "set_value", column)
    return Dictionary.of([text for (text,) in texts], pairs)


def _code_sets(column: Column, rows: _Rows) -> CodeSets:
    codes = rows(f"SELECT item_id, code {_WHERE}", "code_item", column)
    pairs = rows(f"SELECT set_id, item_id {_WHERE} ORDER BY set_id, item_id", "item_set", column)
    return read_code_sets(column, codes, pairs)


def read_moments(connection: Connection, schema: str, number: int, column: Column, limits: Limits) -> ClassMoments:
    """The published moments of a column's classes. A variance that is not published is NaN, so that all rows have the
    same width."""
    names = COLUMNS.split(", ")[1:]
    kinds = ["i8", "i8", "f8", "f8", "f8", "f8"]
    statement = sql.SQL(
        "COPY (SELECT {} FROM {} WHERE release = {} AND column_id = {} ORDER BY class) TO STDOUT (FORMAT binary)"
    ).format(
        sql.SQL(", ").join(
            sql.SQL("COALESCE({}, 'NaN')").format(sql.Identifier(name))
            if name.startswith("var")
            else sql.SQL("CAST({} AS {})").format(sql.Identifier(name), sql.SQL(_TYPES[kind]))
            for name, kind in zip(names, kinds, strict=True)
        ),
        sql.Identifier(schema, TABLE),
        sql.Literal(number),
        sql.Literal(column.index),
    )
    return make_moments(_numbers(_limited(connection, statement, limits), kinds))


def read_block(
    connection: Connection,
    cells: sql.Identifier,
    catalog: Catalog,
    columns: Sequence[Column],
    dictionaries: Dictionaries,
    limits: Limits,
    moments: Mapping[str, ClassMoments] | None = None,
    margin: int | None = None,
    *,
    by_class: bool = False,
) -> Block:
    """Cells grouped by these columns, within the limits; NotPermitted QG305 beyond them."""
    names = grouping(catalog, columns, by_class=by_class or bool(moments), margin=margin)
    kinds = [*(_kind(name, columns) for name in names), "i8"]
    statement = _statement(connection, cells, catalog, columns, by_class or bool(moments), margin)
    body = _limited(connection, statement, limits)
    found = dict(zip([*names, "n"], _numbers(body, kinds), strict=True))
    return make_block(catalog, columns, found, dictionaries, moments, margin, by_class=by_class)


def _limited(connection: Connection, statement: sql.Composed | bytes, limits: Limits) -> bytes:
    timeout_s, began_s = seconds_left(limits.timeout_s), time.monotonic()
    try:
        body = _fetch(connection, statement, timeout_s, limits.memory_mb)
    except psycopg.errors.QueryCanceled:
        raise over_the_limit() from None
    if time.monotonic() - began_s > timeout_s:
        raise over_the_limit()  # whether the limit is exceeded must not depend on the server's clock resolution
    return body


def _kind(name: str, columns: Sequence[Column]) -> str:
    """The NumPy type of a physical column: whole numbers, except for the ends of real numbers."""
    real = {
        f"c{column.index}_{end}"
        for column in columns
        if column.is_numeric and not column.is_discrete
        for end in ("lo", "hi")
    }
    return "f8" if name in real else "i8"


_TYPES = {"i8": "bigint", "f8": "double precision"}


def _statement(
    connection: Connection,
    cells: sql.Identifier,
    catalog: Catalog,
    columns: Sequence[Column],
    by_class: bool,
    margin: int | None,
) -> bytes:
    """The projection, with a number in every field: rows of fixed width can be read as an array."""
    dialect = Dialect(
        cells.as_string(connection),
        lambda name: f"CAST(COALESCE({name}, 0) AS {_TYPES[_kind(name, columns)]})",
        "CAST(COALESCE(SUM(n), 0) AS bigint)",
    )
    wanted = projection(catalog, columns, by_class=by_class, margin=margin, dialect=dialect)
    return f"COPY ({wanted}) TO STDOUT (FORMAT binary)".encode(connection.info.encoding)


def _fetch(connection: Connection, statement: sql.Composed | bytes, timeout_s: float, memory_mb: int) -> bytes:
    milliseconds = max(1, math.ceil(timeout_s * 1000))  # PostgreSQL takes zero as no limit
    connection.execute("SELECT set_config('statement_timeout', %s, true)", [f"{milliseconds}ms"])
    parts: list[bytes] = []
    room = memory_mb * 2**20
    with connection.cursor().copy(statement) as copy:
        while part := copy.read():
            parts.append(bytes(part))
            room -= len(part)
            if room < 0:
                raise over_the_limit()
    return b"".join(parts)


def _numbers(body: bytes, kinds: Sequence[str]) -> list[Array]:
    """The columns of a binary COPY: a row is its number of fields, and then the width and eight bytes of each."""
    fields = [
        (f"{part}{i}", f">{kind}") for i, of in enumerate(kinds) for part, kind in (("width", "i4"), ("value", of))
    ]
    row = np.dtype([("fields", ">i2"), *fields])
    table = np.frombuffer(body, row, offset=HEAD, count=(len(body) - HEAD - TAIL) // row.itemsize)
    if (table["fields"] != len(kinds)).any() or any((table[f"width{i}"] != 8).any() for i in range(len(kinds))):
        raise ValueError("the server sent rows of another shape")
    return [table[f"value{i}"] for i in range(len(kinds))]
