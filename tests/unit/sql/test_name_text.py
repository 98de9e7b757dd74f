"""Names of columns and aliases: whose they are is decided as DuckDB decides it, in every alphabet."""

from __future__ import annotations

import duckdb
import pytest

from querygate.core.errors import Refusal
from querygate.core.types import Catalog, Column, folded
from querygate.sql import understand
from tests.engine import scratch
from tests.sql.study import NATIVE
from tests.unit.sql.plan_reference import agrees, exact_block

CATALOG = Catalog(
    "studie",
    1,
    "",
    5,
    6,
    (
        Column("größe", 0, "sensitive", "integer", False, 0, 300),
        Column("é", 1, "quasi-identifier", "category", False, values=("a", "b", "c")),
        Column("Blood Pressure (mm)", 2, "sensitive", "integer", False, 0, 300),
        Column('say "hi"', 3, "quasi-identifier", "category", False, values=("x", "y")),
        Column("order", 4, "quasi-identifier", "category", False, values=("x", "y")),
        Column("date", 5, "quasi-identifier", "category", False, values=("x", "y")),
    ),
)
ROWS = [
    {
        "größe": n,
        "é": "abccca"[n],
        "Blood Pressure (mm)": 9 - n,
        'say "hi"': "xyxyyy"[n],
        "order": "xxyxxx"[n],
        "date": "x",
    }
    for n in range(6)
]


@pytest.mark.parametrize(
    ("sql", "accepted"),
    [
        ("SELECT AVG(größe) FROM studie", True),
        ("SELECT AVG(GRößE) FROM STUDIE", True),
        ("SELECT AVG(GRÖSSE) FROM studie", False),
        ("SELECT AVG(GRÖßE) FROM studie", False),  # only ASCII letters have no case
        ("SELECT é, COUNT(*) FROM studie GROUP BY é", True),
        ("SELECT é, COUNT(*) FROM studie GROUP BY É", False),
        ("SELECT COUNT(*) AS É FROM studie GROUP BY é ORDER BY é", True),
        ("SELECT COUNT(*) AS É FROM studie GROUP BY é ORDER BY É", True),
        ("SELECT COUNT(*) AS é FROM studie GROUP BY é ORDER BY é", True),
        ("SELECT COUNT(*) AS é, COUNT(*) AS É FROM studie GROUP BY é ORDER BY É, é", True),
        ('SELECT AVG("Blood Pressure (mm)") FROM studie WHERE "blood pressure (MM)" > 5', True),
        ('SELECT "say ""hi""", COUNT(*) FROM studie GROUP BY "say ""hi"""', True),
        ('SELECT "order", COUNT(*) FROM studie GROUP BY "order" ORDER BY "order" DESC', True),
        ("SELECT order, COUNT(*) FROM studie GROUP BY order", False),
        ("SELECT date, COUNT(*) FROM studie WHERE date = 'x' GROUP BY date", True),
        ("SELECT s.date AS 日付, COUNT(*) FROM studie s GROUP BY 日付", True),
    ],
)
def test_a_name_is_found_exactly_where_duckdb_finds_it(sql: str, accepted: bool) -> None:
    with scratch() as connection:
        columns = ", ".join(
            '"' + column.name.replace('"', '""') + ('" BIGINT' if column.is_numeric else '" VARCHAR')
            for column in CATALOG.columns
        )
        connection.execute(f"CREATE TABLE studie ({columns})")
        connection.executemany("INSERT INTO studie VALUES (?, ?, ?, ?, ?, ?)", [list(row.values()) for row in ROWS])
        try:
            found = connection.execute(sql).fetchall()
        except duckdb.Error:
            found = None
        try:
            plan = understand(sql, CATALOG, NATIVE)
        except Refusal:
            plan = None

    assert ((found is not None), (plan is not None)) == (accepted, accepted)
    if plan is not None and found is not None:
        assert agrees(plan, exact_block(ROWS, CATALOG), found)


def test_a_suggestion_names_columns_so_that_they_are_found() -> None:
    with pytest.raises(Refusal) as caught:
        understand('SELECT AVG("Blood Presure (mm)") FROM studie', CATALOG, NATIVE)

    assert caught.value.suggestion == 'SELECT AVG("Blood Pressure (mm)") FROM studie'
    assert understand(caught.value.suggestion, CATALOG, NATIVE).columns == {"Blood Pressure (mm)"}


def test_only_ascii_is_folded() -> None:
    assert folded("AbC_é") == folded("aBc_é") != folded("abc_É")
    assert folded("K") != folded("\u212a")  # the Kelvin sign, which Python lowers to k


def test_a_schema_is_where_the_custodian_has_the_table() -> None:
    hashes = {
        understand(f"SELECT COUNT(*) FROM {table}", CATALOG, NATIVE).hash
        for table in ("studie", "main.studie", "clinic.studie", '"Clinic"."STUDIE"')
    }

    assert len(hashes) == 1
    (note,) = understand("SELECT COUNT(*) FROM clinic.studie", CATALOG, NATIVE).notes
    assert note == "Datasets have no schema: clinic.studie was read as studie."
    assert understand("SELECT COUNT(*) FROM main.studie", CATALOG, NATIVE).notes == ()
