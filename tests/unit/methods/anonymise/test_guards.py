"""Guards judge classes by their definitions, each on a class that just holds and one that just fails."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.anonymise import Alpha, Closeness, Distinct, EntropyDiversity, NumericHull, Recursive, Sensitive
from querygate.methods.anonymise.guards import diversity


def judged(kind, counts, **options):
    """The verdict on each row of counts, given as one combination per row."""
    counts = np.array(counts)
    combination, value = np.nonzero(counts)
    sensitive = Sensitive("disease", combination, value, counts[combination, value], counts.shape[1])
    rows = np.arange(len(counts))
    return kind(sensitive, **options).classes(rows, rows, len(counts)).tolist()


def test_distinct():
    assert judged(Distinct, [[3, 1, 0], [4, 0, 0], [1, 1, 1]], l=2) == [True, False, True]


def test_entropy():
    # Two equal values have entropy log 2 exactly, 3 to 1 has less.
    assert judged(EntropyDiversity, [[2, 2, 0], [3, 1, 0], [2, 1, 1]], l=2) == [True, False, True]


def test_recursive():
    # r1 < c (rl + ... + rm) is strict: 4 < 2 * 2 fails, 3 < 2 * 2 holds.
    assert judged(Recursive, [[4, 2, 0], [3, 2, 0], [5, 5, 2]], c=2, l=2) == [False, True, True]
    assert judged(Recursive, [[5, 5, 2], [3, 3, 2], [9, 0, 0]], c=2, l=3) == [False, True, False]


def test_alpha():
    assert judged(Alpha, [[3, 2, 0], [4, 1, 0], [2, 2, 1]], alpha=0.6) == [True, False, True]


def test_closeness_with_equal_distances():
    # The whole is (1/2, 1/2); (3/4, 1/4) is 1/4 away.
    assert judged(Closeness, [[3, 1], [1, 3], [2, 2]], t=0.25) == [True, True, True]
    assert judged(Closeness, [[3, 1], [1, 3], [2, 2]], t=0.24) == [False, False, True]


def test_closeness_with_ordered_distances():
    # Salaries 3k to 11k of Li, Li and Venkatasubramanian (2007): {3,4,5} is 0.375 away, {6,8,11} is 0.167.
    salaries = np.zeros((3, 9), dtype=int)
    salaries[0, [0, 1, 2]] = salaries[1, [3, 5, 8]] = salaries[2, [4, 6, 7]] = 1
    assert judged(Closeness, salaries, t=0.17, ordered=True) == [False, True, False]
    assert judged(Closeness, salaries, t=0.375, ordered=True) == [True, True, True]


def test_many_classes_are_judged_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (50, 6)) + np.eye(50, 6, dtype=int)
    counts[:, 0] += 1
    expected = (counts > 0).sum(axis=1) >= 5
    monkeypatch.setattr(diversity, "BLOCK", 20)
    assert judged(Distinct, counts, l=5) == expected.tolist()


def test_a_combination_without_a_value_is_an_error():
    gap = Sensitive("disease", np.array([0, 2]), np.array([0, 1]), np.array([1, 1]), 2)
    with pytest.raises(ValueError, match="has no value"):
        Distinct(gap, 2)


def hull(values, bins, least_width=10.0):
    """One record per combination; None is a missing value in the bin -1."""
    raw = np.array([np.nan if v is None else v for v in values], dtype=float)
    return NumericHull("sbp", raw, raw, np.array(bins), np.array(bins), least_width)


@pytest.mark.parametrize(
    ("values", "bins", "holds"),
    [
        ([120, 130], [12, 13], True),
        ([120, 129], [12, 13], False),  # two bins, but too narrow
        ([120, 130], [12, 12], False),  # wide enough, but one bin
        ([None, 120], [-1, 12], False),  # missing values do not widen a hull
        ([None, 120, 130], [-1, 12, 13], True),
        ([None, None], [-1, -1], False),
        ([-np.inf, np.inf], [0, 30], True),
        ([np.inf, np.inf], [30, 31], False),
    ],
)
def test_numeric_hull(values, bins, holds):
    rows = np.arange(len(values))
    assert hull(values, bins).classes(rows, np.zeros_like(rows), 1).tolist() == [holds]


def test_without_a_least_width_two_bins_suffice():
    rows = np.arange(2)
    assert hull([None, 120], [-1, 12], 0.0).classes(rows, np.zeros_like(rows), 1).all()
