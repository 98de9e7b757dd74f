"""What an attacker who knows everybody's quasi-identifiers works out from several published partitions.

By linear algebra: groups of fewer than k people whose indicator is a combination of class indicators, so that any
figure of theirs follows. By linear programming: people who have the same bin in every table, even of fractions of
people, that meets all histograms and sums. Neither uses anything of what makes or checks views.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_matrix, hstack, identity, kron, vstack

from querygate.core.types import Floats, Ints


@dataclass(frozen=True)
class Told:
    """One column in one frame cell: classes of each record (views x records), its bin, and if it is a number the ends
    of bins and those of what is told of the sum of each record's class (views x records)."""

    labels: Ints
    bins: Ints
    low: Ints | None = None
    high: Ints | None = None
    sums: tuple[Floats, Floats] | None = None


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
    upper, limit, more = _sums(told, atoms, matrix, kinds)
    a_eq = hstack([vstack(equal), csr_matrix((sum(map(len, right)), more))]) if more else vstack(equal)
    bounds = [(0.0, float(size[a])) for a in range(number) for _ in range(many)] + [(None, None)] * more

    def least(goal: Floats) -> Floats:
        solved = linprog(
            np.append(goal, np.zeros(more)),
            A_ub=upper,
            b_ub=limit,
            A_eq=csr_matrix(a_eq),
            b_eq=np.concatenate(right),
            bounds=bounds,
        )
        assert solved.status == 0, solved.message
        found: Floats = solved.x[: number * many]
        return found

    return _always(truth, size, least)


def certain_records(views: Sequence[Ints], columns: Sequence[Ints], base: Ints | None = None) -> int:
    """People whose whole record is the same in every table that meets the histograms of each column (its bins) in the
    classes of its views (views x records), and the joint histograms of the classes `base`.
    """
    labels = np.vstack([*views, *([] if base is None else [base])])
    atoms, atom, matrix = _atoms(labels)
    joint, kind = np.unique(np.stack(columns), axis=1, return_inverse=True)
    number, many = atoms.shape[1], joint.shape[1]
    size = np.bincount(atom, minlength=number).astype(np.float64)
    truth = np.zeros((number, many))
    np.add.at(truth, (atom, kind.reshape(-1)), 1.0)
    ends = np.cumsum([sum(np.unique(row).size for row in own) for own in views])
    equal = [kron(identity(number), np.ones((1, many))), kron(matrix[ends[-1] :], identity(many))]
    right = [size, (matrix[ends[-1] :] @ truth).reshape(-1)]
    for values, own in zip(joint, np.split(np.arange(ends[-1]), ends[:-1]), strict=True):
        told = csr_matrix(values[:, None] == np.unique(values)[None, :]).astype(np.float64)
        equal.append(kron(matrix[own], told.T))
        right.append((matrix[own] @ truth @ told).reshape(-1))
    a_eq, b_eq = csr_matrix(vstack(equal)), np.concatenate(right)
    most = np.repeat(size, many)

    def least(goal: Floats) -> Floats:
        solved = linprog(goal, A_eq=a_eq, b_eq=b_eq, bounds=np.stack([np.zeros_like(most), most], axis=1))
        assert solved.status == 0, solved.message
        found: Floats = solved.x
        return found

    return _always(truth, size, least)


@dataclass(frozen=True)
class Unit:
    """Flags that are told together: the classes of each record (views x records), and the bin of each combination of
    flags that a record can have."""

    labels: Ints
    bins: Ints


def certain_flags(units: Sequence[Unit], kind: Ints, flags: Sequence[Ints]) -> int:
    """Flags of people that are the same in every table that meets the histograms of all units. `kind` is everybody's
    combination of flags, one of those that can be; `flags` say of each combination whether a flag is true in it.
    """
    atoms, atom, matrix = _atoms(np.vstack([unit.labels for unit in units]))
    number, many = atoms.shape[1], flags[0].size
    size = np.bincount(atom, minlength=number).astype(np.float64)
    truth = np.zeros((number, many))
    np.add.at(truth, (atom, kind), 1.0)
    ends = np.cumsum([sum(np.unique(row).size for row in unit.labels) for unit in units])
    equal, right = [kron(identity(number), np.ones((1, many)))], [size]
    for unit, own in zip(units, np.split(np.arange(ends[-1]), ends[:-1]), strict=True):
        told = csr_matrix(unit.bins[:, None] == np.unique(unit.bins)[None, :]).astype(np.float64)
        equal.append(kron(matrix[own], told.T))
        right.append((matrix[own] @ truth @ told).reshape(-1))
    a_eq, b_eq = csr_matrix(vstack(equal)), np.concatenate(right)

    def most_others(a: int, others: Ints) -> float:
        """How many of an atom can have another value of a flag, fractions of people too."""
        goal = np.zeros((number, many))
        goal[a, others] = -1.0
        solved = linprog(goal.reshape(-1), A_eq=a_eq, b_eq=b_eq, bounds=(0.0, None))
        assert solved.status == 0, solved.message
        return -float(solved.fun)

    found = 0
    for flag, a in product(flags, range(number)):
        for value in (0, 1):
            others = np.flatnonzero(flag != value)
            if truth[a, others].sum() == 0 and most_others(a, others) < 1e-6:
                found += int(size[a])
    return found


def _always(truth: Floats, size: Floats, least: Callable[[Floats], Floats]) -> int:
    """People of atoms that have one kind in truth and in every table; `least` makes a goal as small as can be."""
    suspects = [(a, int(x)) for a in range(len(size)) for x in np.flatnonzero(truth[a] == size[a])]

    def still(chosen: list[tuple[int, int]]) -> list[tuple[int, int]]:
        goal = np.zeros(truth.shape)
        for a, x in chosen:
            goal[a, x] = 1.0 / size[a]
        share = least(goal.reshape(-1)).reshape(truth.shape) / size[:, None]
        return [(a, x) for a, x in chosen if share[a, x] > 1.0 - 1e-6]

    while suspects:  # one programme frees many at once, until it frees nobody
        left = still(suspects)
        if len(left) == len(suspects):
            break
        suspects = left
    return sum(int(size[a]) for a, x in suspects if still([(a, x)]))  # each by its own programme


def _sums(told: Told, atoms: Ints, matrix: csr_matrix, kinds: Ints) -> tuple[csr_matrix | None, Floats | None, int]:
    """Totals by atom as further unknowns: between the ends of their bins, and in the cell of every class."""
    if told.sums is None or told.low is None or told.high is None:
        return None, None, 0
    number, many = atoms.shape[1], kinds.size
    known = told.low <= told.high
    low, high = (np.where(known, ends, 0)[kinds][None, :] for ends in (told.low, told.high))
    first = [np.unique(row, return_index=True)[1] for row in told.labels]
    least, most = (np.concatenate([end[own] for end, own in zip(ends, first, strict=True)]) for ends in told.sums)
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
    limit = np.concatenate([np.zeros(2 * number), most, -least])
    return csr_matrix(upper), limit, number
