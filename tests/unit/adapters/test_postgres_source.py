"""A table of a real PostgreSQL server as a source: what its values become, and what is said when something is wrong."""

from __future__ import annotations

import datetime as dt
import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from querygate.core.errors import ConfigError
from querygate_adapters.sources import postgres_table
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.sources.postgres_table import PostgresTable
from tests.postgres import Server
from tests.unit.adapters.loaded_rows import load, texts

BIG = 2**63 - 1
DAY = dt.date(2015, 1, 31)
SECRET = "SECRET-4711"

# type in PostgreSQL, value as PostgreSQL reads it, type in the policy, value in the vault
VALUES: list[tuple[str, str, str, Any]] = [
    ("smallint", "-5", "integer", -5),
    ("integer", "4", "number", 4.0),
    ("bigint", str(BIG), "integer", BIG),
    ("bigint", str(-BIG - 1), "integer", -BIG - 1),
    ("bigint", str(2**53 + 1), "integer", 2**53 + 1),
    ("integer", "1", "boolean", True),
    ("integer", "7", "category", "7"),
    ("real", "0.5", "number", 0.5),
    ("double precision", "0.1", "number", 0.1),
    ("double precision", "5e-324", "number", 5e-324),
    ("double precision", "1.7976931348623157e308", "number", 1.7976931348623157e308),
    ("double precision", "4", "integer", 4),
    ("double precision", "NaN", "number", None),
    ("numeric(10, 2)", "12.50", "number", 12.5),
    ("numeric(10, 2)", "12.50", "category", "12.50"),
    ("numeric", "4.000", "integer", 4),
    ("numeric", str(BIG), "integer", BIG),
    ("numeric", "NaN", "number", None),
    ("boolean", "true", "boolean", True),
    ("boolean", "false", "category", "false"),
    ("date", "2015-01-31", "date", DAY),
    ("date", "0001-01-01", "date", dt.date(1, 1, 1)),
    ("date", "2015-01-31", "category", "2015-01-31"),
    ("timestamp", "2015-01-31 23:59:59.999999", "date", DAY),
    ("timestamptz", "2015-01-31 23:30:00+00", "date", dt.date(2015, 2, 1)),  # in Vienna
    ("text", "", "category", ""),
    ("text", 'a "b", \\. \\N\n\r\nc;\t', "category", 'a "b", \\. \\N\n\r\nc;\t'),
    ("text", "NULL", "category", "NULL"),
    ("text", "Ähren 漢字 🙂", "category", "Ähren 漢字 🙂"),
    ("text", " 4.0 ", "integer", 4),
    ("varchar(9)", "2015-01-31"[:9], "category", "2015-01-3"),
    ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "category", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("mood", "sad", "category", "sad"),
    ("years", "51", "integer", 51),
    ("integer[]", "{1,2}", "category", "{1,2}"),
]
NOT_READ: list[tuple[str, str, str]] = [
    ("double precision", "4.5", "integer"),
    ("double precision", "Infinity", "integer"),
    ("numeric", str(BIG + 1), "integer"),
    ("boolean", "true", "integer"),
    ("date", "infinity", "date"),
    ("date", "0044-03-15 BC", "date"),
    ("date", "10000-01-01", "date"),
    ("timestamp", "-infinity", "date"),
    ("text", SECRET, "number"),
    ("integer", "2", "boolean"),
]


@pytest.fixture(scope="module")
def hospital(postgres: Server) -> Callable[[str], str]:
    """A database with a few tables; gives the location of one."""
    name = postgres.new_database()
    postgres.run(
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        "CREATE DOMAIN years AS integer",
        "CREATE TABLE patients (id integer, name text)",
        "INSERT INTO patients VALUES (1, 'Anna'), (2, NULL)",
        "CREATE VIEW adults AS SELECT * FROM patients WHERE id > 1",
        "CREATE TABLE nobody (id integer, name text)",
        "CREATE TABLE one (name text)",
        "INSERT INTO one VALUES (NULL), (''), ('x'), (NULL)",
        "CREATE SCHEMA \"Ward; 'A'\"",
        """CREATE TABLE "Ward; 'A'"."odd.""%s name" ("Größe; --" integer, "a,""b" text)""",
        """INSERT INTO "Ward; 'A'"."odd.""%s name" VALUES (7, 'x')""",
        "CREATE SEQUENCE counter",
        "CREATE VIEW writing AS SELECT nextval('counter') AS id",
        "CREATE VIEW failing AS SELECT id, 1 / (id - 2) AS x FROM patients",
        "CREATE TABLE long AS SELECT i, repeat('x', 20) AS t FROM generate_series(1, 500000) i",
        database=name,
    )
    return lambda table: f"{postgres.url(database=name)}#{table}"


def refused(attempt: Callable[[], object], *secrets: str) -> ConfigError:
    """QG802 with a remedy, and nothing in it that must not be told."""
    with pytest.raises(ConfigError) as caught:
        attempt()
    error = caught.value
    assert error.code == "QG802"
    assert error.remedy
    told = str(error) + repr(error) + json.dumps(error.to_dict())
    assert [secret for secret in (*secrets, SECRET, "FATAL", "psycopg") if secret in told] == []
    return error


# -- values ------------------------------------------------------------------------------------------------------------


def table_of(postgres: Server, rows: list[tuple[str, ...]], before: int = 0) -> str:
    """A table with a column for each value, in a row of its own after so many rows of NULL, and one more."""
    name = postgres.new_database()
    columns = sql.SQL(", ").join(
        sql.SQL("{} " + kind).format(sql.Identifier(f"c{i}")) for i, (kind, *_) in enumerate(rows)
    )
    values = sql.SQL(", ").join(sql.Literal(value) for _, value, *_ in rows)
    nulls = sql.SQL(", ").join([sql.NULL] * len(rows))
    postgres.run(
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        "CREATE DOMAIN years AS integer",
        f"ALTER DATABASE {name} SET timezone = 'Europe/Vienna'",
        f"ALTER DATABASE {name} SET datestyle = 'German'",
        sql.SQL("CREATE TABLE t ({})").format(columns),
        *[sql.SQL("INSERT INTO t VALUES ({})").format(nulls)] * before,
        sql.SQL("INSERT INTO t VALUES ({})").format(values),
        sql.SQL("INSERT INTO t VALUES ({})").format(nulls),
        database=name,
    )
    return f"{postgres.url(database=name)}#t"


def test_values_of_every_type(postgres: Server, tmp_path: Path) -> None:
    location = table_of(postgres, VALUES)
    first, second = load(tmp_path, location, {f"c{i}": row[2] for i, row in enumerate(VALUES)})

    assert list(first) == [row[3] for row in VALUES]
    assert set(second) == {None}


def test_values_that_cannot_be_read_are_told_with_their_row(postgres: Server, tmp_path: Path) -> None:
    location = table_of(postgres, NOT_READ, before=2)
    error = refused(lambda: load(tmp_path, location, {f"c{i}": row[2] for i, row in enumerate(NOT_READ)}))

    said = [
        f"column c{i}: 1 value cannot be read as {kind}, the first in row 3" for i, (*_, kind) in enumerate(NOT_READ)
    ]
    assert error.detail == "; ".join(said) + "."


def test_batches_are_typed_and_bounded(hospital: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_table, "BLOCK_BYTES", 2**20)
    reader = open_source(hospital("long")).batches(["t", "i"])
    assert [(field.name, str(field.type)) for field in reader.schema] == [("t", "string"), ("i", "int32")]
    sizes = [batch.num_rows for batch in reader]

    assert sum(sizes) == 500_000
    assert max(sizes) < 60_000


def test_rows_of_one_column_may_be_empty(hospital: Callable[[str], str], tmp_path: Path) -> None:
    assert texts(tmp_path, hospital("one"), "name") == [(None,), ("",), ("x",), (None,)]


def test_a_table_without_rows(hospital: Callable[[str], str], tmp_path: Path) -> None:
    assert texts(tmp_path, hospital("nobody"), "name", "id") == []


# -- tables ------------------------------------------------------------------------------------------------------------


def test_tables_and_views_by_name(hospital: Callable[[str], str], tmp_path: Path) -> None:
    assert isinstance(open_source(hospital("patients")), PostgresTable)
    assert open_source(hospital("public.patients").replace("postgresql:", "postgres:")).columns() == ("id", "name")
    assert texts(tmp_path, hospital("public.patients"), "id", "name") == [("1", "Anna"), ("2", None)]
    assert texts(tmp_path, hospital("adults"), "id") == [("2",)]


def test_odd_names_are_names(hospital: Callable[[str], str], tmp_path: Path) -> None:
    location = hospital("Ward; 'A'.odd.\"%s name")

    assert open_source(location).columns() == ("Größe; --", 'a,"b')
    assert texts(tmp_path, location, 'a,"b', "Größe; --") == [("x", "7")]


@pytest.mark.parametrize(
    "table",
    ["", "none", "none.patients", "public.", "PATIENTS", "patients; DROP TABLE patients", "pg_catalog.pg_class"],
)
def test_a_table_that_is_not_there(hospital: Callable[[str], str], table: str) -> None:
    error = refused(lambda: open_source(hospital(table)))

    assert "table" in error.detail
    assert "public.patients" in error.remedy or "schema.table" in error.remedy


def test_a_column_that_went_away(hospital: Callable[[str], str], tmp_path: Path) -> None:
    error = refused(lambda: texts(tmp_path, hospital("patients"), "id", SECRET))

    assert error.detail == "PostgreSQL: there is no such column."


def test_a_source_is_only_read(hospital: Callable[[str], str], tmp_path: Path) -> None:
    error = refused(lambda: texts(tmp_path, hospital("writing"), "id"))

    assert "read-only" in error.detail


def test_a_view_that_fails_on_a_row(hospital: Callable[[str], str], tmp_path: Path) -> None:
    assert "reported an error" in refused(lambda: texts(tmp_path, hospital("failing"), "x"), "division").detail


def test_a_table_that_the_user_may_not_read(postgres: Server, hospital: Callable[[str], str]) -> None:
    location = hospital("patients").replace("owner:", f"{postgres.new_role()}:")

    assert "may not" in refused(lambda: open_source(location)).detail


def test_texts_that_are_not_utf8(postgres: Server, tmp_path: Path) -> None:
    name = f"{postgres.new_database()}_ascii"
    postgres.run(f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'")
    postgres.run("CREATE TABLE t AS SELECT E'4711\\xff'::text AS x", database=name)
    error = refused(lambda: texts(tmp_path, f"{postgres.url(database=name)}#t", "x"), "4711")

    assert error.detail == "PostgreSQL: a text is not UTF-8."


# -- the way there -----------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[Callable[[Server], str], str]] = {
    "password": (lambda s: s.url(password=SECRET), "rejected this user"),
    "user": (lambda s: s.url("nobody_knows", SECRET), "rejected this user"),
    "database": (lambda s: s.url(database="none"), "rejected this user"),
    "no password": (lambda s: f"postgresql://owner@127.0.0.1:{s.port}/postgres", "needs a password"),
    "port": (lambda s: f"postgresql://owner:{SECRET}@127.0.0.1:1/postgres", "cannot be reached"),
    "host": (lambda s: f"postgresql://owner:{SECRET}@no-such-host.invalid/postgres", "cannot be reached"),
    "socket": (lambda s: f"postgresql://owner:{SECRET}@/postgres?host={s.folder}/none", "cannot be reached"),
    "slash in the password": (lambda s: f"postgresql://owner:a/{SECRET}@127.0.0.1/postgres", ""),
    "mark in the password": (lambda s: f"postgresql://owner:a#{SECRET}@127.0.0.1/postgres", ""),
    "a parameter": (lambda s: f"postgresql://owner:{SECRET}@127.0.0.1/postgres?{SECRET}=1", "cannot be read"),
    "a port that is none": (lambda s: f"postgresql://owner@127.0.0.1:{SECRET}/postgres", ""),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_way_that_is_closed(
    postgres: Server, wrong: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PGPASSFILE", "/dev/null")
    make, said = WRONG[wrong]
    with caplog.at_level("DEBUG"):
        error = refused(lambda: open_source(make(postgres) + "#patients"), postgres.password)

    assert said in error.detail
    assert SECRET not in "".join(traceback.format_exception(error)) + caplog.text


def test_the_password_may_come_from_elsewhere(
    postgres: Server, hospital: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bare = hospital("patients").replace(f":{postgres.password}@", "@")
    monkeypatch.setenv("PGPASSFILE", "/dev/null")
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    assert open_source(bare).columns() == ("id", "name")
    monkeypatch.delenv("PGPASSWORD")
    passwords = tmp_path / "passwords"
    passwords.write_text(f"127.0.0.1:{postgres.port}:*:owner:{postgres.password}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    assert open_source(bare).columns() == ("id", "name")


def test_a_socket_is_a_host(postgres: Server, hospital: Callable[[str], str]) -> None:
    _, _, rest = hospital("patients").partition(f"@127.0.0.1:{postgres.port}/")
    database, _, table = rest.partition("#")
    local = f"postgresql://owner:{postgres.password}@/{database}?host={postgres.folder}&port={postgres.port}#{table}"

    assert open_source(local).columns() == ("id", "name")


def test_a_connection_that_is_cut_in_the_middle(postgres: Server, hospital: Callable[[str], str]) -> None:
    source = open_source(hospital("long"))
    stream = source.batches(["i", "t"])
    assert stream.read_next_batch().num_rows

    def read_on() -> None:
        with source.reading():
            stream.read_all()

    postgres.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%\"long\"%'")
    assert "lost" in refused(read_on).detail


def test_and_when_a_vault_is_reading(
    postgres: Server, hospital: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the engine of the vault, which wraps errors in words of its own."""
    whole = postgres_table._batches

    def cut(*given: Any) -> Any:
        for number, batch in enumerate(whole(*given)):
            if number == 1:
                postgres.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%\"long\"%'")
            yield batch

    monkeypatch.setattr(postgres_table, "_batches", cut)
    assert "lost" in refused(lambda: texts(tmp_path, hospital("long"), "i", "t")).detail


def test_without_its_driver_a_source_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "querygate_adapters.sources.postgres_table", None)
    error = refused(lambda: open_source("postgresql://u@h/d#t"))

    assert "querygate[postgres]" in error.remedy
