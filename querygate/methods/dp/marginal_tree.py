"""A table as a tree of noisy marginals (MST: McKenna, Miklau and Sheldon 2021), from which records can be drawn.

    singles   a noisy histogram of every column                                     a third of the budget
    edges     a spanning tree of pairs, each chosen where independence is furthest from the truth        a third
    pairs     a noisy histogram of every pair of the tree                           a third

Columns are codes from 0 with public sizes. Neighbours differ by one record, added or removed, which changes each
histogram by one in one cell. Histograms have exact discrete Gaussian noise where there is a delta, paid in rho of
zero-concentrated differential privacy, and exact discrete Laplace noise where there is none. A pair is chosen by
permute-and-flip over whole scores, which one record changes by at most one; as it keeps epsilon, its rho is half the
square. What follows the noise is free.

>>> import random
>>> codes = np.array([[0, 0, 1], [1, 1, 0]] * 300)
>>> tree = measure(codes, (2, 2, 2), Price.of(50.0, 0.0), random.Random(1))
>>> len(tree.edges), abs(tree.total - 600) < 10
(2, True)
>>> drawn = records(tree, np.random.default_rng(1))
>>> bool((drawn[:, 0] == drawn[:, 1]).mean() > 0.95)
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from querygate.core.budget_types import Cost
from querygate.core.types import Floats, Ints
from querygate.methods.dp.accountant import pure
from querygate.methods.dp.exact_floats import exact
from querygate.methods.dp.sampler import Entropy, discrete_gaussian, discrete_laplace
from querygate.methods.dp.selection import choose

LARGEST_PAIR = 20_000
"""Cells of a pair that may be in the tree; columns of more values stay by themselves."""

ROUNDS = 60
LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class Price:
    """Epsilon alone, or the rho that keeps epsilon and delta (Bun and Steinke 2016, proposition 1.3)."""

    epsilon: float
    delta: float = 0.0
    rho: float = 0.0

    @classmethod
    def of(cls, epsilon: float, delta: float) -> Price:
        if delta == 0:
            return cls(epsilon)
        tail = -math.log(delta)
        return cls(epsilon, delta, (math.sqrt(tail + epsilon) - math.sqrt(tail)) ** 2 * (1 - LEAST))

    @property
    def cost(self) -> Cost:
        return Cost(self.epsilon, self.delta, self.rho) if self.delta else pure(self.epsilon)

    def noise(self, histograms: int, entropy: Entropy) -> int:
        """For a cell of one of so many histograms that share a third."""
        if self.delta:
            rho = exact(self.rho) / (3 * histograms)
            return discrete_gaussian(Fraction(math.sqrt(1 / (2 * float(rho))) * (1 + LEAST)), entropy)
        return discrete_laplace(3 * histograms / exact(self.epsilon), entropy)

    def choice(self, choices: int) -> Fraction:
        """The epsilon of each of so many choices that share a third."""
        if self.delta:
            return Fraction(math.sqrt(2 * self.rho / (3 * choices)) * (1 - LEAST))
        return exact(self.epsilon) / (3 * choices)


@dataclass(frozen=True, slots=True)
class MarginalTree:
    """Noisy counts alone: of each column, and of each pair of the tree, row by row."""

    sizes: tuple[int, ...]
    singles: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, int], ...]
    pairs: tuple[tuple[int, ...], ...]

    @property
    def total(self) -> int:
        """How many records there are, as far as the noise tells."""
        return max(1, round(sum(map(sum, self.singles)) / len(self.singles)))


def measure(codes: Ints, sizes: Sequence[int], price: Price, entropy: Entropy) -> MarginalTree:
    """The tree of a table with a column of codes for each size."""
    if codes.ndim != 2 or codes.shape[1] != len(sizes) or not sizes or min(sizes) < 1:
        raise ValueError("a column of codes for each size")
    if codes.size and ((codes < 0).any() or (codes >= np.array(sizes)).any()):
        raise ValueError("a code is beyond its size")
    columns = len(sizes)
    singles = tuple(
        tuple(int(n) + price.noise(columns, entropy) for n in np.bincount(codes[:, at], minlength=sizes[at]))
        for at in range(columns)
    )
    edges = tuple(_edges(codes, sizes, singles, price, entropy))
    pairs = tuple(
        tuple(int(n) + price.noise(max(columns - 1, 1), entropy) for n in _pair(codes, sizes, *edge)) for edge in edges
    )
    return MarginalTree(tuple(sizes), singles, edges, pairs)


def _edges(
    codes: Ints, sizes: Sequence[int], singles: Sequence[Sequence[int]], price: Price, entropy: Entropy
) -> list[tuple[int, int]]:
    """Kruskal's tree, each edge drawn among those that join two parts."""
    shares = [_share(one) for one in singles]
    total = max(1, round(sum(map(sum, singles)) / len(singles)))
    far = {}
    for a, b in combinations(range(len(sizes)), 2):
        if sizes[a] * sizes[b] <= LARGEST_PAIR:
            guess = np.rint(np.outer(shares[a], shares[b]) * total).astype(np.int64).reshape(-1)
            far[a, b] = int(np.abs(_pair(codes, sizes, a, b) - guess).sum())
    part, chosen = list(range(len(sizes))), []
    while open_ones := [edge for edge in far if part[edge[0]] != part[edge[1]]]:
        epsilon = price.choice(len(sizes) - 1)
        edge = open_ones[choose([far[one] for one in open_ones], sensitivity=1, epsilon=epsilon, entropy=entropy)]
        chosen.append(edge)
        old, new = part[edge[0]], part[edge[1]]
        part = [new if one == old else one for one in part]
    return chosen


def _pair(codes: Ints, sizes: Sequence[int], a: int, b: int) -> Ints:
    return np.bincount(codes[:, a] * sizes[b] + codes[:, b], minlength=sizes[a] * sizes[b])


def _share(noisy: Sequence[int]) -> Floats:
    """Noisy counts as shares: none below 0, and alike where nothing is left."""
    counts = np.maximum(np.asarray(noisy, dtype=np.float64), 0.0)
    return counts / counts.sum() if counts.sum() > 0 else np.full(counts.size, 1 / counts.size)


# -- records ---------------------------------------------------------------------------------------------------------


def records(tree: MarginalTree, rng: np.random.Generator) -> Ints:
    """As many records as the tree counts: a column first, then each by the one that it hangs on."""
    shares = [_share(one) for one in tree.singles]
    joint = {edge: _fitted(pair, shares, edge) for edge, pair in zip(tree.edges, tree.pairs, strict=True)}
    drawn = np.full((tree.total, len(tree.sizes)), -1, dtype=np.int64)
    for at in range(len(tree.sizes)):
        if (drawn[:, at] >= 0).all():
            continue
        drawn[:, at] = rng.choice(tree.sizes[at], tree.total, p=shares[at])
        reached = [at]
        for parent in reached:  # it grows on the way
            for (a, b), table in joint.items():
                child = b if a == parent else a if b == parent else None
                if child is not None and (drawn[:, child] < 0).all():
                    drawn[:, child] = _children(drawn[:, parent], table if a == parent else table.T, rng)
                    reached.append(child)
    return drawn


def _fitted(pair: Sequence[int], shares: Sequence[Floats], edge: tuple[int, int]) -> Floats:
    """The shares of a pair with the margins of its columns (iterative proportional fitting)."""
    rows, columns = shares[edge[0]], shares[edge[1]]
    table = np.maximum(np.asarray(pair, dtype=np.float64).reshape(rows.size, columns.size), LEAST)
    for _ in range(ROUNDS):
        table *= (rows / table.sum(axis=1))[:, None]
        table *= columns / np.maximum(table.sum(axis=0), LEAST**2)
        table = np.maximum(table, LEAST**2)
    return table


def _children(parents: Ints, table: Floats, rng: np.random.Generator) -> Ints:
    """A code of the child for each of its parent."""
    found = np.empty(parents.size, dtype=np.int64)
    for value in np.unique(parents):
        chance = table[value] / table[value].sum()
        mine = parents == value
        found[mine] = rng.choice(chance.size, int(mine.sum()), p=chance)
    return found
