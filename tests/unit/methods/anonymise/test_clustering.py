"""Clustering from above and from below: a printed example, and how it does on real records."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import pytest

from querygate.methods.anonymise import ANONYMISERS, Attribute, Table, boxes, mondrian, ncp, partition_check
from tests.bench.adult import adult_table
from tests.unit.methods.anonymise.tables import by_record

METHODS = ("top-down", "bottom-up")
AGES = np.array([20.0, 23, 25, 27, 28, 29])
PATIENTS = Table(
    (
        Attribute("age", np.arange(6), 6, True, 9.0, AGES, AGES),
        Attribute.nominal("sex", np.array([0, 1, 0, 1, 1, 1]), 2),  # M F M F F F
    ),
    np.ones(6, dtype=int),
)


def shown(labels: np.ndarray) -> set[tuple[float, float, str, int]]:
    """(youngest, oldest, sexes, patients) of each class."""
    ages, sexes = boxes(PATIENTS, labels)
    return {
        (AGES[ages.low[c]], AGES[ages.high[c]], "".join("MF"[s] for s in sexes.of(c)), int((labels == c).sum()))
        for c in range(labels.max() + 1)
    }


def test_six_patients_from_below():
    labels = ANONYMISERS.get("bottom-up")(PATIENTS, 2)
    assert shown(labels) == {(20, 25, "M", 2), (23, 27, "F", 2), (28, 29, "F", 2)}


def test_six_patients_from_above():
    labels = ANONYMISERS.get("top-down")(PATIENTS, 2)
    assert shown(labels) == {(20, 25, "MF", 3), (27, 29, "F", 3)}


def some_adults(number: int) -> Table:
    whole = by_record(adult_table())
    rows = np.linspace(0, whole.records - 1, number).astype(int)
    return Table(tuple(replace(a, codes=a.codes[rows]) for a in whole.attributes), np.ones(number, dtype=int))


@pytest.mark.parametrize("method", METHODS)
def test_adults(method):
    table = some_adults(1500)
    labels = ANONYMISERS.get(method)(table, 10)
    assert partition_check.smallest_class(labels) >= 10
    assert ncp(table, labels) < 1.35 * ncp(table, mondrian(table, 10))


def test_blocks_cost_little(monkeypatch):
    table = some_adults(1500)
    exact = ncp(table, ANONYMISERS.get("bottom-up")(table, 5))
    monkeypatch.setattr(importlib.import_module("querygate.methods.anonymise.clusters.bottom_up"), "EXACT", 300)
    blocks = ANONYMISERS.get("bottom-up")(table, 5)
    assert partition_check.smallest_class(blocks) >= 5
    assert ncp(table, blocks) < 1.2 * exact


@pytest.mark.parametrize("method", METHODS)
def test_many_equal_records_are_parted_only_where_it_helps(method):
    age = Attribute.ordered_by("age", np.array([0] * 100 + [1] * 3), np.arange(65.0))
    labels = ANONYMISERS.get(method)(Table((age,), np.ones(103, dtype=int)), 5)
    assert np.bincount(labels).min() >= 5
    assert np.bincount(labels)[labels[-1]] <= 13  # the three do not draw all hundred into their box
