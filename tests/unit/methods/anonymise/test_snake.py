"""Snake order and dynamic programme: the order, the programme against every possible cut, districts, guards, scale."""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from querygate.methods.anonymise import Attribute, Distinct, Hierarchy, Infeasible, Table, ncp, partition_check
from querygate.methods.anonymise.division.districts import districts, districts_of
from querygate.methods.anonymise.division.runs import cut_into_runs
from querygate.methods.anonymise.division.snake import SortKey, snake, snake_order
from tests.bench.adult import FAST, adult_records
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.anonymise.naive import classes_of, loss
from tests.unit.methods.anonymise.tables import by_record, random_hull, random_sensitive, random_table

RUNS = importlib.import_module("querygate.methods.anonymise.division.runs")
MODULE = importlib.import_module("querygate.methods.anonymise.division.snake")


def records(seed: int, **wanted) -> Table:
    return by_record(random_table(seed, **wanted))


def numbers(codes: list[int], size: int, cuts: tuple[int, ...] = ()) -> Attribute:
    return Attribute.ordered_by("age", np.array(codes), np.arange(size + 1.0), cuts)


def one_by_one(*attributes: Attribute) -> Table:
    return Table(attributes, np.ones(attributes[0].codes.size, dtype=np.int64))


def least_loss(table: Table, order: list[int], k: int) -> float:
    """The least loss of any cut of the order into runs of at least k, of any length."""

    @cache
    def best(end: int) -> float:
        if end == 0:
            return 0.0
        return min((best(b) + loss(table, order[b:end]) for b in range(end - k + 1) if b == 0 or b >= k), default=1e9)

    return best(len(order))


@each("seed", seeds(30))
def test_no_cut_of_the_order_loses_less(seed):
    table, k = records(seed, rows=24), 1 + seed % 6
    rng = np.random.default_rng(seed)
    order = rng.permutation(table.records)
    second = int(rng.integers(k, max(k + 1, order.size - k)))
    lengths = np.array([second, order.size - second] if order.size >= 2 * k else [order.size])
    begins = np.append(np.flatnonzero(cut_into_runs(table.attributes, order, lengths, k)), order.size)
    found = [order[a:b].tolist() for a, b in pairwise(begins)]
    halves = np.split(order, np.cumsum(lengths)[:-1])
    assert min(len(rows) for rows in found) >= min(k, order.size)
    assert sum(loss(table, rows) for rows in found) == pytest.approx(
        sum(least_loss(table, half.tolist(), k) for half in halves), abs=1e-4
    )


@pytest.mark.parametrize("seed", seeds(20))
def test_a_large_k_goes_in_steps(monkeypatch, seed):
    """Runs begin at whole steps only; k holds, and the loss is near that of the full programme."""
    table, k = records(seed, rows=400), 20
    order = np.random.default_rng(seed).permutation(table.records)
    losses = []
    for fine in (128, 8):
        monkeypatch.setattr(RUNS, "FINE", fine)
        begins = cut_into_runs(table.attributes, order, np.array([order.size]), k)
        rows = np.split(order, np.flatnonzero(begins)[1:])
        assert min(r.size for r in rows) >= k
        losses.append(sum(loss(table, r.tolist()) for r in rows))
    assert losses[0] <= losses[1] + 1e-3 <= 1.1 * losses[0] + 1e-2


@pytest.mark.parametrize("seed", seeds(10))
def test_blocks_do_not_change_the_result(monkeypatch, seed):
    table = records(seed, rows=300)
    monkeypatch.setattr(MODULE, "SEGMENT", 30)
    monkeypatch.setattr(MODULE, "SEGMENT_CLASSES", 4)
    expected = snake(table, 3)
    monkeypatch.setattr(RUNS, "BLOCK", 50)
    monkeypatch.setattr(RUNS, "WINDOWS", 200)
    assert np.array_equal(snake(table, 3), expected)


def test_each_key_turns_back_in_every_second_group():
    outer, inner = np.array([0, 0, 2, 2, 3, 3]), np.array([0, 1, 0, 1, 0, 1])
    keys = [SortKey(outer, 4, 1.0), SortKey(inner, 2, 0.5)]
    # Group 1 does not occur, so the parity is that of the groups which do.
    assert snake_order(keys, np.zeros(6, dtype=np.int64), 2).tolist() == [0, 1, 3, 2, 4, 5]


def test_two_fine_numbers_are_both_narrow():
    rng = np.random.default_rng(4)
    edges = np.arange(1001.0)
    a, b = (Attribute.ordered_by(n, rng.integers(0, 1000, 4000), edges) for n in ("a", "b"))
    table = one_by_one(a, b)
    # In 400 classes of ten an ideal box is 1/20 of each domain; a plain lexicographic order leaves b nearly whole.
    assert ncp(table, snake(table, 10)) < 0.06


def test_missing_values_are_kept_apart():
    table = one_by_one(
        numbers([0, -1, 1, -1, 2, -1, 3], 4), Attribute.nominal("sex", np.array([0, 1, 0, 1, 0, 1, 0]), 2)
    )
    assert classes_of(snake(table, 3)) == [[0, 2, 4, 6], [1, 3, 5]]


def test_missing_values_that_are_too_few_join_the_others():
    table = one_by_one(numbers([0, 0, 0, -1, 3, 3, 3], 4))
    labels = snake(table, 3)
    assert partition_check.smallest_class(labels) >= 3
    assert ncp(table, labels) == pytest.approx((4 * 1.0 + 3 * 0.25) / 7)


def test_a_heavy_combination_is_one_class():
    table = one_by_one(numbers([5] * 500 + [6, 7, 8], 10), Attribute.nominal("sex", np.array([0] * 502 + [1]), 2))
    labels = snake(table, 3)
    assert np.bincount(labels).tolist() == [500, 3]
    assert len(set(labels[:500].tolist())) == 1


def test_equal_records_part_where_this_helps():
    # Kept whole, the 4 equal ones and the 2 others are one class; apart, one of them keeps the others company.
    table = one_by_one(numbers([0, 0, 0, 0, 7, 7], 8))
    labels = snake(table, 3)
    assert sorted(np.bincount(labels).tolist()) == [3, 3]
    assert labels[4] == labels[5]


@pytest.mark.parametrize("share", [1.0, 0.6, 0.51, 0.5])
def test_k_above_half_leaves_one_class(share):
    table = records(5, rows=100)
    k = int(np.ceil(share * table.records))
    assert int(snake(table, k).max()) == (0 if 2 * k > table.records else 1)


def test_all_records_equal():
    table = one_by_one(numbers([3] * 50, 8))
    assert snake(table, 7).tolist() == [0] * 50


@each("seed", seeds(30))
def test_no_class_lies_across_a_public_cut(seed):
    table, k = records(seed, rows=90), 2 + seed % 4
    labels, district = snake(table, k), districts(table, k)
    for rows in classes_of(labels):
        assert np.unique(district[rows]).size == 1


def test_districts_of_k_are_all_kept_and_smaller_ones_join():
    age = numbers([0, 1, 2, 3, 4, 5, 6, 7, 7], 8, cuts=(2, 4, 7))
    table = one_by_one(age)
    assert classes_of(districts(table, 2)) == [[0, 1], [2, 3], [4, 5, 6], [7, 8]]
    assert classes_of(districts(table, 3)) == [[0, 1, 2, 3], [4, 5, 6, 7, 8]]


def test_districts_keep_guards():
    table = one_by_one(numbers([0, 1, 2, 3, 4, 5], 6, cuts=(2, 4)))
    disease = random_sensitive(1, table)
    ill = replace(disease, value=np.array([0, 1, 0, 0, 0, 1]))
    assert classes_of(districts(table, 2, [Distinct(ill, 2)])) == [[0, 1], [2, 3, 4, 5]]


def test_the_districts_of_a_partition_are_what_its_classes_join():
    table = one_by_one(numbers([0, 1, 2, 3, 4, 5], 6, cuts=(2, 4)))
    assert districts_of(table, np.array([0, 0, 1, 2, 2, 1])).tolist() == [0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("seed", seeds(30))
def test_guards_hold_with_public_cuts(seed):
    table, k = records(seed, rows=150), 2 + seed % 3
    disease, (hull, sbp) = random_sensitive(seed, table), random_hull(seed, table)
    try:
        labels = snake(table, k, [Distinct(disease, 3), hull])
    except Infeasible:
        pytest.skip("the whole table does not hold")
    assert partition_check.smallest_class(labels) >= k
    assert partition_check.distinct_values(labels[disease.combination], disease.value) >= 3
    assert partition_check.narrowest_hull(labels, sbp["low"], sbp["high"]) >= 10.0


def test_a_row_of_broken_classes_is_not_joined_into_one():
    # All ill but every tenth: most classes of two break the guard, and joins of a few neighbours repair them.
    table = one_by_one(numbers(list(range(400)), 400))
    disease = replace(random_sensitive(1, table), value=np.arange(400) % 10 // 9)
    labels = snake(table, 2, [Distinct(disease, 2)])
    assert partition_check.distinct_values(labels, disease.value) == 2
    assert np.bincount(labels).max() <= 40


def test_a_weight_draws_cuts_to_its_attribute():
    rng = np.random.default_rng(2)
    sex, age = rng.integers(0, 4, 600), rng.integers(0, 64, 600)
    widths = []
    for weight in (1.0, 32.0):
        number = Attribute.ordered_by("age", age, np.arange(65.0), weight=weight)
        table = one_by_one(Attribute.nominal("sex", sex, 4), number)
        labels = snake(table, 20)
        widths.append(np.mean([np.ptp(age[rows]) for rows in classes_of(labels)]))
    assert widths[1] < 0.5 * widths[0]


def test_hierarchies_are_ordered_by_their_line():
    tree = Hierarchy.of([(a + b, a, "*") for a in "xyz" for b in "012"])
    codes = np.repeat(np.arange(9), 2)
    table = one_by_one(Attribute.hierarchical("zip", codes, tree))
    assert classes_of(snake(table, 6)) == [list(range(6)), list(range(6, 12)), list(range(12, 18))]


def test_equal_tables_in_another_order_give_equal_classes():
    table = records(9, rows=400)
    order = np.random.default_rng(1).permutation(table.records)
    shuffled = Table(tuple(replace(a, codes=a.codes[order]) for a in table.attributes), table.counts)
    one, other = snake(table, 4), snake(shuffled, 4)
    assert ncp(table, one) == pytest.approx(ncp(shuffled, other), abs=1e-15)
    assert np.array_equal(np.bincount(one), np.bincount(other))


def test_combinations_that_stand_for_several_records_are_refused():
    with pytest.raises(ValueError, match="one row for each"):
        snake(Table((numbers([0, 1], 2),), np.array([2, 1])), 1)


def test_progress_runs_to_one():
    seen: list[float] = []
    snake(records(18, rows=400), 2, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("k", FAST)
def test_information_loss_on_adult(k):
    table = adult_records()
    labels = snake(table, k)
    assert partition_check.smallest_class(labels) >= k
    assert 100 * ncp(table, labels) <= FAST[k]
