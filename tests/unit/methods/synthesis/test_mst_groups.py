"""Groups from a spanning tree: sizes, and neighbours stay together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree

from querygate.methods.synthesis.mst_groups import mst_groups, spanning_tree
from tests.each import each
from tests.seeds import seeds


@each("seed", seeds(20))
def test_the_tree_is_as_short_as_any_and_groups_have_k(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(8, 60)), 2)).round(2)
    distances = np.sqrt(np.square(points[:, None] - points[None]).sum(axis=2)) + 1e-12
    assert spanning_tree(points)[1].sum() == pytest.approx(minimum_spanning_tree(distances).sum(), abs=1e-6)
    k = 2 + seed % 3
    sizes = np.bincount(mst_groups(points, k))
    assert sizes.min() >= k
    assert sizes.max() < 2 * k + k


def test_two_heaps_are_two_groups() -> None:
    points = np.array([[0.0], [100.0], [1.0], [101.0], [2.0], [102.0], [2.0]])
    assert mst_groups(points, 3).tolist() == [0, 1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("size", [2, 3, 5])
def test_equal_points(size: int) -> None:
    assert np.bincount(mst_groups(np.zeros((size, 2)), 2)).min() >= 2
