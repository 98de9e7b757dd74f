"""Hierarchies: nodes are stretches of leaves, the lowest common ancestor is the smallest, methods keep k on them."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.core.code_systems.icd9cm import icd9_path
from querygate.core.code_systems.icd10cm import icd10cm_path
from querygate.methods.anonymise import ANONYMISERS, Attribute, Hierarchy, Intervals, Table, boxes, ncp, partition_check
from querygate.methods.anonymise.recode.hierarchy_presets import PRESETS, UnreadableValues, preset_rows
from tests.seeds import seeds


def random_rows(seed, leaves=30, levels=4):
    """Leaves in any order, with ancestors drawn level by level."""
    chance = np.random.default_rng(seed)
    parent = [chance.integers(0, max(1, leaves // 3 ** (h + 1)), leaves // 3**h + 1) for h in range(levels)]
    rows = []
    for leaf in chance.permutation(leaves).tolist():
        row, node = [f"v{leaf}"], leaf
        for h in range(levels):
            node = int(parent[h][min(node, len(parent[h]) - 1)])
            row.append(f"{h}:{node}")
        rows.append((*row, "*"))
    return rows


def nodes_of(rows):
    """All nodes as sets of leaves, the slow way."""
    under = {}
    for row in rows:
        for h in range(len(row)):
            under.setdefault(row[h:], set()).add(row[0])
    return [frozenset(leaves) for leaves in under.values()]


@pytest.mark.parametrize("seed", seeds(20))
def test_the_lowest_common_ancestor_is_the_smallest_node_that_holds_the_leaves(seed):
    rows = random_rows(seed)
    tree, nodes = Hierarchy.of(rows), nodes_of(rows)
    chance = np.random.default_rng(seed)
    low = chance.integers(0, tree.size, 200)
    high = np.minimum(low + chance.integers(0, 9, 200), tree.size - 1)
    first, last = tree.ancestors(low, high)
    for a, b, i, j, width in zip(low, high, first, last, tree.widths(low, high), strict=True):
        held = frozenset(tree.leaves[a : b + 1])
        node = frozenset(tree.leaves[i : j + 1])
        assert node == min((n for n in nodes if held <= n), key=len)
        assert width == (len(node) / tree.size if a < b else 0.0)


def test_every_node_is_a_stretch_of_leaves():
    rows = random_rows(3)
    tree = Hierarchy.of(rows)
    place = {leaf: i for i, leaf in enumerate(tree.leaves)}
    for node in nodes_of(rows):
        places = sorted(place[leaf] for leaf in node)
        assert places == list(range(places[0], places[-1] + 1))


def test_nodes_of_one_name_under_two_parents_are_two():
    tree = Hierarchy.of([("a", "other", "x", "*"), ("b", "other", "y", "*"), ("c", "other", "x", "*")])
    first, last = tree.ancestors(np.array([0]), np.array([1]))
    assert tree.leaves[int(first[0]) : int(last[0]) + 1] == ("a", "c")


@pytest.mark.parametrize("rows", [[], [("a", "*"), ("a", "*")], [("a", "x"), ("b", "y")]])
def test_what_is_no_tree(rows):
    with pytest.raises(ValueError, match="one root"):
        Hierarchy.of(rows)


def test_missing_values_stay_missing():
    tree = Hierarchy.of([("a", "*"), ("b", "*")])
    first, last = tree.ancestors(np.array([-1]), np.array([-1]))
    assert (first.tolist(), last.tolist(), tree.widths(first, last).tolist()) == ([-1], [-1], [0.0])


def random_table(seed, rows=200):
    chance = np.random.default_rng(seed)
    tree = Hierarchy.of(random_rows(seed))
    codes = chance.integers(-1, tree.size, rows)
    age = Attribute.ordered_by("age", chance.integers(0, 10, rows), edges=np.arange(11.0))
    return Table((Attribute.hierarchical("place", codes, tree), age), counts=np.ones(rows, dtype=np.int64))


@pytest.mark.parametrize("name", [name for name in ANONYMISERS.names() if name != "univariate"])
def test_every_method_divides_hierarchies(name):
    """Gather, which bounds how far records lie from the centre of their class, makes fewer classes than all others."""
    classes = 4 if name == "gather" else 7
    for seed in range(6):
        table = random_table(seed)
        labels = ANONYMISERS.get(name)(table, k=4)
        assert partition_check.smallest_class(labels, table.counts) >= 4
        assert labels.max() >= classes - 1


def test_loss_counts_the_leaves_under_the_node():
    tree = Hierarchy.of([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")])
    table = Table((Attribute.hierarchical("p", np.array([0, 1, 1, 2, 3, 3]), tree),), counts=np.ones(6, dtype=np.int64))
    labels = np.array([0, 0, 1, 1, 2, 2])
    (box,) = boxes(table, labels)
    assert isinstance(box, Intervals)
    assert ncp(table, labels) == pytest.approx((0.5 + 1.0 + 0.0) / 3)


# -- rules -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "value", "above"), [
    ("digits", "37203", ("3720", "372", "37", "3")),
    ("dates", "2024-05-17", ("2024-05", "2024-Q2", "2024", "2020s")),
    ("ages", "90+", ("90-94", "90-99", "80-99")),
    ("icd9cm", "250.02", ("2500", "250", "240-279")),
    ("icd9cm", "V45", ("V45", "V45", "V01-V91")),
    ("icd10cm", "D3A.010", ("D3A010", "D3A01", "D3A0", "D3A", "D3A-D3A", "C00-D49")),
    ("icd10cm", "Z3A", ("Z3A", "Z3A", "Z3A", "Z3A", "Z30-Z3A", "Z00-Z99")),
])  # fmt: skip
def test_rules(name, value, above):
    assert preset_rows(name, [value]) == [(value, *above, "*")]


@pytest.mark.parametrize("name", PRESETS)
def test_rules_make_trees(name):
    values = {
        "digits": ["", "1", "12", "123456", "ABC"],
        "icd9cm": ["0010", "001", "V1082", "E8490", "250.00", "what", "99999"],
        "icd10cm": ["A00", "A000", "E11.65", "S72.001A", "U071", "what", "D48.9"],
        "icd10": ["A00", "A000", "J45.0+", "E11.90", "U071", "what", "D49.9", "E99"],
        "dates": ["2024-01-31", "1999-12-31", "2024-01-30"],
        "ages": ["0", "7", "90+", "104"],
    }[name]
    tree = Hierarchy.of(preset_rows(name, values))
    assert sorted(tree.leaves) == sorted(values)


def test_rules_say_how_many_values_they_cannot_read():
    with pytest.raises(UnreadableValues, match="2 values"):
        preset_rows("ages", ["7", "old", "-3"])


def test_texts_that_are_no_codes_have_a_chapter_of_their_own():
    assert icd9_path("OTHER")[1:] == ("other",) * 3
    assert icd10cm_path("12.5")[1:] == ("other",) * 6
