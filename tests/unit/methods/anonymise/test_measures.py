"""Boxes and information loss."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.anonymise import (
    ALL_NULLS,
    NO_NULLS,
    NULL,
    SOME_NULLS,
    Attribute,
    Table,
    boxes,
    loss_by_attribute,
    mondrian,
    ncp,
)
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.anonymise.naive import classes_of, loss, width
from tests.unit.methods.anonymise.tables import random_table


def test_boxes_are_shrunk_to_their_members():
    age = Attribute.ordered_by("age", np.array([5, 2, -1, 7, -1]), np.arange(11.0))
    sex = Attribute.nominal("sex", np.array([2, 0, 1, -1, -1]), 3)
    ages, sexes = boxes(Table((age, sex), np.ones(5, dtype=int)), np.array([0, 0, 1, 1, 2]))
    assert ages.low.tolist() == [2, 7, NULL]
    assert ages.high.tolist() == [5, 7, NULL]
    assert ages.nulls.tolist() == [NO_NULLS, SOME_NULLS, ALL_NULLS]
    assert [sexes.of(i) for i in range(3)] == [(0, 2), (1,), ()]
    assert sexes.nulls.tolist() == [NO_NULLS, SOME_NULLS, ALL_NULLS]


def test_equal_value_sets_have_one_number():
    codes = np.array([0, 1, 2, 1, 0, 2])
    (sets,) = boxes(Table((Attribute.nominal("c", codes, 3),), np.ones(6, dtype=int)), np.array([0, 0, 1, 2, 2, 1]))
    numbers, different = sets.numbered()
    assert numbers.tolist() == [0, 1, 0]
    assert different == [(0, 1), (2,)]


def test_a_single_category_costs_nothing_and_not_one_over_d():
    table = Table((Attribute.nominal("c", np.array([0, 1, 2]), 4),), np.array([5, 2, 3]))
    assert ncp(table, np.array([0, 1, 2])) == 0.0
    assert ncp(table, np.array([0, 1, 1])) == pytest.approx(0.5 * 2 / 4)


def test_the_domain_is_the_declared_one():
    age = Attribute.ordered_by("age", np.array([2, 4]), np.arange(0.0, 101.0, 10.0))
    assert ncp(Table((age,), np.array([1, 1])), np.array([0, 0])) == pytest.approx(0.3)


def test_mixing_values_with_missing_ones_costs_the_full_width():
    age = Attribute.ordered_by("age", np.array([0, 1, -1, -1]), np.arange(11.0))
    table = Table((age,), np.array([1, 1, 1, 1]))
    assert ncp(table, np.array([0, 0, 1, 1])) == pytest.approx(0.5 * 0.2)
    assert ncp(table, np.array([0, 1, 1, 1])) == pytest.approx((0.1 + 3.0) / 4)


def test_a_domain_of_one_point_has_no_width():
    point = Attribute("year", np.array([0, 0]), 1, True, 0.0, np.array([2020.0]), np.array([2020.0]))
    assert ncp(Table((point,), np.array([1, 1])), np.array([0, 0])) == 0.0


@each("seed", seeds(30))
def test_loss_is_the_definition_summed_up(seed):
    table = random_table(seed)
    labels = mondrian(table, 2)
    expected = [
        sum(table.counts[rows].sum() * width(a, a.codes[rows].tolist()) for rows in classes_of(labels))
        for a in table.attributes
    ]
    assert loss_by_attribute(table, labels) == pytest.approx(np.array(expected) / table.records)
    weights = np.array([a.weight for a in table.attributes])
    total = sum(loss(table, rows) for rows in classes_of(labels))
    assert loss_by_attribute(table, labels) @ weights == pytest.approx(total / table.records)
