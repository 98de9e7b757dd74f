"""One suite for every statistic: sound on every instance, sharp where it says so, monotone, NULL as in SQL.

`make soak ONLY=statistics` has 20,000 random cases of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from querygate import stats
from querygate.core.registry import Registry
from querygate.core.types import Cells, Range
from querygate.stats import STATISTICS
from tests.each import each
from tests.places import ROOT
from tests.unit.stats.adversarial import draws, hard_cells
from tests.unit.stats.enumerate_reference import PARAMETERS, TRUTHS, datasets, extremes, small_cases
from tests.unit.stats.kinds import KINDS, first_cases
from tests.unit.stats.tally import Tally

CASES = 24
# Statistics of one column are quick, so each of their parameters has all cases; elsewhere parameters take turns.
TRIED = [
    (label, name, choices)
    for label, kind in KINDS.items()
    for name in kind.registry
    for choices in ([[given] for given in kind.given(name)] if label == "one column" else [kind.given(name)])
]
EACH = [(name, given) for name in STATISTICS for given in PARAMETERS.get(name, [()])]
each_statistic = pytest.mark.parametrize(("name", "given"), EACH, ids=[f"{name}{given or ''}" for name, given in EACH])


def bounds(name: str, cells: Cells, given: tuple[float, ...]) -> Range:
    return STATISTICS.get(name).range(cells, *given)


def floats(cells: Cells) -> Cells:
    """The same cells as a column of doubles."""
    return replace(cells, low=cells.low.astype(float), high=cells.high.astype(float), integer=False)


def contains(found: Range, low: float, high: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= low and high <= found.high


@each("name", list(STATISTICS))
def test_it_has_a_proof_a_contract_and_a_reference(name: str) -> None:
    member = STATISTICS.get(name)
    text = (ROOT / member.proof).read_text()
    assert f"`{name}`" in text
    assert "Ensures" in (member.range.__doc__ or "")
    assert member.summary
    assert name in TRUTHS
    assert bool(member.parameters) == (name in PARAMETERS)


@pytest.mark.parametrize(
    ("kind", "name", "choices"), TRIED, ids=[f"{name}{c[0] if len(c) == 1 and c[0] else ''}" for _, name, c in TRIED]
)
def test_every_data_set_of_random_cases(
    kind: str, name: str, choices: list[tuple[Any, ...]], record_property: Callable[[str, object], None]
) -> None:
    """No range misses a value or a NULL, and what is called sharp is; how wide the others are is for the summary."""
    tally, tried = Tally(), KINDS[kind]
    for (cells, every), given in zip(first_cases(kind, CASES), cycle(choices), strict=False):
        tally.try_(partial(tried.range, name, cells, given), tried.truth(name, every, given), cells)
    assert tally.cases >= CASES
    assert not tally.unsound
    assert not tally.blunt
    assert not tally.doubtful or kind == "tables"  # whether an undefined table is possible is answered on the safe side
    if tally.blurred:
        middle = f"{tally.median_gap:.2g}" if tally.gaps else "-"
        record_property("gap", f"{name}: {middle}; of {tally.cases} cases {tally.blur}")


def test_every_registry_is_tried() -> None:
    registries = [value for value in vars(stats).values() if isinstance(value, Registry)]
    assert {id(registry) for registry in registries} == {id(kind.registry) for kind in KINDS.values()}
    assert all(set(kind.registry) <= set(kind.truths) for kind in KINDS.values())


@pytest.mark.parametrize("name", [name for name in STATISTICS if STATISTICS.get(name).result != "number"])
def test_values_and_counts_are_whole_numbers(name: str) -> None:
    for cells, _ in small_cases():
        found = bounds(name, cells, PARAMETERS.get(name, [()])[0])
        assert found.is_null or (isinstance(found.low, int) and isinstance(found.high, int))


@each_statistic
def test_doubles_sound_and_attained(name: str, given: tuple[float, ...]) -> None:
    for cells, every in small_cases()[:60]:
        found, truth = bounds(name, floats(cells), given), extremes(TRUTHS[name], every, *given)
        if truth is None:
            continue
        low, high, null = truth
        assert contains(found, low, high), (cells, found, truth)
        assert not null or found.may_be_null, (cells, found, truth)
        if found.attained_low is not None and found.low is not None and math.isfinite(found.low):
            assert found.low <= found.attained_low + 1e-9 * (1 + abs(found.low))
            assert found.attained_low <= low + 1e-9 * (1 + abs(low)) or not found.sharp
        if found.attained_high is not None and found.high is not None and math.isfinite(found.high):
            assert found.high >= found.attained_high - 1e-9 * (1 + abs(found.high))


@cache
def between_the_ends() -> list[tuple[Cells, list[tuple[float, ...]]]]:
    """Small cases as doubles, with their data sets of five values in each cell."""
    small = [floats(cells) for cells, _ in small_cases()[:250] if cells.most.sum() <= 4]
    made = [(cells, list(datasets(cells, points=5))) for cells in small]
    return [(cells, every) for cells, every in made if len(every) <= 600]


@cache
def hard_draws(label: str) -> tuple[Cells, list[list[float]]]:
    cells = hard_cells()[label]
    return cells, list(draws(cells, 25))


@each_statistic
def test_interior_values_are_inside(name: str, given: tuple[float, ...]) -> None:
    """Doubles between the ends: statistics whose extremes are not at ends are caught here."""
    tried = 0
    for cells, every in between_the_ends():
        truth = extremes(TRUTHS[name], every, *given)
        if truth is not None:
            tried += 1
            assert contains(bounds(name, cells, given), *truth[:2]), (cells, truth)
    assert tried > 25


@each_statistic
def test_narrower_cells_give_narrower_ranges(name: str, given: tuple[float, ...]) -> None:
    for cells, _ in small_cases()[:200]:
        narrow = replace(cells, low=np.minimum(cells.low + 1, cells.high), least=(cells.least + cells.most + 1) // 2)
        wide = bounds(name, cells, given)
        if not wide.sharp or wide.low is None or wide.high is None:
            continue
        found, slack = bounds(name, narrow, given), 1e-9 * (1 + abs(wide.high) + abs(wide.low))
        if found.sharp and found.low is not None and found.high is not None and math.isfinite(slack):
            assert wide.low <= found.low + slack, (cells, wide, found)
            assert found.high <= wide.high + slack, (cells, wide, found)


@each_statistic
@each("label", list(hard_cells()))
def test_hard_numbers(name: str, given: tuple[float, ...], label: str) -> None:
    cells, drawn = hard_draws(label)
    found = bounds(name, cells, given)
    for data in drawn:
        truth = TRUTHS[name](list(data), *given)
        if truth is None or math.isnan(truth):
            assert found.may_be_null, (label, found)
        else:
            assert contains(found, truth, truth), (label, found, truth)


@each_statistic
@each("certain", [[1, 1], [0, 0], [3, 2]])
def test_infinite_and_huge_ends_give_no_nonsense(name: str, given: tuple[float, ...], certain: list[int]) -> None:
    most = np.array([3, 2])
    for low, high in [
        ([1.0, 2.0], [math.inf, 3.0]),
        ([-math.inf, 2.0], [1.0, 3.0]),
        ([-math.inf, 2.0], [math.inf, 3.0]),
        ([1e308, 1e308], [1.7e308, 1.7e308]),
        ([-1e308, 1e308], [1.7e308, 1.7e308]),
    ]:
        cells = Cells(np.array(low), np.array(high), np.array(certain), most)
        found = bounds(name, cells, given)
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.high


@each_statistic
def test_huge_counts(name: str, given: tuple[float, ...]) -> None:
    count = np.array([10**9, 10**9], dtype=np.int64)
    found = bounds(name, Cells(np.array([3.5, 4.1]), np.array([3.5, 4.3]), count, count), given)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.high


@each_statistic
def test_nothing_selected(name: str, given: tuple[float, ...]) -> None:
    none = np.zeros(2, dtype=np.int64)
    found = bounds(name, Cells(np.array([1, 2]), np.array([3, 4]), none, none, integer=True), given)
    empty = TRUTHS[name]([], *given)
    assert found == (Range.null() if empty is None else Range.exact(empty))


@each_statistic
def test_cells_that_cannot_be_selected_do_not_matter(name: str, given: tuple[float, ...]) -> None:
    cells = Cells(np.array([1.0, -1e9]), np.array([3.0, 1e9]), np.array([2, 0]), np.array([4, 0]))
    alone = Cells(np.array([1.0]), np.array([3.0]), np.array([2]), np.array([4]))
    assert bounds(name, cells, given) == bounds(name, alone, given)


@each_statistic
def test_impossible_cells_are_refused(name: str, given: tuple[float, ...]) -> None:
    one = np.array([1])
    with pytest.raises(ValueError, match="low <= high"):
        bounds(name, Cells(np.array([2.0]), np.array([1.0]), one, one), given)
    with pytest.raises(ValueError, match="low <= high"):
        bounds(name, Cells(np.array([math.nan]), np.array([1.0]), one, one), given)
    with pytest.raises(ValueError, match="least <= most"):
        bounds(name, Cells(np.array([1.0]), np.array([1.0]), np.array([2]), one), given)
