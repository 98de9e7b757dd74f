"""What is asked of members, and what cannot be put together."""

from __future__ import annotations

import datetime as dt

import pytest

from querygate.client.answer import Range
from querygate.core.errors import Refusal
from querygate.federation import read_pooled_statement


def test_a_mean_is_asked_with_its_sum_and_count() -> None:
    read = read_pooled_statement("SELECT sex, AVG(sbp) FILTER (WHERE age > 40) AS m FROM t WHERE bmi > 30 GROUP BY sex")
    asked = read.member_sql("stroke 'north'")
    assert "FROM \"stroke 'north'\"" in asked
    assert "SUM(sbp) FILTER(WHERE age > 40)" in asked
    assert "COUNT(sbp) FILTER(WHERE age > 40)" in asked
    assert "WHERE (bmi > 30)" in asked
    assert "GROUP BY sex" in asked


def test_one_group_is_asked_by_a_condition() -> None:
    read = read_pooled_statement("SELECT sex, region AS r, COUNT(*) FROM t WHERE a OR b GROUP BY 1, r")
    asked = read.member_sql("t", {"sex": "it's", "r": None})
    assert "(a OR b) AND" in asked
    assert "= 'it''s'" in asked
    assert "IS NULL" in asked
    assert "GROUP BY" not in asked


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT COUNT(*) FROM t HAVING COUNT(*) > 5", "QG206"),
        ("SELECT sex, COUNT(*) FROM t GROUP BY sex LIMIT 3", "QG206"),
        ("SELECT CORR(a, b) FROM t", "QG206"),
        ("SELECT QUANTILE_CONT(a, 0.25) FROM t", "QG206"),
        ("SELECT AVG(a) - AVG(b) FROM t", "QG206"),
        ("SELECT SUM(DISTINCT a) FROM t", "QG206"),
        ("SELECT AVG(a) / COUNT(*) FROM t", "QG206"),
        ("SELECT sex, COUNT(*) FROM t GROUP BY ROLLUP (sex)", "QG210"),
        ("SELECT COUNT(*) FROM t GROUP BY sex", "QG210"),
        ("SELECT sex, COUNT(*) FROM t", "QG211"),
        ("SELECT sex, COUNT(*) AS n FROM t GROUP BY sex ORDER BY n", "QG214"),
        ("SELECT sex FROM t GROUP BY sex", "QG201"),
        ("SELECT COUNT(*) AS n, SUM(a) AS n FROM t", "QG207"),
        ("DROP TABLE t", "QG202"),
        ("SELECT COUNT(*) FROM (SELECT 1) UNION SELECT 2", "QG202"),
        ("WITH u AS (SELECT 1) SELECT COUNT(*) FROM u", "QG206"),
        ("SELECT COUNT(*) FROM t JOIN u USING (a)", "QG206"),
        ("", "QG101"),
    ],
)
def test_what_cannot_be_pooled_is_refused(sql: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_pooled_statement(sql)
    assert refused.value.code == code
    assert refused.value.remedy


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) / SUM(p) FROM t",
        "SELECT SUM(age) FILTER (WHERE x > 0) / COUNT(*) FROM t",
        "SELECT SUM(p) / COUNT(x) FROM t",
        "SELECT CAST(MAX(p) AS FLOAT) / 3 FROM t",
    ],
)
def test_quotients_whose_parts_are_of_other_records_are_refused(sql: str) -> None:
    """A member without a value below may still have one above."""
    with pytest.raises(Refusal) as refused:
        read_pooled_statement(sql)
    assert refused.value.code == "QG206"


def test_halves_are_rounded_away_from_zero() -> None:
    (figure,) = read_pooled_statement("SELECT ROUND(MAX(p)) FROM t").figures
    for value, rounded in ((2.5, 3.0), (-2.5, -3.0), (0.5, 1.0), (3, 3.0)):
        found = figure.of([[Range(value, value, value, sharp=True)]])
        assert found.low <= rounded <= found.high
    (figure,) = read_pooled_statement("SELECT MAX(p) * 1e308 FROM t").figures
    with pytest.raises(Refusal):
        figure.of([[Range(1e300, 1e300)]])
    (figure,) = read_pooled_statement("SELECT MAX(d) + 1 FROM t").figures
    with pytest.raises(Refusal):
        figure.of([[Range(dt.date(2020, 1, 1), dt.date(2020, 1, 2))]])
