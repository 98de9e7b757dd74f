"""Least cuts are those that trying all finds."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints
from querygate.methods.views.least_cuts import cuts_below, least_cut
from tests.each import each
from tests.seeds import seeds


def random_graph(seed: int) -> Ints:
    """Few vertices, ties, clusters that hang together by little, and now and then several components or none."""
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 10))
    weights = random.integers(0, int(random.integers(2, 12)), (size, size))
    weights[random.random((size, size)) < random.choice([0.1, 0.5, 0.8])] = 0
    if seed % 2:
        cluster = random.integers(0, 3, size)
        inside = cluster[:, None] == cluster
        weights = np.where(inside, random.integers(2, 9, (size, size)), random.random((size, size)) < 0.4)
    upper = np.triu(weights, 1)
    return upper + upper.T


def all_cuts(graph: Ints) -> list[int]:
    """Weights of all cuts that have an edge: those that part a component."""
    size, found = len(graph), []
    for number in range(1, 2 ** (size - 1)):
        side = np.array([number >> i & 1 for i in range(size)], dtype=bool)
        if weight := int(graph[np.ix_(side, ~side)].sum()):
            found.append(weight)
    return found


@each("seed", seeds(200))
def test_the_least_cut_is_the_least_of_all(seed: int) -> None:
    graph = random_graph(seed)
    assert least_cut(graph) == min(all_cuts(graph), default=None)


@each("seed", seeds(200))
def test_cuts_are_found_exactly_where_there_are_some(seed: int) -> None:
    graph = random_graph(seed)
    lightest = min(all_cuts(graph), default=1_000)
    for least in (1, 2, 3, 4, 5, 7, 9, 14):
        found = cuts_below(graph, least)
        assert all(0 < graph[np.ix_(side, ~side)].sum() < least for side in found)
        assert bool(found) == (lightest < least)
