"""Rules hidden by unknowns: what records tell counted by brute force, and nothing false about anybody."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.hidden_patterns import hidden_patterns
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.local_suppression import suppressed_locally
from querygate.methods.code_lists.sensitive_rules import SensitiveRule
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists.brute import held_sets
from tests.unit.methods.code_lists.test_local_km import drawn


def told(made: LocalItems) -> list[set[int]]:
    """The codes that each record certainly has."""
    return [{made.groups[i][0] for i in items if len(made.groups[i]) == 1} for items in made.published.lists()]


def confidence(records: Sequence[set[int]], rule: SensitiveRule, support: int = 1) -> float:
    known = sum(set(rule.known) <= codes for codes in records)
    both = sum({*rule.known, *rule.secret} <= codes for codes in records)
    return both / known if both >= support else 0.0


def drawn_rules(rng: random.Random, size: int) -> list[SensitiveRule]:
    """Up to four, also about the same codes, in circles, and without anything known."""
    rules = []
    for _ in range(rng.randint(1, 4)):
        codes = rng.sample(range(size), min(size, rng.choice((1, 2, 2, 3))))
        cut = rng.randrange(len(codes))
        rules.append(SensitiveRule(tuple(codes[:cut]), tuple(codes[cut:])))
    return rules


def marked(made: LocalItems, code: int, none: int) -> list[bool]:
    """Which records perhaps have the code."""
    return [any(made.groups[i] == (code, none) for i in items) for items in made.published.lists()]


def halves(lists: Sequence[Sequence[int]], made: LocalItems, code: int, none: int) -> tuple[int, int]:
    """How many marked records have the code, and how many do not."""
    has = [code in held for held, mark in zip(lists, marked(made, code, none), strict=True) if mark]
    return sum(has), len(has) - sum(has)


@each("seed", seeds(40))
def test_no_rule_is_told_and_every_set_is_of_k_records_and_true(seed: int) -> None:
    rng, baskets = random.Random(seed), drawn(seed)
    rules, k, m = drawn_rules(rng, baskets.size), 2 + seed % 4, 1 + seed % 3
    share, support = rng.choice((0.05, 0.3, 0.8)), rng.choice((1, 1, 4))
    lists, none = baskets.lists(), baskets.size
    try:
        made = hidden_patterns(baskets, rules, k, m, share, support)
    except Unprotectable:  # where most records have a secret code
        secret = {code for rule in rules for code in rule.secret}
        assert 2 * max(sum(code in held for held in lists) for code in secret) > len(lists)
        return
    records = told(made)
    for true, false in (halves(lists, made, code, none) for rule in rules for code in rule.secret):
        assert true <= false
    assert max(confidence(records, rule, support) for rule in rules) <= share + 1e-9
    assert all(number >= k for number in held_sets(made.published.lists(), m).values())
    for held, items in zip(lists, made.published.lists(), strict=True):
        groups = [set(made.groups[item]) for item in items]
        assert set(held) <= set().union(*groups)
        assert all(group & {*held, none} for group in groups)


def test_a_rule_that_nobody_could_find_costs_nothing() -> None:
    baskets = Baskets.of([[0, 1]] * 3 + [[0]] * 9 + [[1]] * 4, 2)
    for share, support in ((0.25, 1), (0.1, 4)):
        made = hidden_patterns(baskets, [SensitiveRule((0,), (1,))], 2, 2, share, support)
        assert told(made) == [set(held) for held in baskets.lists()]


def test_a_mark_alone_does_not_say_that_the_code_is_there() -> None:
    """Half of those who may have 1 do not have it, and they hold what is known as the others do."""
    baskets = Baskets.of([[0, 1, 2]] * 20 + [[0, 2]] * 20 + [[2]] * 20, 3)
    made = hidden_patterns(baskets, [SensitiveRule((0,), (1,))], 3, 2, 0.2)
    perhaps = marked(made, 1, 3)
    assert (sum(perhaps[:20]), sum(perhaps[20:40]), sum(perhaps[40:])) == (12, 12, 0)


@each("size, short, others", [(2, 10, 1), (3, 10, 1), (3, 0, 2)])
def test_marks_in_long_lists_that_suppression_takes_are_made_up_for(size: int, short: int, others: int) -> None:
    """Most lists with 0 alone of the rule are long, and come first; fewer than k of them share what else they hold."""
    lists = [[0, *codes] for codes in combinations(range(2, 9), size)][:20] + [[0, 1]] * 30 + [[0]] * short
    lists += [list(codes) for codes in combinations(range(2, 9), others)] * 20
    made = hidden_patterns(Baskets.of(lists, 9), [SensitiveRule((0,), (1,))], 8, 2, 0.1)
    true, false = halves(lists, made, 1, 9)
    assert 0 < true <= false


@pytest.mark.parametrize("lists", [[[0, 1]] * 10 + [[0]] * 3, [[0, 1]] * 3, [[0, 1], [1, 0]]])
def test_where_too_many_have_the_code_a_mark_would_say_so(lists: list[list[int]]) -> None:
    with pytest.raises(Unprotectable, match="too few are without it"):
        hidden_patterns(Baskets.of(lists, 2), [SensitiveRule((0,), (1,))], 2, 2, 0.2)


def test_the_code_of_most_rules_goes_where_most_rules_meet() -> None:
    """Unknown in the two records that tell both rules, 2 hides both."""
    baskets = Baskets.of([[0, 2]] * 2 + [[1, 2]] * 2 + [[0, 1, 2]] * 2 + [[0, 1]] * 4, 3)
    rules = [SensitiveRule((0,), (2,)), SensitiveRule((1,), (2,))]
    made = hidden_patterns(baskets, rules, 2, 3, 0.25)
    assert [2 in codes for codes in told(made)] == [True] * 4 + [False] * 6


def test_local_suppression_of_what_is_known_does_not_bring_a_rule_back() -> None:
    """Of twelve with 0, three tell 1: a quarter. Four of the others lose 0, which is rarer than what is beside it."""
    lists = [[0, 1]] * 3 + [[0]] * 5 + [[0, 2]] * 2 + [[0, 3]] * 2 + [[2]] * 20 + [[3]] * 20
    rule = SensitiveRule((0,), (1,))
    alone = suppressed_locally(Baskets.of(lists, 4), [], 3, 2)
    assert confidence(told(alone), rule) > 0.25
    made = hidden_patterns(Baskets.of(lists, 4), [rule], 3, 2, 0.25)
    assert confidence(told(made), rule) <= 0.25


@pytest.mark.parametrize("lists", [[], [[], []], [[0]] * 3 + [[1]] * 3, [[0], [1], []]])
def test_hostile_lists(lists: list[list[int]]) -> None:
    made = hidden_patterns(Baskets.of(lists, 2), [SensitiveRule((), (0,)), SensitiveRule((0,), (1,))], 2, 2, 0.1)
    assert made.published.records == len(lists)
    assert 0 <= made.loss <= 1
    assert not any(0 in codes for codes in told(made))


@pytest.mark.parametrize(
    ("rule", "share", "support"),
    [(((0,), ()), 0.5, 1), (((0,), (0,)), 0.5, 1), (((0,), (1,)), 1.0, 1), (((0,), (1,)), 0.5, 0)],
)
def test_bad_arguments(rule: tuple[tuple[int, ...], tuple[int, ...]], share: float, support: int) -> None:
    with pytest.raises(ValueError):
        hidden_patterns(Baskets.of([[0], [0]], 2), [SensitiveRule(*rule)], 2, 2, share, support)


def test_loss_is_the_share_of_entries_that_are_not_told() -> None:
    made = hidden_patterns(Baskets.of([[0, 1]] * 10 + [[]] * 8, 2), [SensitiveRule((0,), (1,))], 2, 2, 0.2)
    assert np.isclose(made.loss, 8 / 20)
