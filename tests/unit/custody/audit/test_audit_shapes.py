"""Logs as systems and people write them: whatever the words and whatever the shape of the answer, 51 is found."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from querygate.custody.audit.audit import LogStatement
from querygate.methods.audit import Finding
from tests.unit.custody.audit.test_audit import audited

SECRET = ("sbp", "dx")


def of_51(folder: Path, *asked: tuple[str, Any], dialect: str = "duckdb", **options: Any) -> Finding:
    entries = [LogStatement(f"q{i}", "r", sql, answer=answer) for i, (sql, answer) in enumerate(asked, 1)]
    found = audited(folder, *entries, secret=SECRET, dialect=dialect, **options)
    assert found.unread == ()
    (finding,) = [one for one, where in found.findings if where == "age = 51" and one.severity != "notice"]
    return finding


@pytest.mark.parametrize(
    ("dialect", "one", "other"),
    [
        ("duckdb", "SUM(CASE WHEN age <= 51 THEN sbp ELSE 0 END)", "SUM(CASE WHEN age < 51 THEN sbp END)"),
        ("duckdb", "SUM(CASE WHEN age > 51 THEN 0 ELSE sbp END)", "SUM(sbp) FILTER (WHERE age < 51)"),
        ("duckdb", "SUM(sbp * (age <= 51)::INT)", "SUM(sbp * CASE WHEN age < 51 THEN 1 ELSE 0 END)"),
        ("mysql", "SUM(IF(`age` <= 51, `sbp`, 0))", "SUM(`sbp` * (`age` < 51))"),
        ("tsql", "SUM(IIF([age] <= 51, [sbp], 0))", "SUM(CASE WHEN [age] < 51 THEN [sbp] ELSE 0 END)"),
        ("postgres", "SUM(sbp) FILTER (WHERE NOT age > 51)", "SUM(sbp::numeric) FILTER (WHERE age + 0 < 51)"),
        ("spark", "sum(if(age <= 51, sbp, 0))", "sum(CAST(sbp AS DOUBLE)) FILTER (WHERE age < 51)"),
    ],
)
def test_conditions_inside_aggregates(dialect: str, one: str, other: str, tmp_path: Path) -> None:
    asked = [(f"SELECT {one} FROM patients", 1265), (f"SELECT {other} FROM patients", 1100)]
    finding = of_51(tmp_path, *asked, dialect=dialect)
    assert (finding.severity, finding.inferred[0].low) == ("disclosed", 165)


@pytest.mark.parametrize(
    ("one", "answer"),
    [
        ("SUM(sbp) / COUNT(*)", 115),
        ("AVG(sbp) * COUNT(*)", 1265),
        ("SUM(sbp + 0)", 1265),
        ("SUM(2 * sbp - 1)", 2519),
        ("100.0 * SUM(sbp) / 100", 1265),
        ("COALESCE(SUM(sbp), 0)", 1265),
        ("ROUND(AVG(sbp), 2)", 115.0),
        ("SUM(sbp) + 7", "1,272"),
        ("AVG(sbp) - 100", 15),
    ],
)
def test_arithmetic_around_aggregates(one: str, answer: Any, tmp_path: Path) -> None:
    asked = [
        (f"SELECT {one} FROM patients WHERE age <= 51", answer),
        ("SELECT AVG(sbp) FROM patients WHERE age <= 50", 110),
    ]
    finding = of_51(tmp_path, *asked)
    assert (finding.severity, finding.inferred[0].low, finding.inferred[0].high) == ("disclosed", 165, 165)


def test_a_difference_in_one_item_is_told_at_once(tmp_path: Path) -> None:
    sql = "SELECT SUM(sbp) - SUM(CASE WHEN age = 51 THEN 0 ELSE sbp END) FROM patients"
    finding = of_51(tmp_path, (sql, 165))
    assert (finding.severity, finding.inferred[0].low) == ("disclosed", 165)


@pytest.mark.parametrize(
    "answer",
    [
        [["F", 554], ["M", 546]],
        [{"s": 554, "sex": "F"}, {"s": 546, "sex": "M"}],
        {"columns": ["sex", "s"], "rows": [["M", "546"], ["F", "554"]]},
        [["F", 554], ["M", 546], [None, 1100]],
    ],
)
def test_rows_are_found_by_name_and_key(answer: Any, tmp_path: Path) -> None:
    by = "ROLLUP (sex)" if isinstance(answer, list) and len(answer) == 3 else "sex"
    table = f"SELECT sex, SUM(sbp) AS s FROM patients WHERE age < 51 GROUP BY {by}"
    finding = of_51(tmp_path, (table, answer), ("SELECT SUM(sbp) FROM patients WHERE age <= 51", 1265))
    assert finding.inferred[0].low == 165


@pytest.mark.parametrize("cell", [None, "<5", "suppressed"])
def test_a_cell_that_was_not_shown_is_worked_out_from_the_total(cell: Any, tmp_path: Path) -> None:
    table = "SELECT age = 51 AS older, SUM(sbp) FROM patients WHERE age <= 51 GROUP BY age = 51"
    asked = [(table, [[False, 1100], [True, cell]]), ("SELECT SUM(sbp) FROM patients WHERE age <= 51", 1265)]
    finding = of_51(tmp_path, *asked)
    assert (finding.kind, finding.inferred[0].arithmetic) == ("differencing", "1265 - 1100")


def test_having_says_which_cells_were_shown(tmp_path: Path) -> None:
    table = "SELECT age = 51, SUM(sbp) FROM patients WHERE age <= 51 GROUP BY 1 HAVING COUNT(*) >= 5"
    finding = of_51(tmp_path, (table, None), ("SELECT SUM(sbp) FROM patients WHERE age <= 51", None))
    assert finding.kind == "differencing"


def test_secret_conditions_of_one_log_combine(tmp_path: Path) -> None:
    """With it, without it or not known, and all but one of everybody."""
    finding = of_51(
        tmp_path,
        ("SELECT SUM(sbp) FROM patients WHERE age <= 51 AND dx = 'flu'", 1100),
        ("SELECT SUM(sbp) FROM patients WHERE age <= 51 AND (dx <> 'flu' OR dx IS NULL)", 165),
        ("SELECT SUM(sbp) FROM patients WHERE age <= 50", 1100),
    )
    told = {one.measure: one.low for one in finding.inferred}
    assert told["sbp"] == 165
    assert finding.severity == "disclosed"


@pytest.mark.parametrize(
    ("one", "other", "answers"),
    [
        ("age = 51 OR dx = 'hiv'", "dx = 'hiv'", (1, 1)),
        ("age <= 51 AND dx = 'hiv'", "age <= 50 AND dx = 'flu'", (1, 10)),
        ("age <= 51 AND NOT (dx <> 'hiv')", "age < 51 AND dx IN ('hiv')", (1, 0)),
    ],
)
def test_counts_of_a_secret_in_every_form(one: str, other: str, answers: tuple[int, int], tmp_path: Path) -> None:
    asked = [(f"SELECT COUNT(*) FROM patients WHERE {c}", n) for c, n in zip((one, other), answers, strict=True)]
    finding = of_51(tmp_path, *asked)
    (inferred,) = [i for i in finding.inferred if i.measure != "(presence)"]
    assert (finding.severity, inferred.low) == ("disclosed", 1)
    assert inferred.measure in ("dx = 'hiv'", "NOT (dx <> 'hiv')")


def test_a_table_by_a_secret_is_one_count_for_each_value(tmp_path: Path) -> None:
    table = "SELECT dx, COUNT(*) FROM patients WHERE age {} 51 GROUP BY dx"
    finding = of_51(tmp_path, (table.format("<="), [["flu", 10], ["hiv", 1]]), (table.format("<"), [["flu", 10]]), k=2)
    assert ("dx = 'flu'", 0) in [(one.measure, one.low) for one in finding.inferred]


def test_a_column_that_is_counted_is_a_condition(tmp_path: Path) -> None:
    asked = [(f"SELECT COUNT(sbp) FROM patients WHERE age <= {age}", n) for age, n in ((51, 11), (50, 10))]
    finding = of_51(tmp_path, *asked)
    assert finding.inferred[0].low in (0, 1)


def test_ranges_of_rounded_integers_are_ranges(tmp_path: Path) -> None:
    finding = of_51(
        tmp_path,
        ("SELECT SUM(sbp) / COUNT(*) FROM patients WHERE age <= 51", 115),
        ("SELECT SUM(sbp) FROM patients WHERE age <= 50", 1100),
        dialect="postgres",
    )
    assert (finding.inferred[0].low, finding.inferred[0].high) == (165, 176)


def test_too_many_secret_conditions_are_looked_at_one_by_one(tmp_path: Path) -> None:
    many = [
        (f"SELECT COUNT(*) FROM patients WHERE sbp % 17 = {i % 17} AND sbp % 13 < {i % 13}", None) for i in range(90)
    ]
    many += [(f"SELECT COUNT(*) FROM patients WHERE age <= {a} AND sbp % 2 = 1", None) for a in (50, 51)]
    people: dict[str, list[Any]] = {
        "age": list(range(30, 60)) * 12,
        "sbp": [100 + i for i in range(360)],
        "dx": ["a"] * 360,
    }
    entries = [LogStatement(f"q{i}", "r", sql) for i, (sql, _) in enumerate(many)]
    found = audited(tmp_path, *entries, people=people, secret=SECRET, k=20)
    assert ["each was examined separately" in one.reason for _, one in found.left] == [True]
    assert [where for _, where in found.findings if _.severity != "notice"] == ["age = 51"]


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT COUNT(DISTINCT dx) FROM patients", "distinct values"),
        ("SELECT SKEWNESS(sbp) FROM patients", "SKEWNESS"),
        ("SELECT MAX(sbp) FROM patients WHERE age = 51 OR dx = 'hiv'", "different secrets"),
    ],
)
def test_what_is_still_not_read_says_why(sql: str, why: str, tmp_path: Path) -> None:
    found = audited(tmp_path, LogStatement("q1", "r", sql), secret=SECRET)
    assert [why in reason for _, reason in found.unread] == [True]


@pytest.mark.parametrize(
    ("sql", "severity"),
    [
        ("SELECT COUNT(*) FROM patients WHERE age = 51 AND 1 / (sbp - 165) > 0", "attempt"),
        ("SELECT COUNT(*) FROM patients WHERE SQRT(sbp - 165) >= 0", "notice"),
        ("SELECT SUM(CASE WHEN sbp > 160 THEN 1 / 0 ELSE 0 END) FROM patients", "notice"),
        ("SELECT COUNT(*) FROM patients WHERE CAST(dx AS INT) = 1", "notice"),
        ("SELECT COUNT(*) FROM patients WHERE (SELECT 1 / (sbp - 165)) = 1", "notice"),
    ],
)
def test_failures_that_depend_on_a_secret_are_told(sql: str, severity: str, tmp_path: Path) -> None:
    found = audited(tmp_path, LogStatement("q1", "r", sql), secret=SECRET)
    assert [one.severity for one, _ in found.findings if one.kind == "error"] == [severity]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(CAST(sbp AS DOUBLE)) / COUNT(*) FROM patients",
        "SELECT AVG((dx = 'hiv')::INT) FROM patients",
        "SELECT SUM(sbp) / NULLIF(SUM(sbp), 0) FROM patients",
        "SELECT SUM(sbp) / 7 FROM patients WHERE age / 10 > 4",
    ],
)
def test_ordinary_arithmetic_is_no_error_channel(sql: str, tmp_path: Path) -> None:
    found = audited(tmp_path, LogStatement("q1", "r", sql), secret=SECRET)
    assert [one for one, _ in found.findings if one.kind == "error"] == []


def test_exact_values_are_fractions(tmp_path: Path) -> None:
    finding = of_51(
        tmp_path,
        ("SELECT SUM(sbp) FROM patients WHERE age <= 51", "1265.5"),
        ("SELECT SUM(sbp) FROM patients WHERE age < 51", "1100.2"),
    )
    assert finding.inferred[0].low == Fraction("165.3")
