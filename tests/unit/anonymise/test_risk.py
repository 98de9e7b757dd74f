"""Measures of risk against the sums that define them."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.anonymise.risk import (
    LIKELY,
    THRESHOLDS,
    Told,
    fence,
    journalist,
    marketer,
    narrow_hulls,
    prosecutor,
    quantiles,
    shared_values,
)


@pytest.mark.parametrize("seed", range(5))
def test_risks_are_means_over_records(seed: int) -> None:
    chance = np.random.default_rng(seed)
    sizes = chance.integers(1, 40, 30)
    people = sizes + chance.integers(0, 100, 30)
    for found, among in ((prosecutor(sizes), sizes), (journalist(sizes, people), people)):
        each = [1 / n for size, n in zip(sizes.tolist(), among.tolist(), strict=True) for _ in range(size)]
        assert found.greatest == max(each)
        assert found.average == pytest.approx(np.mean(each))
        for limit in THRESHOLDS:
            assert found.above[limit] == pytest.approx(np.mean([risk > limit for risk in each]))
    assert prosecutor(sizes).average == pytest.approx(sizes.size / sizes.sum())
    assert marketer(sizes) == prosecutor(sizes).average
    assert marketer(sizes, people) == pytest.approx(float((sizes / people).sum()) / sizes.sum())


def test_a_class_of_exactly_twenty_is_not_above_one_in_twenty() -> None:
    assert prosecutor(np.array([20, 5])).above == {1 / 20: 0.2, 1 / 5: 0.0}


def test_nobody_is_found_where_nobody_matches() -> None:
    assert journalist(np.array([5, 5]), np.array([0, 10])).average == pytest.approx(0.05)
    assert prosecutor(np.zeros(0, dtype=np.int64)).greatest == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_shared_values(seed: int) -> None:
    chance = np.random.default_rng(seed)
    classes, values = chance.integers(0, 12, 60), chance.integers(0, 3, 60)
    classes[:12] = np.arange(12)
    counts = chance.integers(1, 9, 60)
    same, likely = [0, 0], [0, 0]
    for label in range(12):
        members = classes == label
        held = [int(counts[members & (values == value)].sum()) for value in range(3)]
        if max(held) == sum(held):
            same = [same[0] + 1, same[1] + sum(held)]
        if max(held) >= LIKELY * sum(held):
            likely = [likely[0] + 1, likely[1] + sum(held)]

    assert shared_values(classes, values, counts) == (Told(*same), Told(*likely))


def test_narrow_hulls_leave_classes_without_values_alone() -> None:
    low, high = np.array([1.0, 1.0, np.nan]), np.array([9.0, 11.0, np.nan])
    assert narrow_hulls(np.array([5, 6, 7]), low, high, 10) == Told(1, 5)


def test_quantiles_and_fence_count_records() -> None:
    values, counts = np.array([5.0, 1.0, 3.0]), np.array([1, 2, 5])
    assert quantiles(values, counts) == (1.0, 3.0, 3.0)
    assert quantiles(values, counts, [1.0]) == (5.0,)
    assert fence(values, counts) == 3.0 + 1.5 * 2.0
    assert quantiles(np.zeros(0), np.zeros(0, dtype=np.int64)) == (0.0, 0.0, 0.0)
