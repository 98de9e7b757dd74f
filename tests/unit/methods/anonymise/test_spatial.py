"""Clusters with a bound on their radius, leaves of an R-tree, and top-down clustering as published."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from querygate.methods.anonymise import ANONYMISERS, Attribute, Table, mondrian, ncp, partition_check
from querygate.methods.anonymise.clusters import gather
from tests.each import each
from tests.unit.methods.anonymise.tables import by_record, random_table
from tests.unit.methods.anonymise.test_clustering import PATIENTS, shown, some_adults


def radius(apart: np.ndarray, labels: np.ndarray) -> float:
    """The greatest distance to the centre of a cluster, each centre the best of its members."""
    return max(apart[np.ix_(m, m)].max(axis=1).min() for m in (np.flatnonzero(labels == c) for c in set(labels)))


def least_radius(apart: np.ndarray, k: int) -> float:
    """Over all sets of centres and all ways to give each point to one of them: the slow and obvious way."""
    size, best = len(apart), np.inf
    for chosen in range(1, 2**size):
        centres = [point for point in range(size) if chosen >> point & 1]
        if len(centres) * k > size:
            continue
        for given in product(range(len(centres)), repeat=size):
            reach = max(apart[centres[c], point] for point, c in enumerate(given))
            if reach < best and np.bincount(given, minlength=len(centres)).min() >= k:
                best = reach
    return float(best)


@each("seed", range(4))
def test_the_radius_is_at_most_twice_the_least(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 12, (6, 2)) if seed % 2 else np.repeat(rng.integers(0, 20, (3, 2)), 2, axis=0)
    apart = np.abs(points[:, None, :] - points[None, :, :]).sum(axis=2).astype(float)
    labels = gather.clusters(apart, 2)
    assert np.bincount(labels).min() >= 2
    assert radius(apart, labels) <= 2 * least_radius(apart, 2)


def test_a_flow_is_needed_where_centres_lie_close() -> None:
    """Two centres at the ends, one point each beside them and two in the middle: both get two, though all are near."""
    places = np.array([0.0, 3, 3, 6])
    labels = gather.clusters(np.abs(np.subtract.outer(places, places)), 2)
    assert sorted(np.bincount(labels).tolist()) == [2, 2]


@each("seed", range(4))
def test_distances_are_a_metric(seed: int) -> None:
    apart = gather.distances(by_record(random_table(seed)).attributes)
    assert (apart == apart.T).all()
    assert (np.diag(apart) == 0).all()
    assert (apart[:, :, None] <= apart[:, None, :] + apart.T[None, :, :] + 1e-12).all()


def test_many_records_are_gathered_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    table = some_adults(900)
    monkeypatch.setattr(gather, "EXACT", 200)
    monkeypatch.setattr(gather, "BLOCK", 100)
    labels = gather.gather(table, 5)
    assert partition_check.smallest_class(labels) >= 5
    assert labels.max() > 20


def test_six_patients_of_the_tutorial() -> None:
    """Gkoulalas-Divanis & Loukides 2012, the example of top-down clustering with k = 2."""
    labels = ANONYMISERS.get("top-down-greedy")(PATIENTS, 2)
    assert shown(labels) == {(20, 25, "MF", 3), (27, 29, "F", 3)}


@pytest.mark.parametrize(("method", "at_most"), [("top-down-greedy", 2.3), ("r-tree", 1.8), ("gather", 6)])
def test_adults(method: str, at_most: float) -> None:
    table = some_adults(600)
    labels = ANONYMISERS.get(method)(table, 5)
    assert partition_check.smallest_class(labels) >= 5
    assert ncp(table, labels) < at_most * ncp(table, mondrian(table, 5))


def test_leaves_of_a_line_are_neighbours() -> None:
    """On one axis leaves do not overlap, and none has 2k."""
    age = Attribute.ordered_by("age", np.random.default_rng(1).permutation(97), np.arange(98.0))
    labels = ANONYMISERS.get("r-tree")(Table((age,), np.ones(97, dtype=int)), 4)
    sizes = np.bincount(labels)
    assert 4 <= sizes.min() <= sizes.max() < 8
    spans = sorted((age.codes[labels == c].min(), age.codes[labels == c].max()) for c in range(len(sizes)))
    assert all(left[1] < right[0] for left, right in pairwise(spans))


@pytest.mark.parametrize("method", ["top-down-greedy", "r-tree", "gather"])
def test_equal_and_missing_records(method: str) -> None:
    nothing = Attribute.ordered_by("age", np.full(30, -1), np.arange(5.0))
    constant = Attribute.nominal("sex", np.zeros(30, dtype=int), 1)
    table = Table((nothing, constant), np.ones(30, dtype=int))
    labels = ANONYMISERS.get(method)(table, 4)
    assert partition_check.smallest_class(labels) >= 4
    assert ncp(table, labels) == 0
