"""The words of the grammar against DuckDB's own list of keywords."""

from __future__ import annotations

import duckdb
import pytest

from querygate.core.errors import Refusal
from querygate.sql import understand
from querygate.sql.spelling import RESERVED, check_spelling
from tests.sql.study import CATALOG, empty

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


def test_the_reserved_words_are_duckdbs() -> None:
    listed = {word for word, kind in duckdb.sql(KEYWORDS).fetchall() if kind in ("reserved", "type_function")}

    assert listed <= RESERVED


@pytest.mark.parametrize("place", PLACES)
def test_a_keyword_is_a_name_only_where_duckdb_says_so(place: str) -> None:
    for word, _ in duckdb.sql(KEYWORDS).fetchall():
        sql = PLACES[place].format(word)
        try:
            empty().execute(sql)
        except duckdb.Error:
            with pytest.raises(Refusal):
                understand(sql, CATALOG)
    assert understand(PLACES[place].format("plain"), CATALOG)


@pytest.mark.parametrize("sql", ["SELECT COUNT({}) FROM patients", "SELECT COUNT(*) FROM patients WHERE {} = 1"])
def test_a_reserved_word_is_no_column(sql: str) -> None:
    for word in RESERVED:
        with pytest.raises(Refusal):
            understand(sql.format(word), CATALOG)


def test_the_place_of_a_stray_character_is_shown() -> None:
    with pytest.raises(Refusal) as caught:
        check_spelling("SELECT COUNT(*)\nFROM patients\u200b WHERE age = 40")

    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (2, 14)


@pytest.mark.parametrize(
    ("sql", "line", "column", "length"),
    [
        ("SELECT COUNT(*) FROM patients WHERE agee = 40", 1, 37, 4),
        ("SELECT COUNT(*)\nFROM people", 2, 6, 6),
        ("SELECT COUNT(*), MEDIANA(age) FROM patients", 1, 18, 7),
        ("SELECT sex,\n  COUNT(*) FROM patients\n  GROUP BY sex ORDER BY 7", 3, 25, 1),
        ("SELECT COUNT(*) FROM patients WHERE city = 40", 1, 44, 2),
        ("SELECT COUNT(*) FROM patients WHERE age <=> 40", 1, 41, 3),
        ("SELECT COUNT(*) FROM patients WHERE age = 40 x", 1, 46, 1),
    ],
)
def test_a_refusal_points_at_the_words_it_means(sql: str, line: int, column: int, length: int) -> None:
    with pytest.raises(Refusal) as caught:
        understand(sql, CATALOG)
    span = caught.value.span

    assert span is not None
    assert (span.line, span.column, span.length) == (line, column, length)
