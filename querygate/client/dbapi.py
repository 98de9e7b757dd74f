"""A gate for tools that know the DB-API (PEP 249): `connect`, cursors, and its tree of exceptions.

A statistic is one `Range` (or `Noisy`) in its row. With `ranges="columns"` it is several columns of plain numbers
instead, as in CSV: `name_low`, `name_high`, `name_estimate`, `name_may_be_null`. There are no transactions: a gate
is only read.

Error
├─ InterfaceError          the client was not used as it can be
└─ DatabaseError           what the gate said; `__cause__` is its own refusal, with the remedy and a suggestion
   ├─ ProgrammingError     QG1xx, QG2xx, QG6xx: the statement
   ├─ OperationalError     QG3xx, QG4xx, QG8xx: who asks, limits, budgets, the address
   ├─ DataError            QG5xx: the answer could single people out
   ├─ InternalError        QG900
   └─ IntegrityError, NotSupportedError   never raised: nothing is written
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

import httpx

from querygate.client.answer import Answer
from querygate.client.client import Client
from querygate.client.literals import write_values
from querygate.core.answer_forms.flat_table import table
from querygate.core.errors import QueryGateError

apilevel = "2.0"
threadsafety = 2
"""Threads may share the module and connections."""
paramstyle = "qmark"


class Warning(Exception):
    pass


class Error(Exception):
    pass


class InterfaceError(Error):
    pass


class DatabaseError(Error):
    pass


class DataError(DatabaseError):
    pass


class OperationalError(DatabaseError):
    pass


class IntegrityError(DatabaseError):
    pass


class InternalError(DatabaseError):
    pass


class ProgrammingError(DatabaseError):
    pass


class NotSupportedError(DatabaseError):
    pass


_ERRORS: dict[str, type[DatabaseError]] = {
    **dict.fromkeys(("QG1", "QG2", "QG6"), ProgrammingError),
    **dict.fromkeys(("QG3", "QG4", "QG8"), OperationalError),
    "QG5": DataError,
    "QG9": InternalError,
}


class TypeKind(frozenset[str]):
    """Compares equal to the types of columns that it stands for."""

    def __eq__(self, other: object) -> bool:
        return other in self if isinstance(other, str) else super().__eq__(other)

    __hash__ = frozenset.__hash__


STRING = TypeKind({"category", "text", "codes"})
BINARY = TypeKind()
NUMBER = TypeKind({"integer", "number", "boolean"})
DATETIME = TypeKind({"date", "timestamp"})
ROWID = TypeKind()

Date, Timestamp, Time, Binary = dt.date, dt.datetime, dt.time, bytes


def DateFromTicks(ticks: float) -> dt.date:  # noqa: N802 - PEP 249 calls it so
    return dt.date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> dt.time:  # noqa: N802
    return dt.time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> dt.datetime:  # noqa: N802
    return dt.datetime(*time.localtime(ticks)[:6])


Ranges: TypeAlias = Literal["cells", "columns"]
Described: TypeAlias = tuple[str, str, None, None, None, None, None]


class Connection:
    """A gate and one of its datasets."""

    Warning, Error, InterfaceError, DatabaseError = Warning, Error, InterfaceError, DatabaseError
    DataError, OperationalError, IntegrityError = DataError, OperationalError, IntegrityError
    InternalError, ProgrammingError, NotSupportedError = InternalError, ProgrammingError, NotSupportedError

    def __init__(self, client: Client, ranges: Ranges, mode: str | None) -> None:
        self._client: Client | None = client
        self.ranges, self.mode = ranges, mode

    @property
    def client(self) -> Client:
        if self._client is None:
            raise InterfaceError("The connection is closed.")
        return self._client

    def cursor(self) -> Cursor:
        self.client  # noqa: B018 - raises where it is closed
        return Cursor(self)

    def commit(self) -> None:
        """Nothing was changed."""
        self.client  # noqa: B018

    def rollback(self) -> None:
        """Nothing was changed."""
        self.client  # noqa: B018

    def close(self) -> None:
        self.client.close()
        self._client = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Cursor:
    """Asks statements, one after the other; holds the rows of the last."""

    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.description: list[Described] | None = None
        self.rowcount = -1
        self.answer: Answer | None = None
        """The last answer as it was sent, with its notes."""
        self._rows: Iterator[tuple[Any, ...]] | None = None
        self._is_closed = False

    def execute(self, operation: str, parameters: Sequence[object] = ()) -> Self:
        client = self._open()
        self.description, self._rows, self.rowcount = None, None, -1
        try:
            sql = write_values(operation, parameters)
            answer = client.query(sql, mode=self.connection.mode)
        except ValueError as error:
            raise ProgrammingError(str(error)) from error
        except QueryGateError as error:
            raise make_error(error) from error
        self.answer = answer
        names, types, rows = _flat(answer) if self.connection.ranges == "columns" else _cells(answer)
        self.description = [(name, kind, None, None, None, None, None) for name, kind in zip(names, types, strict=True)]
        self.rowcount, self._rows = len(rows), iter(rows)
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[object]]) -> Self:
        """Each is a question of its own; the rows of the last one stay."""
        for parameters in seq_of_parameters:
            self.execute(operation, parameters)
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(self._answered(), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        rows = self._answered()
        wanted = self.arraysize if size is None else size
        return [row for _, row in zip(range(wanted), rows, strict=False)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self._answered())

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._answered()

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Nothing is to be set."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing is to be set."""

    def close(self) -> None:
        self._open()
        self._is_closed, self._rows = True, None

    def _open(self) -> Client:
        if self._is_closed:
            raise InterfaceError("The cursor is closed.")
        return self.connection.client

    def _answered(self) -> Iterator[tuple[Any, ...]]:
        self._open()
        if self._rows is None:
            raise ProgrammingError("No statement has been executed yet.")
        return self._rows


def make_error(error: QueryGateError) -> DatabaseError:
    """What the gate said, with what to do: many tools show nothing but the text."""
    told = f"{error.code} {error.detail} {error.remedy}".rstrip()
    return _ERRORS.get(error.code[:3], DatabaseError)(told + (f" Try: {error.suggestion}" if error.suggestion else ""))


def _cells(answer: Answer) -> tuple[list[str], list[str], list[tuple[Any, ...]]]:
    types = [column["type"] for column in answer.body["columns"]]
    return answer.columns, types, [tuple(row.values()) for row in answer.rows]


def _flat(answer: Answer) -> tuple[list[str], list[str], list[tuple[Any, ...]]]:
    names, rows = table(answer.body)  # type: ignore[arg-type]
    types = {column["name"]: column["type"] for column in answer.body["columns"]}
    kinds = [types.get(name) or types.get(name.rpartition("_")[0], "number") for name in names]
    return names, kinds, [tuple(row) for row in rows]


def connect(
    url: str,
    key: str | Path | None = None,
    dataset: str | None = None,
    *,
    ranges: Ranges = "cells",
    mode: str | None = None,
    transport: httpx.BaseTransport | None = None,
) -> Connection:
    """A connection to a gate, for statements about one dataset."""
    if ranges not in ("cells", "columns"):
        raise InterfaceError("ranges must be cells or columns.")
    try:
        return Connection(Client(url, key, dataset, transport=transport), ranges, mode)
    except QueryGateError as error:
        raise make_error(error) from error
