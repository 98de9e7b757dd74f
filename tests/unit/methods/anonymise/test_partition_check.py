"""The verifier: known figures, independence, and labellings broken on purpose."""

from __future__ import annotations

import ast
import inspect
import math

import numpy as np
import pytest

from querygate.methods.anonymise import Distinct, mondrian, partition_check
from tests.unit.methods.anonymise.tables import random_hull, random_sensitive, random_table

CLASSES = np.array([10, 10, 10, 10, 4, 4, 4, 4])
DISEASE = np.array([0, 0, 0, 1, 0, 1, 2, 2])


def test_smallest_class():
    assert partition_check.smallest_class(np.array([3, 3, 8])) == 1
    assert partition_check.smallest_class(np.array([3, 3, 8]), np.array([2, 2, 7])) == 4


def test_distinct_values():
    assert partition_check.distinct_values(CLASSES, DISEASE) == 2
    assert partition_check.distinct_values(np.array([0, 0, 1]), np.array([-1, 5, 5])) == 1


def test_entropy():
    share = np.array([0.75, 0.25])
    assert partition_check.entropy_l(CLASSES, DISEASE) == pytest.approx(math.exp(-(share @ np.log(share))))
    assert partition_check.entropy_l(np.zeros(3, dtype=int), np.arange(3)) == 3.0


def test_recursive_ratio():
    assert partition_check.recursive_ratio(CLASSES, DISEASE, l=2) == 3.0
    assert partition_check.recursive_ratio(CLASSES, DISEASE, l=3) == math.inf
    assert partition_check.recursive_ratio(CLASSES[4:], DISEASE[4:], l=3) == 2.0


def test_largest_share():
    assert partition_check.largest_share(CLASSES, DISEASE) == 0.75
    assert partition_check.largest_share(np.zeros(2, dtype=int), np.array([0, 1]), np.array([1, 9])) == 0.9


def test_closeness_with_equal_distances():
    # The whole is (1/2, 1/4, 1/4), the first class (3/4, 1/4, 0).
    assert partition_check.closeness(CLASSES, DISEASE) == 0.25


def test_closeness_with_ordered_distances():
    # Li, Li and Venkatasubramanian (2007), salaries 3k to 11k.
    salaries = np.array([0, 1, 2, 3, 5, 8, 4, 6, 7])
    apart = np.repeat([0, 1, 2], 3)
    assert partition_check.closeness(apart, salaries, ordered=True) == 0.375
    joined = np.repeat([0, 1, 0], 3)  # the class {6k, 8k, 11k} and the rest
    assert partition_check.closeness(joined, salaries, ordered=True) == pytest.approx(1 / 6, abs=1e-9)
    wider = partition_check.closeness(apart, salaries, ordered=True, size=17)
    assert wider == pytest.approx(0.375 / 2)


def test_narrowest_hull():
    values = np.array([1.0, 9.0, np.nan, 4.0, 6.0, np.nan])
    assert partition_check.narrowest_hull(np.array([0, 0, 0, 1, 1, 1]), values, values) == 2.0
    assert partition_check.narrowest_hull(np.array([0, 0, 0, 1, 1, 2]), values, values) == 0.0


def test_it_shares_nothing_with_the_algorithms():
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(inspect.getsource(partition_check)))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported == {"__future__", "collections.abc", "typing", "numpy", "querygate.core.types"}


def test_a_record_moved_out_of_a_smallest_class_is_caught():
    table = random_table(18, rows=300)
    labels = mondrian(table, 5)
    records = np.bincount(labels, table.counts)
    broken = labels.copy()
    victim = np.flatnonzero(labels == records.argmin())[0]
    broken[victim] = (labels[victim] + 1) % records.size
    assert partition_check.smallest_class(labels, table.counts) >= 5
    assert partition_check.smallest_class(broken, table.counts) < partition_check.smallest_class(labels, table.counts)


def test_a_class_made_uniform_is_caught():
    table = random_table(18, rows=300)
    disease = random_sensitive(11, table)
    labels = mondrian(table, 2, [Distinct(disease, 2)])[disease.combination]
    assert partition_check.distinct_values(labels, disease.value) >= 2
    broken = np.where((labels == 0) & (disease.value > 0), labels.max(), labels)
    assert partition_check.distinct_values(broken, disease.value) == 1
    assert partition_check.largest_share(broken, disease.value, disease.count) == 1.0
    assert partition_check.entropy_l(broken, disease.value, disease.count) == 1.0
    assert partition_check.recursive_ratio(broken, disease.value, disease.count, l=2) == math.inf


def test_a_class_made_narrow_is_caught():
    table = random_table(18, rows=300)
    guard, sbp = random_hull(11, table)
    labels = mondrian(table, 2, [guard])[sbp["combination"]]
    assert partition_check.narrowest_hull(labels, sbp["value"], sbp["value"]) >= 10.0
    assert partition_check.distinct_values(labels, sbp["bin"]) >= 2
    broken = np.where((labels == 0) & (sbp["bin"] != sbp["bin"][labels == 0][0]), 1, labels)
    assert partition_check.narrowest_hull(broken, sbp["value"], sbp["value"]) < 10.0
    assert partition_check.distinct_values(broken, sbp["bin"]) == 1
