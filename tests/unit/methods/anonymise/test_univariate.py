"""The optimal partition of one number: never beaten by brute force, whatever the shape of the values."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from querygate.methods.anonymise import Attribute, Infeasible, Table, Unsuitable, mondrian, ncp
from querygate.methods.anonymise.division.univariate import optimal_runs, univariate
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.anonymise.naive import classes_of
from tests.unit.methods.anonymise.tables import random_number

MODULE = importlib.import_module("querygate.methods.anonymise.division.univariate")


def cost(starts, values, upper, counts) -> float:
    ends = [*starts[1:], len(values)]
    return float(sum(counts[a:b].sum() * (upper[b - 1] - values[a]) for a, b in zip(starts, ends, strict=True)))


def every_partition(size: int) -> Iterator[list[int]]:
    """The beginnings of runs, in all ways to cut a sequence."""
    for number in range(size):
        for cuts in itertools.combinations(range(1, size), number):
            yield [0, *cuts]


def least_cost(values, upper, counts, k: int, least_width: float) -> float:
    best = np.inf
    for starts in every_partition(len(values)):
        ends = [*starts[1:], len(values)]
        runs = list(zip(starts, ends, strict=True))
        if all(counts[a:b].sum() >= k and upper[b - 1] - values[a] >= least_width for a, b in runs):
            best = min(best, cost(starts, values, upper, counts))
    return best


def random_values(seed: int):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 11))
    values = np.cumsum(rng.integers(1, 9, size)).astype(float)
    return (
        values,
        values + rng.choice([0, 1]),
        rng.integers(1, 4, size),
        int(rng.integers(1, 6)),
        rng.choice([0.0, 6.0]),
    )


@pytest.mark.parametrize("way", ["by value", "by block", "by halves"])
@pytest.mark.parametrize("block", range(6))
def test_nothing_is_better(monkeypatch, block, way):
    monkeypatch.setattr(MODULE, "SHORT", 24 if way == "by value" else -1)
    monkeypatch.setattr(MODULE, "LEAF", 1 if way == "by halves" else 32)
    for seed in range(40 * block, 40 * block + 40):
        values, upper, counts, k, least_width = random_values(seed)
        best = least_cost(values, upper, counts, k, least_width)
        if np.isinf(best):
            with pytest.raises(Infeasible):
                optimal_runs(values, counts, k, least_width, upper)
        else:
            starts = optimal_runs(values, counts, k, least_width, upper)
            ends = np.append(starts[1:], values.size)
            assert (np.add.reduceat(counts, starts) >= k).all()
            assert (upper[ends - 1] - values[starts] >= least_width).all()
            assert cost(starts.tolist(), values, upper, counts) == best


@pytest.mark.parametrize("k", [3, 40, 700])
def test_values_and_blocks_agree_on_long_sequences(monkeypatch, k):
    rng = np.random.default_rng(k)
    values, counts = np.cumsum(rng.integers(1, 50, 5000)).astype(float), rng.integers(1, 3, 5000)
    found = []
    for short in (10**6, -1):
        monkeypatch.setattr(MODULE, "SHORT", short)
        found.append(cost(optimal_runs(values, counts, k).tolist(), values, values, counts))
    assert found[0] == found[1]


def test_heavy_values_stand_alone_and_are_never_parted():
    assert optimal_runs(np.array([1.0, 2, 3]), np.array([9, 1, 9]), 5).tolist() in ([0, 1], [0, 2])
    assert optimal_runs(np.array([7.0]), np.array([100]), 5).tolist() == [0]


def test_why_it_is_impossible_is_said():
    with pytest.raises(Infeasible, match="5-anonymity"):
        optimal_runs(np.array([1.0, 2.0]), np.array([2, 2]), 5)
    with pytest.raises(Infeasible, match="a width of 3"):
        optimal_runs(np.array([1.0, 2.0]), np.array([2, 2]), 2, 3.0)


def test_rounding_does_not_make_a_run_too_narrow():
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.7, 0.8])
    starts = optimal_runs(values, np.ones(6, dtype=int), 1, 0.1)
    ends = np.append(starts[1:], 6)
    assert (values[ends - 1] - values[starts] >= 0.1).all()


# -- the method ------------------------------------------------------------------------------------------------------


def table_of(codes, counts, size: int = 16, cuts: tuple[int, ...] = ()) -> Table:
    return Table((Attribute.ordered_by("age", np.array(codes), np.arange(size + 1.0), cuts),), np.array(counts))


@pytest.mark.parametrize("seed", seeds(20))
def test_never_worse_than_mondrian(seed):
    table, k = random_number(seed, nulls=False, rows=80), 2 + seed % 5
    without = Table((Attribute.ordered_by("age", table.attributes[0].codes, np.arange(65.0)),), table.counts)
    assert ncp(without, univariate(without, k)) <= ncp(without, mondrian(without, k)) + 1e-12


def loss_with_missing(table: Table, k: int) -> float:
    """The least loss when the missing values, fewer than k, join a run: all cuts and all runs tried."""
    attribute, missing = table.attributes[0], int(table.counts[0])
    codes, counts = attribute.codes[1:], table.counts[1:]
    best = np.inf
    for starts in every_partition(codes.size):
        bounds = [*starts, codes.size]
        sizes = np.add.reduceat(counts, starts)
        widths = np.array([codes[b - 1] + 1 - codes[a] for a, b in itertools.pairwise(bounds)]) / attribute.span
        for joined in range(len(starts)):
            records = sizes + missing * (np.arange(sizes.size) == joined)
            if (records >= k).all():
                best = min(best, float(records @ np.where(np.arange(sizes.size) == joined, 1.0, widths)))
    return best / table.records


@each("seed", seeds(25))
def test_missing_values_join_the_best_run(seed):
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, 16, int(rng.integers(1, 9))))
    table = table_of([-1, *codes], [int(rng.integers(1, 4)), *rng.integers(1, 4, codes.size)])
    k = int(table.counts[0]) + 1 + seed % 2
    if table.records >= k:
        assert ncp(table, univariate(table, k)) == pytest.approx(loss_with_missing(table, k))


def test_enough_missing_values_are_a_class_of_their_own():
    assert classes_of(univariate(table_of([-1, 0, 1, 9], [3, 2, 2, 4]), 3)) == [[0], [1, 2], [3]]
    assert classes_of(univariate(table_of([-1], [3]), 3)) == [[0]]


def test_public_cuts_come_first():
    codes, counts = [0, 1, 2, 3, 4, 5], [2, 2, 2, 2, 2, 2]
    assert classes_of(univariate(table_of(codes, counts), 4)) == [[0, 1], [2, 3], [4, 5]]
    assert classes_of(univariate(table_of(codes, counts, cuts=(3,)), 4)) == [[0, 1, 2], [3, 4, 5]]
    assert classes_of(univariate(table_of(codes, counts, cuts=(1,)), 4)) == [[0, 1], [2, 3], [4, 5]]  # 2 are too few


def test_other_tables_are_refused():
    sex = Attribute.nominal("sex", np.array([0, 1]), 2)
    age = Attribute.ordered_by("age", np.array([0, 1]), np.arange(3.0))
    for attributes in ((sex,), (age, sex)):
        with pytest.raises(Unsuitable, match="one quasi-identifier that is a number"):
            univariate(Table(attributes, np.array([5, 5])), 2)


def test_progress_is_told():
    seen: list[float] = []
    univariate(table_of([0, 1], [5, 5]), 2, progress=seen.append)
    assert seen == [1.0]
