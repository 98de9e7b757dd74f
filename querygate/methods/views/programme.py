"""Linear programmes by HiGHS: a corner where the goal is least, and what each equation is worth there.

In double arithmetic, so nothing is believed of it: callers round what it finds and check that in whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from querygate.core.types import Floats

MOST_NODES, GOOD_ENOUGH = 20, 0.1
"""Of a search for whole numbers: how long it goes on, and how far from the best it may end."""


@dataclass(frozen=True)
class Corner:
    """The unknowns, and the dual figures of the equations."""

    found: Floats
    worth: Floats


def zero_sums(goal: Floats, matrix: csr_array, lower: Floats, upper: Floats) -> Corner | None:
    """The least goal such that every sum (row of the matrix) is zero; None if there is none."""
    bounds = list(zip(lower.tolist(), upper.tolist(), strict=True))
    right = np.zeros(matrix.shape[0])
    # The stubs of SciPy know no sparse matrices here.
    solved = linprog(goal, A_eq=matrix, b_eq=right, bounds=bounds, method="highs-ds")  # type: ignore[call-overload]
    if solved.status != 0:
        return None
    return Corner(np.asarray(solved.x, np.float64), np.asarray(solved.eqlin.marginals, np.float64))


def sums_below(goal: Floats, matrix: csr_array, limits: Floats, upper: Floats) -> Floats | None:
    """The least goal such that every sum is at most its limit and no unknown is negative; None if there is none."""
    bounds = [(0.0, one) for one in upper.tolist()]
    solved = linprog(goal, A_ub=matrix, b_ub=limits, bounds=bounds, method="highs-ds")  # type: ignore[call-overload]
    return np.asarray(solved.x, np.float64) if solved.status == 0 else None


def whole_zero_sums(
    goal: Floats, matrix: csr_array, most_matrix: csr_array, most: Floats, upper: Floats
) -> Floats | None:
    """Whole numbers from 0 to `upper` with zero sums, and sums of the second matrix that are at most `most`.

    The search is cut off by a number of steps, never by time, so that it finds the same every time.
    """
    solved = milp(
        goal,
        integrality=np.ones(goal.size, dtype=np.int64),
        bounds=Bounds(np.zeros(goal.size), upper),
        constraints=[LinearConstraint(matrix, 0.0, 0.0), LinearConstraint(most_matrix, -np.inf, most)],
        options={"node_limit": MOST_NODES, "mip_rel_gap": GOOD_ENOUGH},
    )
    return None if solved.x is None else np.asarray(solved.x, np.float64)
