"""Models through the whole gate: what statistical software makes of the raw rows is inside every range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.stats.contingency_tables import StratifiedTable

from querygate.core.errors import Refusal
from querygate.core.model_question import ModelQuestion
from querygate.core.types import Principal
from querygate.gate.models.model_answer import ask_model
from querygate.site.open_gate import OpenSite
from tests.wide_study import make_rows, publish_study

ANN = Principal("ann", "researcher")
BANDS = pd.CategoricalDtype(["under 40", "40-59", "60 and over"], ordered=False)


def _rows() -> pd.DataFrame:
    rows = make_rows().to_pandas()
    cut = pd.cut(rows.age, [0, 39, 59, 99], labels=list(BANDS.categories)).astype(str)
    return rows.assign(
        band=cut.astype(BANDS), smokes=(rows.smoker == "yes").astype(float), high=(rows.sbp >= 130).astype(float)
    )


ROWS = _rows()


def _ask(site: OpenSite, family: str, formula: str, **more: Any) -> Any:
    return ask_model(ModelQuestion(ANN, "study", family, formula, **more), site.gate)  # type: ignore[arg-type]


def _check(body: Any, fitted: Any, ratio: str = "") -> float:
    """Is the fit inside? Gives the widest range of a coefficient, in standard errors."""
    limits = np.asarray(fitted.conf_int())
    truths = {"coefficient": fitted.params, "standard_error": fitted.bse, "low95": limits[:, 0], "high95": limits[:, 1]}
    truths["p_value"] = fitted.pvalues
    if ratio:
        truths |= {ratio: np.exp(fitted.params), f"{ratio}_high95": np.exp(limits[:, 1])}
    assert len(body["rows"]) == len(fitted.params)
    widest = 0.0
    for k, row in enumerate(body["rows"]):
        for name, values in truths.items():
            found, value = row[name], np.asarray(values)[k]
            slack = 1e-7 * abs(value)  # reweighted least squares stop one step before the end
            assert found["low"] - slack <= value <= found["high"] + slack, (row["term"], row["level"], name)
            assert found["estimate"] is None or found["low"] <= found["estimate"] <= found["high"]
        widest = max(widest, (row["coefficient"]["high"] - row["coefficient"]["low"]) / np.asarray(fitted.bse)[k])
    return widest


FACTORS = "sex + bands(age, 40, 60)"


def test_logistic_regression_by_views_is_sharp(views: OpenSite) -> None:
    body = _ask(views, "logistic", f"smoker = 'yes' ~ {FACTORS}")
    fitted = smf.logit("smokes ~ C(sex) + C(band)", ROWS).fit(disp=False)

    assert body["model"]["exact"]
    assert body["model"]["records"] == {"low": 700, "high": 700}
    assert body["model"]["reference"] == {"sex": "F", "bands(age, 40, 60)": "under 40"}
    assert [(row["term"], row["level"]) for row in body["rows"]] == [
        ("(intercept)", ""), ("sex", "M"), ("bands(age, 40, 60)", "40-59"), ("bands(age, 40, 60)", "60 and over")
    ]  # fmt: skip
    assert _check(body, fitted, "odds_ratio") < 1e-6
    assert all(row["odds_ratio"]["sharp"] for row in body["rows"])


def test_logistic_regression_by_classes_is_sound(classes: OpenSite) -> None:
    body = _ask(classes, "logistic", "sbp >= 130 ~ sex + bands(age, 41)")
    rows = ROWS.assign(old=(ROWS.age >= 41).astype(int))

    assert not body["model"]["exact"]
    assert not any(row["coefficient"]["sharp"] for row in body["rows"])
    assert _check(body, smf.logit("high ~ C(sex) + old", rows).fit(disp=False), "odds_ratio") < 2.0


def test_a_stated_reference_turns_the_coefficient_around(views: OpenSite) -> None:
    one, other = (
        _ask(views, "logistic", "smoker = 'yes' ~ sex", reference=reference) for reference in ({}, {"sex": "M"})
    )

    assert [row["level"] for row in other["rows"]] == ["", "F"]
    assert math.isclose(one["rows"][1]["coefficient"]["low"], -other["rows"][1]["coefficient"]["high"], rel_tol=1e-6)


def test_products_of_factors_are_interactions(views: OpenSite) -> None:
    body = _ask(views, "logistic", "smoker = 'yes' ~ sex + bands(age, 40, 60) + sex:bands(age, 40, 60)")
    fitted = smf.logit("smokes ~ C(sex) + C(band) + C(sex):C(band)", ROWS).fit(disp=False)

    assert _check(body, fitted, "odds_ratio") < 1e-6
    assert body["rows"][-1]["level"] == "M : 60 and over"


def test_poisson_regression_of_a_condition_gives_ratios_of_prevalences(views: OpenSite) -> None:
    body = _ask(views, "poisson", f"smoker = 'yes' ~ {FACTORS}")
    fitted = smf.glm("smokes ~ C(sex) + C(band)", ROWS, family=sm.families.Poisson()).fit(tol=1e-14)

    assert _check(body, fitted, "rate_ratio") < 1e-6


def test_linear_regression_with_missing_outcomes(views: OpenSite) -> None:
    body = _ask(views, "linear", f"weight ~ {FACTORS}", where="age >= 30")
    fitted = smf.ols("weight ~ C(sex) + C(band)", ROWS[ROWS.age >= 30]).fit()

    assert body["model"]["records"]["low"] == int(fitted.nobs)
    _check(body, fitted)


@pytest.mark.parametrize("how", ["classes", "views"])
@pytest.mark.parametrize("formula", ["sbp ~ age + sex", "sbp ~ age", "weight ~ age + sex"])
def test_linear_regression_on_numbers(formula: str, how: str, request: pytest.FixtureRequest) -> None:
    fitted = smf.ols(formula.replace("age + ", "").replace("~ age", "~ 1") + " + age", ROWS).fit()
    body = _ask(request.getfixturevalue(how), "linear", formula)

    assert [row["term"] for row in body["rows"]][-1] == "age"
    _check(body, fitted)


def test_numbers_that_no_view_has_together_are_refused_with_what_would_be_needed(views: OpenSite) -> None:
    with pytest.raises(Refusal) as caught:
        _ask(views, "linear", "sbp ~ weight + sex")

    assert caught.value.code == "QG217"
    assert 'linked = [["sbp", "weight"]]' in caught.value.remedy
    assert "suggestion" not in caught.value.remedy


def test_what_the_statement_is_refused_for_is_marked_in_the_formula(views: OpenSite) -> None:
    formula = "smoker = 'yes' ~ sex + (unknown > 3)"
    with pytest.raises(Refusal) as caught:
        _ask(views, "logistic", formula)

    span = caught.value.span
    assert span is not None
    assert formula[span.column - 1 :][: span.length] == "unknown"


def test_mantel_haenszel_is_that_of_the_rows(views: OpenSite) -> None:
    body = _ask(views, "mantel-haenszel", "smoker = 'yes' ~ sex | bands(age, 40, 60)")
    tables = [
        [[((part.sex == s) & (part.smokes == y)).sum() for y in (1, 0)] for s in ("M", "F")]
        for _, part in ROWS.groupby("band", observed=True)
    ]
    truth = StratifiedTable([np.array(table, float) for table in tables])
    (row,) = body["rows"]
    low, high = truth.oddsratio_pooled_confint()
    expected = {
        "odds_ratio": truth.oddsratio_pooled, "risk_ratio": truth.riskratio_pooled,
        "odds_ratio_low95": low, "odds_ratio_high95": high,
    }  # fmt: skip
    for name, value in expected.items():
        assert math.isclose(row[name]["low"], value, rel_tol=1e-9)
        assert math.isclose(row[name]["high"], value, rel_tol=1e-9)
        assert row[name]["sharp"]


def test_standardised_rates_are_those_of_the_rows(views: OpenSite) -> None:
    weights = {"under 40": 3.0, "40-59": 2.0, "60 and over": 1.0}
    for given in ({}, weights):
        body = _ask(views, "standardised", "smoker = 'yes' ~ sex | bands(age, 40, 60)", weights=given)
        standard = pd.Series(given) if given else ROWS.band.value_counts()
        rates = ROWS.groupby(["sex", "band"], observed=True).smokes.mean()
        for row in body["rows"]:
            rate = float((rates[row["level"]] * standard).sum() / standard.sum())
            assert math.isclose(row["rate"]["low"], rate, rel_tol=1e-9)
            assert math.isclose(row["rate"]["high"], rate, rel_tol=1e-9)
        assert body["rows"][0]["rate_ratio"]["low"] == 1.0


def test_small_groups_that_are_not_shown_are_counted_in(tmp_path: Any) -> None:
    """Nobody may rely on a pattern being empty because it is not shown."""
    site = publish_study(tmp_path, answers={"min_group": 60})
    body = _ask(site, "mantel-haenszel", "sbp >= 130 ~ sex | region")
    (row,) = body["rows"]
    tables = [
        [[((part.sex == s) & (part.high == y)).sum() for y in (1, 0)] for s in ("M", "F")]
        for _, part in ROWS.groupby("region")
    ]
    truth = StratifiedTable([np.array(table, float) for table in tables])

    assert row["odds_ratio"]["low"] <= truth.oddsratio_pooled <= row["odds_ratio"]["high"]
    assert body["model"]["patterns"] == 6
    assert body["model"]["records"]["high"] >= 700


@pytest.mark.parametrize(
    ("family", "formula", "code"),
    [
        ("logistic", "smoker = 'yes' ~ sex + region", "QG219"),  # no view has both
        ("logistic", "smoker = 'yes' ~ sbp >= 130", "QG217"),  # two sensitive columns
        ("logistic", "sbp ~ sex", "QG218"),
        ("logistic", "smoker = 'yes' ~ weight", "QG218"),
        ("linear", "sbp ~ nothing", "QG218"),
        ("mantel-haenszel", "smoker = 'yes' ~ sex", "QG218"),
        ("logistic", "smoker = 'yes' ~ sex | region", "QG218"),
        ("linear", "smoker ~ sex", "QG209"),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_a_way_forward(
    views: OpenSite, family: str, formula: str, code: str
) -> None:
    with pytest.raises(Refusal) as caught:
        _ask(views, family, formula)

    assert caught.value.code == code
    assert caught.value.remedy
    assert caught.value.suggestion is None


def test_bands_begin_where_people_are(tmp_path: Any) -> None:
    """A band below the youngest would have nobody, and its coefficient could not be determined."""
    table = make_rows()
    older = publish_study(tmp_path, table.filter(pc.greater_equal(table["age"], 45)), views=True)
    body = _ask(older, "logistic", "smoker = 'yes' ~ bands(age)")
    levels = [row["level"] for row in body["rows"]]
    assert len(levels) > 2
    assert "under 45" not in str(body)


def test_a_rare_level_is_refused_with_a_condition_that_is_accepted(views: OpenSite) -> None:
    with pytest.raises(Refusal) as refused:
        _ask(views, "logistic", "smoker = 'yes' ~ region")
    assert refused.value.code == "QG219"
    assert "use a condition: (region = 'Nord') in place of region puts all others together." in refused.value.remedy
    _ask(views, "logistic", "smoker = 'yes' ~ (region = 'Nord')")


def test_a_factor_that_tells_the_outcome_is_separation(views: OpenSite) -> None:
    with pytest.raises(Refusal) as caught:
        _ask(views, "logistic", "smoker = 'yes' ~ sex", where="smoker = 'yes'")

    assert caught.value.code == "QG219"
    assert caught.value.query_id


def test_the_log_has_the_statement_its_answer_and_the_model(views: OpenSite) -> None:
    body = _ask(views, "logistic", "smoker = 'yes' ~ sex")
    kept = views.log.answer(body["query_id"])
    entries = list(views.log.events_of("model", "study"))

    assert kept is not None
    assert kept[1]["columns"][1]["name"] == "events"
    assert entries[-1]["body"]["query_id"] == body["query_id"]
    assert entries[-1]["body"]["formula"] == "smoker = 'yes' ~ sex"


def test_a_model_can_say_why_its_counts_are_wide(classes: OpenSite) -> None:
    body = _ask(classes, "logistic", "sbp >= 130 ~ sex", explain=True)

    assert "explanation" in body


def test_factors_that_no_view_has_together_are_named(views: OpenSite) -> None:
    catalog = views.gate.store.current("study").catalog
    told = [set(margin.quasi) for margin in catalog.margins]
    names = [column.name for column in catalog.columns if column.role == "quasi-identifier"]
    assert not any(set(names) <= view for view in told)
    terms = " + ".join("bands(age)" if name == "age" else name for name in names)
    with pytest.raises(Refusal) as caught:
        _ask(views, "logistic", f"smoker = 'yes' ~ {terms}")
    assert caught.value.code == "QG219"
    assert caught.value.detail.startswith("No view of this dataset has ")
    listed = caught.value.remedy.split("in the same view: ")[1].split(". ")[0].split("; ")
    parts = [set(one.replace(" and ", ", ").split(", ")) for one in listed]
    assert parts
    assert all(any(part <= view for view in told) for part in parts)
