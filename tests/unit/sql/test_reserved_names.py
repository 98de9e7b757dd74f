"""Datasets and columns that are called as words of SQL are: whatever the gate writes itself has them in quotes."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest

from querygate.core.errors import Refusal
from querygate.core.ports import Limits
from querygate.core.types import Catalog, Column
from querygate.gate.description import make_examples
from querygate.sql import understand
from querygate.sql.extract_condition import read_condition
from tests.sql.study import NATIVE

KEYWORDS = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved'"
OTHERS = ("current_date", "drop", "force", "grant", "insert", "install", "revoke", "rollback", "größe", "2nd", 'a"b')
WORDS = [*(word for (word,) in duckdb.execute(KEYWORDS).fetchall()), *OTHERS]


def called(name: str, *, number: str = "age") -> Catalog:
    columns = (
        Column(name, 0, "quasi-identifier", "category", False, values=("it's", "other")),
        Column(number, 1, "quasi-identifier", "integer", False, 0, 100),
    )
    return Catalog(name, 1, "", 5, 50, columns)


def test_examples_are_there_whatever_the_names() -> None:
    usual = len(make_examples(called("plain"), NATIVE, Limits()))
    assert usual == 5
    assert [word for word in WORDS if len(make_examples(called(word), NATIVE, Limits())) < usual] == []
    assert len(make_examples(called("order", number="select"), NATIVE, Limits())) == usual


@pytest.mark.parametrize("word", ["insert", "order", "left", "by"])
def test_suggestions_and_conditions_name_the_dataset(word: str) -> None:
    catalog = called(word)
    for sql in (f'SELECT * FROM "{word}"', f'SELECT COUNT(*) FROM "{word}" JOIN x USING (y)', "SELECT AVG(agee)"):
        with pytest.raises(Refusal) as refused:
            understand(sql, catalog, NATIVE)
        assert refused.value.suggestion is not None
        assert understand(refused.value.suggestion, catalog, NATIVE).dataset == word
    assert read_condition(f"\"{word}\" = 'other' AND age > 3", catalog, NATIVE)[1] == {word, "age"}


@pytest.mark.parametrize("where", ["Alter >= 60", "sex = 'm' AND Alter >= 60", "Größe = 1 AND Alter > 3"])
def test_a_condition_of_an_extract_is_refused_with_the_quotes_it_lacks(where: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_condition(where, replace(called("sex", number="Alter"), dataset="ein Register"), NATIVE)
    span = refused.value.span
    assert span is None or span.column + span.length - 1 <= len(where)
    assert (refused.value.remedy == 'Write "Alter" in double quotes.') is ("Größe" not in where)


def test_a_name_in_a_remedy_can_be_written_as_it_stands() -> None:
    with pytest.raises(Refusal) as refused:
        understand("SELECT COUNT(*) FROM elsewhere", replace(called("order"), columns=()), NATIVE)
    assert 'FROM "order"' in refused.value.remedy
