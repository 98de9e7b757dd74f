"""PEP 249, point by point, against a real gate; and SQLAlchemy on top of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import registry

from querygate.client import Range, dbapi
from querygate.client.literals import write_value, write_values
from tests.api.small_site import SmallSite
from tests.each import each
from tests.http_gate import http_gate

SQL = "SELECT sex, AVG(sbp) AS mean FROM clinic WHERE age >= ? GROUP BY sex"


@pytest.fixture
def connection(small: SmallSite, inside: httpx.WSGITransport) -> Iterator[dbapi.Connection]:
    with dbapi.connect("http://localhost", small.keys["ann"], "clinic", transport=inside) as made:
        yield made


def test_the_module_says_what_it_is() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")
    assert issubclass(dbapi.Warning, Exception)
    for name in ("InterfaceError", "DatabaseError"):
        assert issubclass(getattr(dbapi, name), dbapi.Error)
    below = ("DataError", "OperationalError", "IntegrityError", "InternalError", "ProgrammingError")
    for name in (*below, "NotSupportedError"):
        assert issubclass(getattr(dbapi, name), dbapi.DatabaseError)
        assert getattr(dbapi.Connection, name) is getattr(dbapi, name)
    assert dbapi.NUMBER == "integer"
    assert dbapi.STRING == "category"
    assert dbapi.DATETIME != "integer"
    assert dbapi.DateFromTicks(0).year in (1969, 1970)
    assert dbapi.TimestampFromTicks(0).date() == dbapi.DateFromTicks(0)
    assert isinstance(dbapi.TimeFromTicks(0), dt.time)
    assert (dbapi.Date(2020, 2, 29), dbapi.Binary(b"x")) == (dt.date(2020, 2, 29), b"x")


def test_a_cursor_asks_and_fetches(connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    assert (cursor.description, cursor.rowcount, cursor.arraysize) == (None, -1, 1)
    with pytest.raises(dbapi.Error):
        cursor.fetchone()
    cursor.execute(SQL, (30,))
    assert [(column[0], column[1]) for column in cursor.description or ()] == [("sex", "category"), ("mean", "number")]
    assert all(len(column) == 7 for column in cursor.description or ())
    assert cursor.rowcount == 2
    first = cursor.fetchone()
    assert first is not None
    assert first[0] == "F"
    assert isinstance(first[1], Range)
    assert len(cursor.fetchmany(5)) == 1
    assert (cursor.fetchone(), cursor.fetchmany(), cursor.fetchall()) == (None, [], [])
    assert len(list(cursor.execute(SQL, (30,)))) == 2
    cursor.executemany(SQL, [(30,), (50,)])
    assert cursor.answer is not None
    assert len(cursor.fetchall()) == cursor.rowcount
    cursor.setinputsizes([25])
    cursor.setoutputsize(1000, 0)
    connection.commit()
    connection.rollback()
    cursor.close()
    with pytest.raises(dbapi.Error):
        cursor.execute(SQL, (30,))


def test_closed_connections_do_nothing(small: SmallSite, inside: httpx.WSGITransport) -> None:
    connection = dbapi.connect("http://localhost", small.keys["ann"], "clinic", transport=inside)
    cursor = connection.cursor()
    connection.close()
    for act in (connection.cursor, connection.commit, connection.close, lambda: cursor.execute(SQL, (1,))):
        with pytest.raises(dbapi.InterfaceError):
            act()


def test_refusals_are_errors_of_the_tree(connection: dbapi.Connection, inside: httpx.WSGITransport) -> None:
    with pytest.raises(dbapi.ProgrammingError, match=r"QG201 .*Try: SELECT COUNT\(\*\) FROM clinic"):
        connection.cursor().execute("SELECT * FROM clinic")
    with pytest.raises(dbapi.ProgrammingError, match="1 question marks, and 0 values"):
        connection.cursor().execute(SQL)
    with pytest.raises(dbapi.OperationalError, match="QG301"):
        dbapi.connect("http://localhost", "qg_wrong", "clinic", transport=inside).cursor().execute("SELECT 1")
    with pytest.raises(dbapi.OperationalError, match="https"):
        dbapi.connect("http://gate.example.org")
    with pytest.raises(dbapi.InterfaceError, match="cells or columns"):
        dbapi.connect("http://localhost", ranges="rows")  # type: ignore[arg-type]


WRITTEN = {
    "NULL": None,
    "TRUE": True,
    "(-3)": -3,
    "1e+300": 1e300,
    "2.50": Decimal("2.50"),
    "'it''s; -- ?'": "it's; -- ?",
    "DATE '0053-06-19'": dt.date(53, 6, 19),
    "TIMESTAMP '2020-02-29 03:04:05.000006'": dt.datetime(2020, 2, 29, 3, 4, 5, 6),
}


@each("text", list(WRITTEN))
def test_values_as_sql_writes_them(text: str) -> None:
    assert write_value(WRITTEN[text]) == text


def test_only_question_marks_are_places() -> None:
    sql = "SELECT '?''?', \"a?\" /* ? \n */ FROM t WHERE x = ? -- ?\n AND y = ?"
    assert write_values(sql, ("?", 2)) == "SELECT '?''?', \"a?\" /* ? \n */ FROM t WHERE x = '?' -- ?\n AND y = 2"
    for value in (float("nan"), float("inf"), b"x", "a\0b", [1]):
        with pytest.raises(ValueError, match="cannot be written"):
            write_value(value)


# -- SQLAlchemy ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address(app: Any, small: SmallSite) -> Iterator[str]:
    registry.register("querygate.http", "querygate.client.sqlalchemy_dialect", "HttpDialect")
    with http_gate(app) as url:
        yield f"querygate+http://:{small.keys['ann']}@{url.removeprefix('http://')}/clinic"


def test_sqlalchemy_reflects_and_asks(address: str) -> None:
    engine = sa.create_engine(address)
    found = sa.inspect(engine)
    assert found.get_table_names() == ["clinic"]
    assert found.get_table_comment("clinic") == {"text": "Blood pressure study"}
    clinic = sa.Table("clinic", sa.MetaData(), autoload_with=engine)
    assert {name: type(column.type) for name, column in clinic.columns.items()} == {
        "age": sa.BigInteger,
        "sex": sa.String,
        "sbp": sa.BigInteger,
    }
    asked = (
        sa.select(clinic.c.sex, sa.func.avg(clinic.c.sbp).label("mean"))
        .where(clinic.c.age.between(30, 49), clinic.c.sex.in_(["F", "M"]))
        .group_by(clinic.c.sex)
        .order_by(clinic.c.sex)
        .limit(5)
    )
    with engine.connect() as connection:
        rows = connection.execute(asked).all()
        assert [row.sex for row in rows] == ["F", "M"]
        assert all(isinstance(row.mean, Range) for row in rows)
        with pytest.raises(sa.exc.ProgrammingError, match="QG201"):
            connection.execute(sa.text("SELECT * FROM clinic"))
    with pytest.raises(sa.exc.NoSuchTableError):
        sa.Table("nothing", sa.MetaData(), autoload_with=engine)
    engine.dispose()


def test_pandas_reads_plain_columns(address: str) -> None:
    engine = sa.create_engine(f"{address}?ranges=columns")
    frame = pd.read_sql("SELECT sex, AVG(sbp) AS mean FROM clinic GROUP BY sex", engine)
    assert (frame["mean_low"] <= frame["mean_high"]).all()
    assert frame["mean_low"].dtype == float
    engine.dispose()


def test_addresses_of_gates_elsewhere() -> None:
    registry.register("querygate", "querygate.client.sqlalchemy_dialect", "HttpsDialect")
    dialect = sa.create_engine("querygate://:k@gate.example.org:8443/survey?ranges=columns").dialect
    made = dialect.create_connect_args(sa.make_url("querygate://:k@gate.example.org:8443/survey?ranges=columns"))
    assert made == (["https://gate.example.org:8443", "k", "survey"], {"ranges": "columns"})
