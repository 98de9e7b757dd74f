"""UGACLIP, ACLIP and least-frequent suppression: golden records, promises on random ones, and odd input."""

from __future__ import annotations

import math

import pytest

from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets
from querygate.methods.code_lists.cba import cba
from querygate.methods.code_lists.code_methods import METHODS
from querygate.methods.code_lists.code_policies import CodePrivacy, CodeUtility
from querygate.methods.code_lists.code_tree import CodeTree
from querygate.methods.code_lists.least_frequent import least_frequent
from querygate.methods.code_lists.ugaclip import aclip, ugaclip
from querygate.methods.code_lists.unprotectable import Unprotectable
from querygate.methods.code_lists.utility_loss import log_loss, total
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists import brute
from tests.unit.methods.code_lists.violations import breaches
from tests.unit.methods.code_lists.worlds import (
    CODES,
    GOLDEN,
    GOLDEN_PRIVACY,
    GOLDEN_UTILITY,
    from_diseases,
    from_visits,
    items_as_texts,
    world,
)

POLICY_METHODS = [name for name in METHODS.names() if METHODS.get(name).kind == "policy"]


@pytest.mark.parametrize("method", ["ugaclip", "cba"])
def test_golden_records(method):
    items = METHODS.get(method).run(GOLDEN, 2, GOLDEN_PRIVACY, GOLDEN_UTILITY)
    names = [tuple(CODES[code] for code in codes) for codes in items.groups()]
    assert [[names[item] for item in record] for record in items.publish(GOLDEN).lists()] == [
        [("296.00", "296.01"), ("296.02",)],
        [("295.00",), ("295.01",), ("295.02",)],
        [("296.00", "296.01"), ("296.02",)],
    ]


@each("method", POLICY_METHODS)
@each("seed", seeds(40))
def test_the_policies_are_met(method, seed):
    made = world(seed)
    items = METHODS.get(method).run(made.baskets, made.k, made.privacy, made.utility)
    texts = items_as_texts(items)
    assert brute.disjoint(texts)
    assert not brute.unsafe(made.records(), texts, made.policy(), made.k, residue=made.privacy.residue)
    assert not brute.unsafe(made.records(), texts, made.policy(), made.k, residue=False)
    if method != "aclip":
        assert breaches(made.utility, items) == ()


@each("method", POLICY_METHODS)
@each("seed", seeds(12))
def test_all_itemsets_up_to_m_beside_a_list(method, seed):
    made = world(seed)
    policy = CodePrivacy(made.privacy.itemsets, upto=2)
    texts = items_as_texts(METHODS.get(method).run(made.baskets, made.k, policy, made.utility))
    every = brute.all_sets((f"c{code}" for code in range(made.baskets.size)), 2)
    assert not brute.unsafe(made.records(), texts, [*every, *made.policy()], made.k, residue=True)


@pytest.mark.parametrize("method", POLICY_METHODS)
def test_what_is_safe_stays_as_it_is(method):
    baskets = Baskets.of([[0, 1, 2], [0, 1], [], [0]], size=4)
    run = METHODS.get(method).run
    assert run(baskets, 2, CodePrivacy(((0, 1), (2, 3))), CodeUtility.together(4)).of.tolist() == [0, 1, 2, 3]
    assert run(baskets, 2, CodePrivacy(), CodeUtility()).of.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("method", POLICY_METHODS)
def test_an_itemset_of_thirty_codes(method):
    baskets = Baskets.of([range(30), range(15), range(15, 30)], size=31)
    items = METHODS.get(method).run(baskets, 2, CodePrivacy((tuple(range(30)),)), CodeUtility.together(31))
    records = [{f"c{code}" for code in record} for record in baskets.lists()]
    policy = [{f"c{code}" for code in range(30)}]
    assert not brute.unsafe(records, items_as_texts(items), policy, 2, residue=True)
    assert items.of[30] != SUPPRESSED


@pytest.mark.parametrize("method", ["ugaclip", "cba", "least-frequent"])
def test_a_code_in_every_record_is_published_as_it_is(method):
    baskets = Baskets.of([[0, code] for code in range(1, 6)], size=6)
    items = METHODS.get(method).run(baskets, 3, from_visits(baskets.lists()), CodeUtility())
    assert items.groups() == [(0,)]


@pytest.mark.parametrize("method", POLICY_METHODS)
@pytest.mark.parametrize(
    ("k", "privacy", "utility"),
    [
        (4, GOLDEN_PRIVACY, GOLDEN_UTILITY),
        (0, GOLDEN_PRIVACY, GOLDEN_UTILITY),
        (2, CodePrivacy(((0, 6),)), GOLDEN_UTILITY),
        (2, GOLDEN_PRIVACY, CodeUtility(((0, 6),))),
    ],
)
def test_what_cannot_be_followed_is_refused(method, k, privacy, utility):
    with pytest.raises(Unprotectable):
        METHODS.get(method).run(GOLDEN, k, privacy, utility)


def test_aclip_joins_any_codes():
    items = aclip(GOLDEN, 2, GOLDEN_PRIVACY, CodeUtility())
    assert all(item != SUPPRESSED for item in items.of.tolist())
    assert breaches(GOLDEN_UTILITY, items)


def test_least_frequent_suppresses_a_shortest_run_of_the_rarest():
    baskets = Baskets.of([[0, 1, 2], [0, 1], [0, 2], [0, 1, 3]], size=4)
    assert least_frequent(baskets, 2, CodePrivacy(((0, 1, 2),)), CodeUtility()).groups() == [(0,), (1,)]
    assert least_frequent(baskets, 2, CodePrivacy(((0, 3),)), CodeUtility()).groups() == [(0,), (1,), (2,)]


def test_weights_move_the_choice_of_a_partner():
    baskets = Baskets.of([[0, 3], [1, 3], [1, 3], [2, 3], [2, 3], [2, 3]], size=4)
    policy, group = CodePrivacy(((0, 3),)), CodeUtility(((0, 1, 2),))
    assert (0, 1) in ugaclip(baskets, 2, policy, group).groups()
    tree = CodeTree.of([("a1", "a", "*"), ("b1", "b", "*"), ("b2", "b", "*"), ("c1", "c", "*")])
    assert tree.spread([1, 2]) < tree.spread([0, 1])
    turned = CodePrivacy(((1, 3),))
    assert (0, 1) in ugaclip(baskets, 3, turned, group).groups()
    assert (1, 2) in ugaclip(baskets, 3, turned, group, weights=tree.spread).groups()


def test_losses_are_compared_where_numbers_end():
    assert log_loss(2, 2, 3, 6) == pytest.approx(math.log2(3 / 63 * 2 / 3))
    assert log_loss(3000, 5, 10, 5000) == pytest.approx(3000 - 5000 - 1)
    assert log_loss(2, 4, 10, 5000) > log_loss(2, 3, 10, 5000)
    assert log_loss(2, 0, 10, 5000) == log_loss(2, 5, 10, 5000, weight=0.0) == -math.inf
    assert total([]) == -math.inf
    assert total([-math.inf, 3.0, 3.0]) == 4.0


@pytest.mark.parametrize("method", [ugaclip, cba])
def test_spared_codes_are_given_up_last(method):
    """{0, 1} must lose a code. Code 0 is rarer, and goes unless it is spared."""
    baskets = Baskets.of([[0, 1], [0], *[[1]] * 3], size=2)
    policy = CodePrivacy(((0, 1),))
    assert method(baskets, 2, policy, CodeUtility()).of.tolist() == [SUPPRESSED, 0]
    assert method(baskets, 2, policy, CodeUtility(spared=frozenset({0}))).of.tolist() == [0, SUPPRESSED]


@each("method", [ugaclip, cba])
@each("seed", seeds(20))
def test_sparing_keeps_the_promise(seed, method):
    made = world(seed)
    spared = from_diseases(made.utility.groups[:2], rest=made.utility, spare=True)
    items = method(made.baskets, made.k, made.privacy, spared)
    texts = items_as_texts(items)
    assert not brute.unsafe(made.records(), texts, made.policy(), made.k, residue=made.privacy.residue)
    assert not breaches(spared, items)
