"""The polish: never worse, keeps k, guards and public cuts, and finds what is there to be found."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import pytest

from querygate.methods.anonymise import (
    Attribute,
    Distinct,
    Hierarchy,
    Infeasible,
    Table,
    mondrian,
    ncp,
    partition_check,
)
from querygate.methods.anonymise.clusters.exchange import ExchangeBlock
from querygate.methods.anonymise.clusters.polish import polish, snake_polished
from querygate.methods.anonymise.division.districts import districts, districts_of
from querygate.methods.anonymise.division.snake import snake, snake_runs
from tests.bench.adult import adult_records
from tests.seeds import seeds
from tests.unit.methods.anonymise.naive import classes_of, loss
from tests.unit.methods.anonymise.tables import by_record, random_hull, random_sensitive, random_table

MODULE = importlib.import_module("querygate.methods.anonymise.clusters.polish")


def records(seed: int, **wanted) -> Table:
    return by_record(random_table(seed, **wanted))


def total(table: Table, labels: np.ndarray) -> float:
    """The weighted loss, computed the slow way."""
    return sum(loss(table, rows) for rows in classes_of(labels))


def names(codes: list[int], size: int) -> Attribute:
    return Attribute.nominal("sex", np.array(codes), size)


def one_by_one(*attributes: Attribute) -> Table:
    return Table(attributes, np.ones(attributes[0].codes.size, dtype=np.int64))


@pytest.mark.parametrize("seed", seeds(16))
def test_it_is_never_worse_and_keeps_k(seed):
    table, k = records(seed, rows=120), 1 + seed % 6
    begin = snake(table, k)
    end = polish(table, begin, k, rounds=3, seed=seed)
    assert partition_check.smallest_class(end) >= k
    assert np.array_equal(np.unique(end), np.arange(end.max() + 1))
    assert total(table, end) <= total(table, begin) + 1e-9


def test_it_improves_most_tables():
    better = 0
    for seed in range(30):
        table = records(seed, rows=200)
        begin = snake(table, 4)
        better += total(table, polish(table, begin, 4, rounds=4)) < total(table, begin) - 1e-6
    assert better >= 20


def test_one_exchange_mends_two_classes():
    table = one_by_one(names([0, 0, 1, 1, 1, 0], 2))
    labels = np.array([0, 0, 0, 1, 1, 1])
    assert classes_of(polish(table, labels, 3, rounds=4)) == [[0, 1, 5], [2, 3, 4]]


@pytest.mark.parametrize("seed", range(8))
def test_an_exchange_is_priced_exactly(seed):
    """With one block and no guards the assignment is the exact problem, missing values and weights included."""
    table, k = records(seed, rows=60), 2 + seed % 3
    labels = snake_runs(table, k)
    random, zeros = np.random.default_rng(seed), np.zeros(table.records, dtype=np.int64)
    before = total(table, labels)
    for _ in range(5):
        block = ExchangeBlock(table, np.arange(table.records), labels, zeros, ())
        block.exchange(k, random)
        labels = block.home
        assert total(table, labels) <= before + 1e-7
        assert partition_check.smallest_class(labels) >= k
        before = total(table, labels)


def test_a_union_may_change_the_number_of_classes():
    ages = np.array([0, 0, 0, 30, 30, 30, 60, 60, 60])
    age = Attribute.ordered_by("age", ages, np.arange(65.0))
    labels = np.array([0, 0, 1, 0, 0, 1, 1, 1, 1])
    assert classes_of(polish(one_by_one(age), labels, 3, rounds=6)) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


@pytest.mark.parametrize("seed", seeds(10))
def test_public_cuts_stay(seed):
    table, k = records(seed, rows=120), 2 + seed % 4
    begin = snake(table, k)
    district = districts(table, k)
    for rows in classes_of(polish(table, begin, k, rounds=3)):
        assert np.unique(district[rows]).size == 1


@pytest.mark.parametrize("seed", seeds(10))
def test_what_another_method_kept_is_kept(seed):
    """Public cuts that strict Mondrian keeps are not those of the snake, but what it keeps apart stays apart."""
    table = records(seed, rows=120)
    begin = mondrian(table, 3)
    district = districts_of(table, begin)
    for rows in classes_of(polish(table, begin, 3, rounds=3)):
        assert np.unique(district[rows]).size == 1


@pytest.mark.parametrize("seed", range(8))
def test_guards_hold(seed):
    table, k = records(seed, rows=160), 2 + seed % 3
    disease, (hull, sbp) = random_sensitive(seed, table), random_hull(seed, table)
    guards = [Distinct(disease, 3), hull]
    try:
        begin = snake(table, k, guards)
    except Infeasible:
        pytest.skip("the whole table does not hold")
    end = polish(table, begin, k, guards, rounds=3)
    assert partition_check.smallest_class(end) >= k
    assert partition_check.distinct_values(end[disease.combination], disease.value) >= 3
    assert partition_check.narrowest_hull(end, sbp["low"], sbp["high"]) >= 10.0
    assert total(table, end) <= total(table, begin) + 1e-9


def test_guards_cost_moves_and_not_all_of_them():
    before = after = 0.0
    for seed in range(8):
        table = records(seed, rows=300)
        guards = [Distinct(random_sensitive(seed, table), 2)]
        begin = snake(table, 4, guards)
        before += total(table, begin)
        after += total(table, polish(table, begin, 4, guards, rounds=4))
    assert after < 0.97 * before


def test_the_same_seed_gives_the_same_classes():
    table = records(7, rows=300)
    begin = snake(table, 3)
    one, two, other = (polish(table, begin, 3, rounds=2, seed=s) for s in (5, 5, 6))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("seed", seeds(10))
def test_the_order_of_rows_does_not_matter(seed):
    table = records(seed, rows=200)
    order = np.random.default_rng(seed).permutation(table.records)
    shuffled = Table(tuple(replace(a, codes=a.codes[order]) for a in table.attributes), table.counts)
    one, other = snake_polished(table, 3, rounds=2), snake_polished(shuffled, 3, rounds=2)
    assert ncp(table, one) == pytest.approx(ncp(shuffled, other), abs=1e-15)
    assert np.array_equal(np.bincount(one), np.bincount(other))


def test_no_rounds_change_nothing_but_numbers():
    table = records(3, rows=100)
    begin = snake(table, 3)
    assert classes_of(polish(table, begin, 3, rounds=0)) == classes_of(begin)


def test_large_tables_are_not_polished_unless_told(monkeypatch):
    table = records(7, rows=300)
    polished = classes_of(snake_polished(table, 3))
    assert polished != classes_of(snake(table, 3))
    monkeypatch.setattr(MODULE, "SMALL", 100)
    assert classes_of(snake_polished(table, 3)) == classes_of(snake(table, 3))
    assert classes_of(snake_polished(table, 3, rounds=12)) == polished


def test_hierarchies_lose_no_more_than_before():
    rng = np.random.default_rng(3)
    tree = Hierarchy.of([(f"{a}{b}{c}", f"{a}{b}", f"{a}", "*") for a in range(3) for b in range(3) for c in range(3)])
    zip_code = Attribute.hierarchical("zip", rng.integers(0, 27, 300), tree)
    table = one_by_one(zip_code, names(rng.integers(0, 2, 300).tolist(), 2))
    begin = snake(table, 4)
    end = polish(table, begin, 4, rounds=4)
    assert ncp(table, end) <= ncp(table, begin)
    assert partition_check.smallest_class(end) >= 4


def test_a_class_under_k_is_refused():
    table = one_by_one(names([0, 0, 1], 2))
    with pytest.raises(ValueError, match="fewer than 2"):
        polish(table, np.array([0, 0, 1]), 2, rounds=1)


def test_progress_runs_to_one():
    seen: list[float] = []
    snake_polished(records(18, rows=400), 3, rounds=3, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_one_round_on_adult():
    table = adult_records()
    labels = snake_polished(table, 10, rounds=1)
    assert partition_check.smallest_class(labels) >= 10
    assert 100 * ncp(table, labels) <= 4.25
