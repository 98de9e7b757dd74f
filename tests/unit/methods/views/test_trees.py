"""Frames, trees and frontiers: public cells, classes of k people, equal people together, the same every time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from querygate.methods.views import CellLimits, FrameColumn, QuasiIdentifier, RecordTable
from querygate.methods.views.code_splits import balanced_cut, peeled
from querygate.methods.views.frame import frame_cells
from querygate.methods.views.frontier import Frontier, collapse_greedily
from querygate.methods.views.tree import ROOT, grow
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.views.tables import VIEWS, random_table


def ones(size: int) -> np.ndarray:
    return np.ones(size, dtype=np.int64)


def test_the_commonest_category_is_peeled_off() -> None:
    codes = np.repeat([2, 0, 1], [5, 4, 3])
    assert np.array_equal(peeled(codes, ones(12), 3), codes == 2)


def test_rare_categories_are_peeled_off_together() -> None:
    codes = np.repeat(np.arange(6), 2)
    left = peeled(codes, ones(12), 5)
    assert left is not None
    assert left.sum() == 6


def test_nothing_is_peeled_off_where_too_few_would_be_left() -> None:
    assert peeled(np.repeat([0, 1], [20, 2]), ones(22), 3) is None
    assert peeled(np.zeros(30, dtype=np.int64), ones(30), 3) is None


def test_the_most_even_allowed_cut_is_taken() -> None:
    codes = np.arange(10)
    assert np.array_equal(balanced_cut(codes, ones(10), 2), codes < 5)
    assert np.array_equal(balanced_cut(codes, ones(10), 2, {3, 9}), codes < 3)
    assert balanced_cut(codes, ones(10), 2, {9}) is None


def test_a_cut_between_codes_that_nobody_has_counts() -> None:
    codes = np.array([0, 0, 7, 7])
    assert np.array_equal(balanced_cut(codes, ones(4), 2, {4}), codes == 0)


@each("seed", seeds(60))
def test_every_leaf_keeps_k_people_and_no_class_parts_equal_people(seed: int) -> None:
    table = random_table(seed, records=60, persons=seed % 2 == 0)
    least = 3 * table.person
    for view in VIEWS:
        columns = [table.column(name) for name in view]
        codes = np.stack([column.codes for column in columns])
        tree = grow(columns, codes, table.weights, least)
        assert min(table.weights[tree.leaf == leaf].sum() for leaf in range(tree.leaves)) >= min(
            least, table.weights.sum()
        )
        assert np.unique(codes, axis=1).shape[1] == np.unique(np.vstack([codes, tree.leaf]), axis=1).shape[1]
        again = grow(columns, codes, table.weights, least)
        assert np.array_equal(tree.leaf, again.leaf)


@each("seed", seeds(30))
def test_nodes_are_ranges_of_leaves_that_nest(seed: int) -> None:
    table = random_table(seed, records=80)
    columns = [table.column(name) for name in ("age", "race", "sex")]
    tree = grow(columns, np.stack([column.codes for column in columns]), table.weights, 2)
    for node in range(1, tree.nodes):
        parent = tree.parent[node]
        assert tree.first[parent] <= tree.first[node] < tree.last[node] <= tree.last[parent]
    frontier = Frontier.finest(tree)
    assert np.array_equal(tree.last[frontier.top] - tree.first[frontier.top], np.ones(tree.leaves))
    assert frontier.collapsed(ROOT).classes == 1
    assert frontier.loss[ROOT] == pytest.approx(tree.worth.sum())


def test_a_collapse_never_divides_what_was_collapsed_before() -> None:
    table = random_table(5, records=80)
    columns = [table.column(name) for name in ("age", "race", "sex")]
    tree = grow(columns, np.stack([column.codes for column in columns]), table.weights, 2)
    frontier = Frontier.finest(tree)
    hits = np.zeros((tree.nodes, tree.nodes), dtype=np.bool_)
    inner = np.flatnonzero(tree.last - tree.first > 1)
    hits[inner, inner] = True
    (kept,), done = collapse_greedily([frontier], [hits], "try")
    sizes = [frontier.classes]
    for one in done:
        frontier = frontier.collapsed(one.node)
        sizes.append(frontier.classes)
    assert sizes == sorted(sizes, reverse=True)
    assert kept.is_root


def test_a_node_and_all_below_it_are_a_range_of_nodes() -> None:
    table = random_table(4, 300)
    columns = [table.column(name) for name in VIEWS[0]]
    tree = grow(columns, np.stack([column.codes for column in columns]), table.weights, 3)
    frontier = Frontier.finest(tree).collapsed(int(np.flatnonzero(tree.last - tree.first == 2)[0]))
    standing = np.where(frontier.is_above, tree.worth, 0.0)
    for node in range(tree.nodes):
        inside = (tree.first >= tree.first[node]) & (tree.last <= tree.last[node])
        assert np.array_equal(np.flatnonzero(inside), np.arange(tree.nodes)[tree.below(node)])
        assert frontier.loss[node] == pytest.approx(standing[inside].sum())


def cells_of(table: RecordTable, frame: tuple[FrameColumn, ...], k: int, most: CellLimits | None = None) -> np.ndarray:
    return frame_cells(table, frame, [("age", "sex")], k, most or CellLimits())


def small_table(ages: np.ndarray) -> RecordTable:
    age = QuasiIdentifier("age", ages, 100, ordered=True)
    return RecordTable((age, QuasiIdentifier("sex", np.arange(ages.size) % 2, 2)), ())


def test_cells_follow_the_cuts() -> None:
    ages = np.repeat([5, 15, 25], 10)
    assert np.array_equal(cells_of(small_table(ages), (FrameColumn("age", (10, 20)),), 3), ages // 10)


def test_a_small_cell_joins_its_neighbour() -> None:
    ages = np.repeat([-1, 5, 15, 25], [1, 10, 10, 2])
    cells = cells_of(small_table(ages), (FrameColumn("age", (10, 20)),), 3)
    assert np.array_equal(cells, np.repeat([0, 1], [11, 12]))


def test_a_category_divides_by_its_values() -> None:
    table = small_table(np.repeat([5, 15], 10))
    cells = cells_of(table, (FrameColumn("age", (10,)), FrameColumn("sex")), 3)
    assert np.unique(cells, return_counts=True)[1].tolist() == [5, 5, 5, 5]


def test_a_cell_of_too_many_classes_is_divided_further() -> None:
    table = small_table(np.arange(1_000) % 100)
    assert cells_of(table, (), 5, most=CellLimits(classes=100)).max() == 0
    cells = cells_of(table, (), 5, most=CellLimits(classes=20))
    for cell in range(int(cells.max()) + 1):
        ages = table.column("age").codes[cells == cell]
        assert 5 <= np.unique(ages).size <= 20  # as many combinations, as few classes
        assert np.ptp(ages) == np.unique(ages).size - 1  # neighbours


def test_no_cell_has_more_than_a_thousand_classes_unless_nothing_divides_it() -> None:
    random = np.random.default_rng(3)
    codes = {"age": random.integers(0, 100, 30_000), "sex": random.integers(0, 2, 30_000)}
    codes |= {name: random.integers(0, 60, 30_000) for name in ("town", "job")}
    quasi = [QuasiIdentifier(name, own, 100, ordered=name == "age") for name, own in codes.items()]
    views = [("age", "sex", "town"), ("age", "sex", "job")]
    cells = frame_cells(RecordTable(tuple(quasi), ()), (), views, 5, CellLimits())
    for cell in range(int(cells.max()) + 1):
        here = cells == cell
        pairs = [
            np.unique(codes["age"][here] * 2_000 + codes["sex"][here] * 100 + codes[name][here]).size
            for name in ("town", "job")
        ]
        assert sum(min(here.sum() // 5, number) for number in pairs) <= 1_000
    assert cells.max() > 4


def test_a_cell_of_too_many_people_is_divided_further() -> None:
    table = small_table(np.arange(1_000) % 4)
    cells = cells_of(table, (), 5, most=CellLimits(people=300))
    assert np.unique(cells, return_counts=True)[1].tolist() == [250] * 4
    assert all(np.unique(table.column("age").codes[cells == cell]).size == 1 for cell in range(4))


def test_combinations_with_their_numbers_give_the_cells_of_their_records() -> None:
    records = small_table(np.arange(900) ** 2 % 97)
    whole = np.stack([column.codes for column in records.quasi])
    codes, place, times = np.unique(whole, axis=1, return_inverse=True, return_counts=True)
    quasi = [replace(column, codes=own) for column, own in zip(records.quasi, codes, strict=True)]
    combined = RecordTable(tuple(quasi), (), shares=(times, 1))
    frame, most = (FrameColumn("age", (30, 60)),), CellLimits(classes=40, people=200)
    assert np.array_equal(cells_of(combined, frame, 5, most)[place.reshape(-1)], cells_of(records, frame, 5, most))


def test_a_cell_that_nothing_divides_stays() -> None:
    table = RecordTable((QuasiIdentifier("age", np.zeros(500, dtype=np.int64), 1, ordered=True),), ())
    assert frame_cells(table, (), [("age",)], 2, CellLimits(0, 0)).max() == 0
