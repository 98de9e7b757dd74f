"""Rules from public to sensitive codes under RBAT: supports counted record by record."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.sensitive_rules import SensitiveRule, rbat
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.bench.itemsets import balanced, groceries
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists.test_km import random_case


def unprotected(
    baskets: Baskets, items: Items, rules: Sequence[SensitiveRule], k: int, confidence: float
) -> list[SensitiveRule]:
    """Rules that tell too much: what is known is covered by items of a record, what is secret is in it."""
    groups = [set(codes) for codes in items.groups()]
    found = []
    records = [(set(codes), {i for i, group in enumerate(groups) if group & set(codes)}) for codes in baskets.lists()]
    for rule in rules:
        wanted = {i for i, group in enumerate(groups) if group & set(rule.known)}
        holders = [codes for codes, held in records if wanted <= held]
        told = sum(set(rule.secret) <= codes for codes in holders)
        if holders and (len(holders) < k or (rule.secret and told / len(holders) > confidence + 1e-9)):
            found.append(rule)
    return found


def test_one_rule_is_protected_by_two_codes_together() -> None:
    """401.2 tells of 295, until it is published as 401.2 or 401.4."""
    codes = ["401.2", "401.4", "295"]
    baskets = Baskets.of([[0, 2], [1]], 3)
    rules = [SensitiveRule((codes.index("401.2"),), (codes.index("295"),))]
    items = rbat(baskets, rules, k=2, confidence=0.5)
    assert items.groups() == [(0, 1), (2,)]
    assert items.publish(baskets).lists() == [[0, 1], [0]]
    assert unprotected(baskets, items, rules, 2, 0.5) == []
    assert unprotected(baskets, Items.unchanged(3), rules, 2, 0.5) == rules


def with_rules(seed: int) -> tuple[Baskets, list[np.ndarray], int, list[SensitiveRule]]:
    baskets, levels, k = random_case(seed)
    known = [one for size in (1, 2) for one in combinations(range(2, baskets.size), size)]
    return baskets, levels, k, [SensitiveRule(one, (secret,)) for one in known for secret in (0, 1)]


@each("seed", seeds(30))
def test_random_records(seed: int) -> None:
    baskets, levels, k, rules = with_rules(seed)
    confidence = 0.8
    whole = Items(np.array([1, 2] + [0] * (baskets.size - 2)))
    if unprotected(baskets, whole, rules, k, confidence):
        with pytest.raises(Unprotectable, match="unprotected even if one item"):
            rbat(baskets, rules, k, confidence, levels)
        return
    items = rbat(baskets, rules, k, confidence, levels)
    assert unprotected(baskets, items, rules, k, confidence) == []
    assert {(0,), (1,)} <= set(items.groups())
    assert sorted(code for group in items.groups() for code in group) == list(range(baskets.size))


def test_groceries() -> None:
    baskets, levels = groceries()
    secret = int(np.argsort(baskets.supports())[100])
    public = [code for code in range(baskets.size) if code != secret]
    rules = [SensitiveRule(pair, (secret,)) for pair in combinations(public[::3], 2)]
    items = rbat(baskets, rules, k=5, confidence=0.2, levels=levels)
    assert unprotected(baskets, items, rules, 5, 0.2) == []
    assert items.number > 15


def test_codes_without_a_rule_are_split_apart() -> None:
    baskets = Baskets.of([[0, 1], [2, 3]], 5)
    assert rbat(baskets, [], 2, 0.5, balanced(5, 2)).number == 5
    assert rbat(baskets, [SensitiveRule((0,), ())], 1, 0.5).number == 5


def test_what_nobody_holds_is_safe() -> None:
    assert rbat(Baskets.of([[0], [1]], 3), [SensitiveRule((0, 1), (2,))], 2, 0.5).number == 3


def test_a_secret_code_of_every_record_is_refused() -> None:
    with pytest.raises(Unprotectable, match="1 rule stays unprotected"):
        rbat(Baskets.of([[0, 1], [0, 2]], 3), [SensitiveRule((1,), (0,))], 2, 0.5)


def test_a_public_code_of_every_record_and_a_record_without_codes() -> None:
    baskets = Baskets.of([[0, 1], [0], [0], []], 3)
    items = rbat(baskets, [SensitiveRule((0,), (1,))], 2, 0.5)
    assert items.number == 3
    assert items.publish(baskets).lists()[3] == []


@pytest.mark.parametrize(
    "rules",
    [
        [SensitiveRule((), (1,))],
        [SensitiveRule((0,), (0,))],
        [SensitiveRule((0,), (1,)), SensitiveRule((1,), (2,))],
        [SensitiveRule((0,), (7,))],
    ],
)
def test_contradictory_rules(rules: list[SensitiveRule]) -> None:
    with pytest.raises(ValueError, match=r"known|numbers of codes"):
        rbat(Baskets.of([[0, 1, 2]], 3), rules, 1, 0.5)


def test_k_above_the_records_is_refused() -> None:
    with pytest.raises(Unprotectable, match="fewer than k = 5"):
        rbat(Baskets.of([[0], [1]], 2), [SensitiveRule((0,), (1,))], 5, 0.5)
