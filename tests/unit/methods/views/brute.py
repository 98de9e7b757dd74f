"""What is true of tiny tables, by trying everything."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np

from querygate.core.types import Ints


def rank(rows: list[list[int]]) -> int:
    """In fractions."""
    left = [[Fraction(entry) for entry in row] for row in rows]
    found = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(left)) if left[i][column]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for i in range(found + 1, len(left)):
            times = left[i][column] / left[found][column]
            if times:
                left[i] = [a - times * b for a, b in zip(left[i], left[found], strict=True)]
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
    best = int(weights.sum())
    for size in range(1, atoms + 1):
        for support in combinations(range(atoms), size):
            weight = int(weights[list(support)].sum())
            outside = [i for i in range(atoms) if i not in support]
            if weight < best and (not outside or rank([[row[i] for i in outside] for row in rows]) < full):
                best = weight
    return best


def histograms(labels: Ints, bins: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    """Which (view, class, bin) occurs, once for each record."""
    return tuple(sorted((view, int(row[i]), bins[i]) for view, row in enumerate(labels) for i in range(len(bins))))


def possible_bins(labels: Ints, bins: Ints) -> list[set[int]]:
    """Per record all bins that it has in some table with the same histograms."""
    own = tuple(bins.tolist())
    wanted = histograms(labels, own)
    found: list[set[int]] = [set() for _ in own]
    for other in product(sorted(set(own)), repeat=len(own)):
        if histograms(labels, other) == wanted:
            for i, one in enumerate(other):
                found[i].add(one)
    return found
