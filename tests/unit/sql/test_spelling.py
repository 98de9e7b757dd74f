"""A statement is answered only if DuckDB reads it as the gate does."""

from __future__ import annotations

import duckdb
import pytest

from querygate.core.errors import Refusal
from querygate.sql import understand
from tests.sql.study import CATALOG, NATIVE, empty

KEYWORDS = "SELECT UPPER(keyword_name), keyword_category FROM duckdb_keywords()"
PLACES = {
    "label": "SELECT COUNT(*) AS {} FROM patients",
    "label without AS": "SELECT COUNT(*) {} FROM patients",
    "label of a column": "SELECT sex {} FROM patients GROUP BY sex",
    "table": "SELECT COUNT(*) FROM patients AS {}",
    "table without AS": "SELECT COUNT(*) FROM patients {} WHERE age = 40",
    "before": "SELECT {}: COUNT(*) FROM patients",
    "qualifier": "SELECT COUNT({0}.age) FROM patients AS {0}",
    "order": "SELECT sex, COUNT(*) AS {0} FROM patients GROUP BY sex ORDER BY {0}",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_keyword_is_a_name_only_where_duckdb_says_so(place: str) -> None:
    for word, _ in duckdb.sql(KEYWORDS).fetchall():
        sql = PLACES[place].format(word)
        try:
            empty().execute(sql)
        except duckdb.Error:
            with pytest.raises(Refusal):
                understand(sql, CATALOG, NATIVE)
    assert understand(PLACES[place].format("plain"), CATALOG, NATIVE)


@pytest.mark.parametrize("sql", ["SELECT COUNT({}) FROM patients", "SELECT COUNT(*) FROM patients WHERE {} = 1"])
def test_a_reserved_word_is_no_column(sql: str) -> None:
    for word, kind in duckdb.sql(KEYWORDS).fetchall():
        if kind == "reserved" and word not in ("NULL", "TRUE", "FALSE"):
            with pytest.raises(Refusal):
                understand(sql.format(word), CATALOG, NATIVE)


@pytest.mark.parametrize(
    ("sql", "line", "column", "length"),
    [
        ("SELECT COUNT(*) FROM patients WHERE agee = 40", 1, 37, 4),
        ("SELECT COUNT(*)\nFROM people", 2, 6, 6),
        ("SELECT COUNT(*), MEDIANA(age) FROM patients", 1, 18, 7),
        ("SELECT sex,\n  COUNT(*) FROM patients\n  GROUP BY sex ORDER BY 7", 3, 25, 1),
        ("SELECT COUNT(*) FROM patients WHERE city = 40", 1, 44, 2),
        ("SELECT COUNT(*) FROM patients WHERE age = 40 x", 1, 46, 1),
    ],
)
def test_a_refusal_points_at_the_words_it_means(sql: str, line: int, column: int, length: int) -> None:
    with pytest.raises(Refusal) as caught:
        understand(sql, CATALOG, NATIVE)
    span = caught.value.span

    assert span is not None
    assert (span.line, span.column, span.length) == (line, column, length)
