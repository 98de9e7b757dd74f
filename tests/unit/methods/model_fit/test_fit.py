"""Fits are those that lifelines and statsmodels give when asked directly; what has no solution is called unfit."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import RecipientModel
from querygate.core.extracts.model_formula import Factor, Formula, parse_formula
from querygate.methods.model_fit import Fit, Unfit, fit
from querygate.methods.model_fit import fitter as fitting
from querygate.methods.model_fit.design_matrix import design, is_numeric, missing, texts
from tests.unit.methods.model_fit.survival import survival


def levels_of(formula: Formula, columns: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """The levels of every category of a formula, as the original data have them, in rising order."""
    found = {}
    factors = [factor for term in formula.terms for factor in term.factors]
    events = [formula.status] if formula.status else [formula.response] if formula.family == "logistic" else []
    for factor in (*factors, *(Factor(name) for name in events)):
        values = columns[factor.column]
        if factor.function == "C" or (factor.function is None and not is_numeric(values)):
            known = values[~missing(values)]
            plain = np.unique(known.astype(np.float64 if is_numeric(known) else np.str_))
            found[factor.column] = tuple(str(text) for text in texts(plain))
    return found


def fitted(text: str, columns: dict[str, Any]) -> Fit:
    model = RecipientModel.of(text)
    return fit(model, columns, levels_of(parse_formula(model), columns))


def test_a_condition_is_a_column_of_its_own() -> None:
    rng = np.random.default_rng(2)
    age = rng.uniform(20, 80, 300)
    time = np.where(rng.random(300) < 0.05, np.nan, rng.exponential(60_000 / age))
    for comparison, beyond in ((">", time > 1000), (">=", time >= 1000), ("<", time < 1000), ("<=", time <= 1000)):
        own = np.where(np.isnan(time), np.nan, beyond)
        found = fitted(f"logistic: time {comparison} 1000 ~ age", {"age": age, "time": time})
        beside = fitted("logistic: survived ~ age", {"age": age, "survived": own})
        assert (found.coefficients == beside.coefficients).all()
        assert found.left_out == beside.left_out == int(np.isnan(time).sum())
        assert found.coefficients[found.terms.index("age")] * (-1 if comparison[0] == ">" else 1) > 0


@pytest.mark.parametrize("limit", ["1e9", "-1"])
def test_a_condition_that_all_or_none_fulfil(limit: str) -> None:
    with pytest.raises(Unfit):
        fitted(f"logistic: time > {limit} ~ age", {"age": np.arange(50.0), "time": np.arange(50.0)})


def test_cox_is_that_of_lifelines_and_of_statsmodels() -> None:
    """Two programs that share no code, on data with ties."""
    data = survival("rotterdam")
    found = fitted("cox: Surv(dtime, death) ~ age + size + nodes", data)
    assert found.terms == ("age", "size[<=20]", "size[>50]", "nodes")
    size = data["size"]
    matrix = np.column_stack([data["age"], size == "<=20", size == ">50", data["nodes"]]).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lifelines import CoxPHFitter
        from pandas import DataFrame
        from statsmodels.duration.hazard_regression import PHReg

        frame = DataFrame(matrix).assign(time=data["dtime"], event=data["death"])
        ours = CoxPHFitter().fit(frame, "time", "event").summary
        other = PHReg(data["dtime"], matrix, status=data["death"], ties="efron").fit()
    np.testing.assert_allclose(found.coefficients, ours["coef"], rtol=1e-9)
    np.testing.assert_allclose(found.p, ours["p"], rtol=1e-6)
    np.testing.assert_allclose(found.low, ours["coef lower 95%"], rtol=1e-6)
    np.testing.assert_allclose(found.high, ours["coef upper 95%"], rtol=1e-6)
    np.testing.assert_allclose(found.coefficients, other.params, rtol=1e-5)
    np.testing.assert_allclose(found.errors, other.bse, rtol=1e-5)
    assert (found.records, found.left_out) == (2982, 0)


def test_cox_takes_shorter_steps_where_one_overshoots(monkeypatch: pytest.MonkeyPatch) -> None:
    found = fitted("cox: Surv(dtime, death) ~ age + nodes", survival("rotterdam"))
    monkeypatch.setattr(fitting, "STEPS", (40.0,))
    with pytest.raises(Unfit):
        fitted("cox: Surv(dtime, death) ~ age + nodes", survival("rotterdam"))
    monkeypatch.setattr(fitting, "STEPS", (40.0, 0.5))
    again = fitted("cox: Surv(dtime, death) ~ age + nodes", survival("rotterdam"))
    np.testing.assert_allclose(again.coefficients, found.coefficients, rtol=1e-4)


def test_published_cox() -> None:
    """R's own example: coxph(Surv(time, status) ~ rx, colon, subset = etype == 1)."""
    colon = survival("colon")
    first = {name: values[colon["etype"] == 1] for name, values in colon.items()}
    model = RecipientModel.of("cox: Surv(time, status) ~ rx")
    found = fit(model, first, {"rx": ("Obs", "Lev", "Lev+5FU")})
    np.testing.assert_allclose(found.coefficients, [-0.01512, -0.51209], atol=1e-4)
    np.testing.assert_allclose(found.errors, [0.10708, 0.11863], atol=1e-4)


def test_linear_is_that_of_statsmodels() -> None:
    data = survival("nafld1")
    found = fitted("linear: weight ~ age + male + height", data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.api import OLS

        matrix = np.column_stack([np.ones(17549), data["age"], data["male"], data["height"]])
        direct = OLS(data["weight"], matrix, missing="drop").fit()
    np.testing.assert_allclose(found.coefficients, direct.params)
    np.testing.assert_allclose(np.column_stack([found.low, found.high]), direct.conf_int())
    np.testing.assert_allclose(found.p, direct.pvalues)
    assert (found.records, found.left_out) == (12588, 4961)


def test_logistic_is_that_of_statsmodels() -> None:
    data = survival("flchain")
    found = fitted("logistic: death ~ age + sex + log(kappa)", data)
    assert found.terms == ("(Intercept)", "age", "sex[M]", "log(kappa)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.api import Logit

        matrix = np.column_stack([np.ones(7874), data["age"], data["sex"] == "M", np.log(data["kappa"])]).astype(float)
        direct = Logit(data["death"], matrix).fit(disp=0)
    np.testing.assert_allclose(found.coefficients, direct.params, rtol=1e-6)
    np.testing.assert_allclose(found.low, direct.conf_int()[:, 0], rtol=1e-5)
    np.testing.assert_allclose(found.p, direct.pvalues, rtol=1e-4)


def test_design_of_products_and_categories() -> None:
    columns: dict[str, Any] = {
        "y": np.array([1.0, 2.0, 3.0, np.nan]),
        "x": np.array([4, 9, 16, 25]),
        "g": np.array([1, 2, 3, 1]),
        "s": np.array(["a", "b", "a", "b"]),
    }
    formula = parse_formula(RecipientModel.of("linear: y ~ sqrt(x) + C(g):s + x:s"))
    levels = levels_of(formula, columns)
    assert levels == {"g": ("1", "2", "3"), "s": ("a", "b")}
    made = design(formula, columns, levels)
    assert made.names == ("sqrt(x)", "C(g)[2]:s[b]", "C(g)[3]:s[b]", "x:s[b]")
    assert made.matrix.tolist() == [[2, 0, 0, 0], [3, 1, 0, 9], [4, 0, 0, 0]]
    assert made.left_out == 1


def test_a_level_stays_when_nobody_has_it() -> None:
    """The caller's levels fix the coefficients; a level without records cannot be estimated, and that is said."""
    columns: dict[str, Any] = {"y": np.arange(9.0), "s": np.array(["a", "b", "a"] * 3)}
    made = design(parse_formula(RecipientModel.of("linear: y ~ s")), columns, {"s": ("a", "b", "c")})
    assert made.names == ("s[b]", "s[c]")
    with pytest.raises(Unfit, match=r"s\[c\] does not vary"):
        fit(RecipientModel.of("linear: y ~ s"), columns, {"s": ("a", "b", "c")})


def test_the_event_may_be_a_category() -> None:
    data = survival("flchain")
    words = np.where(data["death"] == 1, "dead", "alive").astype(object)
    by_number = fitted("logistic: death ~ age", data)
    by_word = fitted("logistic: death ~ age", data | {"death": words})
    np.testing.assert_array_equal(by_number.coefficients, by_word.coefficients)


X = np.arange(40.0)
GOOD: dict[str, Any] = {
    "x": X,
    "z": np.cos(X),
    "y": np.sin(X),
    "time": 1 + X % 7,
    "event": X % 2,
    "text": np.array(["a", "b"] * 20),
}


@pytest.mark.parametrize(
    ("text", "change", "reason"),
    [
        ("linear: y ~ x + z", {"z": 2 * X + 1}, "determined by the other terms"),
        ("linear: y ~ x", {"x": np.ones(40)}, "does not vary"),
        ("linear: y ~ x", {"y": np.ones(40)}, "only one value"),
        ("linear: y ~ x", {"x": np.full(40, np.nan)}, "0 records"),
        ("linear: y ~ x", {"x": np.where(X < 38, np.inf, X)}, "2 records"),
        ("linear: text ~ x", {}, "not a number"),
        ("linear: y ~ log(x)", {}, "not positive"),
        ("linear: y ~ sqrt(z)", {}, "negative"),
        ("linear: y ~ log(text)", {}, "not a number"),
        ("linear: y ~ C(x)", {"x": X * 0}, "only one value"),
        ("linear: y ~ C(x):C(z)", {}, "more than 500"),
        ("logistic: event ~ x", {"event": np.zeros(40)}, "only one value"),
        ("logistic: event ~ x", {"event": X % 3}, "values other than 0 and 1"),
        ("logistic: event ~ x", {"event": np.array(["a", "b", "c", "a"] * 10)}, "not have exactly two values"),
        ("logistic: event ~ x", {"event": (X > 20).astype(float)}, "did not converge"),
        ("logistic: event ~ x + z", {"z": (X == 1).astype(float)}, "did not converge"),
        ("cox: Surv(time, event) ~ x", {"event": np.zeros(40)}, "nobody has the event"),
        ("cox: Surv(time, event) ~ x", {"time": X - 3}, "negative"),
        ("cox: Surv(time, event) ~ x", {"time": np.ones(40)}, "only one value"),
        ("cox: Surv(time, event) ~ x", {"time": 40 - X, "event": np.ones(40)}, "did not converge"),
        ("cox: Surv(time, event) ~ z", {"z": (X == 2).astype(float)}, "did not converge"),
    ],
)
def test_what_has_no_solution_is_unfit(text: str, change: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unfit) as unfit:
        fitted(text, GOOD | change)
    assert reason in unfit.value.reason


def test_a_value_that_is_no_level_is_unfit() -> None:
    with pytest.raises(Unfit, match="the original does not have"):
        fit(RecipientModel.of("linear: y ~ text"), GOOD, {"text": ("a", "c")})


def test_without_the_libraries_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "statsmodels.api", None)
    with pytest.raises(ExtractRefused, match="not installed"):
        fitted("linear: y ~ x", GOOD)
