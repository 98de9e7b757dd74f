"""The only door to `control.db`: one SQLite file, shared by the threads of a gate and by several processes.

WAL lets readers go on while one writer writes; `synchronous = FULL` puts every commit on disk before it returns,
at the price of one fsync. Entries of the log are many: they are committed without it, and put on disk after the next
writer was let in. An entry that follows one that is not on disk yet is no worse for it: both lie in the same file, and
what puts the later one on disk puts the earlier one there too.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakSet

from querygate.control import ports
from querygate.control.schema import BUDGETS, LEDGER, MIGRATIONS
from querygate.control.write_queue import WriteQueue, sync_file
from querygate.core.errors import ConfigError
from querygate.core.files.full_disk import full_disk, is_full_disk, lacks_room
from querygate.core.limits.turn import turn_given_up
from querygate.core.types import Scalar

Row: TypeAlias = tuple[Any, ...]

_TRIGGERS = "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'"

BUSY_TIMEOUT_S = 20.0
"""How long a writer waits for writers in other processes."""

_creating = threading.Lock()


class Connection(sqlite3.Connection):
    """A connection that closes with the thread it belongs to."""

    def __del__(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # it was never opened
            self.close()


def decoded(row: Row, errors: str = "strict") -> Row:
    """A row of a snapshot with texts in place of bytes."""
    return tuple(value.decode(errors=errors) if isinstance(value, bytes) else value for value in row)


class Database:
    """`control.db` at `path`, made and brought up to date where needed. Safe to share between threads.

    A process that forks must do so before its first read or write: SQLite's locks do not survive a fork.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     database = Database(Path(folder) / "control.db")
    ...     with database.writing() as connection:
    ...         _ = connection.execute("INSERT INTO users (name, role, created) VALUES ('ann', 'admin', '')")
    ...     [row["name"] for row in database.rows("SELECT name FROM users")]
    ...     database.close()
    ['ann']
    """

    conflict: type[Exception] = sqlite3.IntegrityError

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._queue, self._wal = WriteQueue(_beside(path, "-lock")), _beside(path, "-wal")
        self._opening = threading.Lock()
        self._opened: WeakSet[Connection] = WeakSet()
        self._process: int | None = None
        try:
            _create(path)
            connection = _connect(path)
            try:
                _migrate(connection, path)
            finally:
                connection.close()  # none is left open here, so that a server may fork after making its database
        except (sqlite3.Error, OSError) as error:
            if is_full_disk(error) or lacks_room(path.parent):
                raise full_disk() from None
            raise ConfigError(
                "QG804",
                f"{path} cannot be opened as the site's control database.",
                "Check the site folder, and that you may read and write there.",
            ) from error

    def rows(self, sql: str, values: Sequence[Scalar | bytes] | Mapping[str, Scalar | bytes] = ()) -> list[sqlite3.Row]:
        """All rows of one SELECT. They are read at once: a cursor left open would hold an old state of the file.

        An entry of the log that is among them may not be on disk yet; see `settled_rows`.
        """
        return self._connection().execute(sql, values).fetchall()

    def settled_rows(
        self, sql: str, values: Sequence[Scalar | bytes] | Mapping[str, Scalar | bytes] = ()
    ) -> list[sqlite3.Row]:
        """The same, on disk when this returns: for whoever tells somebody else of what the log has."""
        found = self.rows(sql, values)
        self._sync()
        return found

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """The file as it is now, for as long as the block takes, through a connection of its own that gives bytes.
        All of it is on disk.

        Text that is no text (a byte was changed in the file) can be read this way too, and found out.
        """
        connection = _connect(self.path)
        try:
            connection.text_factory, connection.row_factory = bytes, None
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM sqlite_schema").fetchone()  # what is seen is fixed by the first read
            self._sync()
            yield connection
        finally:
            connection.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One write transaction: on disk when the block ends, without a trace when it raises."""
        connection = self._connection()
        with self._queue.turn(), _transaction(connection):
            yield connection

    @contextmanager
    def appending(self) -> Iterator[sqlite3.Connection]:
        """The same for entries of the log: the next writer need not wait until they are on disk."""
        connection = self._connection("appender")
        with self._queue.turn(), _transaction(connection):
            yield connection
        with turn_given_up():
            self._sync()

    @property
    def file(self) -> Path:
        return self.path.absolute()

    def erase(self, connection: ports.Connection) -> None:
        """Deleted rows are overwritten: what is discarded later must not be found in free pages of the file."""
        connection.execute("PRAGMA secure_delete = ON")

    def erased(self) -> None:
        """Nor in what SQLite keeps beside the file."""
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def unguarded_ledger(self, connection: ports.Connection) -> Iterator[None]:
        """Whatever keeps the ledger append-only, or was put there by somebody else, is off within the block."""
        connection.execute("PRAGMA defer_foreign_keys = ON")  # until the commit
        for name, table in connection.execute(_TRIGGERS).fetchall():
            if table in LEDGER:
                connection.execute(f'DROP TRIGGER "{name.replace(chr(34), chr(34) * 2)}"')
        yield
        for statement in BUDGETS:
            if statement.lstrip().startswith("CREATE TRIGGER"):
                connection.execute(statement)

    def _sync(self) -> None:
        """Where there is no such file, all was put into the database itself when the last connection was closed."""
        sync_file(self._wal)

    def close(self) -> None:
        """Close the connections of all threads; none may be using them. Whoever comes later opens a new one."""
        with self._opening:
            for connection in list(self._opened):
                connection.close()
            self._local = threading.local()
        self._queue.close()

    def _connection(self, name: str = "connection") -> Connection:
        if self._process not in (None, os.getpid()):
            raise RuntimeError("the control database was opened before this process was forked; open it again")
        connection: Connection | None = getattr(self._local, name, None)
        if connection is None:
            connection = _connect(self.path, "NORMAL" if name == "appender" else "FULL")
            setattr(self._local, name, connection)
            with self._opening:
                self._process = os.getpid()
                self._opened.add(connection)
        return connection


def _create(path: Path) -> None:
    """An empty file that only its owner may read, in folders of which the same is true. SQLite gives the files it
    puts beside it the same mode. What exists already is left as it is."""
    for folder in reversed([folder for folder in path.parents if not folder.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)
    # Closing a file drops the POSIX locks that the process holds on it; nobody here may open it in between.
    with _creating:
        if not path.exists():
            path.touch(mode=0o600)


@contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _connect(path: Path, synchronous: str = "FULL") -> Connection:
    # The connection is used by its own thread alone, but `close` may come from another.
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, factory=Connection
    )
    connection.row_factory = sqlite3.Row
    _use_wal(connection)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _use_wal(connection: Connection) -> None:
    """Turn on WAL. SQLite does not wait here when another process does the same to a new file, so we do."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _migrate(connection: Connection, path: Path) -> None:
    """Apply the migrations that are missing, in one transaction: each of its own would wait for the disk."""
    if _version(connection) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        missing = MIGRATIONS[_version(connection) :]  # none where another process was faster
        for statement in chain.from_iterable(missing):
            connection.execute(statement)
        if missing:
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    if _version(connection) > len(MIGRATIONS):
        raise ConfigError(
            "QG804",
            f"{path} was written by a newer version of QueryGate.",
            "Use that version, or restore the backup made before the upgrade.",
        )


def _version(connection: Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
