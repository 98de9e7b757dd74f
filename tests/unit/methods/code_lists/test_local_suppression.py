"""k^m by hiding codes in single records: sets of items counted by brute force, and nothing false about anybody."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.code_policies import CodePrivacy, CodeUtility
from querygate.methods.code_lists.least_frequent import least_frequent
from querygate.methods.code_lists.local_suppression import suppressed_locally
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists.brute import held_sets
from tests.unit.methods.code_lists.test_local_km import drawn


@each("seed", seeds(24))
def test_every_set_of_items_is_of_k_records_and_true(seed: int) -> None:
    baskets, k, m = drawn(seed), 2 + seed % 5, 1 + seed % 3
    made = suppressed_locally(baskets, [], k, m)
    assert all(number >= k for number in held_sets(made.published.lists(), m).values())
    for held, items in zip(baskets.lists(), made.published.lists(), strict=True):
        groups = [set(made.groups[item]) for item in items]
        assert set(held) <= set().union(*groups)
        assert all(group & set(held) for group in groups)


def test_a_code_is_told_where_it_is_common_and_hidden_where_it_is_not() -> None:
    """Suppressed everywhere, 2 would be lost for ten people because of two."""
    baskets = Baskets.of([[2, 3]] * 10 + [[0, 1]] * 10 + [[0, 2], [0, 2]], 4)
    made = suppressed_locally(baskets, [], 3, 2)
    told = [{made.groups[item] for item in items} for items in made.published.lists()]
    assert told[:10] == [{(2,), (3,)}] * 10
    items = least_frequent(baskets, 3, CodePrivacy((), upto=2), CodeUtility(()))
    assert not {(0,), (2,)} <= set(items.groups())


def test_where_few_hide_anything_the_rarest_code_goes_wholly() -> None:
    made = suppressed_locally(Baskets.of([[0]] * 5 + [[1]] * 3 + [[2]], 3), [], 3, 1)
    assert [made.groups[item] for (item,) in made.published.lists()[5:]] == [(1, 2)] * 4


@pytest.mark.parametrize("lists", [[], [[], []], [[0]] * 3, [[0, 1], [1, 0]], [[0], [1], []]])
def test_hostile_lists(lists: list[list[int]]) -> None:
    made = suppressed_locally(Baskets.of(lists, 2), [], 2, 2)
    assert all(number >= 2 for number in held_sets(made.published.lists(), 2).values())
    assert made.published.records == len(lists)
    assert 0 <= made.loss <= 1


def test_bad_arguments() -> None:
    with pytest.raises(Unprotectable):
        suppressed_locally(Baskets.of([[0], []], 1), [], 2, 1)
    with pytest.raises(ValueError, match="m is at least 1"):
        suppressed_locally(Baskets.of([[0], [0]], 1), [np.arange(1)], 2, 0)
