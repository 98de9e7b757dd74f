"""What condensing promises, measured on what comes out: never trusted from the algorithm."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from querygate.methods.synthesis import METHODS, CondensedRecords, Microdata, Variable, condense
from querygate.methods.synthesis.record_points import encode
from tests.seeds import cases
from tests.unit.methods.synthesis.tables import cohort

DRAWN = [name for name in METHODS if METHODS.get(name).drawn]
COX = {"response": "time", "status": "status"}


def made(method: str = "improved", k: int = 20, seed: int = 3, **options: Any) -> tuple[Microdata, CondensedRecords]:
    data = cohort()
    return data, condense(data, k, method=method, rng=np.random.default_rng(seed), **options)


def by_cluster(labels: np.ndarray, column: np.ndarray) -> dict[int, list[float]]:
    """Values of each cluster, sorted; a missing number as text, since NaN equals nothing."""
    found = defaultdict(list)
    for label, value in zip(labels.tolist(), column.tolist(), strict=True):
        found[label].append("missing" if value != value else value)
    return {label: sorted(values, key=str) for label, values in found.items()}


def check_permissible(data: Microdata, result: CondensedRecords) -> None:
    assert result.data.variables == data.variables
    assert result.data.records == data.records == result.labels.size
    for variable in data.variables:
        column = result.data.columns[variable.name]
        assert column.dtype == data.columns[variable.name].dtype
        if variable.is_number:
            known = column[~np.isnan(column)]
            assert np.all(np.isfinite(known))
            assert variable.low is None or np.all(known >= variable.low)
            assert variable.high is None or np.all(known <= variable.high)
            assert variable.kind == "number" or np.all(known == np.floor(known))
        else:
            assert set(column.tolist()) <= set(data.columns[variable.name].tolist())


def check_moments(data: Microdata, result: CondensedRecords) -> None:
    """Means and covariances of every cluster to 1e-9 of the spread of each feature, by plain definition."""
    before, after = encode(data).matrix, result.raw
    for label in np.unique(result.labels):
        x, y = before[result.labels == label], after[result.labels == label]
        size = np.abs(x).max(axis=0)
        assert np.all(np.abs(x.mean(axis=0) - y.mean(axis=0)) <= 1e-9 * size)
        x, y = x - x.mean(axis=0), y - y.mean(axis=0)
        spread = np.sqrt((x**2).sum(axis=0)) + 1e-6 * size  # equal values differ from their mean by rounding
        assert np.all(np.abs(x.T @ x - y.T @ y) <= 1e-9 * np.outer(spread, spread))


@pytest.mark.parametrize("method", METHODS.names())
@pytest.mark.parametrize("k", [3, 20, 150])
def test_no_cluster_below_k(method: str, k: int) -> None:
    _, result = made(method, k, **COX)
    sizes = Counter(result.labels.tolist())
    assert min(sizes.values()) >= k
    assert sorted(sizes) == list(range(len(sizes)))


@pytest.mark.parametrize("k", [3, 20, 150])
def test_k_means_clusters_stay_below_two_k(k: int) -> None:
    _, result = made("improved", k, **COX)
    assert max(Counter(result.labels.tolist()).values()) < 2 * k


@pytest.mark.parametrize("method", DRAWN)
@pytest.mark.parametrize("k", [3, 5, 20, 150])
def test_means_and_covariances_of_clusters(method: str, k: int) -> None:
    data, result = made(method, k, **COX)
    check_moments(data, result)


def test_covariance_of_all_records_follows() -> None:
    data, result = made("improved", 20, response="time")
    before, after = encode(data).matrix, result.raw
    assert np.allclose(np.cov(before.T), np.cov(after.T), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", METHODS.names())
def test_status_is_never_mixed_and_never_changed(method: str) -> None:
    data, result = made(method, 20, **COX)
    assert all(len(set(values)) == 1 for values in by_cluster(result.labels, data.columns["status"]).values())
    assert np.array_equal(result.data.columns["status"], data.columns["status"])


def test_survival_times_are_drawn_and_keep_the_mean_of_each_cluster() -> None:
    data, result = made("improved", 20, **COX)
    assert np.isin(result.data.columns["time"], data.columns["time"]).mean() < 0.3  # whole numbers meet by chance
    assert "time" not in result.kept
    for label in np.unique(result.labels):
        rows = result.labels == label
        assert result.data.columns["time"][rows].mean() == pytest.approx(data.columns["time"][rows].mean(), abs=0.5)


def test_survival_times_of_a_cluster_are_its_own_where_they_are_kept() -> None:
    data, result = made("improved", 20, **COX, keep_times=True)
    assert "time" in result.kept
    times = by_cluster(result.labels, data.columns["time"])
    assert by_cluster(result.labels, result.data.columns["time"]) == times
    assert not np.array_equal(result.data.columns["time"], data.columns["time"])


def test_survival_times_follow_the_ranks_of_the_draws() -> None:
    data, result = made("improved", 20, **COX, keep_times=True)
    block = next(b for b in encode(data).blocks if b.variable.name == "time")
    drawn, given = block.numbers(result.raw), result.data.columns["time"]
    for label in np.unique(result.labels):
        rows = np.flatnonzero(result.labels == label)
        assert np.all(np.diff(given[rows[np.argsort(drawn[rows])]]) >= 0)


def test_missing_survival_times_stay_missing() -> None:
    data = cohort()
    data.columns["time"][::9] = np.nan
    result = condense(data, 20, **COX, keep_times=True, rng=np.random.default_rng(1))
    assert by_cluster(result.labels, result.data.columns["time"]) == by_cluster(result.labels, data.columns["time"])


@pytest.mark.parametrize("method", METHODS.names())
def test_values_are_permissible(method: str) -> None:
    data, result = made(method, 20, **COX)
    check_permissible(data, result)


@pytest.mark.parametrize("method", DRAWN)
def test_drawn_records_keep_categories_missing_values_and_sums_per_cluster(method: str) -> None:
    data, result = made(method, 20, **COX)
    for name in ("grade", "meno"):
        assert by_cluster(result.labels, result.data.columns[name]) == by_cluster(result.labels, data.columns[name])
    for name in ("age", "nodes", "time"):
        before, after = (np.bincount(result.labels, d.columns[name]) for d in (data, result.data))
        assert np.array_equal(before, after)
    missing = (np.bincount(result.labels, np.isnan(d.columns["weight"])) for d in (data, result.data))
    assert np.array_equal(*missing)


@pytest.mark.parametrize("method", DRAWN)
def test_the_seed_decides_and_another_gives_others(method: str) -> None:
    _, first = made(method, seed=5, **COX)
    _, same = made(method, seed=5, **COX)
    _, other = made(method, seed=6, **COX)
    for name in first.data.columns:
        assert np.array_equal(first.data.columns[name], same.data.columns[name], equal_nan=True)
    assert np.array_equal(first.raw, same.raw)
    ages = first.data.columns["age"]
    assert np.mean(ages == other.data.columns["age"]) < 0.5
    if method not in ("r-microhybrid", "microperturbation"):  # their clusters follow from the records
        assert not np.array_equal(first.labels, other.labels)


def test_the_input_is_left_alone() -> None:
    data, before = cohort(), cohort()
    condense(data, 20, **COX, rng=np.random.default_rng(0))
    assert all(np.array_equal(data.columns[n], before.columns[n], equal_nan=True) for n in data.columns)


def test_what_is_released_has_lost_its_order() -> None:
    _, result = made("improved", 20, **COX)
    released = result.shuffled(np.random.default_rng(1))
    assert Counter(released.columns["time"].tolist()) == Counter(result.data.columns["time"].tolist())
    assert not np.array_equal(released.columns["status"], result.data.columns["status"])


def test_the_response_pulls_clusters_together() -> None:
    data = cohort()

    def spread(weight: float) -> float:
        labels = condense(data, 20, response="time", weight=weight, rng=np.random.default_rng(0)).labels
        times = data.columns["time"]
        means = np.bincount(labels, times) / np.bincount(labels)
        return float(np.square(times - means[labels]).sum())

    assert spread(0.9) < spread(0.5) < spread(0.1)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Microdata, int]:
    records, k = draw(st.integers(3, 40)), draw(st.integers(3, 8))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    variables: list[Variable] = []
    columns: dict[str, np.ndarray] = {}
    for place in range(draw(st.integers(1, 6))):
        name, kind = f"c{place}", draw(st.sampled_from(["number", "integer", "category", "boolean"]))
        different = draw(st.sampled_from([1, 2, 3, 30]))
        codes = random.integers(0, 2 if kind == "boolean" else different, records)
        missing = random.random(records) < draw(st.sampled_from([0.0, 0.3, 1.0]))
        if kind in ("category", "boolean"):
            variables.append(Variable(name, kind, size=different))
            columns[name] = np.where(missing, -1, codes)
        else:
            scale = 1.0 if kind == "integer" else draw(st.sampled_from([1e-9, 0.37, 1e12]))
            bounded = draw(st.booleans())
            low, high = (0.0, float(codes.max() * scale)) if bounded else (None, None)
            variables.append(Variable(name, kind, low, high))
            columns[name] = np.where(missing, np.nan, codes * scale)
    return Microdata(tuple(variables), columns), min(k, records)


@settings(max_examples=cases(120))
@given(tables(), st.sampled_from(METHODS.names()), st.integers(0, 9))
def test_any_table(table: tuple[Microdata, int], method: str, seed: int) -> None:
    data, k = table
    known = [np.count_nonzero(~np.isnan(data.columns[v.name])) for v in data.variables if v.is_number]
    assume(not any(0 < count < k for count in known))
    result = condense(data, k, method=method, rng=np.random.default_rng(seed))
    assert min(Counter(result.labels.tolist()).values()) >= k
    check_permissible(data, result)
    if method in DRAWN:
        check_moments(data, result)
        for variable in data.variables:
            before, after = data.columns[variable.name], result.data.columns[variable.name]
            if not variable.is_number:
                assert by_cluster(result.labels, before) == by_cluster(result.labels, after)
            elif variable.kind == "integer" and not np.isnan(before).any():
                assert np.array_equal(np.bincount(result.labels, before), np.bincount(result.labels, after))
            assert np.isnan(before).sum() == np.isnan(after).sum()
