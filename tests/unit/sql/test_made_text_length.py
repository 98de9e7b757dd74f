"""Texts that would not fit anywhere are refused before they are made."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from querygate.core.errors import Refusal, UnsupportedSQL
from querygate.core.types import folded
from querygate.sql import understand
from querygate.sql.made_text_length import longest
from tests.sql.study import CATALOG, NATIVE, raw

COLUMNS = {folded(column.name): column for column in CATALOG.columns}


def nested(function: str, depth: int, column: str = "city") -> str:
    for _ in range(depth):
        column = function.format(column)
    return column


@pytest.mark.parametrize(
    "function",
    [
        "REPLACE({0}, 'A', 'AAAAAAAAAAAAAAAAAAAA')",
        "REGEXP_REPLACE({0}, '.', '\\0\\0\\0', 'g')",
        "REGEXP_REPLACE({0}, 'a*', 'bbbbbbbbbb', 'g')",
        "REPLACE({0}, 'A', city || city || city)",
    ],
)
def test_what_multiplies_is_refused(function: str) -> None:
    for text in (nested(function, 9), nested(function, 9, "UPPER(city)")):
        for sql in (
            f"SELECT COUNT(*) FROM patients WHERE LENGTH({text}) > 5",
            f"SELECT {text}, COUNT(*) FROM patients GROUP BY 1",
        ):
            with pytest.raises(UnsupportedSQL) as refused:
                understand(sql, CATALOG, NATIVE)
            assert (refused.value.code, "too long" in refused.value.detail) == ("QG207", True)


def test_it_multiplies_through_subqueries_too() -> None:
    sql = "SELECT city AS c FROM patients"
    for _ in range(9):
        sql = f"SELECT REPLACE(c, 'A', 'AAAAAAAAAAAAAAAAAAAA') AS c FROM ({sql})"
    with pytest.raises(Refusal, match="too long"):
        understand(f"SELECT COUNT(*) FROM ({sql}) WHERE c = 'x'", CATALOG, NATIVE)


def test_ordinary_functions_pass() -> None:
    for text in ("UPPER(TRIM(city))", "REPLACE(REPLACE(city, 'ä', 'ae'), 'ü', 'ue')", "city || ' (town)'"):
        understand(f"SELECT {text}, COUNT(*) FROM patients GROUP BY 1", CATALOG, NATIVE)


def test_it_adds_up() -> None:
    text = nested("CONCAT({0}, {0})", 9)
    with pytest.raises(UnsupportedSQL, match="too long"):
        understand(f"SELECT COUNT(*) FROM patients WHERE {text} = 'x'", CATALOG, NATIVE)


@pytest.mark.parametrize(
    "text",
    [
        "REPLACE(city, 'a', 'xyz')",
        "REPLACE(city, 'ra', 'xyzxyz')",
        "REGEXP_REPLACE(city, '[a-z]*', 'xyz', 'g')",
        "REGEXP_REPLACE(city, '.', '\\0\\0', 'g')",
        "UPPER(city)",
        "CONCAT(city, sex, city)",
        "STRFTIME(born, '%A %B %Y week')",
        "CAST(weight AS VARCHAR) || city",
        "HEX(city)",
    ],
)
def test_no_text_is_longer(text: str) -> None:
    (most,) = raw().execute(f"SELECT MAX(LENGTH({text})) FROM patients").fetchone() or (0,)
    assert most <= longest(parse_one(text, dialect="duckdb"), COLUMNS)


def refusal_of(sql: str) -> str:
    try:
        understand(sql, CATALOG, NATIVE)
    except Refusal as refusal:
        return refusal.detail
    return ""
