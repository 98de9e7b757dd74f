"""k^m by vertical partitioning: the paper's example, and sets of items counted by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.km.km import Cut, settle
from querygate.methods.code_lists.km.km_supports import Index
from querygate.methods.code_lists.km.vertical_km import vertical_km
from querygate.methods.code_lists.subtrees import Subtrees
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists.brute import held_sets
from tests.unit.methods.code_lists.test_local_km import LEVELS, drawn

PAPER = [np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)]


def test_the_example_of_the_paper() -> None:
    """The records a1 b1 b2; a2 b1; a2 b1 b2; a1 a2 b2: of the codes under A the pair is rare, of those under B none."""
    items = vertical_km(Baskets.of([[0, 2, 3], [1, 2], [1, 2, 3], [0, 1, 3]], 4), PAPER, 2, 2)
    assert items.groups() == [(0, 1), (2,), (3,)]


@each("seed", seeds(24))
def test_every_set_of_items_is_of_k_records(seed: int) -> None:
    baskets, k, m = drawn(seed), 2 + seed % 5, 1 + seed % 3
    items = vertical_km(baskets, LEVELS, k, m)
    assert all(number >= k for number in held_sets(items.publish(baskets).lists(), m).values())
    groups = [set(group) for group in items.groups()]
    nodes = [set(np.flatnonzero(level == one).tolist()) for level in LEVELS for one in np.unique(level).tolist()]
    assert sorted(code for group in groups for code in group) == list(range(8))
    assert all(group in nodes for group in groups)


def test_a_group_is_not_lifted_beyond_itself_because_it_is_rare() -> None:
    tree = Subtrees.of(PAPER)
    group = tree.children()[tree.root].tolist()[0]
    part = Cut(tree, Index.of(Baskets.of([[0], [1], [1]], 4)))
    settle(part, 1, 9, under=group)
    assert np.unique(part.node[:2]).tolist() == [group]


def test_bad_arguments() -> None:
    with pytest.raises(Unprotectable):
        vertical_km(Baskets.of([[0], []], 4), PAPER, 2, 1)
    with pytest.raises(ValueError, match="m is at least 1"):
        vertical_km(Baskets.of([[0], [0]], 4), PAPER, 2, 0)
