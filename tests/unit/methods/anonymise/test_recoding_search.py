"""The searches: full-domain is the best of all choices of heights, full-subtree is never worse, on a grid as well."""

from __future__ import annotations

import importlib
import itertools
from collections import defaultdict

import numpy as np
import pytest

from querygate.methods.anonymise import NULL, Attribute, Infeasible, Table, local, mondrian, ncp
from querygate.methods.anonymise.recode.full_domain import full_domain
from querygate.methods.anonymise.recode.full_subtree import full_subtree
from querygate.methods.anonymise.recode.interval_levels import interval_hierarchy
from querygate.methods.anonymise.recode.recoder import scales_of
from tests.bench.adult import adult_table
from tests.each import each
from tests.unit.methods.anonymise.guarded import GUARDS
from tests.unit.methods.anonymise.recoded import check, hierarchical_table, width
from tests.unit.methods.anonymise.tables import random_table


def brute_force(table, k, suppress, hierarchies=None, guard=None):
    """The least loss of all choices of heights, counted class by class."""
    scales = scales_of(table, hierarchies)
    weights = sum(a.weight for a in table.attributes)
    least = np.inf
    for heights in itertools.product(*(range(scale.heights) for scale in scales)):
        classes = defaultdict(list)
        for row, codes in enumerate(zip(*(a.codes for a in table.attributes), strict=True)):
            places = zip(scales, heights, codes, strict=True)
            classes[tuple((int(s.first[h][c]), int(s.last[h][c])) for s, h, c in places)].append(row)
        lost = kept = 0
        for ends, rows in kept_classes(table, classes, k, guard):
            records = int(table.counts[rows].sum())
            sides = [(max(a, 0), b, 0 if a >= 0 else 2 if b == NULL else 1) for a, b in ends]
            kept += records
            lost += records * sum(a.weight * width(a, side) for a, side in zip(table.attributes, sides, strict=True))
        out = table.records - kept
        if out <= suppress * table.records:
            least = min(least, (lost / weights + out) / table.records)
    return least


def kept_classes(table, classes, k, guard):
    large = [(ends, rows) for ends, rows in classes.items() if table.counts[rows].sum() >= k]
    if guard is None or not large:
        return large
    label = np.repeat(np.arange(len(large)), [len(rows) for _, rows in large])
    verdict = guard.classes(np.concatenate([rows for _, rows in large]), label, len(large))
    return [one for one, good in zip(large, verdict, strict=True) if good]


@pytest.mark.parametrize("suppress", [0.0, 0.04, 0.25])
@pytest.mark.parametrize("seed", range(5))
def test_no_heights_lose_less(seed, suppress):
    table, given = hierarchical_table(seed, rows=40, nulls=seed % 2 == 0)
    found = full_domain(table, 3, suppress=suppress, hierarchies=given)
    check(table, found, 3)
    assert found.optimal
    assert found.loss == pytest.approx(brute_force(table, 3, suppress, given))


@pytest.mark.parametrize("suppress", [0.0, 0.1])
def test_no_heights_lose_less_on_any_table(suppress):
    for seed in range(3000, 3016):
        table, k = random_table(seed), 2 + seed % 3
        if table.records >= k:
            assert full_domain(table, k, suppress=suppress).loss == pytest.approx(brute_force(table, k, suppress))


@each("suppress", [0.0, 0.1])
@each("kind", GUARDS)
def test_no_heights_lose_less_with_a_guard(kind, suppress):
    """Also with guards that are not monotone: those are asked everywhere."""
    compared = 0
    for seed in range(5000, 5004):
        table = random_table(seed, rows=40)
        guard = GUARDS[kind](seed, table).guard
        try:
            found = full_domain(table, 2, [guard], suppress=suppress)
        except Infeasible:
            continue
        assert found.loss == pytest.approx(brute_force(table, 2, suppress, guard=guard))
        compared += 1
    assert compared


def test_few_choices_are_judged():
    module = importlib.import_module("querygate.methods.anonymise.recode.full_domain")
    suppression = importlib.import_module("querygate.methods.anonymise.recode.suppression")
    table, given = hierarchical_table(3, rows=400)
    lattice = module.HeightLattice(table, scales_of(table, given), suppression.Promise(table, 5, (), 0))
    lattice.best()
    assert lattice.judged < 0.25 * np.prod(lattice.shape)


def test_subtrees_never_lose_more_than_heights():
    better = 0
    for seed in range(12):
        table, given = hierarchical_table(seed, rows=80, nulls=seed % 2 == 0)
        for suppress in (0.0, 0.1):
            tree, heights = (f(table, 3, suppress=suppress, hierarchies=given) for f in (full_subtree, full_domain))
            check(table, tree, 3)
            assert tree.loss <= heights.loss + 1e-12
            better += tree.loss < heights.loss - 1e-12
    assert better > 3


def test_equal_values_are_recoded_alike_in_subtrees():
    for seed in range(6):
        table, given = hierarchical_table(seed, rows=80)
        found = full_subtree(table, 3, suppress=0.05, hierarchies=given)
        kept = found.labels >= 0
        for attribute in table.attributes:
            ends = np.stack([found.low[attribute.name], found.high[attribute.name]], axis=1)[found.labels[kept]]
            for code in np.unique(attribute.codes[kept]):
                assert len(np.unique(ends[attribute.codes[kept] == code], axis=0)) == 1


def test_a_lattice_too_large_is_descended(monkeypatch):
    module = importlib.import_module("querygate.methods.anonymise.recode.full_domain")
    table, given = hierarchical_table(4, rows=200)
    best = full_domain(table, 3, suppress=0.05, hierarchies=given)
    monkeypatch.setattr(module, "LARGEST", 1)
    found = full_domain(table, 3, suppress=0.05, hierarchies=given)
    check(table, found, 3)
    assert not found.optimal
    assert best.loss <= found.loss < 1.0


def test_thirty_attributes():
    rng = np.random.default_rng(1)
    attributes = [Attribute.nominal(f"a{i}", rng.integers(0, 3, 200), 3) for i in range(30)]
    table = Table(tuple(attributes), np.ones(200, dtype=int))
    for recode in (full_domain, full_subtree):
        check(table, recode(table, 5, suppress=0.05), 5)


# -- intervals -------------------------------------------------------------------------------------------------------


def intervals(edges, step=None):
    number = Attribute.ordered_by("x", np.array([0]), np.array(edges, dtype=float))
    tree = interval_hierarchy(number, step)
    return [[float(edges[c]) for c in np.flatnonzero(np.diff(level, prepend=-1))] for level in tree.levels]


def test_intervals_begin_at_multiples_of_their_width():
    levels = intervals(range(18, 100))
    assert levels[1][:4] == [18, 20, 25, 30]
    assert levels[2][:4] == [18, 20, 30, 40]
    assert levels[3] == [18, 20, 40, 60, 80]
    assert levels[-1] == [18]


def test_intervals_of_a_fine_grid_and_of_a_cut():
    levels = intervals([0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2])
    assert levels[1] == [0.05, 0.5, 1.0]
    assert levels[2] == [0.05, 1.0]


def test_intervals_below_zero_nest():
    levels = intervals(range(-37, 250, 3), step=3)
    for finer, wider in itertools.pairwise(levels):
        assert set(wider) <= set(finer)
    assert levels[-1] == [-37]


def test_a_single_interval():
    assert intervals([3, 8]) == [[3], [3]]
    with pytest.raises(ValueError, match="only a number"):
        interval_hierarchy(Attribute.nominal("sex", np.array([0]), 2))


# -- real records ----------------------------------------------------------------------------------------------------


def test_adults():
    table = adult_table()
    heights = full_domain(table, 5, suppress=0.02)
    assert heights.optimal
    assert heights.suppressed <= 0.02 * table.records
    check(table, heights, 5)
    cuts = full_subtree(table, 5, suppress=0.05)
    check(table, cuts, 5)
    assert cuts.loss < heights.loss
    boxes = local(table, 5)
    check(table, boxes, 5)
    assert boxes.loss < 0.3 * heights.loss


def test_local_loss_is_that_of_the_measures():
    table, _ = hierarchical_table(2, rows=300, nulls=False)
    ordered = Table(tuple(a for a in table.attributes if a.ordered), table.counts)
    assert local(ordered, 4).loss == pytest.approx(ncp(ordered, mondrian(ordered, 4)))
