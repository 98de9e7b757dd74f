"""Measures of risk against the sums that define them."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.anonymise.class_disclosure import (
    LIKELY,
    ClassDisclosure,
    fence,
    narrow_hulls,
    quantiles,
    shared_values,
)


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

    assert shared_values(classes, values, counts) == (ClassDisclosure(*same), ClassDisclosure(*likely))


def test_narrow_hulls_leave_classes_without_values_alone() -> None:
    low, high = np.array([1.0, 1.0, np.nan]), np.array([9.0, 11.0, np.nan])
    assert narrow_hulls(np.array([5, 6, 7]), low, high, 10) == ClassDisclosure(1, 5)


def test_quantiles_and_fence_count_records() -> None:
    values, counts = np.array([5.0, 1.0, 3.0]), np.array([1, 2, 5])
    assert quantiles(values, counts) == (1.0, 3.0, 3.0)
    assert quantiles(values, counts, [1.0]) == (5.0,)
    assert fence(values, counts) == 3.0 + 1.5 * 2.0
    assert quantiles(np.zeros(0), np.zeros(0, dtype=np.int64)) == (0.0, 0.0, 0.0)
