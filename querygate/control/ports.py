"""What the control plane asks of the database that it is kept in: SQLite here, or PostgreSQL where gates share one.

Statements are written once, in the SQL that both take: `?` and `:name` for values, `COLLATE NOCASE`, `ON CONFLICT`,
`RETURNING`. What only one of them can do is a method of the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from querygate.core.types import Scalar

Values: TypeAlias = "Sequence[Scalar | bytes] | Mapping[str, Scalar | bytes]"

NO_LIMIT = 2**63 - 1
"""For a LIMIT that is none."""


class Row(Protocol):
    """A row by position and by name; `dict(row)` has its columns."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def keys(self) -> Any: ...


class Cursor(Protocol):
    """What a statement found, or how many rows it changed."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchmany(self, size: int, /) -> list[Any]: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A transaction that somebody holds."""

    def execute(self, sql: str, values: Values = ..., /) -> Cursor: ...


class ControlDatabase(Protocol):
    """The control database of a site. Safe to share between threads."""

    @property
    def path(self) -> Path:
        """In the folder that archives lie beside."""
        ...

    @property
    def file(self) -> Path | None:
        """The file that other processes may read at the same time; None where there is none."""
        ...

    @property
    def conflict(self) -> type[Exception]:
        """What is raised where a row breaks a constraint, so a name that is taken."""
        ...

    def rows(self, sql: str, values: Values = ...) -> list[Any]:
        """All rows of one SELECT; within a transaction of this thread, as that sees them."""
        ...

    def settled_rows(self, sql: str, values: Values = ...) -> list[Any]:
        """The same, on disk when this returns."""
        ...

    def snapshot(self) -> AbstractContextManager[Connection]:
        """One state of everything, on disk, through a connection that gives bytes in place of texts."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """One write transaction, and nobody else's meanwhile: on disk when the block ends, without a trace when it
        raises."""
        ...

    def appending(self) -> AbstractContextManager[Connection]:
        """The same for entries of the log: the next writer need not wait until they are on disk."""
        ...

    def erase(self, connection: Connection) -> None:
        """What is deleted from now on in this transaction can no longer be found where it lay."""
        ...

    def erased(self) -> None:
        """After a deletion: nor beside it."""
        ...

    def unguarded_ledger(self, connection: Connection) -> AbstractContextManager[None]:
        """Within a transaction: what keeps the ledger append-only is off, and back at the end of the block."""
        ...

    def close(self) -> None:
        """Close what is open; nobody may be using it. Whoever comes later opens it again."""
        ...
