"""Row spaces in fractions and atoms of sets: the references that fast tests are compared with."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from querygate.core.types import Bools, Ints


def known_exactly(rows: Bools) -> Bools:
    """Per column whether its unit vector is in the row space: a row of the reduced echelon form has it alone."""
    reduced = _reduced([[Fraction(int(entry)) for entry in row] for row in rows.tolist()])
    alone = np.zeros(rows.shape[1], dtype=np.bool_)
    for row in reduced:
        filled = [i for i, entry in enumerate(row) if entry]
        if len(filled) == 1:
            alone[filled[0]] = True
    return alone


def atoms(sets: Bools) -> tuple[Ints, Bools]:
    """The atom of each place, and the sets over atoms: places that are in the same sets are one atom.

    `sets` has a row for each set and a column for each place. Each set draws a random word, a place's signature is the
    sum of the words of the sets it is in, and places of equal signature are one atom. Two places of different atoms
    have equal signatures once in 2^64 tries; the sets over atoms are compared with the sets given, so that this shows.
    """
    number, places = sets.shape
    words = np.random.default_rng(number).integers(0, 2**63, (number,), dtype=np.uint64)
    signatures = np.zeros(places, dtype=np.uint64)
    for i in range(number):
        signatures[sets[i]] += words[i]
    _, first, label = np.unique(signatures, return_index=True, return_inverse=True)
    label = label.reshape(-1).astype(np.int64)
    over = np.ascontiguousarray(sets[:, first])
    for i in range(number):
        if not np.array_equal(over[i, label], sets[i]):
            raise ArithmeticError("two different atoms have one signature")
    return label, over


def _reduced(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    done = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in range(done, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        rows[done] = [entry / rows[done][column] for entry in rows[done]]
        for r in range(len(rows)):
            if r != done and rows[r][column]:
                rows[r] = [a - rows[r][column] * b for a, b in zip(rows[r], rows[done], strict=True)]
        done += 1
    return rows[:done]


def in_row_space(rows: list[list[int]], target: list[int]) -> bool:
    """Is the target a combination of the rows? The rank does not grow with it."""
    plain = [[Fraction(entry) for entry in row] for row in rows]
    return len(_reduced([list(row) for row in plain])) == len(_reduced([*plain, [Fraction(entry) for entry in target]]))
