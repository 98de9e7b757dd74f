"""Tables that nobody would make up: one person five times, names in other alphabets, columns without a value, NULL as a
key, empty texts, leading zeros, answers without a row. At each door the same figures, number for number."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.dialects.postgresql import NUMRANGE

from querygate.client import Client
from querygate.core.answer_bodies import AnswerBody
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate import render
from querygate.site.open_gate import open_gate
from querygate.web import create_app
from tests.each import each
from tests.policies import make_policy, quasi, sensitive
from tests.wire.wire_site import WireSite, make_site, served

COLUMNS = {
    "gruppe": quasi("category"),
    "Größe (cm)": quasi("number", (-1e300, 1e300)),
    "order": quasi("integer", (-(2**62), 2**62)),
    "日付": quasi("date", ("0001-01-01", "9999-12-31")),
    "leer": sensitive("integer", (0, 9)),
    "код": sensitive("category"),
}
FIRST = dt.date(2020, 2, 29)

QUESTIONS = (
    'SELECT COUNT(*), COUNT(leer), SUM(leer), AVG("Größe (cm)"), MIN("日付"), MAX("order") FROM {name}',
    "SELECT gruppe, COUNT(*) AS n FROM {name} GROUP BY gruppe ORDER BY gruppe",
    'SELECT gruppe, "日付", MAX("Größe (cm)"), MEDIAN("order") FROM {name} GROUP BY ALL',
    'SELECT код, COUNT(*) AS "wie viele?" FROM {name} WHERE gruppe IS NOT NULL GROUP BY код',
    "SELECT gruppe, COUNT(*) FROM {name} WHERE gruppe = 'nobody' AND \"order\" > 5 GROUP BY gruppe",
    'SELECT SUM("Größe (cm)" * "Größe (cm)"), MIN(leer) FROM {name} WHERE "order" < -5',
)


def odd_rows(rows: int, kinds: int) -> pa.Table:
    groups = ["a'b\"", None, "007", "", "😀 \\N"][:kinds]
    numbers = [1e-300, -1e299, 0.1, 0.1, float(2**53) + 2][:kinds]
    orders, codes = [-(2**61), 0, 2**61][:kinds], ["00", "Ж", None][:kinds]
    return pa.table(
        {
            "gruppe": pa.array([groups[i % len(groups)] for i in range(rows)], pa.string()),
            "Größe (cm)": pa.array([numbers[i % len(numbers)] for i in range(rows)], pa.float64()),
            "order": pa.array([orders[i % len(orders)] for i in range(rows)], pa.int64()),
            "日付": pa.array([FIRST] * rows, pa.date32()),
            "leer": pa.array([None] * rows, pa.int64()),
            "код": pa.array([codes[i % len(codes)] for i in range(rows)], pa.string()),
        }
    )


TABLES = {"odd": (30, 5), "same": (5, 1)}
"""How many rows, and of how many kinds."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WireSite]:
    folder = tmp_path_factory.mktemp("odd")
    opened = open_gate(make_site(folder))
    for name, made in TABLES.items():
        pq.write_table(odd_rows(*made), folder / f"{name}.parquet")
        publish_to(opened, make_policy(name, COLUMNS).parsed(), str(folder / f"{name}.parquet"), user="local")
    opened.accounts.add_user("ann", "researcher")
    keys = {"ann": opened.accounts.keys.new("ann").secret}
    with served(opened) as port:
        yield WireSite(opened, port, keys)


ASKED = [question.format(name=name) for name in TABLES for question in QUESTIONS]


@pytest.fixture(scope="module")
def app(site: WireSite) -> Flask:
    return create_app(site.opened)


def told(site: WireSite, app: Flask, sql: str) -> AnswerBody | str:
    """Over HTTP: the answer, or the code of its refusal."""
    asked = {"dataset": next(name for name in TABLES if name in sql), "sql": sql}
    reply = app.test_client().post("/api/v1/query", json=asked, headers={"Authorization": f"Bearer {site.keys['ann']}"})
    body: Any = reply.json
    return body["code"] if reply.status_code != 200 else body


def ends(cell: Any, kind: str) -> Any:
    """A range of HTTP as psycopg gives it."""
    if cell["low"] is None:
        return None
    read = {"date": dt.date.fromisoformat}.get(kind, lambda end: Decimal(repr(end)))
    low, high = (None if str(end) in ("inf", "-inf") else read(end) for end in (cell["low"], cell["high"]))
    return low, high


@each("sql", ASKED)
def test_every_door_tells_the_same(site: WireSite, app: Flask, sql: str) -> None:
    body = told(site, app, sql)
    with site.connect() as connection:
        for binary in (False, True):
            connection.execute("RESET ALL")
            if isinstance(body, str):
                with pytest.raises(psycopg.Error, match=body):
                    connection.execute(sql, binary=binary)
                continue
            rows = connection.execute(sql, binary=binary).fetchall()
            for row, shown in zip(rows, body["rows"], strict=True):
                for cell, column in zip(row, body["columns"], strict=True):
                    known = shown[column["name"]]
                    if column["kind"] == "key":
                        assert cell == known or str(cell) == known
                    elif not isinstance(cell, str):
                        found = None if cell is None else (cell.lower, cell.upper)  # type: ignore[attr-defined]
                        assert found == ends(known, column["type"])
            connection.execute("SET querygate.interval = 'columns'")
            cursor = connection.execute(sql, binary=binary)
            names = [column.name for column in cursor.description or ()]
            plain = [[str(cell) if isinstance(cell, dt.date) else cell for cell in row] for row in cursor.fetchall()]
            known_names, known_rows = render.table(body)
            known_rows = [[float(cell) if cell in ("inf", "-inf") else cell for cell in row] for row in known_rows]
            assert (names, plain) == (known_names, known_rows)


def test_the_python_client_reads_them_too(site: WireSite, app: Flask) -> None:
    way = httpx.WSGITransport(app=app)
    with Client("http://localhost", site.keys["ann"], "odd", transport=way) as gate:
        answer = gate.query('SELECT gruppe, MIN("日付") AS "erster", SUM(leer) FROM odd GROUP BY gruppe')
        assert {row["gruppe"] for row in answer} == {"a'b\"", None, "007", "", "😀 \\N"}
        assert len(answer.to_pandas()) == len(answer.to_polars()) == 5
        assert "😀" in answer._repr_html_()
        assert gate.describe()["columns"][1]["name"] == "Größe (cm)"


def test_tools_reflect_and_describe_them(site: WireSite) -> None:
    engine = sa.create_engine(site.url(driver="postgresql+psycopg"))
    assert sa.inspect(engine).get_table_names() == sorted(TABLES)
    table = sa.Table("odd", sa.MetaData(), autoload_with=engine)
    assert list(table.columns.keys()) == list(COLUMNS)
    with engine.connect() as connection:
        asked = sa.select(table.c["gruppe"], sa.func.max(table.c["Größe (cm)"], type_=NUMRANGE)).group_by(
            table.c["gruppe"]
        )
        assert len(connection.execute(asked.where(table.c["日付"] == FIRST)).all()) == 5
    engine.dispose()
