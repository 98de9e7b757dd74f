"""Distinct values and the mode against every data set, on integers, doubles and value sets."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from querygate.core.types import Cells, Range
from querygate.stats.distinct import count_distinct, count_distinct_of_sets, distinct_cells, mode
from tests.engine import scratch
from tests.unit.stats.adversarial import draws, hard_cells
from tests.unit.stats.enumerate_reference import small_cases

Sets = list[frozenset[int]]


def modes(data: tuple[float, ...]) -> list[float]:
    tally = Counter(data)
    return [value for value, count in tally.items() if count == max(tally.values())]


def test_count_distinct_is_what_enumeration_says() -> None:
    for cells, every in small_cases():
        counts = [len(set(data)) for data in every]
        assert count_distinct(cells) == Range(min(counts), max(counts), min(counts), max(counts)), cells


@pytest.mark.parametrize("far", [2**53 + 1, 2**61 - 33, -(2**62) + 7])
def test_different_values_are_the_same_far_from_zero(far: int) -> None:
    """Doubles tell such numbers apart no longer, whole numbers do."""
    for cells, _ in small_cases():
        if not np.issubdtype(cells.low.dtype, np.integer):
            continue
        near = distinct_cells(cells)
        away = distinct_cells(Cells(cells.low + far, cells.high + far, cells.least, cells.most, integer=True))
        assert (away.least.tolist(), away.most.tolist()) == (near.least.tolist(), near.most.tolist()), cells
        assert (away.low - far).tolist() == near.low.tolist()


def test_mode_is_what_enumeration_says() -> None:
    for cells, every in small_cases():
        possible = [value for data in every if data for value in modes(data)]
        found = mode(cells)
        if not possible:
            assert found.is_null
            continue
        assert (found.low, found.high, found.sharp) == (min(possible), max(possible), True), cells
        assert found.may_be_null == (() in every)


def test_doubles_next_to_each_other_are_counted_like_whole_numbers() -> None:
    """Cells of a few neighbouring doubles: the same cases with 1.0, 1.0 + ulp, ... instead of 0, 1, ..."""
    for cells, every in small_cases()[:200]:
        low, high = 1.0 + cells.low * 2.0**-52, 1.0 + cells.high * 2.0**-52
        exact = (cells.low >= 0).all()
        found = count_distinct(Cells(low, high, cells.least, cells.most))
        counts = [len(set(data)) for data in every]
        assert found.low == min(counts)
        assert found.high == max(counts) if exact else found.high >= max(counts)


def test_zero_has_one_place() -> None:
    cells = Cells(np.array([-0.0, 0.0]), np.array([0.0, 0.0]), np.ones(2, int), np.ones(2, int))
    assert count_distinct(cells) == Range(1, 1, 1, 1)


@pytest.mark.parametrize("label", list(hard_cells()))
def test_the_database_counts_the_same(label: str) -> None:
    cells = hard_cells()[label]
    kind = "bigint" if cells.integer else "double"
    counts, most_frequent = count_distinct(cells), mode(cells)
    with scratch() as database:
        for data in draws(cells, 10):
            row = database.execute(
                f"select count(distinct x), mode(x) from (select unnest(?::{kind}[]) as x)", [data]
            ).fetchone()
            assert row is not None
            assert counts.low <= row[0] <= counts.high
            assert row[1] is None or most_frequent.low <= row[1] <= most_frequent.high
            assert row[1] is not None or most_frequent.may_be_null


def random_sets(random: np.random.Generator) -> tuple[Sets, np.ndarray, np.ndarray]:
    size, values = int(random.integers(1, 5)), int(random.integers(2, 7))
    sets = [
        frozenset(random.choice(values, random.integers(1, min(values, 4) + 1), False).tolist()) for _ in range(size)
    ]
    most = random.integers(0, 3, size)
    return sets, np.where(random.random(size) < 0.6, most, 0), most


def every_count(sets: Sets, least: np.ndarray, most: np.ndarray) -> set[int]:
    options = [
        [set(chosen) for n in range(a, b + 1) for chosen in combinations_with_replacement(sorted(key), n)]
        for key, a, b in zip(sets, least, most, strict=True)
    ]
    return {len(set().union(*parts)) for parts in product(*options)}


def test_value_sets_are_what_enumeration_says() -> None:
    random = np.random.default_rng(3)
    for _ in range(500):
        sets, least, most = random_sets(random)
        counts = every_count(sets, least, most)
        found = count_distinct_of_sets(sets, least, most)
        assert found == Range(min(counts), max(counts), min(counts), max(counts)), (sets, least, most)


def test_many_value_sets_keep_a_sound_lower_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the search over subsets: disjoint sets from below, values that meet all sets from above."""
    monkeypatch.setattr("querygate.stats.distinct._CHOICES", 0)
    random = np.random.default_rng(4)
    for _ in range(500):
        sets, least, most = random_sets(random)
        found, truth = count_distinct_of_sets(sets, least, most), min(every_count(sets, least, most))
        assert found.low <= truth <= found.attained_low
        assert found.sharp == (found.low == found.attained_low)
