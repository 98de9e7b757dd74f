"""Row spaces in fractions: the reference that fast tests are compared with."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from querygate.core.types import Bools


def known_exactly(rows: Bools) -> Bools:
    """Per column whether its unit vector is in the row space: a row of the reduced echelon form has it alone."""
    reduced = _reduced([[Fraction(int(entry)) for entry in row] for row in rows.tolist()])
    alone = np.zeros(rows.shape[1], dtype=np.bool_)
    for row in reduced:
        filled = [i for i, entry in enumerate(row) if entry]
        if len(filled) == 1:
            alone[filled[0]] = True
    return alone


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
