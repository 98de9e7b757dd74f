"""Attackers' knowledge: the published examples, and beliefs by going through every world and all knowledge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product

import numpy as np
import pytest

from querygate.methods.anonymise import Growth, PlausibleValues, Safety, Sensitive
from querygate.methods.anonymise.knowledge_check import largest_growth, mined_knowledge, worst_belief
from tests.each import each
from tests.seeds import seeds

Classes = Sequence[Sequence[int]]
FLU, LUNG, MUMPS, BREAST, OVARIAN, HEART = range(6)
HOSPITAL: Classes = ([FLU, FLU, LUNG, LUNG, MUMPS], [FLU, FLU, BREAST, OVARIAN, HEART])
"""The ten patients of Martin et al. 2007, in two classes."""


def arrays(classes: Classes) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(len(classes)), [len(one) for one in classes]), np.concatenate(classes)


def worlds(classes: Classes) -> Iterator[list[int]]:
    for parts in product(*(sorted(set(permutations(one))) for one in classes)):
        yield [value for part in parts for value in part]


def believed(classes: Classes, pieces: int) -> float:
    """Over everybody's values, and all implications to one of them from so many values of anybody."""
    every = list(worlds(classes))
    atoms = [
        (person, value) for person in range(len(every[0])) for value in sorted({v for one in classes for v in one})
    ]
    surest = 0.0
    for person, value in atoms:
        for known in combinations(atoms, pieces):
            left = [w for w in every if w[person] == value or all(w[p] != v for p, v in known)]
            surest = max(surest, sum(w[person] == value for w in left) / len(left) if left else 0.0)
    return surest


def test_the_example_of_the_paper() -> None:
    """Ed has lung cancer: 2/5; 2/3 for who knows the worst piece; certain with two (no mumps, no flu)."""
    assert [worst_belief(*arrays(HOSPITAL), None, pieces) for pieces in (0, 1, 2)] == [0.4, round(2 / 3, 9), 1.0]


def test_if_hannah_has_flu_so_has_charlie() -> None:
    """The paper's 10/19, of its first and second class; of Hannah's class alone knowledge of herself is worse."""
    every = [(m, f) for m in HOSPITAL[0] for f in HOSPITAL[1]]
    left = [(charlie, hannah) for charlie, hannah in every if hannah != FLU or charlie == FLU]
    assert sum(charlie == FLU for charlie, _ in left) / len(left) == 10 / 19
    assert worst_belief(*arrays(HOSPITAL), None, 1) > 10 / 19


@each("seed", seeds(16))
def test_belief_is_that_of_all_worlds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes = [rng.integers(0, 3, rng.integers(2, 4)).tolist() for _ in range(1 + seed % 2)]
    for pieces in (0, 1, 2):
        assert worst_belief(*arrays(classes), None, pieces) == pytest.approx(believed(classes, pieces), abs=1e-8)


@each("seed", seeds(40))
def test_the_guard_is_enough_and_merging_never_harms(seed: int) -> None:
    """Classes that each pass are safe together, and a class made of two of them is no less so."""
    rng = np.random.default_rng(seed)
    share, pieces = (0.5, 0.7, 0.9)[seed % 3], 1 + seed % 3
    drawn = [rng.integers(0, 8, rng.integers(3, 40)) for _ in range(30)]
    sizes = np.repeat(np.arange(30), [one.size for one in drawn])
    values = np.concatenate(drawn)
    guard = Safety(Sensitive("ill", np.arange(values.size), values, np.ones_like(values), 8), share, pieces)
    passed = guard.classes(np.arange(values.size), sizes, 30)
    kept = passed[sizes]
    if kept.any():
        assert worst_belief(sizes[kept], values[kept], None, pieces) <= share + 1e-8
    before = worst_belief(sizes, values, None, pieces)
    assert worst_belief(sizes // 2, values, None, pieces) <= before + 1e-9


def test_growth_is_measured_against_the_whole() -> None:
    classes, values = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
    assert largest_growth(classes, values, None) == 0.25
    guard = Growth(Sensitive("ill", np.arange(4), values, np.ones(4, dtype=np.int64), 2), 0.2)
    assert guard.classes(np.arange(4), classes, 2).tolist() == [False, False]
    assert guard.classes(np.arange(4), np.zeros(4, dtype=np.int64), 1).tolist() == [True]


# -- mined rules: men do not have ovarian cancer (Li & Li 2008) ------------------------------------------------------

MAN, WOMAN = 0, 1
SEX = np.array([MAN, MAN, WOMAN, WOMAN] * 5)
ILL = np.array([0, 1, 1, 2] * 5)


def test_who_knows_the_rule_knows_the_man() -> None:
    """In a class of a man and a woman with flu and ovarian cancer, he has flu; nothing is certain without the rule."""
    classes = np.append(np.zeros(20, dtype=np.int64), [1, 1])
    sex, ill = np.append(SEX, [MAN, WOMAN]), np.append(ILL, [1, 2])
    told = mined_knowledge(classes, [sex], ill, expected=2)
    assert (told.rules, told.plausible, told.belief) == (2, 1, 1.0)
    assert mined_knowledge(classes, [sex], ill, expected=50).belief == 0.5


@each("seed", seeds(16))
def test_beliefs_by_rules_lie_near_those_of_all_worlds(seed: int) -> None:
    """Entropy is the limit of counting worlds: what is certain or impossible agrees, the rest nearly."""
    rng = np.random.default_rng(seed)
    sex, ill = rng.integers(0, 2, 6), rng.integers(0, 3, 6)
    told = mined_knowledge(np.zeros(6, dtype=np.int64), [sex], ill, expected=1)
    never = {
        (s, v)
        for s in (0, 1)
        for v in set(ill.tolist())
        if not ((sex == s) & (ill == v)).any() and (sex == s).sum() * (ill == v).sum() / 6 >= 1
    }
    left = [w for w in set(permutations(ill.tolist())) if not any((s, v) in never for s, v in zip(sex, w, strict=True))]
    exact = max(sum(w[p] == v for w in left) / len(left) for p in range(6) for v in range(3))
    assert told.rules == len(never)
    assert told.belief == pytest.approx(exact, abs=0.1)
    assert (told.belief > 0.999) == (exact > 0.999)


@each("seed", seeds(16))
def test_the_guard_counts_what_the_judge_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    known, ill = [rng.integers(0, 3, 300), rng.integers(0, 2, 300)], rng.integers(0, 6, 300)
    ill = np.where((known[0] == 0) & (ill == 5), 4, ill)
    classes = np.sort(rng.integers(0, 40, 300))
    held = Sensitive("ill", np.arange(300), ill, np.ones(300, dtype=np.int64), 6)
    guard = PlausibleValues(held, known, 3, 5)
    verdicts = guard.classes(np.arange(300), np.unique(classes, return_inverse=True)[1], np.unique(classes).size)
    told = mined_knowledge(classes, known, ill, expected=5)
    assert told.rules > 0
    assert verdicts.all() == (told.plausible >= 3)


@pytest.mark.parametrize("values", [[0, 0, 0], [0, 1, 2], [0]])
def test_constants_and_single_records(values: list[int]) -> None:
    classes, ill = np.zeros(len(values), dtype=np.int64), np.array(values)
    assert worst_belief(classes, ill, None, 4) == (1.0 if len(set(values)) < 6 else 0)
    assert mined_knowledge(classes, [], ill).rules == 0
    assert mined_knowledge(classes, [ill], ill, expected=1).belief <= 1


def test_a_class_that_is_safe_alone_may_help_against_another() -> None:
    """Two pieces about the second class and one about the first tell more than three about either."""
    first = [0] * 60 + list(range(10, 140))
    second = [0] * 28 + [1] * 28 + list(range(10, 54))
    classes, values = arrays([first, second])
    for alone in (0, 1):
        assert worst_belief(classes[classes == alone], values[classes == alone], None, 2) <= 0.5
    assert worst_belief(classes, values, None, 2) > 0.5
    held = Sensitive("ill", np.arange(values.size), values, np.ones_like(values), 140)
    assert Safety(held, 0.5, 2).classes(np.arange(values.size), classes, 2).tolist() == [True, False]
