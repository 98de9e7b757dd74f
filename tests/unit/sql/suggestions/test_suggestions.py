"""A refusal points at what it means, and its suggestion is accepted and says when it is another question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from querygate.core.errors import Refusal
from querygate.core.types import Column, Margin
from querygate.sql import ANOTHER, understand, without_zero_divisors
from tests.sql.study import CATALOG, NATIVE, samples

ODD = replace(
    CATALOG,
    dataset="select",
    columns=(
        *CATALOG.columns,
        Column("lambda", 8, "sensitive", "integer", False, 0, 9),
        Column("sample.yr", 9, "sensitive", "integer", False, 2000, 2020),
        Column("body mass", 10, "sensitive", "number", False, 0.0, 99.0),
        Column("HbA1c (%)", 11, "sensitive", "number", False, 0.0, 30.0),
    ),
)


NOT_LINKED = replace(
    ODD,
    dataset="t",
    margins=tuple(Margin(0, ("age", "sex"), unit) for unit in ((), ("sbp",), ("lambda",))),
    columns=tuple(c for c in ODD.columns if c.name in ("age", "sex", "sbp", "lambda")),
)


def refused(sql: str, catalog: object = CATALOG) -> Refusal:
    with pytest.raises(Refusal) as caught:
        understand(sql, catalog, NATIVE)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        ("SELECT AVG(lambda) FROM select", 'SELECT AVG("lambda") FROM "select"'),
        (
            "SELECT AVG(sample.yr) FROM select WHERE sex <> 'lambda'",
            'SELECT AVG("sample.yr") FROM "select" WHERE sex <> \'lambda\'',
        ),
        ("SELECT COUNT(*) FROM select", 'SELECT COUNT(*) FROM "select"'),
        ('SELECT AVG(Body mass) FROM "select"', 'SELECT AVG("body mass") FROM "select"'),
        (
            "SELECT AVG(HbA1c (%)) FROM \"select\" WHERE sex <> 'body mass'",
            'SELECT AVG("HbA1c (%)") FROM "select" WHERE sex <> \'body mass\'',
        ),
        (
            'SELECT sex, COUNT(*) FROM "select" WHERE Lambda = 3 GROUP BY sex',
            'SELECT sex, COUNT(*) FROM "select" WHERE "lambda" = 3 GROUP BY sex',
        ),
    ],
)
def test_a_name_that_needs_quotes_gets_them(sql: str, meant: str) -> None:
    refusal = refused(sql, ODD)

    assert refusal.suggestion == meant
    assert refusal.remedy.endswith("in double quotes.")


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT STRING_AGG(city, ',') FROM patients", "STRING_AGG"),
        ("SELECT sex,\n\tAPPROX_QUANTILE(age, 0.5)\nFROM patients GROUP BY sex", "APPROX_QUANTILE"),
        ("SELECT\tCOUNT(*),\tMEDIANA(age)\tFROM patients", "MEDIANA"),
        ("SELECT COUNT(*) FROM patients WHER age > 40", "WHER"),
        ("SELECT COUNT(*) FORM patients", "FORM"),
        ("SELCT COUNT(*) FROM patients", "SELCT"),
        ("SELECT sex, COUNT(*) FROM patients\nGRUOP BY sex", "GRUOP"),
        ("SELECT COUNT(*) FROM patients WHERE age BETWEEN 3 AN 4", "AN"),
        ("SELECT COUNT(*) FROM patients LIMT 3", "LIMT"),
    ],
)
def test_the_place_is_that_of_the_word_that_is_meant(sql: str, word: str) -> None:
    span = refused(sql).span

    assert span is not None
    assert sql.split("\n")[span.line - 1][span.column - 1 :][: span.length] == word


@pytest.mark.parametrize(
    ("sql", "same"),
    [
        ("SELECT AVG(agee) FROM patients", True),
        ("SELECT COUNT(*) FROM patients WHERE AVG(age) > 3", True),
        ('SELECT COUNT(*) FROM patients WHERE sex = "F"', True),
        ("SELECT * FROM patients", False),
        ("SELECT age FROM patients WHERE age = 40 AND born = 3", False),
        ("SELECT FIRST(age) FROM patients", False),
        ("SELECT AVG(age) OVER () FROM patients", False),
        ("SELECT COUNT(*), MEDIANA(age) FROM patients", False),
    ],
)
def test_a_suggestion_says_when_it_asks_another_question(sql: str, same: bool) -> None:
    refusal = refused(sql)

    assert refusal.suggestion is not None
    assert refusal.remedy.endswith(ANOTHER) is not same


def test_neither_all_nor_none_of_the_suggestions_of_the_corpus_are_what_was_asked() -> None:
    """That each of them is accepted is tried with the corpus."""
    refusals = [found for sample in samples("refused") if (found := _refusal(sample.sql)) is not None]
    followed = [refusal for refusal in refusals if refusal.suggestion is not None]
    marked = sum(refusal.remedy.endswith(ANOTHER) for refusal in followed)
    assert len(followed) > 250
    assert 100 < marked < len(followed)


def _refusal(sql: str) -> Refusal | None:
    """None where a statement is refused only on the groups themselves."""
    try:
        understand(sql, CATALOG, NATIVE)
    except Refusal as refusal:
        return refusal
    return None


def test_a_divisor_that_may_be_zero_is_wrapped() -> None:
    sql = "SELECT sex, 1000.0 * SUM(sbp) / SUM(age) FROM patients GROUP BY sex"
    edited = without_zero_divisors(sql, CATALOG, NATIVE)

    assert edited == "SELECT sex, 1000.0 * SUM(sbp) / NULLIF(SUM(age), 0) FROM patients GROUP BY sex"
    assert without_zero_divisors(edited, CATALOG, NATIVE) is None


def test_quotes_are_asked_for_even_if_more_is_wrong() -> None:
    """With them the statement is one about columns that are not linked, and what is left of it can be asked."""
    refusal = refused("SELECT CORR(sbp, lambda) FROM t", NOT_LINKED)
    assert refusal.remedy.startswith('Write "lambda" in double quotes. Then there is more:')
    assert 'linked = [["sbp", "lambda"]]' in refusal.remedy
    assert refusal.suggestion == 'SELECT AVG(sbp), STDDEV(sbp), AVG("lambda"), STDDEV("lambda") FROM t'


def test_the_mean_of_a_flag_is_its_share() -> None:
    share = "100.0 * COUNT(*) FILTER(WHERE smoker) / "
    assert refused("SELECT AVG(smoker) FROM patients").suggestion == f"SELECT {share}COUNT(smoker) FROM patients"
    grouped = refused("SELECT sex, AVG(smoker) AS p FROM patients GROUP BY sex").suggestion
    assert grouped == f"SELECT sex, {share}NULLIF(COUNT(smoker), 0) FROM patients GROUP BY sex"


RARE = replace(
    CATALOG,
    person="Patienten-ID",
    columns=(
        *CATALOG.columns,
        Column("Geschlecht", 8, "quasi-identifier", "category", True, values=("m", "w", "other"), rare="other"),
        Column("Haupt Diagnose", 9, "sensitive", "category", True, values=("Schlaganfall", "Überlast", "o"), rare="o"),
    ),
)


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("Geschlecht = 'W'", "Geschlecht = 'w'"),
        ("Geschlecht IN ('M', 'w')", "Geschlecht IN ('m', 'w')"),
        ("\"Haupt Diagnose\" <> 'UBERLAST '", "\"Haupt Diagnose\" <> 'Überlast'"),
    ],
)
def test_a_value_in_other_letters_is_spelled_as_it_is_published(condition: str, meant: str) -> None:
    refusal = refused(f"SELECT COUNT(*) FROM patients WHERE {condition}", RARE)

    assert refusal.suggestion == f"SELECT COUNT(*) FROM patients WHERE {meant}"
    assert "Did you mean" in refusal.remedy
    assert ANOTHER not in refusal.remedy


def test_advice_on_rare_values_quotes_names_that_need_it() -> None:
    refusal = refused("SELECT COUNT(*) FROM patients WHERE \"Haupt Diagnose\" = 'Grippe'", RARE)

    assert "Use \"Haupt Diagnose\" = 'o', or" in refusal.remedy


def test_the_columns_that_are_listed_are_published_ones() -> None:
    refusal = refused("SELECT AVG(nonsense) FROM patients", RARE)

    assert "Geschlecht" in refusal.remedy
    assert "Patienten-ID" not in refusal.remedy


@pytest.mark.parametrize(
    ("sql", "apart"),
    [
        (
            "SELECT CONCAT(ROUND(AVG(age), 1), ' (', ROUND(STDDEV(age), 1), ')') AS age FROM patients",
            "SELECT ROUND(AVG(age), 1), ROUND(STDDEV(age), 1) FROM patients",
        ),
        (
            "SELECT sex, PRINTF('%.1f (%.1f)', AVG(age), STDDEV(age)) AS age FROM patients GROUP BY sex",
            "SELECT sex, AVG(age), STDDEV(age) FROM patients GROUP BY sex",
        ),
        (
            "SELECT sex, COUNT(*)::text || '/' || COUNT(age)::varchar AS known FROM patients GROUP BY sex",
            "SELECT sex, COUNT(*), COUNT(age) FROM patients GROUP BY sex",
        ),
    ],
)
def test_figures_glued_into_a_text_get_columns_of_their_own(sql: str, apart: str) -> None:
    refusal = refused(sql)

    assert refusal.suggestion == apart
