"""What is told of findings without revealing values: in the words of their own statements, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.core.json_body import to_json
from querygate.custody.audit.audit import AuditOptions, LogStatement
from querygate.custody.audit.audit_page import make_audit_page
from querygate.custody.audit.audit_report import AuditOutcome, make_body
from querygate.custody.audit.masked_text import masked
from querygate.custody.use_cases.audits.log_audit import audit_source
from tests.engine import SharedParquet

AGES: list[int | None] = [*range(40, 51), 53, *([60, 61, 62, 63] * 5), None]
PLANTED = "Quernmore's Rest"
PEOPLE: dict[str, list[Any]] = {
    "age": AGES,
    "town": [PLANTED if age == 53 else "A" if (age or 0) % 2 else None for age in AGES],
    "born": ["1973-05-17" if age == 53 else "1960-01-01" for age in AGES],
    "sbp": [8765 if age == 53 else 110 + (age or 0) for age in AGES],
    "dx": ["zymosis" if age == 53 else "flu" if (age or 0) % 3 else "cold" for age in AGES],
}
UNTOLD = ("53", "Quernmore", "1973", "05-17", "8765", "zymosis")
"""What one person has, and no statement mentions."""

LOGS: tuple[tuple[str, ...], ...] = (
    (
        "SELECT AVG(sbp) FROM t WHERE age BETWEEN 40 AND 50",
        "SELECT AVG(sbp) FROM t WHERE age BETWEEN 40 AND 55",
    ),
    ("SELECT SUM(sbp) FROM t WHERE age > 52 AND age < 58",),
    ("SELECT age, SUM(sbp) FROM t GROUP BY age",),
    ("SELECT town, born, AVG(sbp) FROM t WHERE age < 60 GROUP BY town, born",),
    ("SELECT SUM(sbp) FROM t WHERE town <> 'A'", "SELECT COUNT(*) FROM t WHERE town > 'B'"),
    ("SELECT SUM(sbp) FROM t WHERE town IS NULL", "SELECT SUM(sbp) FROM t WHERE town = 'A'", "SELECT SUM(sbp) FROM t"),
    (
        "SELECT dx, COUNT(*) FROM t WHERE age < 60 GROUP BY dx",
        "SELECT dx, COUNT(*) FROM t WHERE age <= 50 GROUP BY dx",
    ),
    ("SELECT MAX(sbp) FROM t WHERE age < 60", "SELECT MAX(sbp) FROM t WHERE age <= 50"),
    ("SELECT SUM(sbp) FROM t WHERE born < '1970-01-01'", "SELECT SUM(sbp) FROM t"),
    ("SELECT SUM(sbp) FILTER (WHERE age < 60), SUM(sbp) FILTER (WHERE age < 51) FROM t",),
    ("SELECT COUNT(*) FROM t WHERE sbp / (dx = 'flu')::INT > 1 AND age > 52 AND age < 58",),
    ("SELECT dx, COUNT(*) FROM t WHERE age > 52 AND age < 58 GROUP BY dx",),
    ("SELECT dx, SUM(sbp) FROM t WHERE age > 40 GROUP BY dx",) * 5,
)


def outcomes_of(folder: Path, *, reveal: bool) -> list[AuditOutcome]:
    path = folder / "people.parquet"
    pyarrow.parquet.write_table(pa.table(PEOPLE), path)
    logs = [[LogStatement(f"q{chr(97 + i)}", "ann", sql) for i, sql in enumerate(log)] for log in LOGS]
    options = AuditOptions(k=5, secret=("sbp", "dx"))
    return [audit_source(entries, SharedParquet(path), options, reveal=reveal) for entries in logs]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[AuditOutcome]:
    return outcomes_of(tmp_path_factory.mktemp("masked"), reveal=False)


def test_no_value_that_no_statement_has_is_told(outcomes: list[AuditOutcome]) -> None:
    for outcome in outcomes:
        body = make_body([outcome], "t")
        assert body.findings, outcome.entries
        told = json.dumps(to_json(body), ensure_ascii=False)
        for ident in {finding.id for finding in body.findings} | {case.id for case in body.cases}:
            told = told.replace(ident, "")  # hashes, which may have any digits
        assert [value for value in UNTOLD if value in told] == []
        page = make_audit_page(body, [outcome])
        assert [value for value in ("Quernmore", "1973-05", "8765", "zymosis") if value in page] == []


def test_it_is_told_in_the_words_of_the_statements(outcomes: list[AuditOutcome]) -> None:
    found = [make_body([outcome], "t").findings for outcome in outcomes]
    first = {one.isolates.where for findings in found for one in findings}
    assert first >= {
        "age BETWEEN 40 AND 55, without age BETWEEN 40 AND 50",
        "age > 52 AND age < 58",
        "one group of qa",
        "one group of qa where age < 60",
        "town <> 'A'",
        "what these sets leave together: town IS NULL; town = 'A'; all records",
        "age < 60, without age <= 50",
        "all records, without born < '1970-01-01'",
        "what the figures of qa leave",
    }


def test_the_same_with_values_names_them(tmp_path: Path) -> None:
    told = json.dumps(to_json(make_body(outcomes_of(tmp_path, reveal=True), "t")), ensure_ascii=False)
    for value in ("age = 53", "Quernmore", "1973-05-17", "zymosis", "8765"):
        assert value in told


@pytest.mark.parametrize(
    ("text", "sql", "told"),
    [
        ("age = 53", "SELECT 1 WHERE age < 530", "age = …"),
        ("x_53 + 1.5e3 - -2", "WHERE x_53 + 1.5e3 = 2", "x_53 + 1.5e3 - …"),
        ("a = 'O''Hara'", "WHERE a = 'O''Hara'", "a = 'O''Hara'"),
        ("a = 'O''Hara'", "WHERE a = 'O'", "a = …"),
        ("a IN ('x', 'y')", "WHERE a = 'x'", "a IN ('x', …)"),
        ("nobody", "", "nobody"),
    ],
)
def test_literals_of_no_statement_are_left_out(text: str, sql: str, told: str) -> None:
    assert masked(text, {"q": sql}) == told
