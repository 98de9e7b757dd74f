"""What is true of tiny tables, by trying everything."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from querygate.core.types import Ints

PRIME = 2**31 - 1
"""Larger than any minor of a matrix of 0 and 1 with 20 rows (Hadamard), so that a rank modulo it is the rank."""


def rank(rows: list[list[int]]) -> int:
    """Of a small matrix of 0 and 1, without rounding."""
    left = [list(row) for row in rows]
    found = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(left)) if left[i][column]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        inverse = pow(left[found][column], -1, PRIME)
        for i in range(found + 1, len(left)):
            if times := left[i][column] * inverse % PRIME:
                left[i] = [(a - times * b) % PRIME for a, b in zip(left[i], left[found], strict=True)]
        found += 1
    return found


def indicators(labels: Ints) -> list[list[int]]:
    """Classes x atoms, for labels (views x atoms)."""
    return [(row == name).astype(int).tolist() for row in labels for name in np.unique(row)]


def least_support(labels: Ints, weights: Ints) -> int:
    """The least weight of atoms outside of which some combination of classes other than 0 vanishes.

    A combination that vanishes on some atoms exists exactly if these have a smaller rank than all.
    """
    rows = indicators(labels)
    atoms = labels.shape[1]
    full = rank(rows)
    best = min(int(np.array(row) @ weights) for row in rows)  # a class itself is a combination
    for size in range(1, atoms + 1):
        for support in combinations(range(atoms), size):
            weight = int(weights[list(support)].sum())
            outside = [i for i in range(atoms) if i not in support]
            if weight < best and (not outside or rank([[row[i] for i in outside] for row in rows]) < full):
                best = weight
    return best


def possible_bins(labels: Ints, bins: Ints) -> list[set[int]]:
    """Per record all bins that it has in some table with the same histograms, found atom by atom."""
    atoms, atom = np.unique(labels, axis=1, return_inverse=True)
    atom = atom.reshape(-1)
    kinds = np.unique(bins)
    left = {
        (view, int(name)): np.array([((row == name) & (bins == kind)).sum() for kind in kinds])
        for view, row in enumerate(labels)
        for name in np.unique(row)
    }
    found: list[set[int]] = [set() for _ in range(atoms.shape[1])]
    chosen: list[Ints] = []

    def go_on() -> None:
        at = len(chosen)
        if at == len(found):
            for own, counts in zip(found, chosen, strict=True):
                own.update(kinds[counts > 0].tolist())
            return
        classes = [left[view, int(name)] for view, name in enumerate(atoms[:, at])]
        for counts in _compositions(int((atom == at).sum()), np.minimum.reduce(classes)):
            for one in classes:
                one -= counts
            if atoms.shape[1] > at + 1 or not any(one.any() for one in left.values()):
                chosen.append(counts)
                go_on()
                chosen.pop()
            for one in classes:
                one += counts

    go_on()
    return [found[one] for one in atom]


def _compositions(total: int, most: Ints) -> list[Ints]:
    """All ways to divide a total, at most so many in each place."""
    ways = product(*(range(min(int(one), total) + 1) for one in most))
    return [np.array(way) for way in ways if sum(way) == total]
