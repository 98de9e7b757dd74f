"""Connections to PostgreSQL, and what may be said when they fail.

A location may hold a password, and a mistyped one may show part of it where a host or a table is expected. Server
messages quote values. So neither is ever passed on: messages are in our own words.

    postgresql://user@host:5432/database?sslmode=verify-full#fragment

libpq reads everything before the fragment: a password may also come from PGPASSWORD or the password file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict

from querygate.core.errors import ConfigError
from querygate_adapters.store.catalog_json import Row

Connection: TypeAlias = psycopg.Connection[Row]

SCHEMES = ("postgresql://", "postgres://")
DEFAULTS = {
    "connect_timeout": 10,
    "application_name": "querygate",
    "keepalives_idle": 30,  # so that a server that vanished silently is noticed
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 50_000,  # the same for what was sent and is not confirmed: nobody asks then
}

RETRY_S = 5.0
"""Pauses between attempts while a server is starting."""

# Messages by SQLSTATE, or by its first two characters.
_TOLD = {
    "22021": ("a text is not UTF-8", "Correct it, or use a view that leaves it out."),
    "25006": ("the statement would write, and sources are read-only", "Name a table, or a view that changes nothing."),
    "3F": ("there is no such schema", "Check the name of the schema."),
    "42P01": ("there is no such table", "Check the name of the table."),
    "42703": ("there is no such column", "Check the names of the columns."),
    "42501": ("this user may not do that", "Grant the user the permissions, or use another user."),
    "53": ("the server is out of space or memory", "See the server's log."),
    "57014": ("the server stopped the statement", "Check the server's statement_timeout."),
}
_LOST = ("the connection was lost", "Check that the server is running, then try again.")
_CLOSED = ("the server rejected this user for this database", "Check user, password and database, and pg_hba.conf.")
_NO_PASSWORD = (
    "the server needs a password, and there is none",
    "Set PGPASSWORD, or create a password file (.pgpass).",
)
_UNREACHED = ("the server cannot be reached", "Check host and port, and that the server is running.")
_OTHER = ("the server reported an error", "See the server's log.")


@dataclass(frozen=True, slots=True)
class Location:
    """A server's location, and the fragment. It is never printed, since it may hold a password."""

    parameters: dict[str, Any] = field(repr=False)
    fragment: str = field(repr=False)

    @classmethod
    def read(cls, text: str, code: str) -> Location:
        """Read from its text; a ConfigError with this code, which quotes nothing, if it cannot be read."""
        url, _, fragment = text.rpartition("#") if "#" in text else (text, "", "")
        try:
            if not url.startswith(SCHEMES):
                raise psycopg.ProgrammingError
            return cls({**DEFAULTS, **conninfo_to_dict(url), "client_encoding": "UTF8"}, fragment)
        except psycopg.Error:
            raise ConfigError(
                code,
                "The address of the PostgreSQL server is not valid.",
                "Write postgresql://user@host:port/database; in a password, write / ? # @ : % as %2F %3F %23 %40 %3A "
                "%25.",
            ) from None

    def connect(self, *, read_only: bool = True) -> Connection:
        """A connection that is read-only unless requested otherwise."""
        try:
            # Statements are not prepared on the server, so that it works through a connection pooler.
            connection = psycopg.connect(**self.parameters, prepare_threshold=None)
        except psycopg.Error as error:
            raise NotConnected(*_why_not(error)) from None
        connection.read_only = read_only
        return connection


class NotConnected(psycopg.OperationalError):
    """The connection failed. Its arguments may be shown: what went wrong, and what to do."""


@contextmanager
def told(code: str) -> Iterator[None]:
    """Turn the driver's error into a coded one that quotes nothing."""
    try:
        yield
    except psycopg.Error as error:
        raise as_told(error, code) from None


@contextmanager
def lost_told(code: str) -> Iterator[None]:
    """The same only for a server that is out of reach or goes away; the caller handles other errors."""
    try:
        yield
    except psycopg.Error as error:
        if not isinstance(error, NotConnected) and _explain(error) is not _LOST:
            raise
        lost = as_told(error, code)
        lost.retry_after_s = RETRY_S
        raise lost from None


def as_told(error: psycopg.Error, code: str) -> ConfigError:
    what, remedy = _explain(error)
    return ConfigError(code, f"PostgreSQL: {what}.", remedy)


def _explain(error: psycopg.Error) -> tuple[str, str]:
    if isinstance(error, NotConnected):
        what, remedy = error.args
        return what, remedy
    state = error.sqlstate or ""
    if state.startswith(("08", "57P")) or (not state and isinstance(error, psycopg.OperationalError)):
        return _LOST
    return _TOLD.get(state) or _TOLD.get(state[:2], _OTHER)


def _why_not(error: psycopg.Error) -> tuple[str, str]:
    """libpq gives no codes here, but it knows whether a password was requested and used."""
    attempt = error.pgconn
    if attempt is not None and attempt.needs_password:
        return _NO_PASSWORD
    if attempt is not None and (attempt.used_password or "FATAL" in str(error)):
        return _CLOSED
    return _UNREACHED
