"""What every registered anonymiser must do, re-measured by the independent verifier.

`make soak ONLY=anonymise` has more tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from querygate.methods.anonymise import (
    ANONYMISERS,
    Distinct,
    Infeasible,
    Method,
    NumericHull,
    Table,
    ncp,
    partition_check,
)
from tests.each import each
from tests.unit.methods.anonymise.guarded import GUARDS
from tests.unit.methods.anonymise.naive import classes_of
from tests.unit.methods.anonymise.tables import by_record, random_number, random_sensitive, random_table


@dataclass(frozen=True)
class Subject:
    """A registered method, and tables of the kind that it works on."""

    method: Method
    one_number: bool

    def __call__(self, *arguments, **named):
        return self.method(*arguments, **named)

    def table(self, seed: int, **wanted) -> Table:
        table = random_number(seed, **wanted) if self.one_number else random_table(seed, **wanted)
        return by_record(table) if self.method.by_record else table


def subject(name: str) -> Subject:
    return Subject(ANONYMISERS.get(name), one_number=name == "univariate")


@pytest.fixture(params=ANONYMISERS.names())
def anonymise(request):
    return subject(request.param)


def contents(table: Table, labels: np.ndarray) -> list[list[tuple[int, ...]]]:
    """What the classes hold, whatever their numbers and whichever of two equal records is in which."""
    rows = np.stack([a.codes for a in table.attributes] + [table.counts], axis=1).tolist()
    return sorted(sorted(tuple(rows[r]) for r in members) for members in classes_of(labels))


def has_k_records(anonymise: Subject, seed: int) -> bool:
    """Has every class k records, and a number without gaps?"""
    table, k = anonymise.table(seed, rows=80), 1 + seed % 7
    labels = anonymise(table, k)
    numbered = np.array_equal(np.unique(labels), np.arange(labels.max() + 1))
    return numbered and partition_check.smallest_class(labels, table.counts) >= k


def keeps(anonymise: Subject, kind: str, seed: int) -> tuple[bool, bool]:
    """Are k and the guarantee kept, and is the table divided? One that cannot be is neither broken nor divided."""
    table, k = anonymise.table(seed, rows=160), 2 + seed % 4
    guarded = GUARDS[kind](seed, table)
    try:
        labels = anonymise(table, k, [guarded.guard])
    except Infeasible:
        return True, False
    kept = partition_check.smallest_class(labels, table.counts) >= k and guarded.is_kept(labels)
    return bool(kept), bool(labels.max() > 0)


@pytest.mark.parametrize("block", range(4))
def test_every_class_has_k_records(anonymise, block):
    seeds = range(1000 + 30 * block, 1010 + 30 * block)
    assert [seed for seed in seeds if not has_k_records(anonymise, seed)] == []


@pytest.mark.parametrize("kind", GUARDS)
def test_every_guarantee_is_kept(anonymise, kind):
    found = {seed: keeps(anonymise, kind, seed) for seed in range(5000, 5004)}
    assert [seed for seed, (kept, _) in found.items() if not kept] == []
    assert sum(divided for _, divided in found.values()) > 1


def test_several_guarantees_are_kept_at_once(anonymise):
    divided = 0
    for seed in range(6000, 6008):
        table = anonymise.table(seed, rows=250)
        together = [GUARDS[kind](seed, table) for kind in ("entropy", "(k,e)", "p-sensitive", "k-map")]
        try:
            labels = anonymise(table, 3, [guarded.guard for guarded in together])
        except Infeasible:
            continue
        assert partition_check.smallest_class(labels, table.counts) >= 3
        assert all(guarded.is_kept(labels) for guarded in together)
        divided += int(labels.max() > 0)
    assert divided > 2


def test_the_same_table_gives_the_same_classes(anonymise):
    table = anonymise.table(18, rows=500)
    assert np.array_equal(anonymise(table, 3), anonymise(table, 3))


@each("seed", range(8))
def test_the_order_of_rows_does_not_matter(anonymise, seed):
    table = anonymise.table(seed, rows=150)
    order = np.random.default_rng(seed).permutation(table.combinations)
    shuffled = Table(tuple(replace(a, codes=a.codes[order]) for a in table.attributes), counts=table.counts[order])
    if anonymise.method.by_record:
        assert contents(shuffled, anonymise(shuffled, 3)) == contents(table, anonymise(table, 3))
    else:
        assert np.array_equal(anonymise(shuffled, 3), anonymise(table, 3)[order])


def test_equal_rows_given_twice_are_not_parted(anonymise):
    if anonymise.method.by_record:
        pytest.skip("it may part equal records")
    table = anonymise.table(18, rows=60)
    twice = Table(
        tuple(replace(a, codes=np.tile(a.codes, 2)) for a in table.attributes), counts=np.tile(table.counts, 2)
    )
    labels = anonymise(twice, 3)
    assert np.array_equal(labels[: table.combinations], labels[table.combinations :])


def test_too_few_records(anonymise):
    table = anonymise.table(1, rows=5)
    with pytest.raises(Infeasible, match="anonymity") as refused:
        anonymise(table, table.records + 1)
    assert refused.value.guarantee == f"{table.records + 1}-anonymity"


def test_a_guard_that_the_whole_table_fails_is_named(anonymise):
    table = anonymise.table(1, rows=20)
    flat = np.full(table.combinations, 120.0)
    one = np.full(table.combinations, 12)
    with pytest.raises(Infeasible, match="numeric guard of sbp"):
        anonymise(table, 2, [NumericHull("sbp", flat, flat, one, one, 10.0)])
    with pytest.raises(Infeasible, match="distinct 9-diversity of disease"):
        anonymise(table, 2, [Distinct(random_sensitive(1, table), 9)])


def test_k_is_at_least_one(anonymise):
    with pytest.raises(ValueError, match="at least 1"):
        anonymise(anonymise.table(1), 0)


def test_with_k_one_every_combination_is_its_own_class(anonymise):
    table = anonymise.table(4, nulls=False, cuts=False)
    sharp = Table(tuple(replace(a, upper=a.lower) if a.ordered else a for a in table.attributes), counts=table.counts)
    labels = anonymise(sharp, 1)
    if anonymise.method.by_record:
        assert ncp(sharp, labels) == 0.0
    else:
        assert classes_of(labels) == [[r] for r in range(table.combinations)]
