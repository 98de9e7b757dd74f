"""What an attacker who knows everybody's quasi-identifiers works out from several published partitions.

By linear algebra: groups of fewer than k people whose indicator is a combination of class indicators, so that any
figure of theirs follows. By linear programming: people who have the same bin in every table, even of fractions of
people, that meets all histograms and sums. Neither uses anything of what makes or checks views.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_matrix, hstack, identity, kron, vstack

from querygate.core.types import Floats, Ints


@dataclass(frozen=True)
class Told:
    """One column in one frame cell: classes of each record (views x records), its bin, and if it is a number the ends
    of bins, the values and the width of sum cells."""

    labels: Ints
    bins: Ints
    low: Ints | None = None
    high: Ints | None = None
    values: Ints | None = None
    step: int = 0


def _atoms(labels: Ints) -> tuple[Ints, Ints, csr_matrix]:
    atoms, atom = np.unique(labels, axis=1, return_inverse=True)
    rows = [csr_matrix(row == name) for row in atoms for name in np.unique(row)]
    return atoms, atom.reshape(-1), csr_matrix(vstack(rows)).astype(np.float64)


def exposed_by_algebra(labels: Ints, k: int) -> int:
    """People in atoms of fewer than k whose indicator is a combination of the classes."""
    atoms, atom, matrix = _atoms(labels)
    size = np.bincount(atom, minlength=atoms.shape[1])
    wanted = np.flatnonzero(size < k)
    if not wanted.size:
        return 0
    targets = np.zeros((atoms.shape[1], wanted.size))
    targets[wanted, np.arange(wanted.size)] = 1.0
    rows = matrix.toarray().T
    found = np.linalg.lstsq(rows, targets, rcond=None)[0]
    exact = np.abs(rows @ found - targets).max(axis=0) < 1e-8
    return int(size[wanted[exact]].sum())


def certain_by_programmes(told: Told) -> int:
    """People whose bin is the same in every table that meets the figures."""
    atoms, atom, matrix = _atoms(told.labels)
    kinds, kind = np.unique(told.bins, return_inverse=True)
    number, many = atoms.shape[1], kinds.size
    size = np.bincount(atom, minlength=number).astype(np.float64)
    truth = np.zeros((number, many))
    np.add.at(truth, (atom, kind.reshape(-1)), 1.0)
    equal = [kron(identity(number), np.ones((1, many))), kron(matrix, identity(many))]
    right = [size, (matrix @ truth).reshape(-1)]
    upper, limit, more = _sums(told, atoms, atom, matrix, kinds)
    a_eq = hstack([vstack(equal), csr_matrix((sum(map(len, right)), more))]) if more else vstack(equal)
    bounds = [(0.0, float(size[a])) for a in range(number) for _ in range(many)] + [(None, None)] * more
    suspects = [(a, int(x)) for a in range(number) for x in np.flatnonzero(truth[a] == size[a])]

    def least(goal: Floats) -> Floats:
        solved = linprog(goal, A_ub=upper, b_ub=limit, A_eq=csr_matrix(a_eq), b_eq=np.concatenate(right), bounds=bounds)
        assert solved.status == 0, solved.message
        share: Floats = solved.x[: number * many].reshape(number, many) / size[:, None]
        return share

    while suspects:  # one programme frees many at once, until it frees nobody
        goal = np.zeros(number * many + more)
        for a, x in suspects:
            goal[a * many + x] = 1.0 / size[a]
        share = least(goal)
        left = [(a, x) for a, x in suspects if share[a, x] > 1.0 - 1e-6]
        if len(left) == len(suspects):
            break
        suspects = left
    fixed = 0
    for a, x in suspects:  # each by its own programme
        goal = np.zeros(number * many + more)
        goal[a * many + x] = 1.0
        if least(goal)[a, x] > 1.0 - 1e-6:
            fixed += int(size[a])
    return fixed


def _sums(
    told: Told, atoms: Ints, atom: Ints, matrix: csr_matrix, kinds: Ints
) -> tuple[csr_matrix | None, Floats | None, int]:
    """Totals by atom as further unknowns: between the ends of their bins, and in the cell of every class."""
    if told.values is None or told.low is None or told.high is None:
        return None, None, 0
    number, many = atoms.shape[1], kinds.size
    known = told.low <= told.high
    low, high = (np.where(known, ends, 0)[kinds][None, :] for ends in (told.low, told.high))
    totals = np.zeros(number)
    np.add.at(totals, atom, np.where(known[told.bins], told.values, 0).astype(np.float64))
    cell = np.floor(matrix @ totals / told.step) * told.step
    bins_low, bins_high = block_diag([low] * number), block_diag([high] * number)
    none = csr_matrix((matrix.shape[0], number * many))
    upper = vstack(
        [
            hstack([bins_low, -identity(number)]),
            hstack([-bins_high, identity(number)]),
            hstack([none, matrix]),
            hstack([none, -matrix]),
        ]
    )
    limit = np.concatenate([np.zeros(2 * number), cell + told.step - 1, -cell])
    return csr_matrix(upper), limit, number
