"""Tests of code lists against every record that what is published of one allows."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pytest

from querygate.bounds import count_bounds
from querygate.core.block import MISSING, Block, CodeColumn, CodeSets, NumberColumn
from querygate.core.predicate import (
    FALSE,
    TRUE,
    HasAny,
    Predicate,
    both,
    canonical,
    compare,
    either,
    has_any,
    is_free,
    is_true,
    negate,
    truth,
)
from querygate.core.valueset import ValueSet
from tests.each import each
from tests.seeds import seeds

CODES = ("a", "b", "c", "d", "e")
Join = Callable[[Iterable[Predicate]], Predicate]


def random_sets(rng: random.Random) -> CodeSets:
    """One item for each code, or none; or items that overlap and may say that there is perhaps nothing."""
    if rng.random() < 0.5:
        groups = [rng.sample([MISSING, *range(len(CODES))], rng.randint(2, 4)) for _ in range(rng.randint(1, 4))]
        held = rng.sample(range(len(groups)), rng.randint(0, min(2, len(groups))))
        return CodeSets.of_groups(CODES, groups, [[], sorted(held)])
    drawn = [rng.choice([MISSING, 0, 1, 2]) for _ in CODES]
    number = {item: i for i, item in enumerate(sorted(set(drawn) - {MISSING}))}
    held = rng.sample(range(len(number)), rng.randint(0, len(number)))
    return CodeSets.of(CODES, [number.get(item, MISSING) for item in drawn], [[], sorted(held)])


def allowed(sets: CodeSets) -> Iterator[frozenset[str]]:
    """Every set of codes that a record may have whose published set is number 1: the definition, word by word."""
    entries = list(zip(sets.entry_item.tolist(), sets.entry_code.tolist(), strict=True))
    of = {number: {code for item, code in entries if item == number} for number in range(len(sets.sizes))}
    published = [of[number] for number in sets.members.tolist()]
    told = {code for codes in of.values() for code in codes}
    for size in range(len(CODES) + 1):
        for held in itertools.combinations(CODES, size):
            codes = {CODES.index(code) for code in held}
            meets = all(MISSING in item or item & codes for item in published)
            if meets and all(any(code in item for item in published) for code in codes & told):
                yield frozenset(held)


def random_test(rng: random.Random) -> Predicate:
    test = has_any("dx", rng.sample(CODES, rng.randint(1, 3)))
    return negate(test) if rng.random() < 0.4 else test


def random_formula(rng: random.Random, depth: int) -> Predicate:
    if not depth:
        return random_test(rng)
    parts = [random_formula(rng, rng.randrange(depth)) for _ in range(rng.randint(2, 3))]
    joined = rng.choice([both, either])(parts)
    return negate(joined) if rng.random() < 0.3 else joined


def counts(p: Predicate, records: Iterable[dict[str, object]], n: int) -> set[int]:
    can_be = {truth(p, record) == "true" for record in records}
    return {sum(choice) for choice in itertools.product(can_be, repeat=n)}


def found(p: Predicate, block: Block) -> tuple[int, int]:
    least, most = count_bounds(p, block)
    return int(least[0]), int(most[0])


@each("join", [both, either])
@each("seed", seeds(120))
def test_sharp_for_all_that_one_and_or_one_or_says(seed: int, join: Join) -> None:
    rng = random.Random(seed)
    sets, n = random_sets(rng), rng.randint(1, 3)
    block = Block(np.array([n]), {"dx": CodeColumn(np.array([1]), sets)})
    p = join(random_test(rng) for _ in range(rng.randint(1, 4)))
    possible = counts(p, [{"dx": held} for held in allowed(sets)], n)
    assert is_free(p)
    assert found(p, block) == (min(possible), max(possible))
    assert found(negate(p), block) == (n - max(possible), n - min(possible))


@each("seed", seeds(120))
def test_sharp_beside_another_column(seed: int) -> None:
    rng = random.Random(seed)
    sets, n = random_sets(rng), rng.randint(1, 3)
    numbers = NumberColumn(np.array([0]), np.array([2]), np.array([0]))
    block = Block(np.array([n]), {"dx": CodeColumn(np.array([1]), sets), "x": numbers})
    other = compare("x", ValueSet.below(rng.randint(-1, 4)))
    p = rng.choice([both, either])([other, *(random_test(rng) for _ in range(rng.randint(1, 3)))])
    records = [{"dx": held, "x": x} for held in allowed(sets) for x in range(3)]
    possible = counts(p, records, n)
    assert is_free(p)
    assert found(p, block) == (min(possible), max(possible))


@each("seed", seeds(120))
def test_sound_for_every_formula(seed: int) -> None:
    rng = random.Random(seed)
    sets, n = random_sets(rng), rng.randint(1, 3)
    block = Block(np.array([n]), {"dx": CodeColumn(np.array([1]), sets)})
    p = random_formula(rng, 3)
    possible = counts(p, [{"dx": held} for held in allowed(sets)], n)
    least, most = found(p, block)
    assert least <= min(possible)
    assert max(possible) <= most


@each("seed", seeds(100))
def test_the_normal_form_keeps_the_truth(seed: int) -> None:
    """Against a formula that was never simplified, for every record there can be."""
    rng = random.Random(seed)

    def grow(depth: int) -> tuple[Predicate, Callable[[frozenset[str]], bool]]:
        if not depth:
            codes = frozenset(rng.sample(CODES, rng.randint(1, 3)))
            return has_any("dx", codes), lambda held: bool(codes & held)
        parts = [grow(rng.randrange(depth)) for _ in range(2)]
        join, whole = rng.choice([(both, all), (either, any)])
        made = join(part for part, _ in parts)
        if rng.random() < 0.4:
            return negate(made), lambda held: not whole(test(held) for _, test in parts)
        return made, lambda held: whole(test(held) for _, test in parts)

    p, expected = grow(4)
    for size in range(len(CODES) + 1):
        for held in map(frozenset, itertools.combinations(CODES, size)):
            assert (truth(p, {"dx": held}) == "true") == expected(held)


def test_golden() -> None:
    """Records (296.00,296.01) 296.02 | 295.00 | (296.00,296.01): of the pair it is known that one of them is there."""
    codes = ("295.00", "296.00", "296.01", "296.02")
    sets = CodeSets.of(codes, [0, 1, 1, 2], [[], [0], [1], [1, 2]])
    block = Block(np.array([1, 1, 1, 4]), {"dx": CodeColumn(np.array([3, 1, 2, 0]), sets)})
    for wanted, least, most in (
        (["296.00"], [0, 0, 0, 0], [1, 0, 1, 0]),
        (["296.00", "296.01"], [1, 0, 1, 0], [1, 0, 1, 0]),
        (["296.02"], [1, 0, 0, 0], [1, 0, 0, 0]),
        (["295.00", "296.01"], [0, 1, 0, 0], [1, 1, 1, 0]),
    ):
        bounds = count_bounds(has_any("dx", wanted), block)
        assert [bound.tolist() for bound in bounds] == [least, most]


def test_a_suppressed_code_is_possible_everywhere() -> None:
    sets = CodeSets.of(("a", "b"), [0, MISSING], [[], [0]])
    block = Block(np.array([5, 5]), {"dx": CodeColumn(np.array([0, 1]), sets)})
    assert [bound.tolist() for bound in count_bounds(has_any("dx", ["b"]), block)] == [[0, 0], [5, 5]]
    assert [bound.tolist() for bound in count_bounds(has_any("dx", ["a", "b"]), block)] == [[0, 5], [5, 5]]


def test_tests_of_one_list_are_merged() -> None:
    a, b, ab = (has_any("dx", codes) for codes in ("a", "b", "ab"))
    assert either([a, b]) == ab
    assert both([negate(a), negate(b)]) == negate(ab)
    assert both([a, ab]) == a
    assert both([ab, negate(a)]) == both([b, negate(a)])
    assert both([a, negate(ab)]) == FALSE
    assert either([ab, negate(a)]) == TRUE
    assert has_any("dx", []) == FALSE
    assert is_true(a) == a
    assert canonical(negate(ab)) == "['dx' has none of ['a', 'b']]"
    assert not is_free(both([a, either([b, compare("x", ValueSet.below(1))])]))
    assert truth(HasAny("dx", frozenset("a"), negated=True), {"dx": None}) == "true"


def test_an_item_without_codes_is_damage() -> None:
    with pytest.raises(ValueError, match="item without codes"):
        CodeSets.of(("a", "b"), [0, MISSING], [[], [1]])
    with pytest.raises(ValueError, match="item without codes"):
        CodeSets.of(("a", "b"), [1, MISSING], [[]])


def test_rows_can_be_taken() -> None:
    sets = CodeSets.of(("a", "b"), [0, 1], [[], [0], [1]])
    block = Block(np.array([1, 2, 3]), {"dx": CodeColumn(np.array([0, 1, 2]), sets)})
    assert block.take(np.array([2, 2])).codes("dx").sets.tolist() == [2, 2]
    assert block.nbytes == 2 * 3 * 8
    with pytest.raises(TypeError, match="no number"):
        block.number("dx")
