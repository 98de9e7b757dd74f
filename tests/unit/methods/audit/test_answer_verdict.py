"""Decisions before the answer against exact linear algebra: nothing that would become known is missed or made up."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from querygate.methods.audit.answer_verdict import WHOLE, LiveVerdict, Watch
from querygate.methods.audit.null_space import SPARES, NullSpace
from tests.seeds import seeds
from tests.unit.methods.audit.exact import atoms


def is_spanned(rows: list[list[int]], target: list[int]) -> bool:
    """Is the target a combination of the rows? By elimination in fractions."""
    return rank([*rows, target]) == rank(rows)


def rank(rows: list[list[int]]) -> int:
    left = [[Fraction(x) for x in row] for row in rows]
    found = 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((i for i in range(found, len(left)) if left[i][column]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for i in range(found + 1, len(left)):
            if left[i][column]:
                factor = left[i][column] / left[found][column]
                left[i] = [a - factor * b for a, b in zip(left[i], left[found], strict=True)]
        found += 1
    return found


def told(sets: list[np.ndarray], weights: np.ndarray, k: int) -> set[frozenset[bytes]]:
    """Atoms below k that follow from the sets, and pairs of atoms below k of which some combination does."""
    label, over = atoms(np.array(sets))
    rows = over.astype(int).tolist()
    number = over.shape[1]
    units = np.eye(number, dtype=int).tolist()
    records = np.bincount(label, weights)
    place = [(label == a).tobytes() for a in range(number)]
    single = [is_spanned(rows, units[a]) for a in range(number)]
    found = {frozenset({place[a]}) for a in range(number) if single[a] and records[a] < k}
    for a, b in combinations(range(number), 2):
        if not single[a] and not single[b] and records[a] + records[b] < k:
            without = [[x for i, x in enumerate(row) if i not in (a, b)] for row in rows]
            # Two unknowns, of which a combination is known: leaving both out loses more than nothing, and not two.
            if rank(rows) - rank(without) == 1:
                found.add(frozenset({place[a], place[b]}))
    return found


def sets_of(rng: np.random.Generator, places: int, number: int) -> list[np.ndarray]:
    return [rng.random(places) < rng.uniform(0.3, 0.7) for _ in range(number)]


@pytest.mark.parametrize("seed", seeds(12))
def test_a_decision_is_what_exact_algebra_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places, k = 9, 6
    weights = rng.integers(1, 5, places)
    watch, given = Watch(weights, k), [np.ones(places, bool)]
    for i, row in enumerate(sets_of(rng, places, 8)):
        differences = [row, *(row ^ old for old in given)]
        near = any(0 < weights[one].sum() < k for one in differences)
        new = told([*given, row], weights, k) - told(given, weights, k)
        verdict = watch.judge(row)
        assert verdict.isolates == (row.any() and (near or bool(new))), (seed, i, verdict)
        if rng.random() < 0.8:  # some are refused, and not taken in
            watch.take(row, f"q{i}")
            given.append(row)


@pytest.mark.parametrize("seed", range(4))
def test_sets_of_one_statement_are_judged_together(seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    places, k = 12, 4
    weights = rng.integers(2, 5, places)
    past, rows = sets_of(rng, places, 3), sets_of(rng, places, 4)
    watch = Watch(weights, k)
    watch.take(np.array(past), "q1")
    given = [np.ones(places, bool), *past]
    near = any(
        0 < weights[one ^ other].sum() < k
        for one, other in combinations([*given, *rows], 2)
        if any(one is row or other is row for row in rows)
    )
    small = any(weights[row].sum() < k for row in rows)
    new = told([*given, *rows], weights, k) - told(given, weights, k)
    assert watch.judge(np.array(rows)).isolates == bool(near or small or new)


def test_many_equations_outlast_the_pool() -> None:
    """Vectors are drawn anew several times, and are null vectors of all equations still."""
    rng = np.random.default_rng(3)
    places = 200
    space = NullSpace(places)
    sets = np.array(sets_of(rng, places, 3 * SPARES))
    space.take(sets[: 2 * SPARES + 5])
    for row in sets[2 * SPARES + 5 :]:
        space.take(row[None])
    assert space.rank == len(sets)
    implied = sets[0] ^ False
    after = space.foresee(implied[None])
    assert np.array_equal(after.probes, after.before)  # nothing new
    single = np.zeros(places, bool)
    single[17] = True
    after = space.foresee(single[None])
    known = (after.probes == 0).all(axis=0)[after.label]
    assert known[17]
    assert known.sum() == 1


def test_a_hidden_system_without_close_sets_is_seen_at_its_last_set() -> None:
    rng = np.random.default_rng(4)
    places, k = 400, 5
    weights = np.full(places, 3)
    band = rng.integers(0, 5, places)
    band[0] = 9
    target = np.arange(places) == 0
    unions = [target | (band == i) | (band == j) for i, j in ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0))]
    watch = Watch(weights, k)
    rules = []
    for i, row in enumerate(unions):
        rules.append(watch.judge(row).rule)
        watch.take(row, f"q{i}")
    # With the whole, five unions t + b + b' give 5 t + 2 (all - t): the last of them fixes t.
    assert rules == ["", "", "", "", "linear"]


def test_the_whole_is_public_so_its_complement_is_a_pair() -> None:
    watch = Watch(np.array([50, 2, 40]), k=5)
    assert watch.judge(np.array([1, 0, 1], bool)) == LiveVerdict("pair", 2, WHOLE)
    assert watch.judge(np.array([0, 1, 0], bool)) == LiveVerdict("small", 2)
    assert watch.judge(np.array([1, 1, 1], bool)) == LiveVerdict()


def test_a_repeat_is_never_new() -> None:
    watch = Watch(np.array([3, 3, 30, 30]), k=5)
    row = np.array([1, 0, 1, 0], bool)
    watch.take(row, "q1")
    near = np.array([1, 1, 1, 0], bool)
    assert watch.judge(near).other == "q1"
    watch.take(near, "q2")  # it was answered all the same
    assert not watch.judge(near).isolates
    assert not watch.judge(row).isolates


def test_a_full_view_fails_closed() -> None:
    weights = np.full(40, 50)
    watch = Watch(weights, k=5, most=3)
    rows = [np.arange(40) < n for n in (5, 10, 20)]
    for row in rows:
        watch.take(row, "q")
    assert watch.is_full
    assert watch.judge(np.arange(40) < 30).rule == "cap"
    assert watch.judge(rows[0]) == LiveVerdict()  # what was answered is answered again
    assert watch.judge(np.arange(40) < 0) == LiveVerdict()


def test_judging_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    weights = rng.integers(1, 4, 60)
    one, other = Watch(weights, 4), Watch(weights, 4)
    for i, row in enumerate(sets_of(rng, 60, 40)):
        for _ in range(3):
            one.judge(~row)
        assert one.judge(row) == other.judge(row)
        one.take(row, str(i))
        other.take(row, str(i))
