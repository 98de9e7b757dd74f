"""Groups: against the plain computation, against all divisions, and at their limits."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from querygate.methods.sequences import (
    DNALA,
    IUPAC,
    Alignment,
    BadSequences,
    at_random,
    generalised,
    loss,
    of_texts,
    refined,
    verify,
)
from querygate.methods.sequences import distance_matrix as blocks
from querygate.methods.sequences.baselines import binned
from querygate.methods.sequences.closest_first import closest
from querygate.methods.sequences.distance_matrix import SequenceDistances
from querygate.methods.sequences.letter_lattice import LetterLattice
from tests.each import each
from tests.unit.methods.sequences.alignments import (
    anything,
    divisions,
    family,
    least_possible,
    opuntia,
    slow_distance,
    slow_loss,
    woodmouse,
)
from tests.unit.methods.sequences.optimal_pairs import optimal


def _groups(labels: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(labels == one).tolist() for one in range(int(labels.max()) + 1)]


@pytest.mark.parametrize("lattice", [IUPAC, DNALA], ids=lambda one: one.name)
@pytest.mark.parametrize("rows", [3, 1024])
def test_distances(lattice: LetterLattice, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "ROWS", rows)
    monkeypatch.setattr(blocks, "SITES", 7)
    alignment = anything(11, 40, 2, lattice=lattice)
    every = np.arange(11)
    plain = [[slow_distance(alignment, a, b) for b in every] for a in every]
    kept, computed = SequenceDistances(alignment), SequenceDistances(alignment, kept=0)
    assert kept.between(every, every).tolist() == plain
    assert computed.between(every, every).tolist() == plain


def test_loss_is_what_members_go_up() -> None:
    for seed in range(5):
        alignment = anything(9, 20, seed)
        labels = np.random.default_rng(seed).integers(0, 3, 9)
        labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
        assert loss(alignment, labels) == slow_loss(alignment, _groups(labels))


def test_by_hand() -> None:
    """AACA-GACA by way of RACA, 2 steps; TTTT-TTTC by way of TTTY, 2 steps; CCCC joins the latter for 11 - 2 steps."""
    alignment = of_texts(["AACA", "TTTT", "GACA", "TTTC", "CCCC"])
    labels = closest(alignment)
    assert _groups(labels) == [[0, 2], [1, 3, 4]]
    assert generalised(alignment, labels).texts() == ["RACA", "YYYY", "RACA", "YYYY", "YYYY"]
    assert loss(alignment, labels) == 2 + 3 * 4


@each("seed", range(6))
@each("n", [2, 3, 4, 5, 6, 7, 8])
def test_optimal_is_least_of_all_divisions(n: int, seed: int) -> None:
    alignment = anything(n, 12, 100 * n + seed)
    least = min(slow_loss(alignment, division) for division in divisions(n))
    labels = optimal(alignment)
    found = _groups(labels)
    assert loss(alignment, labels) == least
    assert sorted(map(len, found)) == ([2] * (n // 2 - n % 2) + [3] * (n % 2))
    assert (
        least_possible(alignment) <= least <= loss(alignment, refined(alignment)) <= loss(alignment, closest(alignment))
    )


def test_optimal_needs_edmonds() -> None:
    """Two clusters of three: pairs inside cost little, so the relaxation takes halves of triangles. It may not."""
    texts = ["AAAAAAAAAA", "AAAAAAAAAC", "AAAAAAAAAG", "TTTTTTTTTA", "TTTTTTTTTC", "TTTTTTTTTG"]
    alignment = of_texts(texts)
    assert loss(alignment, optimal(alignment)) == min(slow_loss(alignment, one) for one in divisions(6)) == 22


@pytest.mark.parametrize("n", [40, 41])
def test_optimal_of_a_family(n: int) -> None:
    alignment = family(n, 300, 3)
    best = loss(alignment, optimal(alignment))
    assert least_possible(alignment) <= best <= loss(alignment, refined(alignment))
    rng = np.random.default_rng(1)
    start = [refined(alignment, 2, labels=at_random(alignment, 2, rng)) for _ in range(10)]
    assert best <= min(loss(alignment, labels) for labels in start)


def test_greedy_takes_the_closest_first() -> None:
    """The pairs in the order they are made are never closer than those before, and each is the closest left."""
    alignment = family(60, 200, 5)
    far = SequenceDistances(alignment).between(np.arange(60), np.arange(60)).astype(np.int64)
    np.fill_diagonal(far, 10**6)
    free = np.ones(60, dtype=bool)
    for group in _groups(closest(alignment))[:-1]:
        assert far[group[0], group[1]] == far[np.ix_(free, free)].min()
        free[group] = False


@pytest.mark.parametrize("known", [1, 2, 32])
@pytest.mark.parametrize("kept", [0, 8192])
def test_greedy_whatever_is_remembered(known: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    alignment = family(80, 100, 6)
    whole = closest(alignment).tolist()
    monkeypatch.setattr(importlib.import_module("querygate.methods.sequences.closest_first"), "KNOWN", known)
    assert closest(alignment, 2, SequenceDistances(alignment, kept)).tolist() == whole


@each("method", [closest, refined])
@each("k", [2, 3, 5])
@each("n", [5, 6, 11, 29])
def test_every_group_has_k(method: object, k: int, n: int) -> None:
    assert callable(method)
    for alignment in (anything(n, 30, n), family(n, 50, n), of_texts(["ACGT"] * n)):
        labels = method(alignment, k)
        sizes = np.bincount(labels)
        assert sizes.min() >= k
        assert sizes.size <= n // k
        assert verify(alignment.texts(), generalised(alignment, labels).texts(), k).holds
        least = least_possible(alignment, k)
        assert least <= loss(alignment, labels)


def test_identical_sequences_cost_nothing() -> None:
    alignment = of_texts(["ACGT"] * 500 + ["TTTT"] * 500)
    assert loss(alignment, closest(alignment)) == 0
    assert np.bincount(closest(alignment)).tolist() == [2] * 500


def test_equidistant_sequences() -> None:
    """All at one distance: ties are broken two by two, not all for the first."""
    texts = ["A" * i + "C" + "A" * (599 - i) for i in range(600)]
    alignment = of_texts(texts)
    assert loss(alignment, closest(alignment)) == 300 * 4


def test_refined_never_costs_more() -> None:
    for seed in range(4):
        alignment = family(41, 150, seed)
        for k in (2, 3, 4):
            assert loss(alignment, refined(alignment, k)) <= loss(alignment, closest(alignment, k))


def test_given_groups_are_refined() -> None:
    alignment = of_texts(["AAAA", "TTTT", "AAAC", "TTTC"])
    assert loss(alignment, refined(alignment, 2, labels=np.array([0, 0, 1, 1]))) == 4


@pytest.mark.parametrize("bins", [1, 2, 4, 9])
def test_bins(bins: int) -> None:
    alignment = family(30, 120, 7)
    for k in (2, 4):
        labels = binned(alignment, bins, k)
        assert np.bincount(labels).min() >= k
        assert 1 <= labels.max() + 1 <= bins
        assert verify(alignment.texts(), generalised(alignment, labels).texts(), k).holds


def test_given_bins_are_kept_where_they_are_large_enough() -> None:
    alignment = of_texts(["AAAA", "CCCC", "GGGG", "TTTT", "TTTT"])
    assert _groups(binned(alignment, np.array([5, 5, 1, 1, 1]))) == [[2, 3, 4], [0, 1]]
    assert _groups(binned(alignment, np.array([9, 8, 7, 6, 5]), 5)) == [[0, 1, 2, 3, 4]]


def test_at_random() -> None:
    alignment = family(11, 50, 1)
    labels = at_random(alignment, 2, np.random.default_rng(4))
    assert sorted(np.bincount(labels).tolist()) == [2, 2, 2, 2, 3]
    assert loss(alignment, labels) >= loss(alignment, optimal(alignment))


@pytest.mark.parametrize("method", [closest, refined, lambda a, k: binned(a, 1, k)])
def test_too_few(method: object) -> None:
    assert callable(method)
    with pytest.raises(BadSequences, match="fewer than k = 4"):
        method(of_texts(["A", "C", "G"]), 4)
    with pytest.raises(BadSequences, match="hides nobody"):
        method(of_texts(["A", "C", "G"]), 1)
    with pytest.raises(BadSequences, match="1 sequences, fewer"):
        method(of_texts(["A"]), 2)


def test_other_refusals() -> None:
    alignment = of_texts(["A", "C", "G"])
    with pytest.raises(BadSequences, match="2 bins for 3"):
        binned(alignment, np.array([1, 1]))
    with pytest.raises(BadSequences, match="7 bins are not possible with 3"):
        binned(alignment, 7)
    with pytest.raises(BadSequences, match="takes too long"):
        optimal(Alignment(np.ones((153, 1), dtype=np.uint8), ("",) * 153))


@pytest.mark.parametrize(
    ("alignment", "dnala", "limit"),
    [(woodmouse(), 283, 283), (opuntia(), 131, 131), (opuntia(DNALA), 115, 115)],
    ids=["woodmouse", "opuntia", "opuntia published lattice"],
)
def test_real_sequences(alignment: Alignment, dnala: int, limit: int) -> None:
    labels = closest(alignment)
    assert loss(alignment, labels) == dnala
    assert loss(alignment, optimal(alignment)) == limit
    rng = np.random.default_rng(1)
    chance = np.mean([loss(alignment, at_random(alignment, 2, rng)) for _ in range(100)])
    assert dnala < 0.75 * chance
    n_may_be_gap = alignment.lattice is DNALA
    assert verify(alignment.texts(), generalised(alignment, labels).texts(), 2, n_may_be_gap=n_may_be_gap).holds
