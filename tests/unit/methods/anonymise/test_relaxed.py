"""Relaxed Mondrian: values are divided where strict cuts stop, and nothing is lost by it."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.anonymise import (
    Attribute,
    Distinct,
    NumericHull,
    Sensitive,
    Table,
    mondrian,
    ncp,
    partition_check,
)
from querygate.methods.anonymise.division.relaxed_mondrian import relaxed
from tests.bench.adult import adult_table
from tests.seeds import seeds
from tests.unit.methods.anonymise.naive import classes_of
from tests.unit.methods.anonymise.tables import by_record, random_table


def numbers(codes: list[int], size: int = 8) -> Attribute:
    return Attribute.ordered_by("age", np.array(codes), np.arange(size + 1.0))


def ages(table: Table, labels: np.ndarray) -> list[list[int]]:
    return sorted(sorted(table.attributes[0].codes[members].tolist()) for members in classes_of(labels))


def test_a_heavy_value_is_divided():
    # Strict: behind 0 there are 2 records, behind 1 the rest has 2: no cut leaves 4 on both sides.
    table = by_record(Table((numbers([0, 1, 7]),), np.array([2, 6, 2])))
    assert ages(table, mondrian(table, 4)) == [[0, 0, 1, 1, 1, 1, 1, 1, 7, 7]]
    assert ages(table, relaxed(table, 4)) == [[0, 0, 1, 1, 1, 1], [1, 1, 7, 7]]


def test_the_narrower_side_takes_all_it_can():
    table = by_record(Table((numbers([0, 6, 7]),), np.array([2, 5, 2])))
    assert ages(table, relaxed(table, 4)) == [[0, 0, 6, 6], [6, 6, 6, 7, 7]]


def test_where_a_value_is_divided_other_values_say_how():
    sex = Attribute.nominal("sex", np.array([0, 1, 0, 1]), 2)
    table = by_record(Table((numbers([0, 1, 1, 7]), sex), np.array([2, 3, 3, 2])))
    found = {tuple(sorted(set(table.attributes[1].codes[m].tolist()))) for m in classes_of(relaxed(table, 4))}
    assert found == {(0,), (1,)}


def test_equal_records_are_not_divided_for_nothing():
    table = by_record(Table((numbers([3]),), np.array([100])))
    assert relaxed(table, 5).max() == 0


def test_missing_values_are_not_divided():
    table = by_record(Table((numbers([-1, 0]),), np.array([6, 2])))
    assert relaxed(table, 4).max() == 0


@pytest.mark.parametrize("seed", seeds(20))
def test_about_as_good_as_strict_or_better(seed):
    table, k = by_record(random_table(seed, rows=200, cuts=False)), 2 + seed % 5
    assert ncp(table, relaxed(table, k)) <= 1.25 * ncp(table, mondrian(table, k)) + 1e-9


def test_better_than_strict_on_the_whole():
    tables = [by_record(random_table(seed, rows=300, cuts=False)) for seed in range(40)]
    strict, loose = (sum(ncp(t, method(t, 7)) for t in tables) for method in (mondrian, relaxed))
    assert loose < strict


def test_divisions_are_judged_by_every_guard():
    table = by_record(Table((numbers([0, 1, 7]),), np.array([2, 6, 2])))
    rows, low = np.arange(10), np.zeros(10)
    for sick in ([0, 9], [0, 1]):  # one in each half, and both in the first
        value = np.isin(rows, sick).astype(np.int64)
        disease = Sensitive("disease", rows, value, np.ones(10, dtype=np.int64), 2)
        labels = relaxed(table, 4, [Distinct(disease, 2)])
        assert labels.max() == (1 if sick == [0, 9] else 0)
        assert partition_check.distinct_values(labels, value) == 2
    high = np.where(np.isin(rows, [0, 9]), 10.0, 0.0)
    hull = NumericHull("sbp", low, high, np.zeros(10, dtype=int), np.ones(10, dtype=int), 5.0)
    assert relaxed(table, 4, [hull]).max() == 1


def test_information_loss_on_adult():
    table = by_record(adult_table())
    labels = relaxed(table, 10)
    assert partition_check.smallest_class(labels) >= 10
    assert 100 * ncp(table, labels) <= 5.05
