"""Classes for a target: worked by hand, against all cuts, and never at the cost of a promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from querygate.methods.anonymise import Attribute, Distinct, Sensitive, Table, Target, mondrian, partition_check
from querygate.methods.anonymise.division import target_splits
from querygate.methods.anonymise.division.target_splits import mondrian_target
from tests.each import each
from tests.unit.methods.anonymise.tables import by_record, random_table


def left(target: np.ndarray, labels: np.ndarray) -> float:
    """What is left to be known: bits, by the counts of each class."""
    found = 0.0
    for label in set(labels.tolist()):
        _, counts = np.unique(target[labels == label], return_counts=True)
        found -= float((counts * np.log2(counts / counts.sum())).sum())
    return found


def two_numbers(target: list[int], classes: int = 2) -> Table:
    """A wide number that says nothing, and a narrow one that decides."""
    noise = Attribute.ordered_by("noise", np.array([0, 9, 1, 8, 2, 7, 3, 6]), np.arange(11.0))
    tells = Attribute.ordered_by("tells", np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.arange(101.0))
    return Table((noise, tells), np.ones(8, dtype=int), Target(np.array(target, dtype=float), classes))


def test_the_cut_that_tells_most_comes_first() -> None:
    """LeFevre et al. 2006, the idea of InfoGain Mondrian: width would cut the other number."""
    table = two_numbers([0, 0, 0, 0, 1, 1, 1, 1])
    assert mondrian_target(table, 4).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert mondrian(replace(table, target=None), 4).tolist() != [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_number_is_kept_by_its_variance() -> None:
    table = two_numbers([10, 11, 10, 12, 55, 53, 54, 55], classes=0)
    assert mondrian_target(table, 4).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_where_nothing_tells_widths_decide() -> None:
    table = two_numbers([0] * 8, classes=1)
    labels = mondrian_target(table, 2)
    assert partition_check.smallest_class(labels) == 2
    assert labels.max() == 3


def test_categories_stand_by_their_mean_target() -> None:
    """b and d go with the ill: no order of names has them on one side."""
    drug = Attribute.nominal("drug", np.repeat(np.arange(4), 3), 4)
    ill = np.array([0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0], dtype=float)
    labels = mondrian_target(Table((drug,), np.ones(12, dtype=int), Target(ill, 2)), 6)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1]


@each("seed", range(12))
def test_no_cut_tells_more_than_the_best(seed: int) -> None:
    """Against every cut of numbers, and every way to divide categories in two (Breiman et al. 1984)."""
    table = by_record(random_table(seed, cuts=False, nulls=seed % 2 == 0, rows=30))
    rng = np.random.default_rng(seed)
    chance = rng.random(17)[table.attributes[0].codes]
    target = (rng.random(table.combinations) < chance).astype(np.int64)
    rows = np.arange(table.combinations)
    for attribute in table.attributes:
        values = np.unique(attribute.codes)
        if values.size > 9 and not attribute.ordered:
            continue
        ways = (
            [values[:at] for at in range(1, values.size)]
            if attribute.ordered
            else [values[[bool(way >> i & 1) for i in range(values.size)]] for way in range(1, 2**values.size - 1)]
        )
        best = min((left(target, np.isin(attribute.codes, way)) for way in ways), default=np.inf)
        found = target_splits._cuts(attribute, table.counts, Target(target.astype(float), 2), rows, 1)
        assert min((cut.unknown for cut in found), default=np.inf) == pytest.approx(best)


@each("seed", range(4))
def test_guards_hold(seed: int) -> None:
    table = by_record(random_table(seed, rows=120))
    rng = np.random.default_rng(seed)
    value = rng.integers(0, 3, table.combinations)
    table = replace(table, target=Target(value.astype(float), 3))
    held = Sensitive("dx", np.arange(value.size), value, np.ones_like(value), 3)
    labels = mondrian_target(table, 4, [Distinct(held, 3)])
    assert partition_check.smallest_class(labels) >= 4
    assert partition_check.distinct_values(labels, value) == 3


@pytest.mark.parametrize("classes", [0, 2])
def test_hostile_targets(classes: int) -> None:
    age = Attribute.ordered_by("age", np.array([-1, -1, 0, 0, 3, 3, 3, 3]), np.arange(5.0))
    for values in (np.zeros(8), np.array([0.0] * 7 + [1.0]), np.array([1.0, 0] * 4)):
        labels = mondrian_target(
            Table((age,), np.ones(8, dtype=int), Target(values * (1e150 if not classes else 1), classes)), 2
        )
        assert partition_check.smallest_class(labels) >= 2
