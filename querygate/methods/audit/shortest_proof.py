"""The shortest proof: which answers, times which numbers, add up to what nobody should know.

Of all combinations of query sets that leave exactly the target, the one with the least sum of absolute coefficients is
found by linear programming, turned into fractions and checked in exact arithmetic. What does not check is not a proof.

>>> import numpy as np
>>> sets = np.array([[1, 1, 0], [1, 1, 1]], bool)
>>> combine(sets, np.array([0, 0, 1]))
{0: Fraction(-1, 1), 1: Fraction(1, 1)}
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import scipy  # its optimize is slow to import, and comes where it is used
from scipy.sparse import csr_matrix, hstack

from querygate.core.types import Bools, Ints
from querygate.methods.audit.total_matrix import Rows

Combination = dict[int, Fraction]
"""Coefficients by the number of the set."""

MOST_ROWS = (60, 400, 2_000)
"""Sets nearest to the target that are tried first, before more of them, before all."""

LARGEST_DENOMINATOR = 10_000

LONGEST_S = 60.0
"""Of one programme; what is not proved by then is not."""


def combine(sets: Bools | Rows, target: Ints) -> Combination | None:
    """A combination of the sets (rows over atoms) that equals the target; None if there is none.

    One set, or the difference of two, is looked up. Everything else is a linear programme.
    """
    sets, wanted = sets.astype(np.int16, copy=False), target.astype(np.int64)
    found = _looked_up(sets, wanted)
    if found is not None:
        return found
    order = _by_nearness(sets, wanted != 0)
    for most in (*MOST_ROWS, len(sets)):
        chosen = order[:most]
        found = _programmed(sets[chosen], wanted)
        if found is not None:
            return {int(chosen[i]): c for i, c in sorted(found.items(), key=lambda item: chosen[item[0]])}
        if most >= len(sets):
            break
    return None


def _looked_up(sets: Rows, target: Ints) -> Combination | None:
    by_set = {row.tobytes(): i for i, row in enumerate(sets)}
    for sign in (1, -1):
        wanted = (sign * target).astype(np.int16)
        if wanted.tobytes() in by_set:
            return {by_set[wanted.tobytes()]: Fraction(sign)}
    wanted, where = target.astype(np.int16), target != 0
    for larger in np.flatnonzero((sets[:, where] == wanted[where]).all(axis=1)).tolist():
        smaller = by_set.get((sets[larger] - wanted).tobytes())
        if smaller is not None:
            return dict(sorted({smaller: Fraction(-1), larger: Fraction(1)}.items()))
    return None


def _by_nearness(sets: Rows, target: Bools) -> Ints:
    """Sets that share most with those around the target come first; the target's own before the others."""
    held = sets != 0
    mine = held[:, target].any(axis=1)
    near = held[mine].any(axis=0) if mine.any() else target
    share = held[:, near].sum(axis=1) / np.maximum(held.sum(axis=1), 1)
    return np.lexsort((held.sum(axis=1), -share, ~mine))


def _programmed(sets: Rows, target: Ints) -> Combination | None:
    """min sum |c| subject to c A = target, then exact."""
    columns = np.flatnonzero(sets.any(axis=0) | (target != 0))
    if (target[columns][~sets[:, columns].any(axis=0)] != 0).any():
        return None
    matrix = csr_matrix(sets[:, columns].T.astype(np.float64))
    found = scipy.optimize.linprog(
        np.ones(2 * len(sets)),
        A_eq=hstack([matrix, -matrix], "csr"),
        b_eq=target[columns],
        method="highs",
        options={"time_limit": LONGEST_S},
    )
    if found.status != 0 or found.x is None:
        return None
    c = found.x[: len(sets)] - found.x[len(sets) :]
    used = np.flatnonzero(np.abs(c) > 1e-9)
    rounded = {int(i): Fraction(float(c[i])).limit_denominator(LARGEST_DENOMINATOR) for i in used}
    if is_combination(sets, rounded, target):
        return rounded
    return _solved(sets, used.tolist(), target)


def _solved(sets: Rows, used: Sequence[int], target: Ints) -> Combination | None:
    """The coefficients of these sets by elimination in fractions."""
    columns = np.flatnonzero(sets[list(used)].any(axis=0))
    rows = [[Fraction(int(sets[i, a])) for i in used] + [Fraction(int(target[a]))] for a in columns]
    for place in range(len(used)):
        pivot = next((r for r in range(place, len(rows)) if rows[r][place]), None)
        if pivot is None:
            return None
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [value / rows[place][place] for value in rows[place]]
        for r, row in enumerate(rows):
            if r != place and row[place]:
                rows[r] = [value - row[place] * own for value, own in zip(row, rows[place], strict=True)]
    found = {used[i]: rows[i][-1] for i in range(len(used)) if rows[i][-1]}
    return found if is_combination(sets, found, target) else None


def is_combination(sets: Bools | Rows, coefficients: Mapping[int, Fraction], target: Ints) -> bool:
    """Does the combination leave exactly the target? In whole numbers, without rounding."""
    denominator = math.lcm(*(c.denominator for c in coefficients.values()))
    total = [0] * sets.shape[1]
    for i, c in coefficients.items():
        factor = int(c * denominator)
        for a in np.flatnonzero(sets[i]).tolist():
            total[a] += factor * int(sets[i, a])
    return total == [int(value) * denominator for value in target]
