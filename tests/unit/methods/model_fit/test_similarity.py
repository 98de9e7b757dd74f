"""Distances of distributions and correlations, against scipy and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from querygate.methods.model_fit import similarity
from querygate.methods.model_fit.similarity import correlations, ks_distance, total_variation


def test_numbers_by_kolmogorov_and_smirnov() -> None:
    random = np.random.default_rng(1)
    before, after = random.normal(size=500).round(1), random.normal(0.3, 1.2, size=300).round(1)
    assert ks_distance(before, after) == pytest.approx(ks_2samp(before, after).statistic)
    assert ks_distance(before, before) == 0


def test_missing_values_count() -> None:
    full = np.arange(10.0)
    assert ks_distance(full, np.where(full > 7, np.nan, full)) == pytest.approx(0.2)
    texts = np.array(["a", "a", "b", None], dtype=object)
    assert total_variation(texts, np.array(["a", "a", "b", "b"])) == pytest.approx(0.25)


def test_correlations_are_those_of_numpy() -> None:
    values = np.random.default_rng(2).normal(size=(50, 4)) @ np.array(
        [[1, 0, 2, 0], [0, 1, 1, 0], [0, 0, 1, 3], [1, 1, 0, 1]]
    )
    np.testing.assert_allclose(correlations(values), np.corrcoef(values, rowvar=False))


def test_correlations_of_pairs_that_are_there() -> None:
    x = np.array([1.0, 2, 3, 4, np.nan])
    found = correlations(np.column_stack([x, 2 * x, np.array([4, 3, 2, 1, 100]), np.ones(5)]))
    np.testing.assert_allclose(found[0], [1, 1, -1, 0])


def test_similarity_of_a_table() -> None:
    before: dict[str, Any] = {"age": np.arange(8.0), "sex": np.array(["F", "M"] * 4), "grade": np.array([1, 2] * 4)}
    after = before | {"sex": np.array(["F"] * 4 + ["M"] * 4)}
    found = similarity(before, after, {"sex": ("F", "M"), "grade": ("1", "2")})
    assert found.distances == {"age": 0, "sex": 0, "grade": 0}
    assert found.names == ("age", "sex[F]", "sex[M]", "grade[1]", "grade[2]")
    assert found.before[2, 4] == pytest.approx(1)
    assert found.largest_difference == pytest.approx(1)
    assert found.difference[0, 3] == 0
    assert similarity(before, after, {}, ["age"]).names == ("age",)


def test_correlations_of_all_pairs_at_once_are_those_of_each_pair() -> None:
    chance = np.random.default_rng(3)
    values = chance.normal(1e6, 1, (60, 8)) @ chance.normal(0, 1, (8, 8)) + 1e6
    values[:, 3] = 7.25
    values[:, 4] = chance.random(60) < 0.1
    values[chance.random(values.shape) < 0.3] = np.nan
    found = correlations(values)
    for i in range(8):
        for j in range(8):
            both = np.isfinite(values[:, i]) & np.isfinite(values[:, j])
            x, y = values[both, i], values[both, j]
            constant = i != j and (np.ptp(x) == 0 or np.ptp(y) == 0)
            wanted = 1.0 if i == j else 0.0 if constant else np.corrcoef(x, y)[0, 1]
            assert found[i, j] == pytest.approx(wanted, abs=1e-6)


def test_of_many_levels_the_frequent_ones_are_told() -> None:
    before = {"zip": np.array([f"{i % 70:02d}" for i in range(100)] + ["69"] * 5)}
    found = similarity(before, before, {"zip": tuple(f"{i:02d}" for i in range(70))})
    assert len(found.names) == 20
    assert "zip[69]" in found.names
    assert found.largest_difference == 0
