"""Strict Mondrian: hand-made cases, known pitfalls, and a slow twin it must agree with."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from querygate.methods.anonymise import Attribute, Distinct, Table, mondrian, ncp, partition_check
from tests.bench.adult import LOSS, adult_table
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.anonymise.naive import can_be_cut_publicly, classes_of, naive_mondrian
from tests.unit.methods.anonymise.tables import random_hull, random_sensitive, random_table

MODULE = importlib.import_module("querygate.methods.anonymise.division.mondrian")


def numbers(codes: list[int], size: int, cuts: tuple[int, ...] = (), name: str = "age") -> Attribute:
    return Attribute.ordered_by(name, np.array(codes), np.arange(size + 1.0), cuts)


def names(codes: list[int], size: int, name: str = "sex") -> Attribute:
    return Attribute.nominal(name, np.array(codes), size)


def partition(table: Table, k: int) -> list[list[int]]:
    return classes_of(mondrian(table, k))


def test_a_majority_value_at_the_end_of_the_order_is_cut_off():
    # The median is the greatest value, so "cut behind the median" would leave one class.
    table = Table((numbers([0, 1, 2, 3], 4),), np.array([1, 1, 1, 20]))
    assert partition(table, 3) == [[0, 1, 2], [3]]


def test_every_feasible_cut_is_weighed_not_only_the_middle():
    # In the middle, 3 | 3, both sides are 50 wide; the cheapest cut is the one at the gap, 2 | 4.
    lower = np.array([0.0, 1, 50, 98, 99, 100])
    age = Attribute("age", np.arange(6), 6, ordered=True, span=100.0, lower=lower, upper=lower)
    assert partition(Table((age,), np.ones(6, dtype=int)), 3) == [[0, 1, 2], [3, 4, 5]]
    assert partition(Table((age,), np.array([1, 2, 1, 1, 1, 1])), 3) == [[0, 1], [2, 3, 4, 5]]


def test_frequent_categories_are_cut_off_first():
    table = Table((names([0, 1, 2, 3], 4),), np.array([2, 9, 2, 8]))
    assert partition(table, 4) == [[0, 2], [1], [3]]


def test_k_is_checked_on_both_children():
    table = Table((numbers([0, 1, 2], 3),), np.array([4, 4, 1]))
    assert partition(table, 4) == [[0], [1, 2]]
    assert partition(table, 5) == [[0, 1, 2]]


def test_the_gain_counts_all_attributes():
    # Cutting the number parts the sexes too; cutting sex alone would leave both ages in each half.
    sex, age = names([0, 0, 1, 1], 2), numbers([0, 1, 6, 7], 8)
    color = names([0, 1, 0, 1], 2, "color")
    table = Table((color, age, sex), np.array([2, 2, 2, 2]))
    assert partition(table, 4) == [[0, 1], [2, 3]]


def test_a_weight_draws_cuts_to_its_attribute():
    sex, age = [0, 1, 0, 1], [0, 0, 7, 7]
    plain = Table((names(sex, 2), numbers(age, 64)), np.full(4, 3))
    assert partition(plain, 6) == [[0, 2], [1, 3]]
    weighted = Attribute.ordered_by("age", np.array(age), np.arange(65.0), weight=16.0)
    assert partition(Table((names(sex, 2), weighted), np.full(4, 3)), 6) == [[0, 1], [2, 3]]


def test_equal_combinations_stay_together():
    table = Table((numbers([3], 8), names([1], 2)), np.array([1000]))
    assert partition(table, 2) == [[0]]


def test_missing_values_are_a_class_of_their_own_where_k_allows():
    table = Table((numbers([-1, 0, 1], 8),), np.array([3, 3, 3]))
    assert partition(table, 3) == [[0], [1], [2]]
    assert partition(table, 4) == [[0, 1, 2]]


def test_missing_values_stay_with_the_end_that_costs_less():
    # Two missing values cannot stand alone. With the few at the top they spoil 4 records, at the bottom 8.
    table = Table((numbers([-1, 0, 1, 6, 7], 8),), np.array([2, 6, 6, 1, 1]))
    assert partition(table, 4) == [[0, 3, 4], [1], [2]]


def test_missing_categories_join_the_rare_ones():
    table = Table((names([-1, 0, 1, 2], 4),), np.array([1, 6, 5, 2]))
    assert partition(table, 3) == [[0, 3], [1], [2]]


def test_public_cuts_come_before_better_free_cuts():
    table = Table((numbers([0, 1, 2, 3], 4, cuts=(1,)),), np.array([4, 4, 4, 4]))
    assert partition(table, 8) == [[0, 1], [2, 3]]  # the cut below 1 leaves 4 records: not feasible
    assert partition(table, 4) == [[0], [1], [2], [3]]
    free = Table((numbers([0, 1, 2, 3], 4),), np.array([5, 1, 1, 5]))
    cut = Table((numbers([0, 1, 2, 3], 4, cuts=(1,)),), np.array([5, 1, 1, 5]))
    assert partition(free, 5) == [[0, 1], [2, 3]]
    assert partition(cut, 5) == [[0], [1, 2, 3]]


def test_public_cuts_part_missing_values_too():
    table = Table((numbers([-1, 0, 1], 8, cuts=(4,)), names([0, 1, 0], 2)), np.array([4, 2, 2]))
    assert partition(table, 4) == [[0], [1, 2]]


@each("seed", seeds(50))
def test_the_same_as_the_slow_twin(seed):
    table, k = random_table(seed), 1 + seed % 5
    assert partition(table, k) == naive_mondrian(table, lambda rows: table.counts[rows].sum() >= k)


@each("seed", seeds(40))
def test_the_same_as_the_slow_twin_under_guards(seed):
    table, k = random_table(seed, rows=40), 1 + seed % 3
    disease = random_sensitive(seed, table)
    hull, sbp = random_hull(seed, table, least_width=8.0)

    def allowed(rows: list[int]) -> bool:
        values = sbp["value"][np.isin(sbp["combination"], rows)]
        bins = sbp["bin"][np.isin(sbp["combination"], rows)]
        wide = np.isfinite(values).any() and np.nanmax(values) - np.nanmin(values) >= 8.0
        diverse = np.unique(disease.value[np.isin(disease.combination, rows)]).size >= 2
        return bool(table.counts[rows].sum() >= k and wide and np.unique(bins).size >= 2 and diverse)

    labels = mondrian(table, k, [Distinct(disease, 2), hull])
    assert classes_of(labels) == naive_mondrian(table, allowed)


@each("seed", seeds(40))
def test_no_class_is_left_that_a_public_cut_could_divide(seed):
    table, k = random_table(seed, rows=60), 2 + seed % 4
    for rows in partition(table, k):
        assert not can_be_cut_publicly(table, rows, lambda rows: table.counts[rows].sum() >= k)


def test_groups_of_nodes_do_not_change_the_result(monkeypatch):
    table = random_table(18, rows=3000)
    expected = mondrian(table, 2)
    monkeypatch.setattr(MODULE, "SMALL", 40)
    monkeypatch.setattr(MODULE, "GROUP", 100)
    assert np.array_equal(mondrian(table, 2), expected)


def test_more_attributes_than_one_word_has_bits():
    rng = np.random.default_rng(3)
    codes = np.unique(rng.integers(0, 2, (12, 40)), axis=0)
    table = Table(
        tuple(names(column.tolist(), 2, f"c{i}") for i, column in enumerate(codes.T)), np.ones(len(codes), dtype=int)
    )
    assert partition(table, 3) == naive_mondrian(table, lambda rows: len(rows) >= 3)


def test_progress_runs_to_one():
    seen: list[float] = []
    mondrian(random_table(18, rows=200), 2, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("k", LOSS)
def test_information_loss_on_adult(k):
    table = adult_table()
    labels = mondrian(table, k)
    assert table.records == 30_162
    assert partition_check.smallest_class(labels, table.counts) >= k
    assert 100 * ncp(table, labels) <= {5: 3.0, 10: 5.2}[k]
