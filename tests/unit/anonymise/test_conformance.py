"""What every registered anonymiser must do, re-measured by the independent verifier."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from querygate.anonymise import (
    ANONYMISERS,
    Alpha,
    Closeness,
    Distinct,
    Entropy,
    Infeasible,
    NumericHull,
    Recursive,
    Table,
    verify,
)
from tests.unit.anonymise.naive import classes_of
from tests.unit.anonymise.tables import random_hull, random_sensitive, random_table


@pytest.fixture(params=ANONYMISERS.names())
def anonymise(request):
    return ANONYMISERS.get(request.param)


DIVERSITY = {
    "distinct": (lambda s: Distinct(s, 3), lambda *a: verify.distinct_values(*a[:2]) >= 3),
    "entropy": (lambda s: Entropy(s, 2.0), lambda *a: verify.entropy_l(*a) >= 2.0),
    "recursive": (lambda s: Recursive(s, 2.0, 2), lambda *a: verify.recursive_ratio(*a, l=2) < 2.0),
    "alpha": (lambda s: Alpha(s, 0.6), lambda *a: verify.largest_share(*a) <= 0.6),
    "t-closeness": (lambda s: Closeness(s, 0.2), lambda *a: verify.closeness(*a) <= 0.2),
    "ordered t-closeness": (
        lambda s: Closeness(s, 0.1, ordered=True),
        lambda *a: verify.closeness(*a, ordered=True, size=4) <= 0.1,
    ),
}


@pytest.mark.parametrize("block", range(10))
def test_every_class_has_k_records(anonymise, block):
    for seed in range(1000 + 30 * block, 1030 + 30 * block):
        table, k = random_table(seed, rows=80), 1 + seed % 7
        labels = anonymise(table, k)
        assert verify.smallest_class(labels, table.counts) >= k
        assert np.array_equal(np.unique(labels), np.arange(labels.max() + 1))


@pytest.mark.parametrize("kind", DIVERSITY)
def test_every_class_is_diverse(anonymise, kind):
    make, holds = DIVERSITY[kind]
    divided = 0
    for seed in range(2000, 2040):
        table, k = random_table(seed, rows=200), 2 + seed % 4
        disease = random_sensitive(seed, table)
        try:
            labels = anonymise(table, k, [make(disease)])
        except Infeasible:
            continue
        assert verify.smallest_class(labels, table.counts) >= k
        assert holds(labels[disease.combination], disease.value, disease.count)
        divided += int(labels.max() > 0)
    assert divided > 5


def test_every_class_is_wide(anonymise):
    divided = 0
    for seed in range(3000, 3060):
        table, k = random_table(seed, rows=100), 2 + seed % 4
        hull, sbp = random_hull(seed, table)
        labels = anonymise(table, k, [hull])
        assert verify.smallest_class(labels, table.counts) >= k
        assert verify.narrowest_hull(labels, sbp["low"], sbp["high"]) >= 10.0
        assert verify.distinct_values(labels[sbp["combination"]], sbp["bin"]) >= 2
        divided += int(labels.max() > 0)
    assert divided > 30


def test_the_same_table_gives_the_same_classes(anonymise):
    table = random_table(18, rows=500)
    assert np.array_equal(anonymise(table, 3), anonymise(table, 3))


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_rows_does_not_matter(anonymise, seed):
    table = random_table(seed, rows=150)
    order = np.random.default_rng(seed).permutation(table.combinations)
    shuffled = Table(tuple(replace(a, codes=a.codes[order]) for a in table.attributes), counts=table.counts[order])
    assert np.array_equal(anonymise(shuffled, 3), anonymise(table, 3)[order])


def test_equal_rows_given_twice_are_not_parted(anonymise):
    table = random_table(18, rows=60)
    twice = Table(
        tuple(replace(a, codes=np.tile(a.codes, 2)) for a in table.attributes), counts=np.tile(table.counts, 2)
    )
    labels = anonymise(twice, 3)
    assert np.array_equal(labels[: table.combinations], labels[table.combinations :])


def test_too_few_records(anonymise):
    table = random_table(1, rows=5)
    with pytest.raises(Infeasible, match="anonymity") as refused:
        anonymise(table, table.records + 1)
    assert refused.value.guarantee == f"{table.records + 1}-anonymity"


def test_a_guard_that_the_whole_table_fails_is_named(anonymise):
    table = random_table(1, rows=20)
    flat = np.full(table.combinations, 120.0)
    one = np.full(table.combinations, 12)
    with pytest.raises(Infeasible, match="numeric guard of sbp"):
        anonymise(table, 2, [NumericHull("sbp", flat, flat, one, one, 10.0)])
    with pytest.raises(Infeasible, match="distinct 9-diversity of disease"):
        anonymise(table, 2, [Distinct(random_sensitive(1, table), 9)])


def test_k_is_at_least_one(anonymise):
    with pytest.raises(ValueError, match="at least 1"):
        anonymise(random_table(1), 0)


def test_with_k_one_every_combination_is_its_own_class(anonymise):
    table = random_table(4, nulls=False, cuts=False)
    sharp = Table(tuple(replace(a, upper=a.lower) if a.ordered else a for a in table.attributes), counts=table.counts)
    assert classes_of(anonymise(sharp, 1)) == [[r] for r in range(table.combinations)]
