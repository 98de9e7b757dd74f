"""What the columns of an answer measure, whatever they are called."""

from __future__ import annotations

from querygate.sql.written_measures import WrittenMeasure, written_measures
from tests.each import each


@each(
    "selected, expected",
    [
        ("COUNT(*) AS odds_ratio", WrittenMeasure("count", "*")),
        ("ODDS_RATIO(a, b = 2) AS r", WrittenMeasure("odds_ratio", "a | b = 2")),
        ("PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY x)", WrittenMeasure("quantile_cont", "x", 0.25)),
        ("EXCEEDANCE(x, -3)", WrittenMeasure("exceedance", "x", -3.0)),
        ("MEDIAN(x) FILTER (WHERE y > 2)", WrittenMeasure("median", "x | y > 2")),
        ("CI_LOW(x)", WrittenMeasure("mean_ci_low", "x")),
        ("COUNT(DISTINCT x)", None),
        ("MIN(x) + 1", None),
        ("x", None),
        ("*", None),
    ],
)
def test_a_column_is_read_from_the_statement(selected: str, expected: WrittenMeasure | None) -> None:
    assert written_measures(f"SELECT {selected} FROM t") == [expected]


@each("sql", ["", "nothing like SQL (", "DELETE FROM t", "SELECT 1 UNION SELECT 2", "SELECT 1; SELECT 2", "x" * 30_000])
def test_what_cannot_be_read_has_no_measures(sql: str) -> None:
    assert written_measures(sql) == []
