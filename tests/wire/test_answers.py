"""Answers over the wire: the same figures as over HTTP, one charge and one entry each, and what must not be lost."""

from __future__ import annotations

import asyncio
import datetime as dt
from decimal import Decimal

import asyncpg
import psycopg
import pytest
from psycopg.types.range import Range

from querygate.core.types import Principal, QueryOptions, Request
from querygate.gate import render
from querygate.gate.answer import ask
from tests.wire.wire_site import WireSite

BY_SEX = "SELECT sex, COUNT(*), AVG(sbp), AVG(weight) FROM survey GROUP BY sex"


def body_of(site: WireSite, sql: str) -> render.AnswerBody:
    return ask(Request(Principal("carl", "custodian"), "survey", sql, QueryOptions()), site.opened.gate)


def is_end(told: object, figure: object) -> bool:
    return told == (None if figure is None else Decimal(repr(figure)) if isinstance(figure, float) else figure)


@pytest.mark.parametrize("binary", [False, True])
def test_ranges_are_those_of_http_number_for_number(site: WireSite, binary: bool) -> None:
    with site.connect() as connection:
        rows = connection.execute(BY_SEX, binary=binary).fetchall()
    body = body_of(site, BY_SEX)
    assert len(rows) == len(body["rows"]) == 4
    for told, row in zip(rows, body["rows"], strict=True):
        assert told[0] == row["sex"]
        for found, column in zip(told[1:], body["columns"][1:], strict=True):
            assert isinstance(found, Range)
            figures = row[column["name"]]
            assert is_end(found.lower, figures["low"])
            assert is_end(found.upper, figures["high"])


@pytest.mark.parametrize("binary", [False, True])
def test_columns_are_the_flat_table_of_csv(site: WireSite, binary: bool) -> None:
    with site.connect(options="-c querygate.interval=columns") as connection:
        cursor = connection.execute(BY_SEX, binary=binary)
        names, rows = [column.name for column in cursor.description or ()], cursor.fetchall()
    assert (names, [list(row) for row in rows]) == render.table(body_of(site, BY_SEX))


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT MIN(seen), MAX(seen) FROM survey", dt.date),
        ("SELECT MIN(taken), MAX(taken) FROM survey", dt.datetime),
        ("SELECT SUM(sbp), MIN(weight) FROM survey", Decimal),
    ],
)
def test_ranges_of_other_types(site: WireSite, sql: str, kind: type, binary: bool) -> None:
    with site.connect() as connection:
        row = connection.execute(sql, binary=binary).fetchone()
    assert row is not None
    assert all(
        isinstance(found, Range) and isinstance(found.lower, kind) and found.upper >= found.lower for found in row
    )


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("age > %s", 41),
        ("age > %s", -5),
        ("age > %s", 41.5),
        ("sex = %s", "it's; --"),
        ("sex = %s", "männlich"),
        ("seen >= %s", dt.date(2020, 2, 29)),
        ("taken < %s", dt.datetime(2020, 6, 1, 12, 30)),
        ("smoker = %s", True),
        ("weight < %s", 99.5),
        ("sbp < %s", Decimal("150")),
    ],
)
def test_parameters_are_typed_literals(site: WireSite, sql: str, value: object) -> None:
    """The same as if the value stood in the statement; client-side binding writes it there."""
    counted = f"SELECT COUNT(*) FROM survey WHERE {sql}"
    with site.connect() as connection:
        given = connection.execute(counted, (value,)).fetchall()
        again = connection.execute(counted, (value,), prepare=True).fetchall()
    with site.connect() as connection, psycopg.ClientCursor(connection) as cursor:
        written = cursor.mogrify(counted, (value,)).replace("::date", "").replace("::timestamp", "")
        known = cursor.execute(written).fetchall()
    assert given == again == known


def test_a_portal_is_charged_and_noted_once_and_a_description_never(site: WireSite) -> None:
    async def ask_prepared() -> tuple[int, int, int]:
        connection = await asyncpg.connect(site.url("bob"))
        before = site.queries("bob")
        prepared = await connection.prepare("SELECT COUNT(*) FROM survey WHERE age > $1")
        assert [one.type.name for one in prepared.get_attributes()] == ["numrange"]
        assert [one.name for one in prepared.get_parameters()] == ["int8"]
        described = site.queries("bob")
        await prepared.fetch(40)
        await connection.close()
        return before, described, site.queries("bob")

    before, described, asked = asyncio.run(ask_prepared())
    assert (described, asked) == (before, before + 1)


def test_a_refusal_has_a_code_a_hint_that_works_and_a_place(site: WireSite) -> None:
    with site.connect() as connection:
        asked = "SELECT sex,\n  AVG(heart) AS only_here FROM public.survey WHERE age > %s GROUP BY sex"
        with pytest.raises(psycopg.Error) as told:
            connection.execute(asked, (40,))
        diagnosis = told.value.diag
        assert diagnosis.sqlstate == "42703"
        assert str(diagnosis.message_primary).startswith("QG203: ")
        assert diagnosis.statement_position == "19"
        working = (diagnosis.message_hint or "").splitlines()[-1]
        assert connection.execute(working).fetchall()
        noted = [entry for entry in site.opened.log.queries(user="ann", limit=10_000) if "only_here" in str(entry)]
        assert len(noted) == 1
        assert "QG203" in str(noted)


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("SELECT * FROM survey", "0A000"),
        ("INSERT INTO survey VALUES (1)", "0A000"),
        ("DROP TABLE survey", "0A000"),
        ("COPY survey TO STDOUT", "0A000"),
        ("SELECT COUNT(*) FROM secret", "3D000"),
        ("SELEC COUNT(*) FROM survey", "42601"),
        ("SELECT COUNT(*) FROM survey WHERE sex = 'x", "42601"),
        ("SELECT COUNT(*) FROM survey, pg_class", "0A000"),
    ],
)
def test_what_is_refused_leaves_the_session_as_it_was(site: WireSite, sql: str, state: str) -> None:
    with site.connect() as connection:
        with pytest.raises(psycopg.Error) as told:
            connection.execute(sql)
        assert told.value.sqlstate == state
        assert connection.execute("SELECT COUNT(*) FROM survey").fetchall()


def test_what_ranges_do_not_say_is_told_in_notices(site: WireSite) -> None:
    notices: list[str] = []
    with site.connect() as connection:
        connection.add_notice_handler(lambda note: notices.append(note.message_primary or ""))
        connection.execute("SELECT age, AVG(sbp) FROM survey WHERE weight > 119 GROUP BY age").fetchall()
    assert any("may have no records at all" in note for note in notices)
    assert any("or NULL: avg_sbp" in note for note in notices)


def test_a_copy_of_an_answer_has_its_rows(site: WireSite) -> None:
    """psycopg copies in the extended protocol."""
    with site.connect() as connection, connection.cursor() as cursor:
        before = site.queries()
        with cursor.copy(f"COPY ({BY_SEX}) TO STDOUT") as copied:
            lines = list(copied.rows())
        assert site.queries() == before + 1
        rows = connection.execute(BY_SEX).fetchall()
    counts = [f"[{row[1].lower},{row[1].upper}]" for row in rows]  # type: ignore[attr-defined]
    assert [line[:2] for line in lines] == [(row[0], count) for row, count in zip(rows, counts, strict=True)]


def test_rows_in_parts_cost_one_answer(site: WireSite) -> None:
    with site.connect() as connection, connection.transaction():
        before = site.queries()
        with connection.cursor() as cursor:
            found = list(cursor.stream("SELECT age, COUNT(*) FROM survey GROUP BY age"))
        assert len(found) > 5
        assert site.queries() == before + 1
