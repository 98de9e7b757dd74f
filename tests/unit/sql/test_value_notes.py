"""A constant that no record can have is answered, with a note that names the values there are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Catalog, Column
from querygate.gate.verdict import make_verdict
from querygate.sql import understand
from tests.sql.study import CATALOG, NATIVE

SEX = "values: F, M, X."


def notes(condition: str, catalog: Catalog = CATALOG) -> tuple[str, ...]:
    return understand(f"SELECT COUNT(*) FROM patients WHERE {condition}", catalog, NATIVE).notes


@pytest.mark.parametrize(
    ("condition", "unknown"),
    [
        ("sex = 'Male'", ["Male"]),
        ("'m' = sex", ["m"]),
        ("sex <> 'Male'", ["Male"]),
        ("sex IN ('F', 'female', 'male')", ["female", "male"]),
        ("sex NOT IN ('Male')", ["Male"]),
        ("sex IS DISTINCT FROM 'Male'", ["Male"]),
        ("age < 40 AND (sex = 'Male' OR NOT sex = 'Female')", ["Male", "Female"]),
        ("CASE WHEN sex = 'Male' THEN age END > 3", ["Male"]),
    ],
)
def test_a_text_that_is_no_value(condition: str, unknown: list[str]) -> None:
    assert notes(condition) == tuple(f"'{text}' is not a value of sex; {SEX}" for text in unknown)


@pytest.mark.parametrize("condition", ["sex LIKE 'Ma%'", "LOWER(sex) = 'male'", "sex || 'x' = 'M'", "sex ILIKE 'q_'"])
def test_a_pattern_that_matches_no_value(condition: str) -> None:
    (note,) = notes(condition)

    assert note.startswith("No value of sex satisfies ")
    assert note.endswith(SEX)


@pytest.mark.parametrize(
    "condition",
    ["sex = 'M'", "sex < 'Male'", "sex BETWEEN 'A' AND 'Male'", "sex LIKE 'M%'", "sex NOT LIKE 'q%'", "city = ''",
     "age = 400", "sex IS NULL"],
)  # fmt: skip
def test_what_may_be_meant_has_no_note(condition: str) -> None:
    assert notes(condition) == ()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FILTER (WHERE sex = 'Male') FROM patients",
        "SELECT MEAN_DIFF(sbp, sex = 'Male') FROM patients",
        "SELECT SUM(CASE WHEN sex = 'Male' THEN 1 ELSE 0 END) FROM patients",
        "SELECT SUM(CASE sex WHEN 'Male' THEN 1 ELSE 0 END) FROM patients",
        "SELECT CASE WHEN sex = 'Male' THEN 'men' ELSE 'women' END AS s, COUNT(*) FROM patients GROUP BY s",
        "SELECT 100 * AVG(IF(sex IN ('M', 'Male'), 1, 0)) FROM patients",
        "SELECT AVG(n) FROM (SELECT city, COUNT(*) AS n FROM patients WHERE sex = 'Male' GROUP BY city)",
        "SELECT COUNT(*) FROM patients WHERE age < 40 UNION ALL SELECT COUNT(*) FROM patients WHERE sex = 'Male'",
    ],
)
def test_wherever_it_stands(sql: str) -> None:
    assert any("sex" in note and note.endswith(SEX) for note in understand(sql, CATALOG, NATIVE).notes)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING sex = 'Male'",
        "SELECT sex AS s, COUNT(*) FROM patients GROUP BY s HAVING s IN ('F', 'Male') AND COUNT(*) > 3",
        'SELECT sex AS "the sex", COUNT(*) FROM patients GROUP BY 1 HAVING COUNT(*) > 3 OR "the sex" <> \'Male\'',
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING NOT (COUNT(*) < 3 AND sex = 'Male')",
        "SELECT COUNT(*) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) WHERE sex = 'Male'",
        "SELECT sex, n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) WHERE sex = 'Male' OR n > 3",
    ],
)
def test_of_groups_as_of_records(sql: str) -> None:
    assert understand(sql, CATALOG, NATIVE).notes == (f"'Male' is not a value of sex; {SEX}",)


@pytest.mark.parametrize("condition", ["sex LIKE 'Ma%'", "LOWER(sex) = 'male'", "LEFT(sex, 1) = 'Q' AND COUNT(*) > 3"])
def test_a_pattern_that_matches_no_group(condition: str) -> None:
    sql = f"SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING {condition}"
    (note,) = understand(sql, CATALOG, NATIVE).notes

    assert note.startswith("No value of sex satisfies ")


def test_what_an_inner_query_calls_a_column_is_told_by_that_name() -> None:
    inner = "SELECT LEFT(sex, 1) AS kind, COUNT(*) AS n FROM patients GROUP BY kind"

    assert understand(f"SELECT SUM(n) FROM ({inner}) WHERE kind = 'q'", CATALOG, NATIVE).notes == (
        f"'q' is not a value of kind; {SEX}",
    )
    assert understand(f"SELECT SUM(n) FROM ({inner}) WHERE kind <> 'F'", CATALOG, NATIVE).notes == ()


def test_a_dry_run_says_so_too() -> None:
    plan = understand("SELECT COUNT(*) FROM patients WHERE sex = 'Male'", CATALOG, NATIVE)

    assert make_verdict(plan, CATALOG)["notes"] == [f"'Male' is not a value of sex; {SEX}"]


def test_a_note_is_short_and_begins_with_what_is_near() -> None:
    values = tuple(sorted([*(f"Ort {i:04} an der langen Laa" for i in range(3000)), "Wien"]))
    places = [replace(c, values=values) if c.name == "city" else c for c in CATALOG.columns]
    (note,) = notes("city = 'wien'", replace(CATALOG, columns=tuple(places)))

    assert note.startswith("'wien' is not a value of city; values: Wien, Ort 0000")
    assert note.endswith("more.")
    assert len(note) < 400


def test_what_was_asked_is_cut() -> None:
    (note,) = notes("sex = '" + "ä\n" * 5000 + "'")

    assert len(note) < 150
    assert "\n" not in note


def test_a_category_without_values() -> None:
    empty = Column("sex", 4, "quasi-identifier", "category", False, values=())
    catalog = replace(CATALOG, columns=tuple(empty if c.name == "sex" else c for c in CATALOG.columns))

    assert notes("sex = 'M'", catalog) == ("'M' is not a value of sex; values: none.",)


RARE = replace(CATALOG, columns=tuple(replace(c, rare="X") if c.name == "sex" else c for c in CATALOG.columns))


def test_what_may_be_among_the_rare_values_is_refused() -> None:
    """It would be answered with nobody, and there may be some."""
    for sql in (
        "SELECT COUNT(*) FROM patients WHERE sex = 'D'",
        "SELECT SUM(CASE WHEN sex <> 'D' THEN 1 ELSE 0 END) FROM patients",
        "SELECT COUNT(*) FROM patients WHERE sex IN ('F', 'D')",
        "SELECT sex AS s, COUNT(*) FROM patients GROUP BY s HAVING s = 'D'",
        "SELECT SUM(n) FROM (SELECT sex AS s, COUNT(*) AS n FROM patients GROUP BY s) WHERE s = 'D'",
        "SELECT AVG(m) FROM (SELECT s, MAX(n) AS m FROM (SELECT sex AS s, city, COUNT(*) AS n FROM patients "
        "GROUP BY s, city) GROUP BY s) WHERE s = 'D'",
    ):
        with pytest.raises(UnsupportedSQL) as refused:
            understand(sql, RARE, NATIVE)
        assert refused.value.code == "QG207"
        assert "one of the rare values, which are combined as 'X'" in refused.value.detail


def test_a_name_for_rare_values_is_told() -> None:
    told = ("Rare values of sex are combined as 'X' here.",)
    assert notes("sex = 'F'", RARE) == told
    assert understand("SELECT sex, COUNT(*) FROM patients GROUP BY sex", RARE, NATIVE).notes == told
    assert notes("age > 40", RARE) == ()
