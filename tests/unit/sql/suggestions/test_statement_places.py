"""Places of a statement: found where they stand, and filled so that the rest stays as it was written."""

from __future__ import annotations

import pytest

from querygate.core.ports import Limits
from querygate.core.types import Catalog, Column
from querygate.sql import StatementPlaces, accepted_plan
from querygate.sql.suggestions.statement_places import Filling
from tests.sql.study import NATIVE

CATALOG = Catalog(
    "visits",
    1,
    "",
    5,
    100,
    (
        Column("age", 0, "quasi-identifier", "integer", False, 0, 120),
        Column("order", 1, "quasi-identifier", "category", False, values=("it's", "other", "third")),
        Column("weight", 2, "sensitive", "number", True, -50.0, 250.0),
        Column("seen", 3, "quasi-identifier", "date", False, 0, 30_000),
        Column("at", 4, "quasi-identifier", "timestamp", False, 0, 2_000_000_000_000_000),
    ),
)
LOW, HIGH = ("low", 40), ("high", 60)


def filled(sql: str, *wanted: tuple[str, Filling]) -> str | None:
    statement = StatementPlaces(sql, CATALOG)
    fillings = {next(p for p in statement.places if p.kind == kind): filling for kind, filling in wanted}
    return statement.filled(fillings)


FROM = "SELECT COUNT(*) FROM visits WHERE "


@pytest.mark.parametrize(
    ("condition", "wanted", "expected"),
    [
        ("age BETWEEN 45 AND 54", [LOW], "age BETWEEN 40 AND 54"),
        ("age BETWEEN 45 AND 54", [LOW, HIGH], "age BETWEEN 40 AND 59"),
        ("age > 44", [LOW], "age >= 40"),
        ("44 < age", [LOW], "age >= 40"),
        ("age <= 54", [HIGH], "age <= 59"),
        ("age < 54", [HIGH], "age < 60"),
        ("age = 45", [LOW, HIGH], "age BETWEEN 40 AND 59"),
        ("age = 45", [HIGH], "age BETWEEN 45 AND 59"),
        ("NOT age < 45", [("high", 40)], "NOT age < 40"),
        ("age > 44.5", [LOW], "age >= 40"),
        ("weight <= 81.5", [("high", 80.0)], "weight < 80"),
        ("weight BETWEEN -3 AND 7", [("low", -2.5)], "weight BETWEEN -2.5 AND 7"),
        ("weight BETWEEN -3 AND 7", [("high", 7.5)], "(weight >= -3 AND weight < 7.5)"),
        ("seen >= DATE '2020-05-05'", [("low", 18262)], "seen >= '2020-01-01'"),
        ("\"order\" = 'third'", [("values", frozenset({"it's", "third"}))], "\"order\" IN ('it''s', 'third')"),
        ("\"order\" <> 'third'", [("values", frozenset({"other"}))], "\"order\" <> 'other'"),
        ("\"order\" IN ('third', 'other')", [("values", frozenset({"other"}))], "\"order\" = 'other'"),
        ("age > 3 AND weight > 2", [("condition", None)], "weight > 2"),
    ],
)
def test_ends_and_values_are_filled(condition: str, wanted: list[tuple[str, Filling]], expected: str) -> None:
    found = filled(FROM + condition, *wanted)
    assert found == FROM + expected
    assert accepted_plan(found or "", CATALOG, NATIVE, Limits()) is not None


def test_long_decimals_are_written_so_that_they_are_read_back() -> None:
    found = filled(FROM + "weight > 3", ("low", 0.30000000000000004))
    plan = accepted_plan(found or "", CATALOG, NATIVE, Limits())
    assert plan is not None
    assert "(0.30000000000000004, 0)" in str(plan.measures[0].where)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ('SELECT "order", COUNT(*) FROM visits GROUP BY "order"', "SELECT COUNT(*) FROM visits"),
        ('SELECT "order" AS o, COUNT(*) FROM visits GROUP BY 1 ORDER BY o', "SELECT COUNT(*) FROM visits"),
        ('SELECT "order", COUNT(*) FROM visits GROUP BY ROLLUP ("order")', None),
        ('SELECT "order" FROM visits GROUP BY "order"', None),
        (
            'SELECT "order", seen, COUNT(*) FROM visits GROUP BY ALL',
            "SELECT seen, COUNT(*) FROM visits GROUP BY seen",
        ),
    ],
)
def test_keys_are_left_out(sql: str, expected: str | None) -> None:
    assert filled(sql, ("key", None)) == expected


def test_the_only_condition_is_left_out_with_its_where() -> None:
    assert filled(FROM + "age > 3", ("condition", None)) == "SELECT COUNT(*) FROM visits"


def test_changes_are_told_once_for_each_condition() -> None:
    statement = StatementPlaces(FROM + "age BETWEEN 45 AND 54", CATALOG)
    low, high = statement.places[:2]
    assert statement.told({low: 40, high: 60}) == ["age BETWEEN 40 AND 59 in place of age BETWEEN 45 AND 54"]


@pytest.mark.parametrize(
    "sql", ["", "SELECT", "DELETE FROM visits", "SELECT COUNT(*) FROM visits" + " " * 3_000, "((("]
)
def test_what_cannot_be_edited_has_no_places(sql: str) -> None:
    assert StatementPlaces(sql, CATALOG).places == ()


def test_averages_become_shares() -> None:
    found = filled("SELECT age, AVG(weight) AS mean FROM visits GROUP BY age", ("average", 80.0))
    assert found == (
        "SELECT age, 100.0 * COUNT(*) FILTER(WHERE weight >= 80) / NULLIF(COUNT(weight), 0) FROM visits GROUP BY age"
    )
