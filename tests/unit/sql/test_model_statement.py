from __future__ import annotations

from dataclasses import replace

import pytest

from querygate.core.errors import Refusal
from querygate.core.model_question import ModelQuestion
from querygate.core.types import Catalog, Column, Principal
from querygate.sql.model_statement import make_statement
from tests.each import each

CATALOG = Catalog(
    "a study", 1, "", 5, 100,
    (
        Column("age", 0, "quasi-identifier", "integer", True, 18, 80),
        Column("sex", 1, "quasi-identifier", "category", True, values=("F", "M")),
        Column("blood pressure", 2, "sensitive", "number", True, 60.0, 240.0),
        Column("falls", 3, "sensitive", "integer", True, 0, 30),
        Column("change", 4, "sensitive", "integer", True, -5, 5),
        Column("years", 5, "sensitive", "number", True, 0.0, 9.0),
        Column("ill", 6, "sensitive", "boolean", True, values=("false", "true")),
        Column("born", 7, "quasi-identifier", "date", True, 0, 20_000),
    ),
)  # fmt: skip


def _made(formula: str, family: str = "logistic", catalog: Catalog = CATALOG, **more: object):  # type: ignore[no-untyped-def]
    question = ModelQuestion(Principal("ann", "researcher"), "a study", family, formula, **more)  # type: ignore[arg-type]
    return make_statement(question, catalog, lambda name: (18, 19, 20, 30, 40, 50, 60, 70, 79))


def test_a_formula_is_one_statement_of_counts() -> None:
    made = _made("ill ~ sex + bands(age, 40, 60)", where="age >= 20 OR sex = 'F'")

    assert made.sql == (
        "SELECT sex, CASE WHEN age < 40 THEN 'under 40' WHEN age < 60 THEN '40-59' WHEN age >= 60 THEN '60 and over' "
        'END AS "bands(age, 40, 60)", COUNT(*) FILTER (WHERE ill) AS events, '
        "COUNT(*) FILTER (WHERE NOT ill) AS others, "
        "COUNT(*) FILTER (WHERE ill OR NOT ill) AS records "
        "FROM \"a study\" WHERE age >= 20 OR sex = 'F' GROUP BY 1, 2"
    )
    assert made.terms == ((0,), (1,))


def test_bands_follow_the_cuts_of_the_data_where_they_are_worth_a_band() -> None:
    made = _made("ill ~ bands(age)")

    assert made.factors[0].levels == ("under 30", "30-39", "40-49", "50-59", "60-69", "70 and over")


def test_bands_follow_the_cuts_of_the_policy_that_are_sharp() -> None:
    """25 is not: somebody's interval straddles it. 40 and 50 are sharp too, but nobody asked for them."""
    columns = [replace(c, cuts=(20, 25, 30, 60, 70)) if c.name == "age" else c for c in CATALOG.columns]
    made = _made("ill ~ bands(age)", catalog=replace(CATALOG, columns=tuple(columns)))

    assert made.factors[0].levels == ("under 30", "30-59", "60-69", "70 and over")


def test_each_factor_is_a_key_once() -> None:
    made = _made("ill ~ sex + bands(age, 50) + sex:bands(age, 50)")

    assert len(made.factors) == 2
    assert made.terms == ((0,), (1,), (0, 1))


def test_numbers_are_scores_or_categories() -> None:
    assert _made("ill ~ age").factors[0].numeric
    assert not _made("ill ~ C(age)").factors[0].numeric
    assert not _made("ill ~ sex | age", "mantel-haenszel").factors[1].numeric


def test_poisson_models_sum_counts_and_time_at_risk() -> None:
    assert "SUM(falls) AS events, COUNT(falls) AS records" in _made("falls ~ sex", "poisson").sql
    timed = _made("ill ~ sex", "poisson", exposure="years").sql
    assert "COUNT(*) FILTER (WHERE ill AND years IS NOT NULL) AS events" in timed
    assert "SUM(years) FILTER (WHERE (ill OR NOT ill)) AS exposure" in timed
    assert 'SUM("blood pressure") AS total' in _made('"blood pressure" ~ sex', "linear").sql


def test_linear_models_ask_for_the_moments_of_numbers() -> None:
    made = _made("falls ~ age + sex", "linear")

    assert made.counts == "moments"
    assert [column.name for column in made.covariates] == ["age"]
    assert "COUNT(*) FILTER (WHERE falls IS NOT NULL AND age IS NOT NULL) AS records" in made.sql
    assert "COVAR_POP(falls, age) FILTER" in made.sql
    assert "GROUP BY" not in _made("falls ~ age", "linear").sql


GERMAN = Catalog(
    "Register", 1, "", 5, 100,
    (
        Column("Alter", 0, "quasi-identifier", "integer", True, 18, 99),
        Column("Geschlecht", 1, "quasi-identifier", "category", True, values=("m", "w")),
        Column("Blutdruck systolisch", 2, "sensitive", "number", True, 60.0, 240.0),
        Column("HbA1c (%)", 3, "sensitive", "number", True, 0.0, 20.0),
        Column("Verstorben", 4, "sensitive", "boolean", True, values=("false", "true")),
        Column("End", 5, "quasi-identifier", "category", True, values=("a", "b")),
        Column("Wert.2", 6, "quasi-identifier", "category", True, values=("a", "b")),
        Column("Größe", 7, "sensitive", "number", True, 0.0, 3.0),
        Column("Left", 8, "quasi-identifier", "category", True, values=("a", "b")),
    ),
)  # fmt: skip


def _german(formula: str, family: str = "logistic", **more: object):  # type: ignore[no-untyped-def]
    question = ModelQuestion(Principal("ann", "researcher"), "Register", family, formula, **more)  # type: ignore[arg-type]
    return make_statement(question, GERMAN, lambda name: (30, 60))


@each(
    "formula, family, factors",
    [
        ("Verstorben ~ bands(Alter, 65, 75) + Geschlecht", "logistic", ["bands(Alter, 65, 75)", "Geschlecht"]),
        ("Verstorben ~ alter", "logistic", ["Alter"]),
        ("Verstorben ~ (Alter >= 60):Geschlecht", "logistic", ["(Alter >= 60)", "Geschlecht"]),
        ("`Blutdruck systolisch` ~ Geschlecht", "linear", ["Geschlecht"]),
        ("Verstorben ~ bands(`HbA1c (%)`, 6, 8)", "logistic", ["bands(`HbA1c (%)`, 6, 8)"]),
        ("Größe ~ End + Wert.2 + `Left`", "linear", ["End", "Wert.2", "Left"]),
        ("Verstorben ~ (CASE WHEN Geschlecht = 'm' THEN 1 ELSE 2 END)", "logistic", None),
        ("Verstorben ~ (LEFT(Geschlecht, 1) = 'm') + Left", "logistic", ["(LEFT(Geschlecht, 1) = 'm')", "Left"]),
        ("Verstorben ~ (Geschlecht = 'Alter `x`')", "logistic", ["(Geschlecht = 'Alter `x`')"]),
    ],
)
def test_a_column_is_a_column_whatever_sql_makes_of_its_name(
    formula: str, family: str, factors: list[str] | None
) -> None:
    made = _german(formula, family, where="Alter >= 60 AND `Wert.2` = 'a'")

    assert factors is None or [factor.name for factor in made.factors] == factors
    assert '"Alter" >= 60 AND "Wert.2" = \'a\'' in made.sql
    assert "`" not in made.sql.replace("`x`", "").replace("bands(`HbA1c (%)`", "")


@each("formula, family", [("Verstorben ~ `HbA1c (%)`", "logistic"), ("Größe ~ `HbA1c (%)`:End", "linear")])
def test_a_remedy_names_columns_as_formulas_do(formula: str, family: str) -> None:
    with pytest.raises(Refusal) as caught:
        _german(formula, family)

    assert 'bands("HbA1c (%)")' in caught.value.remedy


def test_the_numbers_of_a_linear_model_may_have_such_names() -> None:
    assert [column.name for column in _german("Größe ~ Alter + Geschlecht", "linear").covariates] == ["Alter"]


@each(
    "formula, marked",
    [
        ("Verstorben ~ Alter:Geschlecht + (Geschlecht == )", ")"),
        ("Verstorben ~ Alter:Geschlecht +\n (Geschlecht = ) + Left", ")"),
        ("Verstorben ~ Alter + Unbekannt", "U"),
    ],
)
def test_a_refusal_marks_what_was_written(formula: str, marked: str) -> None:
    with pytest.raises(Refusal) as caught:
        _german(formula)

    span = caught.value.span
    assert span is not None
    assert formula.split("\n")[span.line - 1][span.column - 1 :].startswith(marked)


REFUSED = [
    ("falls ~ age:sex", "linear", {}),
    ("falls ~ age + age", "linear", {}),
    ("falls + age ~ age", "linear", {}),
    ("falls * age ~ age", "linear", {}),
    ("ill", "logistic", {}),
    ("ill ~", "logistic", {}),
    ("~ sex", "logistic", {}),
    ("ill ~ sex +", "logistic", {}),
    ("ill ~ sex ~ age", "logistic", {}),
    ("", "logistic", {}),
    ("ill ~ sex + sex", "logistic", {}),
    ("ill ~ sex:sex", "logistic", {}),
    ("ill ~ sex + ill", "logistic", {}),
    ("age > 50 ~ bands(age, 40)", "logistic", {}),
    ("ill ~ nothing", "logistic", {}),
    ("ill ~ bands(sex)", "logistic", {}),
    ("ill ~ bands(age, 60, 40)", "logistic", {}),
    ("ill ~ bands(age, sex)", "logistic", {}),
    ("ill ~ bands()", "logistic", {}),
    ("ill ~ born", "logistic", {}),
    ('ill ~ "blood pressure"', "logistic", {}),
    ("falls ~ sex", "logistic", {}),
    ("change ~ sex", "poisson", {}),
    ("ill ~ sex", "poisson", {"exposure": "sex"}),
    ("ill ~ sex", "logistic", {"exposure": "years"}),
    ("ill ~ sex + age | born", "mantel-haenszel", {}),
    ("ill ~ sex | sex", "standardised", {}),
    ("ill ~ sex", "standardised", {}),
    ("ill ~ sex", "logistic", {"reference": {"age": "40"}}),
    ("ill ~ sex, age", "logistic", {}),
    ("ill ~ (sex) FROM x WHERE (true)", "logistic", {}),
]


@each("formula, family, more", REFUSED)
def test_what_is_no_model_is_refused(formula: str, family: str, more: dict[str, object]) -> None:
    with pytest.raises(Refusal) as caught:
        _made(formula, family, **more)

    assert caught.value.code in ("QG218", "QG101")
    assert caught.value.remedy


@each(
    "formula",
    ["ill ~ sex'", "ill ~ " + "(" * 60 + "sex" + ")" * 60, "ill ~ \x00", "ill ~ sex; DROP TABLE x"],
)
def test_texts_that_are_no_sql_are_refused(formula: str) -> None:
    with pytest.raises(Refusal):
        _made(formula)


def test_a_condition_cannot_end_the_statement() -> None:
    for where in ("age > 3) GROUP BY 1 --", "age > 3; SELECT 1", "age > 3 GROUP BY sex", "TRUE UNION ALL SELECT 1"):
        with pytest.raises(Refusal):
            _made("ill ~ sex", where=where)
