"""Measures of loss, each computed by hand: ten records, one of them left out, in classes of five and four."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.anonymise import (
    NO_NULLS,
    SOME_NULLS,
    Attribute,
    RecodedTable,
    Table,
    full_domain,
    loss,
    scales_of,
)
from tests.unit.methods.anonymise.recoded import hierarchical_table, tree_of

PLACES = Attribute.hierarchical("place", np.array([0, 1, 2, 3]), tree_of(4, (2,)))
AGES = Attribute.ordered_by("age", np.array([0, 4, 5, 9]), np.arange(11.0))
TABLE = Table((PLACES, AGES), np.array([3, 2, 4, 1]))
NONE = np.full(2, NO_NULLS)
RECODED = RecodedTable(
    labels=np.array([0, 0, 1, -1]),
    low={"place": np.array([0, 2]), "age": np.array([0, 5])},
    high={"place": np.array([1, 2]), "age": np.array([4, 5])},
    nulls={"place": NONE, "age": NONE},
    suppressed=1,
    loss=0.0,
)


def test_sizes_of_classes():
    assert loss.discernibility(RECODED.labels, TABLE.counts) == 5**2 + 4**2 + 10 * 1
    assert loss.average_class_size(RECODED.labels, TABLE.counts) == 4.5
    assert loss.c_avg(RECODED.labels, TABLE.counts, k=4) == 10 / (2 * 4)


def test_nobody_is_published():
    nobody = np.full(4, -1)
    assert loss.discernibility(nobody, TABLE.counts) == 10 * 10
    assert loss.average_class_size(nobody, TABLE.counts) == 0.0
    assert loss.c_avg(nobody, TABLE.counts, k=4) == np.inf
    assert loss.classification_metric(nobody, np.zeros(4, dtype=int), TABLE.counts) == 1.0


def test_loss_metric():
    place = 5 * (2 - 1) / (4 - 1) + 1
    age = 5 * (5 - 1) / (10 - 1) + 1
    assert loss.loss_metric(TABLE, RECODED) == pytest.approx([place / 10, age / 10])


def test_ambiguity():
    assert loss.ambiguity(TABLE, RECODED) == pytest.approx((5 * (2 * 5) + 4 * 1 + 1 * (4 * 10)) / 10)


def test_generalisation_height():
    scales = scales_of(TABLE, None)
    assert [scale.heights for scale in scales] == [3, 3]
    assert loss.generalisation_height(TABLE, RECODED, scales) == pytest.approx((5 * (1 + 1) + 0 + 1 * (2 + 2)) / 10)


def test_the_height_of_one_choice_of_heights_is_a_whole_number():
    table, given = hierarchical_table(5, rows=200)
    found = full_domain(table, 4, hierarchies=given)
    height = loss.generalisation_height(table, found, scales_of(table, given))
    assert height == pytest.approx(round(height))
    assert height > 0


def test_classification_metric():
    target, classes = np.array([0, 1, 1, 0, 1]), np.array([0, 0, 0, 1, -1])
    assert loss.classification_metric(classes, target, np.array([4, 3, 2, 5, 1])) == pytest.approx((4 + 1) / 15)


def test_relative_error_of_counts():
    queries = [
        {"age": (0, 1)},  # 3 are counted, 5 * 2/5 estimated
        {"place": (0, 0), "age": (0, 4)},  # 3, and 5 * 1/2
        {"place": (3, 3)},  # 1, who is left out
        {"age": (6, 8)},  # nobody
    ]
    assert loss.average_relative_error(TABLE, RECODED, queries) == pytest.approx((1 / 3 + 1 / 6 + 1) / 3)
    assert loss.average_relative_error(TABLE, RECODED, []) == 0.0


def test_a_missing_value_is_one_more_value():
    sex = Attribute.nominal("sex", np.array([0, 1, -1]), 3)
    table = Table((sex,), np.array([2, 1, 1]))
    one = np.zeros(1, dtype=int)
    found = RecodedTable(np.zeros(3, dtype=int), {"sex": one}, {"sex": one + 2}, {"sex": one + SOME_NULLS}, 0, 1.0)
    assert loss.loss_metric(table, found) == pytest.approx([1.0])
    assert loss.ambiguity(table, found) == 4.0
    assert loss.average_relative_error(table, found, [{"sex": (0, 0)}]) == pytest.approx(abs(2 - 4 / 4) / 2)
