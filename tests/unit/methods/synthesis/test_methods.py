"""Groupings and centroids by hand, and pieces against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, minimize

from querygate.methods.synthesis import Microdata, Variable, condense
from querygate.methods.synthesis.cluster_sums import Clusters
from querygate.methods.synthesis.kmeans import kmeans_of_least
from querygate.methods.synthesis.mdav import mdav
from querygate.methods.synthesis.parts import parts
from querygate.methods.synthesis.permitted_values import _assign
from querygate.methods.synthesis.random_groups import random_groups
from querygate.methods.synthesis.record_points import encode
from querygate.methods.synthesis.swap import exchanged
from querygate.methods.synthesis.tfrp import _dissolved, tfrp
from querygate.methods.synthesis.value_bounds import bounded, shifted, whole


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def error(points: np.ndarray, labels: np.ndarray) -> float:
    return sum(float(np.square(p - p.mean(axis=0)).sum()) for p in (points[labels == g] for g in np.unique(labels)))


def test_mdav_by_hand() -> None:
    """Nine places on a line, k = 3: 0 1 2 | 10 11 13 | 20 21 29.

    Their mean is 11.9. Farthest from it is 29, with 21 and 20 nearest; farthest from 29 is 0, with 1 and 2 nearest. The
    three left are fewer than 2k and stay together.
    """
    points = np.array([[10.0], [0], [29], [1], [20], [11], [2], [21], [13]])
    assert mdav(points, 3).tolist() == [2, 1, 0, 1, 0, 2, 1, 0, 2]


def test_mdav_between_two_and_three_k_makes_two_groups() -> None:
    """Mean of 0 1 2 3 10 is 3.2: farthest is 10, with 3 nearest; the other three are the last group."""
    assert mdav(np.array([[0.0], [1], [2], [3], [10]]), 2).tolist() == [1, 1, 1, 0, 0]


def test_mdav_masks_with_means_and_modes() -> None:
    data = Microdata(
        (Variable("x", "integer", 0, 100), Variable("y", "number"), Variable("c", "category", size=9)),
        {
            "x": np.array([1.0, 2, 5, 81, 80, 82]),
            "y": np.array([0.5, np.nan, 1.0, np.nan, np.nan, 7.0]),
            "c": np.array([4, 4, 2, 8, 1, -1]),
        },
    )
    result = condense(data, 3, method="mdav", rng=rng())
    assert result.data.columns["x"].tolist() == [3, 3, 3, 81, 81, 81]
    assert result.data.columns["y"][:3].tolist() == [0.75] * 3
    assert np.isnan(result.data.columns["y"][3:]).all()
    assert result.data.columns["c"].tolist() == [4, 4, 4, -1, -1, -1]
    means = [encode(data).matrix[:3].mean(axis=0), encode(data).matrix[3:].mean(axis=0)]
    assert np.allclose(result.raw, np.repeat(means, 3, axis=0))


def test_tfrp_by_hand() -> None:
    """Corners 0 and 29. Farthest from 0 is 29, with 21 and 20; farthest from 29 is 0, with 1 and 2; then 13, 11, 10."""
    points = np.array([[10.0], [0], [29], [1], [20], [11], [2], [21], [13]])
    assert tfrp(points, 3).tolist() == [2, 1, 0, 1, 0, 2, 1, 0, 2]


def test_tfrp_dissolves_a_group_whose_members_are_nearer_to_others() -> None:
    points = np.array([[0.0], [0.2], [10.0], [10.2], [0.1], [10.1]])
    assert _dissolved(points, np.array([0, 0, 1, 1, 2, 2])).tolist() == [0, 0, 1, 1, 0, 1]


@pytest.mark.parametrize("seed", range(8))
def test_tfrp_never_loses_by_its_second_phase(seed: int) -> None:
    random = np.random.default_rng(seed)
    points, labels = random.normal(size=(72, 3)).round(1), random.permutation(np.arange(72) % 18)
    better = _dissolved(points, labels)
    assert np.bincount(better).min() >= 4
    assert error(points, better) < error(points, labels)


def test_condensation_groups_are_seeds_with_their_nearest() -> None:
    points = np.array([[0.0], [1], [2], [50], [51], [52], [100], [101], [102], [53]])
    for seed in range(6):
        labels = random_groups(points, 3, np.random.default_rng(seed))
        assert sorted(np.bincount(labels).tolist()) == [3, 3, 4]


def test_k_means_finds_groups_that_stand_apart() -> None:
    random = rng()
    truth = np.repeat(np.arange(12), 25)
    points = random.permutation(12)[truth][:, None] * 100.0 + random.normal(size=(300, 2))
    labels = kmeans_of_least(points, 25, random)
    assert all(np.unique(truth[labels == g]).size == 1 for g in range(12))


def test_k_means_of_equal_points_still_has_sizes() -> None:
    labels = kmeans_of_least(np.zeros((17, 2)), 4, rng())
    assert sorted(np.bincount(labels).tolist()) == [4, 4, 4, 5]


@pytest.mark.parametrize("seed", range(5))
def test_exchanges_keep_sizes_and_lower_the_error(seed: int) -> None:
    random = np.random.default_rng(seed)
    points, labels = random.normal(size=(200, 3)), random.permutation(np.arange(200) % 9)
    better = exchanged(points, labels)
    assert np.array_equal(np.bincount(better), np.bincount(labels))
    assert error(points, better) < 0.7 * error(points, labels)


def test_parts_cover_all_and_are_small() -> None:
    points = rng().normal(size=(1001, 4))
    found = list(parts(points, 100))
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(1001))
    assert max(map(len, found)) <= 100
    assert min(map(len, found)) >= 50
    assert sum(error(points[rows], np.zeros(len(rows))) for rows in found) < 0.6 * error(points, np.zeros(1001))


def test_many_records_go_in_parts_and_keep_the_promise() -> None:
    random = rng()
    data = Microdata(
        (Variable("x", "number"), Variable("y", "number")),
        {"x": random.normal(size=2000), "y": random.exponential(size=2000)},
    )
    labels = condense(data, 3, rng=random).labels  # 200 clusters of 3 are a part
    sizes = np.bincount(labels)
    assert sizes.min() >= 3
    assert sizes.max() < 6


@pytest.mark.parametrize("seed", range(6))
def test_shifted_values_are_the_nearest_with_that_mean(seed: int) -> None:
    values = np.random.default_rng(seed).normal(2, 3, 8)
    mean = float(np.clip(values.mean(), 0.2, 4.8))
    found = shifted(values, Clusters(np.zeros(8, dtype=np.int64)), np.array([mean]), 0.0, 5.0)
    plane = {"type": "eq", "fun": lambda x: x.mean() - mean}
    best = minimize(lambda x: np.square(x - values).sum(), np.full(8, mean), bounds=[(0, 5)] * 8, constraints=plane)
    assert np.allclose(found, best.x, atol=1e-3)
    assert found.mean() == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_bounded_values_keep_mean_and_spread(seed: int) -> None:
    values = np.random.default_rng(seed).normal(1.5, 2.0, 100)
    found = bounded(values, Clusters(np.zeros(100, dtype=np.int64)), np.array([1.5]), 0.0, 50.0)
    assert found.min() == 0
    assert found.mean() == pytest.approx(1.5, rel=1e-12)
    assert found.std() == pytest.approx(values.std(), rel=0.01)
    assert np.all(np.diff(found[np.argsort(values)]) >= 0)


def test_whole_numbers_keep_the_sum() -> None:
    clusters = Clusters(np.array([0, 0, 0, 1, 1]))
    found = whole(np.array([1.4, 1.4, 1.2, 5.0, 6.0]), clusters, np.array([4.0, 11.0]), 0.0, 9.0)
    assert found.tolist() == [2, 1, 1, 5, 6]


@pytest.mark.parametrize("seed", range(6))
def test_categories_go_nearly_to_those_that_lean_to_them_most(seed: int) -> None:
    random = np.random.default_rng(seed)
    scores, counts = random.normal(size=(30, 3)), np.array([[14, 10, 6]])
    given = _assign(scores, counts, Clusters(np.zeros(30, dtype=np.int64)))
    assert np.bincount(given).tolist() == [14, 10, 6]
    places = np.repeat(np.arange(3), counts[0])
    best = scores[:, places][linear_sum_assignment(-scores[:, places])].sum()
    assert scores[np.arange(30), given].sum() > 0.93 * best


def test_two_categories_go_exactly_to_those() -> None:
    scores = rng().normal(size=(20, 2))
    given = _assign(scores, np.array([[12, 8]]), Clusters(np.zeros(20, dtype=np.int64)))
    lean = scores[:, 1] - scores[:, 0]
    assert set(np.flatnonzero(given == 1)) == set(np.argsort(lean)[-8:])


def test_whole_numbers_of_few_values_are_kept_as_categories_are() -> None:
    random = rng()
    grades = random.choice([1.0, 2, 4, np.nan], 90)
    data = Microdata(
        (Variable("grade", "integer", 1, 4), Variable("x", "number")), {"grade": grades, "x": random.normal(size=90)}
    )
    result = condense(data, 15, rng=random)
    for label in range(result.labels.max() + 1):
        before, after = (np.sort(c[result.labels == label]) for c in (grades, result.data.columns["grade"]))
        assert np.array_equal(before, after, equal_nan=True)
