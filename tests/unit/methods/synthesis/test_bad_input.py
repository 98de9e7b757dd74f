"""Awkward records: a clear refusal, or a correct result."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from querygate.methods.synthesis import METHODS, Microdata, Uncondensable, Variable, condense, rare_columns
from querygate.methods.synthesis.record_points import encode
from tests.unit.methods.synthesis.tables import cohort, numbers

ALL = pytest.mark.parametrize("method", METHODS.names())


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@ALL
def test_k_above_the_smallest_stratum_is_refused_by_name_and_size(method: str) -> None:
    data = cohort()
    data.columns["status"][:] = 0
    data.columns["status"][:4] = 1
    with pytest.raises(Uncondensable) as refused:
        condense(data, 5, method=method, response="time", status="status", rng=rng())
    assert "status" in refused.value.reason
    assert "4 records" in refused.value.reason
    assert "at most 4" in refused.value.remedy


def test_a_missing_status_is_a_stratum_of_its_own() -> None:
    data = cohort()
    data.columns["status"][:30] = -1
    labels = condense(data, 30, response="time", status="status", rng=rng()).labels
    assert np.unique(labels[:30]).size == 1
    assert not np.isin(labels[30:], labels[:30]).any()
    with pytest.raises(Uncondensable, match="status"):
        condense(data, 31, response="time", status="status", rng=rng())


@ALL
def test_k_above_the_records_is_refused(method: str) -> None:
    with pytest.raises(Uncondensable, match="3 records"):
        condense(numbers(x=[1, 2, 3]), 4, method=method, rng=rng())


def test_two_records_would_be_told_by_their_mean_and_covariance() -> None:
    data = numbers(x=[1, 2, 3, 4])
    with pytest.raises(Uncondensable, match="too small"):
        condense(data, 2, rng=rng())
    assert Counter(condense(data, 2, method="mdav", rng=rng()).labels.tolist()) == {0: 2, 1: 2}
    with pytest.raises(Uncondensable, match="too small"):
        condense(data, 1, method="mdav", rng=rng())


@ALL
def test_constant_columns_stay(method: str) -> None:
    data = numbers(x=[0.1] * 30, y=list(range(30)), z=[1e9 + 0.1] * 30)
    made = condense(data, 5, method=method, rng=rng()).data
    assert np.allclose(made.columns["x"], 0.1, rtol=1e-14)
    assert np.allclose(made.columns["z"], 1e9 + 0.1, rtol=1e-14)


@ALL
def test_nothing_but_constants(method: str) -> None:
    data = Microdata((Variable("c", "category", size=3),), {"c": np.full(30, 2)})
    result = condense(data, 5, method=method, rng=rng())
    assert np.array_equal(result.data.columns["c"], data.columns["c"])
    assert min(Counter(result.labels.tolist()).values()) >= 5


@ALL
def test_columns_missing_throughout_stay_missing(method: str) -> None:
    data = cohort()
    data.columns["weight"][:] = np.nan
    data.columns["grade"][:] = -1
    made = condense(data, 20, method=method, response="time", status="status", rng=rng()).data
    assert np.isnan(made.columns["weight"]).all()
    assert np.all(made.columns["grade"] == -1)


def test_a_category_of_one_record_appears_once_and_is_named_as_rare() -> None:
    data = cohort()
    made = condense(data, 20, response="time", status="status", rng=rng()).data
    assert Counter(made.columns["grade"].tolist()) == Counter(data.columns["grade"].tolist())
    assert np.count_nonzero(made.columns["grade"] == 5) == 1
    assert rare_columns(data, 20) == ("grade",)
    assert rare_columns(data, 1) == ()


@ALL
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e200])
def test_infinities_are_refused_without_showing_them(method: str, value: float) -> None:
    with pytest.raises(Uncondensable, match="x has an infinite value") as refused:
        condense(numbers(x=[1, 2, 3, value]), 3, method=method, rng=rng())
    assert "inf)" not in str(refused.value)


@ALL
def test_a_number_known_of_few_records_is_refused(method: str) -> None:
    values = [np.nan] * 36 + [123.456] * 4
    with pytest.raises(Uncondensable, match="Only 4 records have a value of x"):
        condense(numbers(x=values, y=list(range(40))), 5, method=method, rng=rng())


def test_the_one_known_value_of_a_cluster_is_not_handed_back() -> None:
    x = np.array([1.0, 2, 3, 4, 5] * 4 + [np.nan] * 39 + [123.456])
    y = np.array([0.0] * 20 + [1000.0] * 40)  # the last forty are clusters of their own
    for seed in range(5):
        result = condense(numbers(x=x.tolist(), y=y.tolist()), 20, rng=np.random.default_rng(seed))
        assert result.labels[0] not in result.labels[20:]
        assert np.nanmin(np.abs(result.data.columns["x"] - 123.456)) > 1e-3


@ALL
def test_more_columns_than_records(method: str) -> None:
    random = np.random.default_rng(1)
    wide = {f"x{i}": random.normal(size=100).tolist() for i in range(200)}
    data = numbers(**wide)
    result = condense(data, 10, method=method, rng=rng())
    assert min(Counter(result.labels.tolist()).values()) >= 10
    for label in range(result.labels.max() + 1):
        x, y = (m[result.labels == label] for m in (encode(data).matrix, result.raw))
        assert np.allclose(x.mean(axis=0), y.mean(axis=0), rtol=0, atol=1e-9)
        if METHODS.get(method).drawn:
            assert np.allclose(np.cov(x.T), np.cov(y.T), rtol=0, atol=1e-9)
            assert np.abs(x[:, None] - y[None]).max(axis=2).min() > 0.1  # no point is an original


def test_values_that_are_not_permissible_are_refused() -> None:
    for variable, column, text in (
        (Variable("x", "number", 0, 5), np.array([1.0, 2, 6]), "outside its permissible bounds"),
        (Variable("x", "number", 0, 5), np.array([-1.0, 2, 3]), "outside its permissible bounds"),
        (Variable("x", "integer"), np.array([1.0, 2, 2.5]), "not whole"),
        (Variable("x", "category", size=2), np.array([0, 1, 2]), "outside its permissible categories"),
        (Variable("x", "boolean"), np.array([0, -2, 1]), "outside its permissible categories"),
    ):
        with pytest.raises(Uncondensable, match=text):
            condense(Microdata((variable,), {"x": column}), 3, rng=rng())


def test_no_records_and_no_columns() -> None:
    for data in (Microdata((), {}), numbers(x=[])):
        with pytest.raises(Uncondensable, match="no records"):
            condense(data, 3, rng=rng())


def test_a_request_that_makes_no_sense() -> None:
    data = cohort()
    with pytest.raises(Uncondensable, match="grade is not a number"):
        condense(data, 20, response="grade", rng=rng())
    with pytest.raises(KeyError, match="nothing"):
        condense(data, 20, response="nothing", rng=rng())
    with pytest.raises(KeyError, match="nothing"):
        condense(data, 20, status="nothing", rng=rng())
    with pytest.raises(KeyError, match="improved, condensation, tfrp, mdav"):
        condense(data, 20, method="best", rng=rng())
    with pytest.raises(ValueError, match="weight"):
        condense(data, 20, response="time", weight=1.0, rng=rng())


def test_columns_that_do_not_fit_the_variables() -> None:
    x = Variable("x", "number")
    with pytest.raises(ValueError, match="one value per record"):
        condense(Microdata((x, Variable("y", "number")), {"x": np.zeros(3), "y": np.zeros(4)}), 3, rng=rng())
    with pytest.raises(ValueError, match="every column"):
        condense(Microdata((x,), {"x": np.zeros(3), "y": np.zeros(3)}), 3, rng=rng())
    with pytest.raises(ValueError, match="whole numbers"):
        condense(Microdata((Variable("c", "category", size=2),), {"c": np.zeros(3)}), 3, rng=rng())


def test_too_much_to_compute_with_names_the_widest_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate.methods.synthesis.record_points.MOST_CELLS", 600)
    with pytest.raises(Uncondensable, match="grade has 6 distinct values"):
        condense(cohort(), 20, rng=rng())


def test_tiny_and_huge_units() -> None:
    random = np.random.default_rng(2)
    data = numbers(tiny=(random.normal(size=60) * 1e-300).tolist(), huge=(random.normal(size=60) * 1e90).tolist())
    result = condense(data, 5, rng=rng())
    for name, column in result.data.columns.items():
        assert np.isfinite(column).all()
        assert not np.isin(column, data.columns[name]).any()
    assert np.allclose(np.cov(encode(data).matrix.T), np.cov(result.raw.T))
