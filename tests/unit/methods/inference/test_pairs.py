from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.inference.set_pairs import near_pairs, packed


@pytest.mark.parametrize("seed", range(100))
def test_all_pairs_below_k_are_found_and_no_others(seed: int) -> None:
    random = np.random.default_rng(seed)
    places, number, k = random.integers(1, 40), random.integers(2, 12), int(random.integers(2, 9))
    base = random.random(places) < 0.5
    sets = np.array([base ^ (random.random(places) < random.choice([0.05, 0.3])) for _ in range(number)])
    weights = random.integers(1, 4, places)

    expected = [(i, j) for i in range(number) for j in range(i + 1, number) if 0 < weights[sets[i] ^ sets[j]].sum() < k]

    assert near_pairs(packed(sets), weights, k) == expected


def test_planted_twins_among_many_sets_are_found() -> None:
    random = np.random.default_rng(7)
    places, number, k = 3_000, 4_000, 10
    age, region = random.integers(0, 90, places), random.integers(0, 150, places)
    sets = np.empty((number, places), dtype=np.bool_)
    for row in sets:
        (a, b), (c, d) = np.sort(random.integers(0, 90, 2)), np.sort(random.integers(0, 150, 2))
        row[:] = (age >= a) & (age <= b) & (region >= c) & (region <= d)
    twins = random.choice(number, 200, replace=False)
    for one, other in twins.reshape(-1, 2):
        flipped = random.choice(places, random.integers(1, k), replace=False)
        sets[other] = sets[one]
        sets[other, flipped] ^= True

    found = set(near_pairs(packed(sets), np.ones(places, dtype=np.int64), k))

    assert {(min(i, j), max(i, j)) for i, j in twins.reshape(-1, 2).tolist()} <= found


def test_equal_sets_are_no_pair() -> None:
    sets = np.ones((3, 5), dtype=np.bool_)
    assert near_pairs(packed(sets), np.ones(5, dtype=np.int64), 4) == []
