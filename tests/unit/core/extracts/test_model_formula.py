"""Formulas are read strictly: what is not plain is refused, with its place, and nothing is evaluated."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import Family, RecipientModel
from querygate.core.extracts.model_formula import MOST_TERMS, Factor, Threshold, check_columns, parse_formula
from querygate.core.types import Type
from tests.each import each


def test_a_cox_model() -> None:
    found = parse_formula(RecipientModel("cox", "Surv(time, status) ~ age + sex + C(grade) + log(size) + age:sex"))
    assert (found.response, found.status) == ("time", "status")
    assert found.columns == ("time", "status", "age", "sex", "grade", "size")
    assert found.terms[2].factors == (Factor("grade", "C"),)
    assert found.terms[4].factors == (Factor("age"), Factor("sex"))


@each("comparison", ["<", "<=", ">", ">="])
@each("number", ["1000", "0.5", "-3", "1e3"])
def test_a_logistic_model_of_a_condition(comparison: str, number: str) -> None:
    found = parse_formula(RecipientModel("logistic", f"time {comparison}{number} ~ age"))
    assert found.threshold == Threshold(comparison, float(number))  # type: ignore[arg-type]
    assert found.columns == ("time", "age")
    assert parse_formula(RecipientModel("logistic", str(found))) == found


@each(
    "model",
    [
        ("logistic", "time > ~ age"),
        ("logistic", "time > x ~ age"),
        ("logistic", "time > 1 > 2 ~ age"),
        ("logistic", "time == 1 ~ age"),
        ("logistic", "1 < time ~ age"),
        ("logistic", "time > 1x ~ age"),
        ("logistic", "time > 5 ~ time"),
        ("linear", "time > 5 ~ age"),
        ("cox", "Surv(time > 5, dead) ~ age"),
    ],
)
def test_a_condition_that_is_none(model: tuple[Family, str]) -> None:
    with pytest.raises(ExtractRefused) as refused:
        parse_formula(RecipientModel(*model))
    assert refused.value.code == "QG604"


def test_only_numbers_are_compared() -> None:
    with pytest.raises(ExtractRefused, match="not a number"):
        check_columns(parse_formula(RecipientModel("logistic", "sex > 1 ~ age")), {"sex": "category", "age": "integer"})


def test_names_as_r_has_them() -> None:
    found = parse_formula(RecipientModel("linear", "flc.grp~`marital-status` +Größe\n+ log(`a b`)+log"))
    assert found.columns == ("flc.grp", "marital-status", "Größe", "a b", "log")
    assert parse_formula(RecipientModel("linear", str(found))) == found


def test_names_in_double_quotes() -> None:
    found = parse_formula(RecipientModel("linear", '"Blutdruck systolisch" ~ log("HbA1c (%)") + "a`b":`c"d`'))
    assert found.columns == ("Blutdruck systolisch", "HbA1c (%)", "a`b", 'c"d')
    assert parse_formula(RecipientModel("linear", str(found))) == found


def test_a_name_with_a_blank_is_refused_with_how_to_write_it() -> None:
    with pytest.raises(ExtractRefused) as refused:
        parse_formula(RecipientModel("linear", "Blutdruck systolisch ~ Alter"))
    assert "double quotes" in refused.value.remedy


@each(
    "formula",
    [
        "y ~ __import__('os').system('true')",
        '__import__("os") ~ x',
        "y ~ np.log(x)",
        "y ~ I(x**2)",
        "y ~ exp(x)",
        "y ~ eval(x)",
        "y ~ `log`(x)",
        "y ~ 1|x",
        "y ~ x|g",
        "y ~ 1",
        "y ~ 0 + x",
        "y ~ x - 1",
        "y ~ x * z",
        "y ~ .",
        "y ~ (x + z)",
        "y ~ log(log(x))",
        "y ~ log(x, 2)",
        "y ~ log(x",
        "y ~ log x",
        "y ~ C(g, Treatment('b'))",
        "y ~ x; z",
        "y ~ x # z",
        "y ~ x\0",
        "y ~ {x}",
        "y ~ x[0]",
        "y ~ 'x'",
        "y ~ `x",
        "y ~ ``",
        'y ~ "x',
        'y ~ ""',
        'y ~ "x`',
        'y ~ "log"(x)',
        "y ~",
        "~ x",
        "y ~ x +",
        "y ~ + x",
        "y ~ x ~ z",
        "y ~ x:",
        "y ~ x z",
        "log(y) ~ x",
        "y, z ~ x",
        "",
    ],
)
@each("family", ["linear", "logistic"])
def test_what_is_not_plain_is_refused(family: Family, formula: str) -> None:
    with pytest.raises(ExtractRefused) as refused:
        parse_formula(RecipientModel(family, formula))
    assert refused.value.code == "QG604"
    assert refused.value.remedy


@pytest.mark.parametrize(
    "formula",
    [
        "time ~ age",
        "Surv(time) ~ age",
        "Surv(start, stop, status) ~ age",
        "Surv(time, status == 1) ~ age",
        "surv(time, status) ~ age",
        "Surv(time, time) ~ age",
        "Surv(time, status) ~ age + strata(sex)",
        "Surv(time, status) ~ time",
        "Surv(time, status) ~ age:status",
    ],
)
def test_what_is_no_cox_model_is_refused(formula: str) -> None:
    with pytest.raises(ExtractRefused):
        parse_formula(RecipientModel("cox", formula))


@pytest.mark.parametrize("formula", ["y ~ y", "y ~ x + x", "y ~ x:x", "y ~ x:z + z:x", "y ~ x:log(x)", "y ~ log(y)"])
def test_nothing_stands_there_twice(formula: str) -> None:
    with pytest.raises(ExtractRefused):
        parse_formula(RecipientModel("linear", formula))


def test_the_place_is_told() -> None:
    with pytest.raises(ExtractRefused) as refused:
        parse_formula(RecipientModel("linear", "y ~ x + exp(z)"))
    assert refused.value.span is not None
    assert refused.value.span.column == 9
    with pytest.raises(ExtractRefused) as refused:
        parse_formula(RecipientModel("linear", "y ~ x   ^ z"))
    assert refused.value.span is not None
    assert refused.value.span.column == 9


def test_terms_are_bounded() -> None:
    with pytest.raises(ExtractRefused):
        parse_formula(RecipientModel("linear", "y ~ " + " + ".join(f"x{place}" for place in range(MOST_TERMS + 1))))


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ExtractRefused):
        found = parse_formula(RecipientModel("linear", f"y ~ {text}"))
        assert parse_formula(RecipientModel("linear", str(found))) == found


TYPES: dict[str, Type] = {"y": "number", "age": "integer", "sex": "category", "dx": "codes", "dead": "boolean"}


@pytest.mark.parametrize(
    ("family", "formula", "word"),
    [
        ("linear", "y ~ weight", "weight"),
        ("linear", "y ~ Age", "Age"),
        ("linear", "sex ~ age", "response"),
        ("cox", "Surv(sex, dead) ~ age", "response"),
        ("cox", "Surv(y, event) ~ age", "event"),
        ("linear", "y ~ log(sex)", "sex"),
        ("linear", "y ~ dx", "code list"),
    ],
)
def test_columns_are_there_and_fit(family: Family, formula: str, word: str) -> None:
    with pytest.raises(ExtractRefused, match=word) as refused:
        check_columns(parse_formula(RecipientModel(family, formula)), TYPES)
    assert refused.value.code == "QG604"


@pytest.mark.parametrize(
    ("family", "formula"),
    [("linear", "y ~ log(age) + sex + C(dead)"), ("logistic", "sex ~ age"), ("cox", "Surv(y, dead) ~ age:sex")],
)
def test_good_columns_pass(family: Family, formula: str) -> None:
    found = parse_formula(RecipientModel(family, formula))
    check_columns(found, TYPES)
    assert set(found.columns) <= set(TYPES)
