"""Equations in fractions: what is solved is solved exactly, and what has no solution has none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from querygate.methods.views.atoms import Atoms
from querygate.methods.views.balance import _exact
from querygate.methods.views.linear_programme import ZeroSums
from querygate.methods.views.rationals import solve_exactly
from tests.each import each
from tests.seeds import seeds


@each("seed", seeds(80))
def test_sums_are_zero_and_given_numbers_stay(seed: int) -> None:
    random = np.random.default_rng(seed)
    unknowns = int(random.integers(2, 9))
    sums = [np.flatnonzero(random.random(unknowns) < 0.5).tolist() for _ in range(int(random.integers(1, 7)))]
    fixed = {0: Fraction(int(random.integers(-5, 6)), int(random.integers(1, 7)))}
    found = solve_exactly(sums, fixed, unknowns)
    matrix = np.array([[one in members for one in range(unknowns)] for members in sums], dtype=float)
    if found is None:
        right = -matrix[:, 0] * float(fixed[0])
        assert np.linalg.matrix_rank(np.column_stack([matrix[:, 1:], right])) > np.linalg.matrix_rank(matrix[:, 1:])
    else:
        assert found[0] == fixed[0]
        assert all(sum((found[one] for one in members), Fraction(0)) == 0 for members in sums)


def test_what_no_small_denominator_gives_is_solved_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate.methods.views.balance.DENOMINATORS", ())
    labels = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    atoms, weights = Atoms(labels, (2, 2)), np.array([2, 3, 3, 2])
    corner = ZeroSums(atoms.incidence, weights / 4).greatest(0, 0.5)
    assert corner is not None
    one = _exact(atoms, weights, 4, 0, corner.found)
    assert one is not None
    assert one.holds(atoms, weights, 4)
    assert not one.holds(atoms, weights, 5)
