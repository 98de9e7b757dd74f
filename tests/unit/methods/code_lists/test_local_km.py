"""k^m by local recoding: the paper's example, and sets of items counted by brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.km.local_km import gray_order, local_km
from querygate.methods.code_lists.subtrees import halved
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.unit.methods.code_lists.brute import held_sets

LEVELS = [np.arange(8), np.array([0, 0, 0, 1, 1, 2, 2, 2]), np.zeros(8, dtype=np.int64)]


def test_the_example_of_the_paper() -> None:
    """Terrovitis, Mamoulis, Kalnis 2008 and 2011: a1 and a2 become A, and b1 and b2 stay; k = 2, m = 2."""
    levels = [np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)]
    made = local_km(Baskets.of([[0, 2, 3], [1, 2], [1, 2, 3], [0, 1, 3]], 4), levels, 2, 2)
    told = [{made.groups[item] for item in items} for items in made.published.lists()]
    a, b1, b2 = (0, 1), (2,), (3,)
    assert told == [{a, b1, b2}, {a, b1}, {a, b1, b2}, {a, b2}]


def drawn(seed: int) -> Baskets:
    """Empty lists, twins, a code that nearly all have, and rare ones."""
    rng = np.random.default_rng(seed)
    share = np.array([0.9, 0.5, 0.3, 0.3, 0.1, 0.05, 0.02, 0.02])
    lists = [np.flatnonzero(rng.random(8) < share).tolist() for _ in range(int(rng.integers(20, 120)))]
    return Baskets.of([*lists, [], [], lists[0], list(range(8))], 8)


@pytest.mark.parametrize("seed", range(10))
def test_every_set_of_items_is_of_k_records_and_covers_what_was_there(seed: int) -> None:
    baskets, k, m = drawn(seed), 2 + seed % 4, 1 + seed % 3
    made = local_km(baskets, halved(LEVELS), k, m)
    assert all(number >= k for number in held_sets(made.published.lists(), m).values())
    for held, items in zip(baskets.lists(), made.published.lists(), strict=True):
        groups = [set(made.groups[item]) for item in items]
        assert set(held) <= set().union(*groups)
        assert all(group & set(held) for group in groups)


def test_it_loses_no_more_than_one_recoding_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of records that are alike: what is rare in all of them together is frequent in its own."""
    baskets = Baskets.of([[0, 3], [0, 3, 4]] * 10 + [[5, 6]] * 20 + [[1, 7], [1, 6, 7]] * 10, 8)
    local = local_km(baskets, halved(LEVELS), 8, 2).loss
    monkeypatch.setattr("querygate.methods.code_lists.km.local_km.PARTS", (1,))
    assert local <= local_km(baskets, halved(LEVELS), 8, 2).loss


def test_neighbours_differ_by_few_codes() -> None:
    every = Baskets.of([[i for i in range(4) if n >> i & 1] for n in range(16)], 4)
    lists = every.lists()
    order = [set(lists[i]) for i in gray_order(every).tolist()]
    assert all(len(one ^ other) == 1 for one, other in pairwise(order))


def test_too_few_records_with_codes_are_refused() -> None:
    with pytest.raises(Unprotectable):
        local_km(Baskets.of([[0], [], []], 8), LEVELS, 3, 2)
