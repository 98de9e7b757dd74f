"""The control database of a site on PostgreSQL: several gates and workers write one log, one ledger, one list of jobs.

    postgresql://gate@host:5432/database#schema        (without a fragment: the schema querygate_control)

It is what `control.db` is, table by table, and keeps the same promises. One writer at a time: a write transaction
begins with an advisory lock of the schema, which dies with its holder, and whatever it reads afterwards is what was
committed before (READ COMMITTED takes a new snapshot for each statement). Should somebody write without the lock, the
triggers let one of the two in. A commit is on the server's disk when it returns. Entries of the log are committed
without waiting for that, and put on disk after the next writer was let in: they lie in one write-ahead log in the order
of their commits, so what puts the later one on disk puts the earlier one there too.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from psycopg import sql
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.types.string import StrDumper

from querygate.core.types import Scalar
from querygate_adapters.control import postgres_dialect as dialect
from querygate_adapters.store.postgres_connection import Location, as_told, lost_told, told

Values: TypeAlias = "Sequence[Scalar | bytes] | Mapping[str, Scalar | bytes]"

SCHEMA = "querygate_control"
CODE = "QG804"

# A gate that hangs in a transaction is put out, and one that waits for it gives up; nothing was written then.
_BEGIN = """BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET LOCAL synchronous_commit = {sync};
    SET LOCAL idle_in_transaction_session_timeout = '30s';
    SET LOCAL lock_timeout = '20s';
    SELECT pg_advisory_xact_lock({lock})"""
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_IS_SETTLED = "SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()"
_SETTLE = """BEGIN; SET LOCAL synchronous_commit = on;
    SELECT pg_logical_emit_message(true, 'querygate', ''); COMMIT"""


FRESH_S = 2.0
"""A connection that was used so lately is taken for open."""


class Row(tuple[Any, ...]):
    """A row by position and by name, as SQLite gives it."""

    names: tuple[str, ...] = ()

    def __getitem__(self, key: Any) -> Any:
        return tuple.__getitem__(self, self.names.index(key) if isinstance(key, str) else key)

    def keys(self) -> tuple[str, ...]:
        return self.names


@cache
def _row_of(names: tuple[str, ...]) -> type[Row]:
    return type("NamedRow", (Row,), {"names": names})


class PostgresControl:
    """The control database in one schema. Safe to share between threads; a process that forks must do so before its
    first read or write. `path` is where `control.db` would be: archives of the log lie beside it."""

    conflict: type[Exception] = psycopg.errors.IntegrityError
    file = None

    def __init__(self, location: str, path: Path) -> None:
        self.path = path
        self._location = Location.read(location, "QG805")
        self._schema = self._location.fragment or SCHEMA
        digest = hashlib.sha256(f"querygate control {self._schema}".encode()).digest()
        self._lock = int.from_bytes(digest[:8], signed=True)
        self._idle: deque[_Link] = deque()
        self._local = threading.local()
        self._process: int | None = None
        weakref.finalize(self, _close_all, self._idle)

    # -- reading -----------------------------------------------------------------------------------------

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        held: _Link | None = getattr(self._local, "held", None)
        if held is not None:
            return held.execute(sql, values).fetchall()
        with self._link() as link:
            return link.execute(sql, values).fetchall()

    def settled_rows(self, sql: str, values: Values = ()) -> list[Row]:
        found = self.rows(sql, values)
        self._settle()
        return found

    @contextmanager
    def snapshot(self) -> Iterator[_Link]:
        with self._link(gives_bytes=True) as link, link.transaction(_SNAPSHOT):
            link.execute("SELECT 1")  # what is seen is fixed by the first read
            self._settle()
            yield link

    # -- writing -----------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[_Link]:
        with self._write("on") as link:
            yield link

    @contextmanager
    def appending(self) -> Iterator[_Link]:
        with self._write("off") as link:
            yield link
        self._settle()

    def _settle(self) -> None:
        with self._link() as link:
            link.settle()

    @contextmanager
    def _write(self, sync: str) -> Iterator[_Link]:
        with self._link() as link, link.transaction(_BEGIN.format(sync=sync, lock=self._lock)):
            self._local.held, before = link, getattr(self._local, "held", None)
            try:
                yield link
            finally:
                self._local.held = before

    def erase(self, connection: object) -> None:
        """The server's own matter: rows that were deleted are overwritten by its vacuum."""

    def erased(self) -> None:
        with self._link() as link:
            link.connection.execute("VACUUM log")

    @contextmanager
    def unguarded_ledger(self, connection: Any) -> Iterator[None]:
        """Who owns the tables may take their triggers off; it is undone with the transaction if that fails."""
        tables = ("charge", "reservation", "noisy_answer")
        connection.execute("SET CONSTRAINTS ALL DEFERRED")
        for name in tables:
            connection.execute(f"ALTER TABLE {name} DISABLE TRIGGER USER")
        yield
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for name in tables:
            connection.execute(f"ALTER TABLE {name} ENABLE TRIGGER USER")

    def close(self) -> None:
        _close_all(self._idle)
        self._process = None

    # -- making --------------------------------------------------------------------------------------------------

    def version(self) -> int | None:
        """How many migrations the tables have had; None where there are none yet."""
        try:
            return int(self.rows("SELECT version FROM control_schema")[0][0])
        except psycopg.errors.UndefinedTable:
            return None

    def fill(self, source: sqlite3.Connection) -> None:
        """Make the tables and take over everything from a `control.db`, in one transaction. Somebody who may make
        tables does it once; a gate needs to read, insert, update and delete afterwards."""
        with told(CODE), self._location.connect(read_only=False) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [self._lock])
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(self._schema)))
            connection.execute(sql.SQL("SET LOCAL search_path = {}, pg_catalog").format(sql.Identifier(self._schema)))
            [(there,)] = connection.execute("SELECT to_regclass('control_schema')").fetchall()
            if there is not None:
                return  # another process was faster
            for function in dialect.FUNCTIONS:
                connection.execute(function.encode())
            made = source.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
            parts = [(kind, name, text) for kind, name, text in made if not name.startswith("sqlite_")]
            tables = {name: text for kind, name, text in parts if kind == "table"}
            for name, text in _referenced_first(tables):
                connection.execute(dialect.table(text).encode())
                _copy(source, connection, name)
            for kind, _, text in parts:
                if kind == "index":
                    connection.execute(dialect.index(text).encode())
                for statement in dialect.trigger(text) if kind == "trigger" else ():
                    connection.execute(statement.encode())
            for name in dialect.KEPT:
                connection.execute(
                    f"CREATE TRIGGER {name}_kept BEFORE TRUNCATE ON {name} EXECUTE FUNCTION append_only()".encode()
                )
            version = int(source.execute("PRAGMA user_version").fetchone()[0])
            connection.execute(f"CREATE TABLE control_schema AS SELECT {version}::bigint AS version".encode())

    # -- connections -------------------------------------------------------------------------------------

    @contextmanager
    def _link(self, *, gives_bytes: bool = False) -> Iterator[_Link]:
        """A connection for as long as the block takes. ConfigError QG804 where the server is out of reach."""
        with lost_told(CODE):
            link = self._open(gives_bytes) if gives_bytes else self._take()
            try:
                yield link
            except psycopg.errors.LockNotAvailable as error:
                raise as_told(error, CODE) from None
            finally:
                if gives_bytes:
                    link.connection.close()
                elif not link.connection.closed:
                    link.used_s = time.monotonic()
                    self._idle.append(link)

    def _take(self) -> _Link:
        if self._process not in (None, os.getpid()):
            raise RuntimeError("the control database was opened before this process was forked; open it again")
        while self._idle:
            try:
                link = self._idle.pop()
                if time.monotonic() - link.used_s > FRESH_S:
                    link.connection.execute("")  # the server may have gone away in the meantime
            except IndexError:  # another thread was faster
                break
            except psycopg.Error:
                link.connection.close()
            else:
                return link
        return self._open()

    def _open(self, gives_bytes: bool = False) -> _Link:
        self._process = os.getpid()
        connection = self._location.connect(read_only=False)
        connection.autocommit = True  # transactions are begun and ended here, in so many words
        path = sql.SQL("SET search_path = {}, pg_catalog").format(sql.Identifier(self._schema))
        connection.execute(path)
        if gives_bytes:
            connection.adapters.register_loader("text", _Bytes)
        return _Link(connection)


class _Link:
    """A connection that takes the statements of the control plane."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        connection.row_factory = _named_rows
        connection.cursor_factory = _Cursor
        connection.adapters.register_dumper(str, _Text)
        self.used_s = time.monotonic()

    def execute(self, statement: str, values: Values = ()) -> psycopg.Cursor[Any]:
        return self.connection.execute(dialect.translated(statement).encode(), values or {})

    def settle(self) -> None:
        """What anybody has committed so far is on the server's disk when this returns."""
        if self.execute(_IS_SETTLED).fetchall() != [(True,)]:
            self.connection.execute(_SETTLE)

    @contextmanager
    def transaction(self, begin: str) -> Iterator[None]:
        try:
            self.connection.execute(begin.encode())
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if not self.connection.closed:
                self.connection.execute("ROLLBACK")
            raise


def _close_all(links: deque[_Link]) -> None:
    while links:
        links.pop().connection.close()


class _Cursor(psycopg.ClientCursor[Any]):
    """What a statement found: nothing where it changes rows and gives none back. Values are of no type until they meet
    a column."""

    def fetchall(self) -> list[Any]:
        return super().fetchall() if self.description else []


class _Text(StrDumper):
    """A text without U+0000, which SQLite stores and PostgreSQL does not."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\0", "\N{REPLACEMENT CHARACTER}"))


class _Bytes(Loader):
    """A text as it is stored."""

    def load(self, data: Buffer) -> bytes:
        return bytes(data)


def _named_rows(cursor: psycopg.Cursor[Any]) -> Any:
    return _row_of(tuple(column.name for column in cursor.description or ()))


def _referenced_first(tables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Tables in an order in which each comes after those that it refers to."""
    left = {name: set(re.findall(r'REFERENCES "?(\w+)', text)) - {name} for name, text in tables.items()}
    while left:
        free = [name for name, needed in left.items() if not needed & left.keys()]
        for name in free:
            del left[name]
            yield name, tables[name]


def _copy(source: sqlite3.Connection, connection: psycopg.Connection[Any], table: str) -> None:
    """All rows of a table, and its numbers go on where they were."""
    columns = [str(row[1]) for row in source.execute(f"PRAGMA table_info({table})")]
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    into = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
    wanted = ", ".join(f'"{name}"' for name in columns)
    order = "rowid" if table in dialect.TIMELESS else "1"
    with connection.cursor() as cursor, cursor.copy(into) as rows:
        for row in source.execute(f"SELECT {wanted} FROM {table} ORDER BY {order}"):
            rows.write_row(row)
    last = source.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    if last is not None:
        connection.execute("SELECT setval(pg_get_serial_sequence(%s, 'number'), %s)", [table, last[0]])
