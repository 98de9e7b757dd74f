"""The custodian's half of a store on PostgreSQL: copies version files of a DuckDB store to the server, and points to
one.

A version is one transaction: the tables, and then every cell read back and compared with the file, before anybody can
see them. The pointer comes last, in a transaction of its own. So a reader sees the old version or the new one, and a
copy that is killed at any instant leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
from psycopg import sql
from pyarrow import csv

from querygate.core.errors import ConfigError
from querygate_adapters.store.catalog_json import catalog_to_json
from querygate_adapters.store.class_moments import COLUMNS, TABLE, has_moments, wanted_columns
from querygate_adapters.store.code_sets import CODE_TABLES, code_columns
from querygate_adapters.store.duckdb_lockdown import connect
from querygate_adapters.store.duckdb_store import DuckDBRelease
from querygate_adapters.store.postgres_connection import Connection, Location, told
from querygate_adapters.store.postgres_store import SCHEMA, read_block, read_catalog, read_dictionaries, read_moments
from querygate_adapters.vault.copied_bits import UNLIMITED, block_bits, moment_bits

CODE = "QG804"
BATCH_ROWS = 50_000
LOCK = int.from_bytes(b"qgate")
"""One copy at a time: an advisory lock on the server, which ends with its holder."""

_TABLES = """
CREATE TABLE IF NOT EXISTS {release} (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    dataset text NOT NULL, version integer NOT NULL, catalog text NOT NULL, UNIQUE (dataset, version));
CREATE TABLE IF NOT EXISTS {served} (dataset text PRIMARY KEY, release integer NOT NULL REFERENCES {release});
CREATE TABLE IF NOT EXISTS {value_text} (
    release integer NOT NULL REFERENCES {release}, column_id integer, value_id integer, text text NOT NULL,
    PRIMARY KEY (release, column_id, value_id));
CREATE TABLE IF NOT EXISTS {set_value} (
    release integer NOT NULL REFERENCES {release}, column_id integer, set_id integer, value_id integer,
    PRIMARY KEY (release, column_id, set_id, value_id));
CREATE TABLE IF NOT EXISTS {code_item} (
    release integer NOT NULL REFERENCES {release}, column_id integer, item_id integer NOT NULL, code text NOT NULL);
ALTER TABLE {code_item} DROP CONSTRAINT IF EXISTS code_item_pkey;
CREATE UNIQUE INDEX IF NOT EXISTS code_item_entry ON {code_item} (release, column_id, item_id, code);
CREATE TABLE IF NOT EXISTS {item_set} (
    release integer NOT NULL REFERENCES {release}, column_id integer, set_id integer, item_id integer,
    PRIMARY KEY (release, column_id, set_id, item_id));
CREATE TABLE IF NOT EXISTS {class_moment} (
    release integer NOT NULL REFERENCES {release}, column_id integer, class bigint, n bigint NOT NULL,
    sum_lo double precision NOT NULL, sum_hi double precision NOT NULL,
    var_lo double precision, var_hi double precision, PRIMARY KEY (release, column_id, class))
"""
_NAMES = ("release", "served", "value_text", "set_value", "code_item", "item_set", "class_moment")
_SETS = {"value_text": "column_id, value_id, text", "set_value": "column_id, set_id, value_id"}


class PostgresVersionWriter:
    """Writes versions into one schema of a database, which it creates if necessary."""

    def __init__(self, location: str) -> None:
        self._location = Location.read(location, CODE)
        self._schema = self._location.fragment or SCHEMA

    def versions(self, dataset: str) -> dict[int, str]:
        """The versions on the server, each with its catalog as text."""
        with self._writing() as connection:
            self._prepare(connection)
            wanted = self._sql("SELECT version, catalog FROM {release} WHERE dataset = %s")
            return dict(connection.execute(wanted, [dataset]).fetchall())

    def copy(self, file: Path) -> None:
        """Copy the version in this file, whole and verified, or not at all."""
        release = DuckDBRelease(file)
        catalog = release.catalog
        with self._writing() as connection, _reading(file) as database:
            wanted = self._sql("INSERT INTO {release} (dataset, version, catalog) VALUES (%s, %s, %s) RETURNING id")
            values = [catalog.dataset, catalog.version, catalog_to_json(catalog)]
            [(number,)] = connection.execute(wanted, values).fetchall()
            cells = f"cells_{number}"
            self._send(connection, cells, database.sql("SELECT * FROM cells"), new=True)
            more = (CODE_TABLES if code_columns(catalog) else {}) | ({TABLE: COLUMNS} if has_moments(catalog) else {})
            for table, columns in (_SETS | more).items():
                rows = database.sql(f"SELECT {number} AS release, {columns} FROM {table}")
                self._send(connection, table, rows)
            connection.execute(sql.SQL("ANALYZE {}").format(self._name(cells)))
            if not self._is_same(connection, number, release):
                raise ConfigError(
                    CODE, "The data in PostgreSQL differ from what was sent. Nothing was kept.", "Try again."
                )

    def serve(self, dataset: str, version: int) -> None:
        """Point to a version on the server."""
        with self._writing() as connection:
            connection.execute(
                self._sql(
                    "INSERT INTO {served} SELECT dataset, id FROM {release} WHERE dataset = %s AND version = %s "
                    "ON CONFLICT (dataset) DO UPDATE SET release = EXCLUDED.release"
                ),
                [dataset, version],
            )

    def withdraw(self, dataset: str) -> None:
        """Point to none."""
        with self._writing() as connection:
            connection.execute(self._sql("DELETE FROM {served} WHERE dataset = %s"), [dataset])

    def remove(self, dataset: str, version: int) -> None:
        """Remove a version that is no longer served there."""
        with self._writing() as connection:
            wanted = self._sql("DELETE FROM {release} WHERE dataset = %s AND version = %s RETURNING id")
            for table in ("value_text", "set_value", "code_item", "item_set", "class_moment"):
                of_version = "(SELECT id FROM {release} WHERE dataset = %s AND version = %s)"
                statement = self._sql(f"DELETE FROM {{{table}}} WHERE release = {of_version}")
                connection.execute(statement, [dataset, version])
            for (number,) in connection.execute(wanted, [dataset, version]).fetchall():
                connection.execute(sql.SQL("DROP TABLE {}").format(self._name(f"cells_{number}")))

    # -- helpers ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction under the lock."""
        with told(CODE), self._location.connect(read_only=False) as connection:
            [(free,)] = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK]).fetchall()
            if not free:
                raise ConfigError(CODE, "Another process is copying into this database.", "Wait until it has finished.")
            yield connection

    def _prepare(self, connection: Connection) -> None:
        """The schema may exist already and belong to somebody who may not create one."""
        there = connection.execute("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s", [self._schema])
        if there.fetchone() is None:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(self._schema)))
        names = [self._name(name).as_string() for name in _NAMES]
        wanted = "SELECT bool_or(to_regclass(name) IS NULL) FROM unnest(%s::text[]) AS name"
        [(missing,)] = connection.execute(wanted, [names]).fetchall()
        if missing:
            connection.execute(self._sql(_TABLES))

    def _send(self, connection: Connection, table: str, rows: duckdb.DuckDBPyRelation, *, new: bool = False) -> None:
        reader: pa.RecordBatchReader = rows.to_arrow_reader(BATCH_ROWS)
        names = sql.SQL(", ").join(map(sql.Identifier, reader.schema.names))
        if new:
            typed = sql.SQL(", ").join(
                sql.SQL("{} {}").format(sql.Identifier(field.name), _type(field.type)) for field in reader.schema
            )
            connection.execute(sql.SQL("CREATE TABLE {} ({})").format(self._name(table), typed))
        statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT csv)").format(self._name(table), names)
        with connection.cursor().copy(statement) as copy:
            for batch in reader:
                copy.write(_csv(batch))

    def _is_same(self, connection: Connection, number: int, release: DuckDBRelease) -> bool:
        """Reads it back, grouped by all columns, margin by margin, and compares it with the file bit by bit."""
        catalog = read_catalog(connection, self._schema, number)
        dictionaries = read_dictionaries(connection, self._schema, number, catalog)
        told = {
            column.name: read_moments(connection, self._schema, number, column, UNLIMITED)
            for column in catalog.columns
            if column.moments != "none"
        }
        same = catalog == release.catalog and all(
            moment_bits(told[column.name]) == moment_bits(release.moments(column))
            for column in catalog.columns
            if column.name in told
        )
        for margin in range(len(catalog.margins)) if catalog.margins else (None,):
            mine = wanted_columns(catalog, told, margin)
            arrived = read_block(
                connection,
                self._name(f"cells_{number}"),
                catalog,
                catalog.columns,
                dictionaries,
                UNLIMITED,
                {column.name: told[column.name] for column in mine},
                margin,
            )
            names = [column.name for column in catalog.columns]
            sent = release.project(names, UNLIMITED, [column.name for column in mine], margin)
            same = same and block_bits(arrived, dictionaries) == block_bits(sent, release.dictionaries)
        return same

    def _name(self, table: str) -> sql.Identifier:
        return sql.Identifier(self._schema, table)

    def _sql(self, text: str) -> sql.Composed:
        tables = {name: self._name(name) for name in _NAMES}
        return sql.SQL(text).format(**tables)


@contextmanager
def _reading(file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    database = connect(file, read_only=True)
    try:
        yield database
    finally:
        database.close()


def _type(kind: pa.DataType) -> sql.SQL:
    return sql.SQL("double precision" if pa.types.is_floating(kind) else "bigint")


def _csv(batch: pa.RecordBatch) -> bytes:
    """CSV as COPY reads it: an empty field for a missing value, quotes around texts, the shortest digits that give the
    number."""
    sink = pa.BufferOutputStream()
    csv.write_csv(batch, sink, csv.WriteOptions(include_header=False))
    return bytes(sink.getvalue())
