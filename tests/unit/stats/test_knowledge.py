"""Sums, squares and tight ends against every data set that they allow, listed one by one."""

from __future__ import annotations

import doctest
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

from querygate import stats
from querygate.stats import knowledge
from querygate.stats.knowledge import Classes, counts, make_classes, members_above, members_between

KINDS = ["sums", "cells", "squares", "tight"]
Selection = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """Classes as they are published, with the members that they came from."""

    low: list[int]
    high: list[int]
    counts: list[tuple[int, int]]
    members: list[list[int]]
    slack: int  # how far the public cell of a sum reaches beyond it

    def classes(self, kind: str, *, integer: bool = True) -> Classes:
        sums = np.array([sum(members) for members in self.members])
        squares = np.array([sum(x * x for x in members) for members in self.members])
        known: dict[str, object] = {
            "sums": {"sums": sums},
            "cells": {"sums": (sums - self.slack, sums + 1)},
            "squares": {"sums": sums, "squares": squares},
            "tight": {"tight": True},
        }[kind]
        return make_classes(
            self.low, self.high, self.counts, sizes=[len(m) for m in self.members], integer=integer, **known
        )

    def allows(self, kind: str, at: int, members: tuple[int, ...]) -> bool:
        """Whether these could be the members of a class, given what is known of it."""
        total = sum(self.members[at])
        if kind == "tight":
            return min(members) == self.low[at] and max(members) == self.high[at]
        if kind == "cells":
            return total - self.slack <= sum(members) <= total + 1
        squares = sum(x * x for x in self.members[at])
        return sum(members) == total and (kind == "sums" or sum(x * x for x in members) == squares)

    def selections(self, kind: str) -> list[set[Selection]]:
        """For each class everything that can be selected from it."""
        every = []
        for at, (least, most) in enumerate(self.counts):
            values, found = range(self.low[at], self.high[at] + 1), set()
            for members in combinations_with_replacement(values, len(self.members[at])):
                if self.allows(kind, at, members):
                    for number in range(least, most + 1):
                        found.update(combinations(members, number))
            every.append(found)
        return every


def random_case(random: np.random.Generator, *, whole: bool) -> Case:
    size = int(random.integers(1, 4))
    low, high, counts, members = [], [], [], []
    for _ in range(size):
        start, width, number = int(random.integers(-4, 6)), int(random.integers(0, 4)), int(random.integers(1, 5))
        if number == 1:
            width = 0
        inner = random.integers(start, start + width + 1, max(number - 2, 0)).tolist()
        members.append(([start, start + width] if number > 1 else [start]) + inner)
        low.append(start)
        high.append(start + width)
        most = number if whole else int(random.integers(0, number + 1))
        counts.append((most if whole or random.random() < 0.4 else int(random.integers(0, most + 1)), most))
    return Case(low, high, counts, members, int(random.integers(0, 3)))


@cache
def cases(kind: str, whole: bool) -> list[tuple[Case, list[Selection]]]:
    random = np.random.default_rng(5)
    found: list[tuple[Case, list[Selection]]] = []
    while len(found) < 70:
        case = random_case(random, whole=whole)
        options = case.selections(kind)
        if math.prod(map(len, options)) <= 400:
            found.append((case, [tuple(x for part in parts for x in part) for parts in product(*options)]))
    return found


def truth(every: list[Selection], of: Callable[[Selection], float], needs: int = 1) -> tuple[float, float] | None:
    values = [of(data) for data in every if len(data) >= needs]
    return (min(values), max(values)) if values else None


def average(data: Selection) -> float:
    return sum(data) / len(data)


def variance(data: Selection, ddof: int = 0) -> float:
    mean = average(data)
    return math.fsum((x - mean) ** 2 for x in data) / (len(data) - ddof)


def both() -> Iterator[tuple[str, bool]]:
    yield from product(KINDS, (True, False))


@pytest.mark.parametrize(("kind", "whole"), list(both()))
@pytest.mark.parametrize("integer", [True, False])
def test_sum_and_mean_are_sharp(kind: str, whole: bool, integer: bool) -> None:
    compared = 0
    for case, every in cases(kind, whole):
        classes = case.classes(kind, integer=integer)
        for name, of in (("sum", sum), ("mean", average)):
            found, real = getattr(knowledge, name)(classes), truth(every, of)
            if real is None:
                assert math.isnan(found.low)
                continue
            assert found.low <= real[0], (case, found, real)
            assert real[1] <= found.high, (case, found, real)
            assert found.may_be_null == any(not data for data in every)
            if kind != "squares":
                compared += 1
                assert found.sharp
                assert list(found) == pytest.approx(real, rel=1e-9, abs=1e-9), (case, found, real)
                assert found.attained == pytest.approx(real, rel=1e-9, abs=1e-9)
    assert compared > 60 or kind == "squares"


@pytest.mark.parametrize(("kind", "whole"), list(both()))
@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize("ddof", [0, 1])
def test_variance_is_sound(kind: str, whole: bool, integer: bool, ddof: int) -> None:
    exact = compared = 0
    for case, every in cases(kind, whole):
        found = knowledge.var(case.classes(kind, integer=integer), ddof=ddof)
        real = truth(every, lambda data: variance(data, ddof), ddof + 1)
        if real is None:
            assert math.isnan(found.low)
            continue
        compared += 1
        assert found.low <= real[0], (case, found, real)
        assert real[1] <= found.high, (case, found, real)
        assert found.may_be_null == any(len(data) <= ddof for data in every)
        low, high = found.attained
        assert high is None or high <= real[1] + 1e-9, (case, found, real)
        assert low is None or low <= real[0] + 1e-9 or not found.sharp
        assert low is None or not integer or low >= real[0] - 1e-9, (case, found, real)
        exact += found.high - real[1] <= 1e-9 * (1 + real[1]) and (real[0] - found.low <= 1e-9 or not integer)
    assert compared > 35
    assert exact > compared / 3 or kind == "squares"


@pytest.mark.parametrize("kind", ["sums", "squares", "tight"])
def test_variance_of_whole_classes_is_sharp(kind: str) -> None:
    """Upper end; with sums the lower end too, whole numbers included; with squares it is one number."""
    for case, every in cases(kind, True):
        found, real = knowledge.var(case.classes(kind)), truth(every, variance)
        assert real is not None
        if kind != "tight":
            assert found.sharp
            assert list(found) == pytest.approx(real, rel=1e-9, abs=1e-7), (case, found, real)
        if kind == "squares":
            assert found.width <= 1e-7 * (1 + found.high)


def test_lower_variance_on_doubles_is_the_one_between_the_classes() -> None:
    """Every class selected whole at its mean: a closed form of its own."""
    for case, _ in cases("sums", True):
        means = [sum(members) / len(members) for members in case.members]
        spread = variance(tuple(m for m, members in zip(means, case.members, strict=True) for _ in members))
        found = knowledge.var(case.classes("sums", integer=False))
        assert found.low <= spread
        assert found.low == pytest.approx(spread, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_knowledge_never_makes_a_range_wider(kind: str) -> None:
    for case, _ in cases(kind, False)[:100]:
        classes = case.classes(kind)
        for name in ("sum", "mean", "var"):
            plain = getattr(stats, name)(case.low, case.high, case.counts, integer=True)
            found = getattr(knowledge, name)(classes)
            if plain.range.low is not None and plain.sharp:
                assert found.low >= plain.low - 1e-9 * (1 + abs(plain.low))
                assert found.high <= plain.high + 1e-9 * (1 + abs(plain.high))


def test_squares_narrow_the_mean_of_a_part() -> None:
    """All selected at M + sd sqrt((m - s) / s), the others equal: attained on doubles."""
    members = [100.0, 110.0, 120.0, 130.0, 140.0, 160.0]
    classes = make_classes([60], [200], [2], sizes=[6], sums=[sum(members)], squares=[sum(x * x for x in members)])
    mean, deviation = np.mean(members), np.std(members)
    reach = deviation * math.sqrt(4 / 2)
    assert list(knowledge.mean(classes)) == pytest.approx([mean - reach, mean + reach], rel=1e-6)
    alone = make_classes([60], [200], [2], sizes=[6], sums=[sum(members)])
    assert knowledge.mean(alone).width > knowledge.mean(classes).width


@pytest.mark.parametrize("whole", [True, False])
def test_counts_of_tight_classes_are_sharp(whole: bool) -> None:
    for case, _ in cases("tight", whole)[:150]:
        classes = case.classes("tight")
        for first, last in [(-2, 3), (0, 0), (1.5, 4.5), (2, math.inf), (-math.inf, 1), (5, 4)]:
            least, most = members_between(classes, first, last)
            for at in range(len(case.low)):
                numbers = inside(case, "tight", at, lambda x, p=first, q=last: p <= x <= q)
                if len(case.members[at]) == 2 or case.high[at] - case.low[at] > 1 or first == -math.inf:
                    assert (least[at], most[at]) == (min(numbers), max(numbers)), (case, first, last)
                assert least[at] <= min(numbers)
                assert most[at] >= max(numbers)


@pytest.mark.parametrize("kind", ["sums", "cells"])
@pytest.mark.parametrize("integer", [True, False])
def test_counts_above_with_sums(kind: str, integer: bool) -> None:
    for case, _ in cases(kind, True)[:150]:
        classes = case.classes(kind, integer=integer)
        for threshold in (-2, 0, 1.5, 3, 5):
            least, most = members_above(classes, threshold)
            for at in range(len(case.low)):
                numbers = inside(case, kind, at, lambda x, p=threshold: x >= p)
                assert least[at] <= min(numbers), (case, threshold)
                assert most[at] >= max(numbers), (case, threshold)
                if integer:
                    assert (least[at], most[at]) == (min(numbers), max(numbers)), (case, threshold)


def inside(case: Case, kind: str, at: int, holds: Callable[[int], bool]) -> list[int]:
    values = range(case.low[at], case.high[at] + 1)
    every = combinations_with_replacement(values, len(case.members[at]))
    return [sum(map(holds, members)) for members in every if case.allows(kind, at, members)]


def test_markov_on_doubles() -> None:
    classes = make_classes([0.0, 0.0, 0.0], [10.0, 10.0, 10.0], [4, 4, 4], sums=[12.0, 20.5, 40.0])
    assert members_above(classes, 5.0)[0].tolist() == [0, 1, 4]
    assert members_above(classes, 5.0)[1].tolist() == [2, 4, 4]
    assert members_above(make_classes([0.0], [10.0], [4]), 5.0)[1].tolist() == [4]


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e12])
def test_rounding_with_doubles(offset: float) -> None:
    """Data drawn from the classes stays inside, far from zero and in thirds."""
    random = np.random.default_rng(8)
    for _ in range(30):
        members = [offset + random.normal(0, 1, int(n)) / 3 for n in random.integers(2, 7, 12)]
        low, high = [m.min() for m in members], [m.max() for m in members]
        sums = [math.fsum(m) for m in members]
        cells = ([math.nextafter(s, -math.inf) for s in sums], [math.nextafter(s, math.inf) for s in sums])
        least = [(0 if random.random() < 0.3 else m.size, m.size) for m in members]
        chosen = [m for m, (certain, _) in zip(members, least, strict=True) if certain or random.random() < 0.5]
        data = np.concatenate(chosen or members)
        sizes = [m.size for m in members]
        for known in ({"tight": True}, {"sums": cells}):
            classes = make_classes(low, high, least, sizes=sizes, **known)
            assert np.mean(data) in knowledge.mean(classes)
            assert np.sum(data) in knowledge.sum(classes)
            assert np.var(data) in knowledge.var(classes)


def test_values_whose_squares_underflow_and_equal_values() -> None:
    tiny = make_classes([1e-200], [3e-200], [3], sums=([5e-200], [7e-200]))
    assert knowledge.var(tiny).low == 0.0
    assert 1e-320 in knowledge.var(tiny)
    assert 2e-200 in knowledge.mean(tiny)
    same = make_classes([7, 7], [7, 7], [3, (0, 2)], sizes=[3, 4], sums=[21, 28], integer=True)
    assert list(knowledge.mean(same)) == [7, 7]
    assert list(knowledge.var(same)) == [0, 0]


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"sums": [50]}, "not possible"),
        ({"sums": [5], "tight": True}, "not both"),
        ({"squares": [5]}, "need the sums"),
        ({"sums": ([3], [5]), "squares": [9]}, "exact sums"),
        ({"sums": [6], "squares": [5]}, "below what the sum"),
        ({"sums": [6, 7]}, "one sum per class"),
        ({"sizes": [2]}, "fewer members"),
        ({"sums": [math.nan]}, "unknown"),
    ],
)
def test_wrong_knowledge_is_a_clear_error(known: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_classes([1], [3], [3], **known)


def test_other_wrong_classes() -> None:
    with pytest.raises(ValueError, match="one member has one value"):
        make_classes([1], [3], [1], tight=True)
    with pytest.raises(ValueError, match="finite"):
        make_classes([1], [math.inf], [1])
    with pytest.raises(ValueError, match="2\\^53"):
        make_classes([1], [2**52], [4], integer=True)
    with pytest.raises(ValueError, match="ddof"):
        knowledge.var(make_classes([1], [3]), ddof=2)


def test_nothing_selected_is_undefined() -> None:
    classes = make_classes([1], [3], [0], sizes=[4], sums=[8])
    assert [math.isnan(f(classes).low) for f in (knowledge.sum, knowledge.mean, knowledge.var)] == [True] * 3


@pytest.mark.parametrize("module", [knowledge, counts], ids=lambda m: m.__name__)
def test_examples_run(module: object) -> None:
    tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert tried.failed == 0
    assert tried.attempted > 0
