"""Joining classes until every promise is kept, and the boxes it compares them by."""

from __future__ import annotations

import numpy as np

from querygate.methods.anonymise import Attribute, Distinct, Sensitive, Table, partition_check
from querygate.methods.anonymise.class_boxes import widths
from querygate.methods.anonymise.clusters.hulls import Hulls
from querygate.methods.anonymise.clusters.merge import merge_until_kept
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.anonymise.naive import classes_of
from tests.unit.methods.anonymise.tables import by_record, random_sensitive, random_table

LINE = Table((Attribute.ordered_by("age", np.arange(8), np.arange(9.0)),), np.ones(8, dtype=int))


def test_what_is_too_small_joins_what_costs_least():
    assert classes_of(merge_until_kept(LINE, np.array([0, 0, 0, 1, 2, 2, 2, 2]), 2, ())) in (
        [[0, 1, 2, 3], [4, 5, 6, 7]],
        [[0, 1, 2], [3, 4, 5, 6, 7]],
    )


def test_pieces_are_not_left():
    pieces = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    labels = merge_until_kept(LINE, np.array([0, 0, 0, 1, 2, 3, 3, 3]), 2, (), within=pieces)
    assert classes_of(labels) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_piece_that_fails_as_a_whole_is_left():
    value = np.array([0, 0, 0, 0, 0, 1, 0, 1])
    disease = Sensitive("disease", np.arange(8), value, np.ones(8, dtype=int), 2)
    pieces = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    labels = merge_until_kept(LINE, np.arange(8) // 2, 2, [Distinct(disease, 2)], within=pieces)
    assert partition_check.distinct_values(labels, value) == 2


@each("seed", seeds(30))
def test_everything_is_kept_in_the_end(seed):
    table = by_record(random_table(seed, rows=60))
    disease = random_sensitive(seed, table)
    guard = Distinct(disease, 2)
    if np.unique(disease.value).size >= 2:
        labels = merge_until_kept(table, np.arange(table.records), 4, [guard])
        assert partition_check.smallest_class(labels) >= 4
        assert partition_check.distinct_values(labels[disease.combination], disease.value) >= 2
        assert np.array_equal(np.unique(labels), np.arange(labels.max() + 1))


@each("seed", seeds(30))
def test_hulls_have_the_widths_of_the_classes_they_become(seed):
    table = random_table(seed, rows=60)
    weights = np.array([a.weight for a in table.attributes])
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(0, 6, table.combinations), return_inverse=True)[1]
    hulls = Hulls.of(table, labels)
    assert np.allclose(hulls.widths(), weights @ widths(table, labels))
    if labels.max() == 0:
        return
    union = hulls.union_width(0)
    for other in range(1, labels.max() + 1):
        joined = np.unique(np.where(labels == other, 0, labels), return_inverse=True)[1]
        assert np.isclose(union[other], (weights @ widths(table, joined))[0])
    hulls.join(0, 1)
    assert np.isclose(hulls.widths()[0], union[1])


def test_more_values_than_one_word_has_bits():
    names = Attribute.nominal("zip", np.array([0, 63, 64, 199]), 200)
    hulls = Hulls.of(Table((names,), np.ones(4, dtype=int)), np.array([0, 0, 1, 1]))
    assert hulls.union_width(0, np.array([0, 1])).tolist() == [2 / 200, 4 / 200]
