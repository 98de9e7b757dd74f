"""Noisy synthetic tables (MST, McKenna, Miklau and Sheldon 2021) of made people: error of pairs by epsilon.

The paper reports the total variation of workloads of marginals on the data of a contest, which is not public here. What
must hold is its order: the error falls with epsilon, and at epsilon 1 pairs are kept better than by columns alone.
"""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import numpy as np

from querygate.core.types import Ints
from querygate.methods.dp import Price, measure, records
from tests.report import row

RECORDS, SIZES = 20_000, (8, 2, 5, 10, 4, 6)
DELTA = 1e-6


def made() -> Ints:
    """People whose columns depend on each other along two ways."""
    chance = np.random.default_rng(3)
    first = chance.integers(0, SIZES[0], RECORDS)
    columns = [first]
    for at, size in enumerate(SIZES[1:], 1):
        parent = columns[0] if at % 2 else columns[-1]
        columns.append(np.where(chance.random(RECORDS) < 0.6, parent % size, chance.integers(0, size, RECORDS)))
    return np.stack(columns, axis=1)


def apart(left: Ints, right: Ints) -> float:
    """The mean total variation of all pairs of columns."""
    found = []
    for a, b in combinations(range(len(SIZES)), 2):
        shares = [
            np.bincount(t[:, a] * SIZES[b] + t[:, b], minlength=SIZES[a] * SIZES[b]) / len(t) for t in (left, right)
        ]
        found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(found))


def rows() -> list[dict[str, Any]]:
    """Pairs of the drawn table beside those of a table with independent columns."""
    codes, chance = made(), np.random.default_rng(5)
    shuffled = np.stack([chance.permutation(column) for column in codes.T], axis=1)
    alone, rows, before = apart(codes, shuffled), [], np.inf
    for epsilon in (0.1, 1.0, 10.0):
        tree = measure(codes, SIZES, Price.of(epsilon, DELTA), random.Random(1))
        found = apart(codes, records(tree, np.random.default_rng(7)))
        met = found < min(alone, before + 0.01) if epsilon >= 1 else None
        rows.append(
            row(f"MST, epsilon {epsilon:g}: total variation of pairs", found, "", f"{alone:.3f} independent", met=met)
        )
        before = found
    return rows
