"""The median absolute deviation: on a grid as without, sound on random data, tight on large instances."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.core.types import Cells, Range
from querygate.stats import STATISTICS
from tests.engine import scratch
from tests.unit.stats.adversarial import draws
from tests.unit.stats.enumerate_reference import TRUTHS, extremes, small_cases


def mad(cells: Cells) -> Range:
    return STATISTICS.get("mad").range(cells)


def large_cells(size: int, integer: bool = False, even: bool = False) -> Cells:
    random = np.random.default_rng(size)
    low = random.normal(125, 18, size)
    high = low + random.exponential(8, size)
    most = random.integers(1, 9, size)
    least = np.where(random.random(size) < (1.0 if even else 0.8), most, 0)
    if even and most.sum() % 2:
        most[0] += 1
        least[0] += 1
    if integer:
        return Cells(np.floor(low).astype(np.int64), np.ceil(high).astype(np.int64), least, most, integer=True)
    return Cells(low, high, least, most)


@pytest.mark.parametrize("edges", [2, 5, 20])
@pytest.mark.parametrize("integer", [True, False])
def test_a_grid_is_sound_however_coarse(monkeypatch: pytest.MonkeyPatch, edges: int, integer: bool) -> None:
    """Every small case, as if it had too many different ends."""
    monkeypatch.setattr("querygate.stats.deviation.mad._FEW", 0)
    monkeypatch.setattr("querygate.stats.deviation.edge_grid._EDGES", edges)
    for cells, every in small_cases()[:30]:
        truth = extremes(TRUTHS["mad"], every)
        tried = (
            cells
            if integer
            else Cells(cells.low.astype(np.float64), cells.high.astype(np.float64), cells.least, cells.most)
        )
        found = mad(tried)
        if truth is not None:
            assert found.low is not None
            assert found.high is not None
            assert found.low <= truth[0] <= truth[1] <= found.high, (cells, found, truth)


@pytest.mark.parametrize("size", [10, 200, 3_000])
@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize("even", [True, False])
def test_what_the_database_computes_is_inside(size: int, integer: bool, even: bool) -> None:
    cells = large_cells(size, integer, even)
    found, kind = mad(cells), "bigint" if integer else "double"
    with scratch() as database:
        for data in draws(cells, 6):
            row = database.execute(f"select mad(x) from (select unnest(?::{kind}[]) as x)", [data]).fetchone()
            assert row is not None
            assert found.low is not None
            assert found.high is not None
            assert found.low <= row[0] <= found.high


@pytest.mark.parametrize(("size", "integer", "factor"), [(20, True, 1.0), (2_000, True, 1.0), (5_000, False, 1.05)])
def test_tight(size: int, integer: bool, factor: float) -> None:
    found = mad(large_cells(size, integer))
    assert found.low is not None
    assert found.high is not None
    assert found.attained_low is not None
    assert found.attained_high is not None
    assert found.low <= found.attained_low <= found.attained_high <= found.high
    assert found.high - found.low <= factor * (found.attained_high - found.attained_low) + 1e-9
    assert found.sharp == integer


def test_most_small_cases_are_sharp() -> None:
    found = [mad(cells) for cells, _ in small_cases()]
    assert sum(r.sharp for r in found) > 0.9 * len(found)


def test_points_are_exact() -> None:
    values = np.array([1, 2, 4, 9])
    one = np.ones(4, dtype=np.int64)
    assert mad(Cells(values, values, one, one, integer=True)) == Range.exact(1.5)
    constant = np.full(4, 0.1)
    found = mad(Cells(constant, constant, one, one * 3))
    assert found.low == 0.0
    assert found.high == pytest.approx(0.0, abs=1e-14)


def test_one_record_has_no_deviation() -> None:
    one = np.array([1])
    assert mad(Cells(np.array([3]), np.array([9]), one, one, integer=True)) == Range.exact(0.0)
