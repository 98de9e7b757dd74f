"""k^m-anonymity by full subtrees: checked by listing every itemset of every published record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.km.km import km_anonymous
from querygate.methods.code_lists.subtrees import Subtrees, halved
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.bench.itemsets import balanced, groceries, kosarak, rare_found
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists.worlds import cut_loss

Node = tuple[int, ...]


def rare(records: Sequence[Sequence[int]], k: int, m: int) -> list[tuple[int, ...]]:
    """Every itemset of up to m items that some, but fewer than k records hold."""
    counts = Counter(found for record in records for size in range(1, m + 1) for found in combinations(record, size))
    return [itemset for itemset, count in counts.items() if count < k]


def nodes(levels: Sequence[np.ndarray]) -> set[Node]:
    return {tuple(np.flatnonzero(level == group).tolist()) for level in levels for group in level}


def children(node: Node, every: set[Node]) -> list[Node]:
    inside = [one for one in every if set(one) < set(node)]
    return [one for one in inside if not any(set(one) < set(other) for other in inside)]


def cuts(node: Node, every: set[Node]) -> Iterator[list[Node]]:
    yield [node]
    if len(node) > 1:
        for parts in product(*(list(cuts(child, every)) for child in children(node, every))):
            yield [one for part in parts for one in part]


def as_items(groups: Sequence[Node], size: int) -> Items:
    of = np.empty(size, dtype=np.int64)
    for number, codes in enumerate(groups):
        of[list(codes)] = number
    return Items(of)


def random_case(seed: int) -> tuple[Baskets, list[np.ndarray], int]:
    random = np.random.default_rng(seed)
    size = int(random.integers(5, 13))
    levels = balanced(size, int(random.integers(2, 4)))
    shuffled = random.permutation(size)
    levels = [levels[0], *(level[shuffled] for level in levels[1:])]
    chance = np.clip(random.random(size) ** 2 * 0.7, 0.02, 1)
    records = [np.flatnonzero(random.random(size) < chance).tolist() for _ in range(60)]
    return Baskets.of(records, size), levels, int(random.integers(2, 9))


def test_ten_transactions_need_both_nodes() -> None:
    words = ["abcdefgh", "acefg", "cdefh", "acef", "efgh", "defg", "abde", "acf", "ac", "bh"]
    baskets = Baskets.of([["abcdefgh".index(letter) for letter in word] for word in words], 8)
    levels = [np.arange(8), np.array([0, 0, 0, 1, 1, 1, 1, 1]), np.zeros(8, dtype=np.int64)]
    assert km_anonymous(baskets, levels, k=5, m=3).groups() == [(0, 1, 2), (3, 4, 5, 6, 7)]


@pytest.mark.parametrize(("k", "m"), [(2, 2), (5, 2), (25, 2), (2, 3), (5, 3)])
def test_groceries(k: int, m: int) -> None:
    baskets, levels = groceries()
    items = km_anonymous(baskets, levels, k, m)
    assert set(items.groups()) <= nodes(levels)
    assert rare(items.publish(baskets).lists(), k, m) == []
    assert 0 < cut_loss(baskets, items) < 0.25


def test_kosarak() -> None:
    baskets = kosarak()
    items = km_anonymous(baskets, balanced(baskets.size), k=5, m=2)
    assert rare(items.publish(baskets).lists(), 5, 2) == []
    assert cut_loss(baskets, items) < 0.02


@each("seed", seeds(40))
def test_no_node_could_be_its_children(seed: int) -> None:
    """The promise holds, and fails wherever one node gives way to its children."""
    baskets, levels, k = random_case(seed)
    m = 1 + seed % 4
    items, every = km_anonymous(baskets, levels, k, m), nodes(levels)
    groups = items.groups()
    assert set(groups) <= every
    assert rare(items.publish(baskets).lists(), k, m) == []
    for node in groups:
        if len(node) > 1:
            finer = as_items([*(one for one in groups if one != node), *children(node, every)], baskets.size)
            assert rare(finer.publish(baskets).lists(), k, m)


def test_loss_is_near_the_least() -> None:
    """Against every cut of the hierarchy: within 1 % of the least in all, and the least nearly always."""
    made, least, hits = 0.0, 0.0, 0
    for seed in range(100, 125):
        baskets, levels, k = random_case(seed)
        losses = []
        for cut in cuts(tuple(range(baskets.size)), nodes(levels)):
            items = as_items(cut, baskets.size)
            losses.append(np.inf if rare(items.publish(baskets).lists(), k, 2) else cut_loss(baskets, items))
        loss = cut_loss(baskets, km_anonymous(baskets, levels, k, 2))
        made, least, hits = made + loss, least + min(losses), hits + (loss <= min(losses) + 1e-12)
    assert made <= 1.01 * least
    assert hits >= 22


def test_halves_lose_less_and_lie_inside_the_nodes() -> None:
    """A department of many kinds need not be published whole because of one rare kind."""
    baskets, levels = groceries()
    finer = halved(levels)
    every = nodes(finer)
    assert nodes(levels) <= every
    assert all(len(children(node, every)) in (0, 2) for node in every if len(node) < 40)
    items = km_anonymous(baskets, finer, 5, 3)
    assert set(items.groups()) <= every
    assert rare(items.publish(baskets).lists(), 5, 3) == []
    assert cut_loss(baskets, items) < 0.5 * cut_loss(baskets, km_anonymous(baskets, levels, 5, 3))


def test_checker_of_the_bench_finds_what_lists_find() -> None:
    for seed in range(10):
        baskets, _, k = random_case(seed)
        for m in (2, 3):
            assert rare_found(baskets, k, m) == len(rare(baskets.lists(), k, m))


def test_k_above_the_records_with_codes_is_refused() -> None:
    baskets = Baskets.of([[0], [1], [], []], 2)
    with pytest.raises(Unprotectable, match=r"2 records have codes, fewer than k = 3"):
        km_anonymous(baskets, balanced(2), k=3, m=2)


def test_records_without_codes_and_a_code_of_every_record() -> None:
    baskets = Baskets.of([[0], [0, 1], [0, 2], [0]] + [[0, 3]] * 3 + [[]], 4)
    published = km_anonymous(baskets, balanced(4, 2), k=2, m=2).publish(baskets)
    assert rare(published.lists(), 2, 2) == []
    assert published.lists()[-1] == []


def test_codes_of_nobody_stay_apart() -> None:
    baskets = Baskets.of([[0], [0]], 4)
    assert km_anonymous(baskets, balanced(4, 2), k=2, m=2).groups() == [(0,), (1,), (2,), (3,)]
    nobody = Baskets.of([[], []], 4)
    assert km_anonymous(nobody, balanced(4, 2), k=5, m=2).number == 4


def test_k_of_one_changes_nothing() -> None:
    baskets, levels = groceries()
    assert km_anonymous(baskets, levels, k=1, m=3).number == baskets.size


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        ([], "at least one level"),
        ([np.arange(3), np.zeros(2, dtype=np.int64)], "one group for each code"),
        ([np.arange(3), np.array([0, 0, 1])], "one group"),
        ([np.arange(3), np.array([0, 0, 1]), np.array([0, 1, 1]), np.zeros(3, dtype=np.int64)], "next height"),
        ([np.arange(4), np.zeros(4, dtype=np.int64)], "one place for each code"),
    ],
)
def test_what_is_no_hierarchy_is_refused(levels: list[np.ndarray], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        km_anonymous(Baskets.of([[0, 1, 2]], 3), levels, k=1, m=1)


@pytest.mark.parametrize(("k", "m"), [(0, 1), (1, 0)])
def test_k_and_m_are_positive(k: int, m: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        km_anonymous(Baskets.of([[0]], 1), [np.arange(1)], k, m)


def test_groups_of_the_same_codes_are_one_node() -> None:
    levels = [np.arange(3), np.array([0, 1, 1]), np.array([5, 7, 7]), np.zeros(3, dtype=np.int64)]
    tree = Subtrees.of(levels)
    assert [tree.codes(node) for node in range(tree.root + 1)] == [(0,), (1,), (2,), (1, 2), (0, 1, 2)]
    assert tree.parent.tolist() == [4, 3, 3, 4, 4]
