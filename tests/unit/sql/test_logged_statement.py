"""Logged statements taken apart: what was added up, over whom, split into what is known and what is secret."""

from __future__ import annotations

import pytest

from querygate.sql.logged.logged_statement import LoggedStatement, UnauditableStatement, table_columns, take_apart

COLUMNS = ["age", "sex", "sbp", "dx"]
SECRET = ["sbp", "dx"]


def one(sql: str, dialect: str = "duckdb") -> LoggedStatement:
    (found,) = take_apart(sql, COLUMNS, SECRET, dialect)
    return found


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("duckdb", "SELECT AVG(sbp) FROM patients WHERE age < 51"),
        ("postgres", 'SELECT avg("sbp") FROM hospital.patients WHERE age < 51'),
        ("mysql", "SELECT AVG(`sbp`) FROM `patients` WHERE `age` < 51"),
        ("tsql", "SELECT AVG([sbp]) FROM [dbo].[patients] WHERE [age] < 51"),
        ("spark", "SELECT mean(`sbp`) FROM patients WHERE age < 51"),
        ("duckdb", "WITH young AS (SELECT * FROM patients WHERE age < 51) SELECT AVG(sbp) FROM young"),
        ("duckdb", "SELECT AVG(x) FROM (SELECT sbp AS x, age AS a FROM patients) AS t WHERE a < 51"),
    ],
)
def test_every_dialect_says_the_same(dialect: str, sql: str) -> None:
    (added,) = one(sql, dialect).added
    assert (added.name in ("avg", "mean"), added.value.strip('()"').lower(), added.item) == (True, "sbp", 0)
    assert [part.known.replace('"', "").strip("()") for part in added.parts] == ["age < 51"]


def test_a_secret_condition_is_a_measure_and_not_a_set() -> None:
    (added,) = one("SELECT COUNT(*) FROM patients WHERE age = 51 AND dx = 'hiv'").added
    told = [(part.known, part.secret) for part in added.parts if "NULL" not in part.known]
    assert told == [('"age" = 51', "((\"dx\" = 'hiv') IS NOT DISTINCT FROM TRUE)")]


def test_an_or_of_known_and_secret_has_two_parts() -> None:
    (added,) = one("SELECT COUNT(*) FROM patients WHERE age = 51 OR dx = 'hiv'").added
    told = {part.secret[-5:-1]: part.known for part in added.parts if "NULL" not in part.known}
    assert told == {"TRUE": "TRUE", "ALSE": '"age" = 51'}


def test_groups_filters_and_positions() -> None:
    found = one(
        "SELECT FLOOR(age / 10) AS d, sex, SUM(sbp) FILTER (WHERE sex = 'F') AS s, COUNT(*) FROM patients "
        "GROUP BY d, 2 HAVING MAX(sbp) > 3"
    )
    assert [place for _, place in found.keys] == [0, 1]
    assert [(added.name, added.item) for added in found.added] == [("sum", 2), ("count", 3), ("max", None)]
    assert "sex" in found.added[0].parts[0].known


def test_a_case_without_else_is_a_filter() -> None:
    (added,) = one("SELECT SUM(CASE WHEN age > 50 THEN sbp END) FROM patients").added
    assert (added.value, added.parts[0].known) == ('"sbp"', '"age" > 50')


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("DELETE FROM patients", "not a SELECT"),
        ("SELECT 1; SELECT 2", "statements"),
        ("SELECT AVG(a.sbp) FROM patients a JOIN others b ON a.age = b.age", "more than one"),
        ("SELECT age FROM patients", "returns rows"),
        ("SELECT COUNT(*) FROM patients GROUP BY sbp > age", "groups by secret and known columns"),
        ("SELECT COUNT(*) FROM patients WHERE sbp > age", "compares a secret column"),
        ("SELECT AVG(n) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t", "groups of another"),
        ("SELECT COUNT(*) FROM patients WHERE height = 3", "no column"),
        ("SELECT COUNT(*) FROM patients WHERE age IN (SELECT 3)", "for each record on its own"),
        ("SELECT COUNT( FROM", "cannot be read"),
        (
            "SELECT COUNT(*) FROM patients WHERE sbp > 1 OR age < 3 AND (dx = 'a' OR age < 4 AND (dx = 'b' OR age < 5 "
            "AND sbp < 9))",
            "secret conditions",
        ),
    ],
)
def test_what_cannot_be_taken_apart_says_why(sql: str, reason: str) -> None:
    with pytest.raises(UnauditableStatement) as problem:
        take_apart(sql, COLUMNS, SECRET)
    assert reason in str(problem.value)


def test_measured_columns_are_told_from_those_in_conditions() -> None:
    measured, mentioned = table_columns("SELECT AVG(sbp), COUNT(dx) FROM t WHERE age > 3 GROUP BY sex")
    assert (sorted(measured), sorted(mentioned)) == (["sbp"], ["age", "dx", "sbp", "sex"])


def test_several_sets_of_keys_are_several_tables() -> None:
    total, by_sex = take_apart("SELECT sex, COUNT(*) FROM patients GROUP BY ROLLUP (sex)", COLUMNS, SECRET)[::-1]
    assert (total.keys, by_sex.keys, total.alone) == ((), (('"sex"', 0),), False)


def test_a_number_of_another_query_is_taken_apart_too() -> None:
    """Nobody hides a question inside another."""
    sql = "SELECT sex, COUNT(*) / (SELECT COUNT(*) FROM t WHERE age = 51 AND dx = 'flu') FROM t GROUP BY sex"
    own, inside = take_apart(sql, ["sex", "age", "dx"], ["dx"])

    assert own.keys == (('"sex"', 0),)
    assert [(added.name, added.item) for added in inside.added] == [("count", None)]
    assert inside.added[0].parts[0].known == '"age" = 51'
    assert "flu" in inside.added[0].parts[0].secret


def test_a_window_over_groups_asks_for_what_it_is_made_of() -> None:
    (found,) = take_apart("SELECT sex, COUNT(*) / SUM(COUNT(*)) OVER () FROM t GROUP BY sex", ["sex"], [])

    assert {(added.name, added.item) for added in found.added} == {("count", None)}
