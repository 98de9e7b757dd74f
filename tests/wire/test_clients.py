"""Clients as people have them, each against the same running gate: a question, a refusal, and a look around."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import re
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path

import asyncpg
import pandas as pd
import pg8000.native
import psycopg
import psycopg2
import pytest
import sqlalchemy as sa

from tests.wire.recorded import compare
from tests.wire.wire_site import WireSite
from tests.work import HANG_S

SQL = "SELECT sex, COUNT(*) FROM survey WHERE age > 41 GROUP BY sex ORDER BY sex"
JDBC = Path("/usr/share/java/postgresql.jar")


def environment(site: WireSite, **more: str) -> dict[str, str]:
    told = {"PGHOST": "127.0.0.1", "PGPORT": str(site.port), "PGUSER": "ann", "PGDATABASE": "querygate"}
    return {**os.environ, **told, "PGPASSWORD": site.keys["ann"], "PGCLIENTENCODING": "UTF8", **more}


def run(site: WireSite, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment(site, **more), capture_output=True, text=True, timeout=HANG_S)


# -- psql ------------------------------------------------------------------------------------------------

psql = pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")


@psql
def test_psql_looks_around(site: WireSite) -> None:
    asked = ("\\dt", "\\d survey", "\\d+ survey", "\\d", "\\l", "\\dn", "\\du", "\\dp", "\\df", "\\dv", "\\dT")
    done = run(site, "psql", "-X", *(word for command in asked for word in ("-c", command)))
    assert not done.stderr.replace("Did not find any relations.\n", "")
    compare("psql.txt", done.stdout)


@psql
def test_psql_asks_and_is_refused_with_a_caret(site: WireSite) -> None:
    asked = run(site, "psql", "-X", "-At", "-c", "SELECT COUNT(*) FROM survey")
    assert asked.stdout == "[120,120]\n"
    refused = run(site, "psql", "-X", "-c", "SELECT sex, AVG(heart) FROM survey GROUP BY sex")
    lines = refused.stderr.splitlines()
    assert lines[0].startswith("ERROR:  QG203: ")
    assert lines[1] == "LINE 1: SELECT sex, AVG(heart) FROM survey GROUP BY sex"
    assert lines[2].index("^") == lines[1].index("heart")
    assert any(line.startswith("HINT:") for line in lines)


@psql
def test_psql_settings_and_transactions(site: WireSite) -> None:
    told = run(
        site, "psql", "-X", "-At", "-c", "BEGIN; SET querygate.interval = 'columns'; COMMIT",
        "-c", "SHOW querygate.interval", "-c", "SELECT COUNT(*) FROM survey", "-c", "RESET ALL",
        "-c", "SHOW querygate.interval", "-c", "SELECT current_user, current_schema(), pg_is_in_recovery()",
        "-c", "SET querygate.interval = 'wide'",
    )  # fmt: skip
    assert told.stdout.splitlines() == [
        *("BEGIN", "SET", "COMMIT", "columns", "120|120|120|f|t|120|120", "RESET", "range", "ann|public|f")
    ]
    assert "Accepted: range, columns." in told.stderr


@psql
def test_psql_copies_answers_and_no_rows(site: WireSite) -> None:
    asked = "SELECT sex, COUNT(*), MIN(seen) FROM survey WHERE age > 41 GROUP BY sex ORDER BY sex"
    told = run(
        site, "psql", "-X", "-c", f"\\copy ({asked}) to stdout csv header",
        "-c", f"COPY ({asked}) TO STDOUT (DELIMITER ';', NULL '?')", "-c", "\\copy survey to stdout",
        "-c", "COPY (SELECT AVG(heart) FROM survey) TO STDOUT",
    )  # fmt: skip
    compare("copy.txt", told.stdout + re.sub(r"q_\w+", "q_01...", told.stderr))


# -- Python ----------------------------------------------------------------------------------------------


def test_what_people_ask_in_passing(site: WireSite) -> None:
    with site.connect() as connection:
        moment, day, two = connection.execute("SELECT now(), current_date, 1 + 1").fetchone() or (None, None, None)
        assert (type(moment), type(day), two) == (dt.datetime, dt.date, 2)
        for sql in (
            "DECLARE c CURSOR FOR SELECT 1",
            "FETCH ALL FROM c",
            "PREPARE p (int) AS SELECT $1",
            "EXECUTE p(4)",
        ):
            with pytest.raises(psycopg.Error, match="QG206: Cursors and prepared statements made in SQL"):
                connection.execute(sql)
        with pytest.raises(psycopg.Error, match="QG306: The statement has parameters without values"):
            connection.execute("SELECT COUNT(*) FROM survey WHERE age > $1")


def test_psycopg2(site: WireSite) -> None:
    connection = psycopg2.connect(site.dsn())
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM survey WHERE sex = %s AND age IN %s", ("it's; --", (30, 31)))
        assert cursor.fetchone() is not None
        with pytest.raises(psycopg2.errors.FeatureNotSupported):
            cursor.execute("SELECT age FROM survey")
        connection.rollback()
        cursor.execute("SELECT COUNT(*) FROM survey")
        assert str(cursor.fetchone()) == "(NumericRange(Decimal('120'), Decimal('120'), '[]'),)"
    connection.close()


def test_pg8000(site: WireSite) -> None:
    with pg8000.native.Connection(
        "ann", host="127.0.0.1", port=site.port, password=site.keys["ann"], database="querygate"
    ) as connection:
        found = connection.run("SELECT COUNT(*) FROM survey WHERE age > :age", age=20)
        assert [str(cell) for cell in found[0]] == ["[120,120]"]


def test_asyncpg(site: WireSite) -> None:
    async def asked() -> None:
        connection = await asyncpg.connect(site.url())
        row = await connection.fetchrow("SELECT COUNT(*) AS n FROM survey WHERE age > $1 LIMIT $2", 20, 5)
        assert (row["n"].lower, row["n"].upper) == (Decimal(120), Decimal(120))
        async with connection.transaction():
            found = [
                one async for one in connection.cursor("SELECT age, COUNT(*) FROM survey GROUP BY age", prefetch=3)
            ]
        assert len(found) == 40
        with pytest.raises(asyncpg.FeatureNotSupportedError):
            await connection.fetch("SELECT age FROM survey WHERE age > $1", 20)
        await connection.close()

    asyncio.run(asked())


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "pg8000"])
def test_sqlalchemy_reflects_and_asks(site: WireSite, driver: str) -> None:
    engine = sa.create_engine(site.url(driver=f"postgresql+{driver}"))
    inspector = sa.inspect(engine)
    known = [
        inspector.get_schema_names(), inspector.get_table_names(), inspector.get_view_names(),
        inspector.get_columns("survey"), inspector.get_pk_constraint("survey"), inspector.get_foreign_keys("survey"),
        inspector.get_indexes("survey"), inspector.get_table_comment("survey"),
        inspector.get_check_constraints("survey"),
    ]  # fmt: skip
    compare("sqlalchemy.txt", "".join(f"{one}\n" for one in known))
    survey = sa.Table("survey", sa.MetaData(), autoload_with=engine)
    with engine.connect() as connection:
        question = sa.select(survey.c.sex, sa.func.count()).where(survey.c.age > 41).group_by(survey.c.sex)
        assert len(connection.execute(question).all()) == 4
        ordinary = (
            survey.c.seen >= dt.date(2020, 2, 29), survey.c.sex == "it's; --", survey.c.weight < 99.5,
            survey.c.taken < dt.datetime(2020, 6, 1, 12, 30), survey.c.age > -5, survey.c.smoker.is_(True),
            survey.c.age.in_([30, 31]), survey.c.sex.in_(["female", "x"]), survey.c.sbp.between(100, 150.5),
        )  # fmt: skip
        for condition in ordinary:
            assert connection.execute(sa.select(sa.func.count()).select_from(survey).where(condition)).all()
    engine.dispose()


def test_pandas_reads_columns(site: WireSite) -> None:
    engine = sa.create_engine(site.url(driver="postgresql+psycopg"))
    with engine.connect() as connection:
        connection.execute(sa.text("SET querygate.interval = 'columns'"))
        frame = pd.read_sql("SELECT sex, AVG(sbp) FROM survey GROUP BY sex", connection)
    engine.dispose()
    assert list(frame.columns[:4]) == ["sex", "avg_sbp_low", "avg_sbp_high", "avg_sbp_estimate"]
    assert (frame.avg_sbp_low <= frame.avg_sbp_high).all()


# -- R and Java ------------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_with_dbi_and_dplyr(site: WireSite) -> None:
    done = run(site, "Rscript", "--vanilla", str(Path(__file__).with_name("client.R")), PORT=str(site.port))
    assert done.returncode == 0, done.stderr
    compare("r.txt", done.stdout)


@pytest.mark.skipif(shutil.which("javac") is None or not JDBC.exists(), reason="Java or its driver is not installed")
def test_jdbc_reads_metadata_and_asks(site: WireSite) -> None:
    source = Path(__file__).with_name("Client.java")
    url = f"jdbc:postgresql://127.0.0.1:{site.port}/querygate"
    done = run(site, "java", "-cp", str(JDBC), str(source), url, "ann", site.keys["ann"])
    assert done.returncode == 0, done.stderr
    compare("jdbc.txt", done.stdout)
