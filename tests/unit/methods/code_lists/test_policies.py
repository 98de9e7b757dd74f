"""What a policy asks for, what it refuses, and that its violations are those of a checker that shares nothing."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets, Items
from querygate.methods.code_lists.code_policies import CodePrivacy, CodeUtility
from querygate.methods.code_lists.supports import Supports, rare_itemsets
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists import brute
from tests.unit.methods.code_lists.violations import breaches, violations
from tests.unit.methods.code_lists.worlds import GOLDEN, GOLDEN_PRIVACY, items_as_texts, numbers, world


def random_items(seed: int, size: int) -> Items:
    """Any items, numbered without a gap."""
    drawn = np.random.default_rng(seed).integers(-1, 4, size)
    kept = drawn >= 0
    items = np.full(size, SUPPRESSED, dtype=np.int64)
    items[kept] = np.unique(drawn[kept], return_inverse=True)[1]
    return Items(items)


def test_an_itemset_is_supported_by_items_that_cover_it():
    assert violations(GOLDEN, Items.unchanged(6), GOLDEN_PRIVACY, 2) == GOLDEN_PRIVACY.itemsets
    joined = Items(np.array([0, 1, 2, 3, 3, 4]))
    assert violations(GOLDEN, joined, GOLDEN_PRIVACY, 2) == ()
    assert brute.covered([{"a"}, {"c", "d"}], [frozenset("ab"), frozenset("c")]) == [{"a", "b"}, {"c"}]


def test_a_suppressed_code_leaves_no_support_but_what_is_left_can_be_looked_for():
    baskets = Baskets.of([[0, 1], [0]], size=2)
    without_0 = Items(np.array([SUPPRESSED, 0]))
    policy = CodePrivacy(((0, 1),))
    assert violations(baskets, without_0, policy.literal(), 2) == ()
    assert violations(baskets, without_0, policy, 2) == ((0, 1),)  # code 1 alone is of one record
    assert violations(baskets, Items(np.array([0, SUPPRESSED])), policy, 2) == ()


@each("seed", seeds(60))
def test_violations_are_those_of_the_brute_force_checker(seed):
    made = world(seed)
    items = random_items(seed, made.baskets.size)
    found = violations(made.baskets, items, made.privacy, made.k)
    covered = set().union(*items_as_texts(items))
    left = [{f"c{code}" for code in itemset} for itemset in found]
    expected = brute.unsafe(made.records(), items_as_texts(items), made.policy(), made.k, residue=made.privacy.residue)
    assert [one & covered if made.privacy.residue else one for one in left] == expected


@each("seed", seeds(20))
@each("most", [1, 2, 3])
def test_all_itemsets_up_to_m_are_those_of_the_brute_force_checker(seed, most):
    made = world(seed)
    items = random_items(seed, made.baskets.size)
    found = violations(made.baskets, items, CodePrivacy(upto=most), made.k)
    every = brute.all_sets((f"c{code}" for code in range(made.baskets.size)), most)
    expected = brute.unsafe(made.records(), items_as_texts(items), every, made.k, residue=False)
    assert bool(found) == bool(expected)
    assert all({f"c{code}" for code in itemset} in expected for itemset in found)


def test_itemsets_are_sorted_and_kept_once():
    policy = CodePrivacy(((3, 1), (1, 3), (1,)))
    assert policy.itemsets == ((1, 3), (1,))
    assert policy.residue


def test_supports_follow_merging_and_suppression():
    supports = Supports(Baskets.of([[0, 1], [1, 2], [3], []], size=4))
    assert [supports.of(one) for one in ((0,), (0, 1), (0, 2), (3, 3))] == [1, 1, 0, 1]
    supports.merge(0, 3)
    assert (supports.of((0,)), supports.of((0, 3)), supports.of((1, 3))) == (2, 2, 1)
    supports.suppress(0)
    assert supports.of((3,)) == supports.of((1, 3)) == 0
    assert supports.items().of.tolist() == [SUPPRESSED, 0, 1, SUPPRESSED]


def test_groups_by_level_and_by_hand():
    level = CodeUtility.by_level(["295", "295", "296", None])
    assert level.of(4).tolist() == [0, 0, 1, 2]
    assert breaches(CodeUtility(((0, 1),)), Items(np.array([0, 0, 1, 1]))) == ((2, 3),)
    assert breaches(CodeUtility(((0, 1), (2, 3))), Items(np.array([0, 0, 1, 1]))) == ()


def test_contradictory_groups_are_refused():
    with pytest.raises(Unprotectable, match="Groups 0 and 1 both have code 3") as refused:
        CodeUtility((numbers({"296.00", "296.01"}), numbers({"296.00", "296.02"})))
    assert "Merge the two groups" in refused.value.remedy


@pytest.mark.parametrize(
    "refused",
    [
        lambda: CodePrivacy(((0,), ())),
        lambda: CodePrivacy(upto=-1),
        lambda: CodePrivacy(((0, 6),)).check(GOLDEN, 2),
        lambda: CodePrivacy(((-1, 2),)).check(GOLDEN, 2),
        lambda: CodeUtility(((0, 9),)).of(6),
        lambda: CodePrivacy().check(GOLDEN, 4),
        lambda: CodePrivacy().check(GOLDEN, 0),
        lambda: CodePrivacy().check(Baskets.of([], size=3), 1),
    ],
)
def test_what_cannot_be_meant_is_refused(refused):
    with pytest.raises(Unprotectable) as error:
        refused()
    assert error.value.reason
    assert error.value.remedy


def test_more_sets_than_can_be_counted_are_refused():
    wide = Baskets.of([range(300)] * 3, size=300)
    with pytest.raises(Unprotectable, match="more than"):
        violations(wide, Items.unchanged(300), CodePrivacy(upto=6), 2)


def test_rare_itemsets_are_of_the_smallest_size():
    baskets = Baskets.of([[0, 1, 2], [0, 1], [0, 2], [1, 2]], size=3)
    assert rare_itemsets(baskets, 3, 2) == [(0, 1, 2)]
    assert rare_itemsets(baskets, 2, 2) == []
    assert rare_itemsets(Baskets.of([[], []], size=3), 2, 2) == []
