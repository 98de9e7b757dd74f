"""Every law of a lattice, on every symbol."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from querygate.methods.sequences import DNALA, IUPAC, LATTICES
from querygate.methods.sequences.letter_lattice import LetterLattice

ALL = range(1, 32)
LETTERS = "ACGTRYSWKMBDHVN"
MEANT = ["A", "C", "G", "T", "AG", "CT", "CG", "AT", "GT", "AC", "CGT", "AGT", "ACT", "ACG", "ACGT"]

pytestmark = pytest.mark.parametrize("lattice", [IUPAC, DNALA], ids=lambda one: one.name)


def _join(lattice: LetterLattice, a: int, b: int) -> int:
    return int(lattice.closure[a | b])


def test_closure_is_one(lattice: LetterLattice) -> None:
    for a in ALL:
        closed = int(lattice.closure[a])
        assert closed & a == a
        assert lattice.closure[closed] == closed
        assert closed in lattice.letters
        for b in ALL:
            assert a & b != a or closed & int(lattice.closure[b]) == closed


def test_joins_of_all_sets(lattice: LetterLattice) -> None:
    for a, b, c in product(ALL, ALL, ALL):
        assert _join(lattice, _join(lattice, a, b), c) == _join(lattice, a, _join(lattice, b, c))
    for a, b in product(lattice.letters, lattice.letters):
        join = _join(lattice, a, b)
        assert join == _join(lattice, b, a)
        assert _join(lattice, a, join) == join
        above = [c for c in lattice.letters if c & a == a and c & b == b]
        assert join in above
        assert all(c & join == join for c in above)
    assert all(_join(lattice, a, a) == a for a in lattice.letters)


def test_levels_rise(lattice: LetterLattice) -> None:
    for a, b in product(lattice.letters, lattice.letters):
        if a != b and a & b == a:
            assert lattice.level[a] < lattice.level[b]


def test_every_step_goes_up_one_level(lattice: LetterLattice) -> None:
    """So the distance of levels is the number of steps along the lattice, whichever way is taken."""
    for a, b in product(lattice.letters, lattice.letters):
        between = [c for c in lattice.letters if c not in (a, b) and a & c == a and c & b == c]
        if a != b and a & b == a and not between:
            assert lattice.level[b] == lattice.level[a] + 1


def test_distance_is_a_metric(lattice: LetterLattice) -> None:
    far = lattice.steps + lattice.steps.T
    closed = sorted(lattice.letters)
    for a, b in product(closed, closed):
        assert (far[a, b] == 0) == (a == b)
        assert far[a, b] == far[b, a]
        assert far[a, b] == 2 * lattice.level[a | b] - lattice.level[a] - lattice.level[b]
    inside = far[np.ix_(closed, closed)]
    assert (inside[:, None, :] <= inside[:, :, None] + inside[None, :, :].transpose(0, 2, 1)).all()


def test_published_levels_of_bases(lattice: LetterLattice) -> None:
    """Level = number of bases: four on 1, six on 2, four on 3, N on 4."""
    for letter, means in zip(LETTERS, MEANT, strict=True):
        bits = sum(1 << "ACGT".index(base) for base in means)
        assert lattice.letters[int(lattice.closure[bits])] == letter
        assert lattice.level[bits] == len(means)


@pytest.mark.parametrize(
    ("one", "other", "join", "steps"),
    [
        ("A", "G", "R", 2),
        ("C", "T", "Y", 2),
        ("A", "B", "N", 4),
        ("R", "Y", "N", 4),
        ("A", "R", "R", 1),
        ("A", "N", "N", 3),
        ("R", "W", "D", 2),
        ("G", "G", "G", 0),
        ("S", "B", "B", 1),
    ],
)
def test_by_hand(lattice: LetterLattice, one: str, other: str, join: str, steps: int) -> None:
    assert (lattice.join(one, other), lattice.distance(one, other)) == (join, steps)


def test_gaps(lattice: LetterLattice) -> None:
    top, gap_level = ("?", 4) if lattice is IUPAC else ("N", 3)
    assert lattice.level[16] == gap_level
    assert lattice.level[31] == gap_level + 1
    for letter, means in zip(LETTERS, MEANT, strict=True):
        assert lattice.join("-", letter) == top
        up = gap_level + 1 - len(means)
        assert lattice.distance("-", letter) == (up + 1 if lattice.join("-", letter) != letter else 1)
    assert lattice.distance("-", "-") == 0
    assert (lattice.join("N", "-") == "N") == (lattice is DNALA)


def test_ambiguity(lattice: LetterLattice) -> None:
    assert lattice.ambiguity[1] == lattice.ambiguity[16] == 0
    assert lattice.ambiguity[5] == 1
    assert lattice.ambiguity[31] == pytest.approx(np.log2(5))


def test_registered(lattice: LetterLattice) -> None:
    assert LATTICES.get(lattice.name) is lattice
