"""Random null vectors of equations that come in one after another, over atoms that become finer as they do.

What `linear` asks of a log as a whole is asked here before each answer, so that nothing is computed from scratch:

- A pool of random vectors z with A z = 0 is kept, an entry for each atom. An equation that all of them satisfy is
  implied by earlier ones. Any other is paid for with one vector: the multiple of it that makes each of the others
  satisfy the equation is subtracted.
- An atom that a set divides gives its entry to the two parts at random. Earlier sets have both parts or none.
- When the pool runs out, fresh vectors w are drawn. The vectors spent on earlier equations, p(j) on equation j, make
  them null vectors: p(j) satisfies the equations before j, so the multiples that have to be subtracted solve a
  triangular system. That is elimination with its steps kept, and done in matrix products.

>>> import numpy as np
>>> space = NullSpace(4)
>>> space.take(np.array([[1, 1, 1, 0], [0, 1, 1, 1]], bool))
>>> after = space.foresee(np.array([[1, 1, 1, 1]], bool))
>>> [bool(known) for known in (after.probes == 0).all(axis=0)[after.label]]  # the first and the last would be known
[True, True, True, True]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.audit.differencing_pairs import packed
from querygate.methods.audit.linear_attack import PROBES, split
from querygate.methods.audit.prime_field import PANEL, draw, inverse, multiply, residues

SPARES = 48
"""Vectors kept beyond the probes, one for each new equation."""

RESERVE = 4
"""Of these some are always left: a single one could satisfy a new equation by chance, once in p tries."""


class Foreseen(NamedTuple):
    """Atoms as they would be: of which atom each is a part, and the probes before and after. Zero is known."""

    label: Ints
    parent: Ints
    before: Floats
    probes: Floats


class NullSpace:
    """The equations so far: the sum over each set is known."""

    def __init__(self, places: int) -> None:
        self.label: Ints = np.zeros(places, dtype=np.int64)
        self._sets: list[npt.NDArray[np.uint8]] = []  # independent ones, packed
        self._spent: list[npt.NDArray[np.float32]] = []  # p(j); residues are whole in 32 bits, later atoms have zero
        self._steps: Floats = np.zeros((0, 0))  # p(j) over set i, for j <= i
        self._pool = draw(np.random.default_rng(0), PROBES + SPARES, 1)

    @property
    def rank(self) -> int:
        return len(self._sets)

    def foresee(self, sets: Bools) -> Foreseen:
        """What these sets, together, would make of it. Nothing is changed."""
        self._stock(len(sets))
        used = np.r_[0:PROBES, len(self._pool) - len(sets) - RESERVE : len(self._pool)]
        label, parent, pool, over = self._divided(sets, self._pool[used])
        left, _, _ = _paid(residues(pool @ over.T))
        return Foreseen(label, parent, self._pool[:PROBES, parent], multiply(left[:PROBES], pool))

    def take(self, sets: Bools) -> None:
        """Equations from now on, a few at a time."""
        for begin in range(0, len(sets), SPARES - RESERVE):
            some = sets[begin : begin + SPARES - RESERVE]
            self._stock(len(some))
            self.label, _, pool, over = self._divided(some, self._pool)
            left, spent, paid = _paid(residues(pool @ over.T))
            if paid:
                self._spent += list(multiply(spent, pool).astype(np.float32))
                self._sets += list(packed(some[paid]))
            self._pool = multiply(left, pool)

    def _divided(self, sets: Bools, pool: Floats) -> tuple[Ints, Ints, Floats, Floats]:
        """Atoms with these sets among the others: labels, parents, these vectors over them, and the sets over them."""
        label = self.label
        for one in sets:
            label = split(label, one)
        parent = np.empty(int(label.max(initial=0)) + 1, dtype=np.int64)
        parent[label] = self.label
        over = np.zeros((len(sets), len(parent)))
        over[:, label] = sets
        new = parent[pool.shape[1] :]
        parts = draw(np.random.default_rng([self.rank, len(parent)]), len(pool), len(new))
        pool = np.concatenate([pool, parts], axis=1)
        if len(new):
            order = np.argsort(new, kind="stable")
            cut, starts = np.unique(new[order], return_index=True)
            pool[:, cut] = residues(pool[:, cut] - np.add.reduceat(parts[:, order], starts, axis=1))
        return label, parent, pool, over

    # -- fresh vectors -----------------------------------------------------------------------------------

    def _stock(self, number: int) -> None:
        """See to it that so many equations can be paid for."""
        if len(self._pool) < PROBES + RESERVE + number:
            self._pool = self._drawn(PROBES + SPARES + number)

    def _drawn(self, number: int) -> Floats:
        atoms = int(self.label.max(initial=0)) + 1
        w = draw(np.random.default_rng([self.rank, number]), atoms, number)
        self._keep_steps(atoms)
        sums = np.concatenate([np.zeros((0, number)), *(residues(rows @ w) for rows in self._rows(0))])
        multiples = _forward(self._steps, sums)
        for begin in range(0, self.rank, PANEL):
            block = self._spent_over(begin, atoms)
            w = residues(w - residues(block.T @ multiples[begin : begin + PANEL]))
        return np.ascontiguousarray(w.T)

    def _keep_steps(self, atoms: int) -> None:
        """Bring the triangle up to date: what each spent vector adds up to over each set that came since."""
        done = len(self._steps)
        steps = np.zeros((self.rank, self.rank))
        steps[:done, :done] = self._steps
        rows = list(self._rows(done))
        for begin in range(0, self.rank, PANEL):
            block = self._spent_over(begin, atoms)
            at = done
            for some in rows:
                steps[at : at + len(some), begin : begin + len(block)] = residues(some @ block.T)
                at += len(some)
        self._steps = steps

    def _rows(self, begin: int) -> list[Floats]:
        """The sets from `begin` on, over atoms, a panel each."""
        first = np.empty(int(self.label.max(initial=0)) + 1, dtype=np.int64)
        first[self.label] = np.arange(len(self.label))
        panels = [np.array(self._sets[at : at + PANEL]) for at in range(begin, self.rank, PANEL)]
        return [np.unpackbits(one, axis=1, count=len(self.label))[:, first].astype(np.float64) for one in panels]

    def _spent_over(self, begin: int, atoms: int) -> Floats:
        """A panel of spent vectors. A part that was cut off later has nothing of the entry."""
        some = self._spent[begin : begin + PANEL]
        block = np.zeros((len(some), atoms))
        for line, vector in zip(block, some, strict=True):
            line[: len(vector)] = vector
        return block


def _paid(off: Floats) -> tuple[Floats, Floats, list[int]]:
    """Combinations of vectors that make every column zero, those that were spent on it, and on which columns.

    `off` has a row for each vector, what it adds up to over each set. The last vectors are spent first.
    """
    number, columns = off.shape
    left = np.concatenate([off, np.eye(number)], axis=1)
    payers: list[int] = []
    spent: list[Floats] = []
    paid: list[int] = []
    for column in range(columns):
        able = np.flatnonzero(left[:, column])
        if able.size:
            payer = int(able[-1])
            payers.append(payer)
            spent.append(left[payer, columns:].copy())
            paid.append(column)
            factors = residues(left[:, column] * inverse(left[payer, column]))
            left = residues(left - residues(factors[:, None] * left[payer]))
    return np.delete(left[:, columns:], payers, axis=0), np.array(spent).reshape(-1, number), paid


def _forward(lower: Floats, right: Floats) -> Floats:
    """x of lower x = right, for a lower triangle without zeros on its diagonal."""
    x = np.zeros_like(right)
    for begin in range(0, len(lower), PANEL):
        end = min(begin + PANEL, len(lower))
        rest = right[begin:end]
        if begin:
            rest = residues(rest - multiply(lower[begin:end, :begin], x[:begin]))
        for i in range(begin, end):
            known = residues(lower[i : i + 1, begin:i] @ x[begin:i])[0]
            x[i] = residues(residues(rest[i - begin] - known) * inverse(lower[i, i]))
    return x
