from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from querygate.methods.audit.differencing_pairs import near_pairs, nested_pairs, packed
from querygate.methods.audit.small_groups import examine
from querygate.methods.audit.totals import QueryTotal
from tests.each import each
from tests.seeds import seeds
from tests.work import count_calls


@each("seed", seeds(100))
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


@pytest.mark.parametrize("seed", seeds(12))
def test_nested_pairs_are_the_near_pairs_one_of_which_is_within_the_other(seed: int) -> None:
    random = np.random.default_rng(seed)
    places, k = int(random.integers(1, 40)), int(random.integers(1, 7))
    weights = random.integers(0, 4, places)
    sets = random.random((60, places)) < random.choice([0.05, 0.3, 0.9], 60)[:, None]
    sets[1::3] = sets[::3] | (random.random((20, places)) < 0.1)
    sets &= weights > 0
    expected = [
        [i, j]
        for i, j in combinations(range(60), 2)
        if 0 < (sets[i] ^ sets[j]) @ weights < k and (sets[i] <= sets[j]).all() | (sets[j] <= sets[i]).all()
    ]
    assert nested_pairs(sets, weights, k).tolist() == expected


def test_groups_of_one_record_are_not_compared_with_each_other() -> None:
    """What GROUP BY makes of a table: each of its groups is few by itself, and no two have a record in common."""
    totals = [QueryTotal("q", "u", "sbp", one) for one in np.eye(200, dtype=bool)]
    (found, _, _), calls = count_calls(lambda: examine(totals, {"sbp": np.ones(200, dtype=np.int64)}, 5))
    assert len(found) == 200
    assert calls < 200 * 1000
