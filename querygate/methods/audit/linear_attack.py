"""Which atoms can be worked out from the totals of query sets: all of them, whatever the combination.

An answered total is an equation, one row of a matrix A over the atoms. The total of atom a follows from the answers if
and only if its unit vector is in the row space of A, that is if z_a = 0 for every z with A z = 0. Such a z, drawn at
random over the integers modulo a prime, is zero at other atoms only by chance, once in p tries for each probe. Two
atoms are *tied*, some combination of their totals alone being known, if their columns of the null space are parallel:
if the ratio of z_a to z_b is the same in every probe (Chin and Ozsoyoglu 1982 for the question; the probe is ours).

>>> import numpy as np
>>> sets = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]], bool)  # ages 40-50, 40-51, and 51 with another
>>> known(sets)
array([False, False,  True,  True])
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.audit.prime_field import EXACT, PRIME, draw, multiply, ratios, residues, solve
from querygate.methods.audit.total_matrix import Rows

PROBES = 3
"""An atom is called known by chance once in p^3 tries; and every finding is proved by itself."""


class NotSolved(ArithmeticError):
    """The random matrix was singular by chance twice in a row, which does not happen."""


def null_vectors(rows: Bools | Rows, number: int, seed: int = 0) -> Floats:
    """Random vectors z (one per line) with A z = 0 modulo the prime.

    With a random diagonal D and random w, y solves (A D A^T) y = A w, and z = w - D A^T y. Rows that depend on others
    are left out by the solver. A z = 0 is checked in the end, so a wrong result cannot pass.
    """
    equations, atoms = rows.shape
    matrix = rows.astype(np.float64)
    for turn in range(4):
        random = np.random.default_rng([seed, turn])
        scale, w = draw(random, atoms), draw(random, atoms, number)
        if not equations:
            return w.T
        y = solve(_gram(matrix, scale), _times(matrix, w)).solution
        z = residues(w - residues(multiply(matrix.T, y) * scale[:, None]))
        if not _times(matrix, z).any():
            return np.ascontiguousarray(z.T)
    raise NotSolved


def _gram(matrix: Floats, scale: Floats) -> Floats:
    """A D A^T."""
    return _times(matrix, residues(matrix * scale).T)


def _times(matrix: Floats, vectors: Floats) -> Floats:
    """A times residues. Entries of A are mostly 0 or 1, so that all of a row can be added before a double rounds."""
    if np.abs(matrix).sum(axis=1).max(initial=0) * PRIME < EXACT:
        return residues(matrix @ vectors)
    return multiply(residues(matrix), vectors)


def known(rows: Bools, seed: int = 0) -> Bools:
    """Per atom whether its total follows from the totals of the rows."""
    return zero(null_vectors(rows, PROBES, seed))


def zero(probes: Floats) -> Bools:
    """Where every probe is zero: what is known."""
    return np.asarray(np.equal(probes, 0).all(axis=0))


def tied(probes: Floats) -> list[tuple[int, int]]:
    """Pairs of atoms that are not known, some combination of which is: neighbours in each group of parallel ones."""
    usable = np.flatnonzero((probes != 0).all(axis=0))
    if not usable.size:
        return []
    z = probes[:, usable]
    inverse = ratios(np.ones_like(z[0]), z[0])
    shape = residues(z[1:] * inverse)
    order = np.lexsort(shape)
    alike = (np.diff(shape[:, order], axis=1) == 0).all(axis=0)
    return [(int(usable[order[i]]), int(usable[order[i + 1]])) for i in np.flatnonzero(alike)]


def split(label: Ints, row: Bools) -> Ints:
    """Atoms after one more set. What a set leaves whole keeps its number, a part that lies inside gets a new one."""
    atoms = int(label.max(initial=-1)) + 1
    inside = np.bincount(label[row], minlength=atoms)
    cut = (inside > 0) & (inside < np.bincount(label, minlength=atoms))
    number = np.where(cut, atoms + np.cumsum(cut) - 1, np.arange(atoms))
    return np.where(row, number[label], label)
