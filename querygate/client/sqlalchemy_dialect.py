"""SQLAlchemy over a gate: `create_engine("querygate://:KEY@gate.example.org/survey")`.

The database of the address is the dataset; without a key in it, QUERYGATE_KEY has it. `?ranges=columns` gives plain
numbers in place of `Range` cells, which tools for tables want. Tables and columns are known from the gate's description
of the dataset. `querygate+http://` is for a gate on this machine.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from sqlalchemy import types
from sqlalchemy.engine import URL, default
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.exc import NoSuchTableError
from sqlalchemy.sql import compiler

from querygate.client import dbapi

_TYPES: dict[str, type[types.TypeEngine[Any]]] = {
    "integer": types.BigInteger,
    "number": types.Double,
    "boolean": types.Boolean,
    "date": types.Date,
    "timestamp": types.DateTime,
}


class _Ansi(compiler.SQLCompiler):
    """Values are written by the DB-API; LIMIT is a number of the statement itself."""

    def limit_clause(self, select: Any, **kw: Any) -> str:
        parts = []
        if select._limit_clause is not None:
            parts.append(f"\n LIMIT {self.process(select._limit_clause, **kw)}")
        if select._offset_clause is not None:
            parts.append(f"\n OFFSET {self.process(select._offset_clause, **kw)}")
        return "".join(parts)


class HttpsDialect(default.DefaultDialect):
    """A gate elsewhere, over TLS."""

    name = "querygate"
    driver = "https"
    default_paramstyle = "qmark"
    statement_compiler = _Ansi
    supports_statement_cache = True
    supports_alter = False
    supports_native_boolean = True
    supports_sane_rowcount = False
    postfetch_lastrowid = False
    max_identifier_length = 63
    returns_native_bytes = True

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        return dbapi

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        port = f":{url.port}" if url.port else ""
        key = url.password or (url.username if url.username else None)
        asked = {name: str(value) for name, value in url.query.items() if name in ("ranges", "mode")}
        return [f"{self.driver}://{url.host}{port}", key, url.database], asked

    def do_ping(self, dbapi_connection: Any) -> bool:
        dbapi_connection.client.datasets()
        return True

    def do_rollback(self, dbapi_connection: Any) -> None:
        """There is nothing to roll back."""

    def do_commit(self, dbapi_connection: Any) -> None:
        """There is nothing to commit."""

    def initialize(self, connection: Any) -> None:
        """A gate is asked nothing that nobody has asked."""

    # -- reflection --------------------------------------------------------------------------------------

    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        return []

    def get_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [each["dataset"] for each in _client(connection).datasets()]

    def get_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return []

    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        return table_name in self.get_table_names(connection)

    def get_columns(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedColumn]:
        if not self.has_table(connection, table_name):
            raise NoSuchTableError(table_name)
        told = _client(connection).describe(table_name)
        return [
            ReflectedColumn(
                name=column["name"],
                type=_TYPES.get(column["type"], types.String)(),
                nullable=column["nullable"] is not False,
                default=None,
                comment=column["title"] or None,
            )
            for column in told["columns"]
        ]

    def get_pk_constraint(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        return {"constrained_columns": [], "name": None}

    def get_foreign_keys(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        return []

    def get_indexes(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        return []

    def get_unique_constraints(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        return []

    def get_check_constraints(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        return []

    def get_table_comment(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        return {"text": _client(connection).describe(table_name)["title"] or None}


class HttpDialect(HttpsDialect):
    """A gate on this machine."""

    driver = "http"
    supports_statement_cache = True


def _client(connection: Any) -> Any:
    return connection.connection.dbapi_connection.client
