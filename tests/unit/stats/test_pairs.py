"""Statistics of two columns: what DuckDB computes is inside, and ranges are tight on large instances.

Small instances are tried in test_conformance.py.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from querygate.core.types import Range
from querygate.stats import PAIR_STATISTICS, PairCells
from tests.engine import scratch
from tests.places import ROOT
from tests.unit.stats.pair_reference import TRUTHS

SQL = {
    "ratio_of_sums": "sum(x) / sum(y)",
    "weighted_mean": "sum(y * x) / sum(y)",
    "covar_pop": "covar_pop(y, x)",
    "covar_samp": "covar_samp(y, x)",
    "corr": "corr(y, x)",
    "regr_slope": "regr_slope(y, x)",
    "regr_intercept": "regr_intercept(y, x)",
    "regr_r2": "regr_r2(y, x)",
}


def contains(found: Range, value: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= value <= found.high


@pytest.mark.parametrize("name", list(PAIR_STATISTICS))
def test_it_has_a_proof_a_contract_and_a_reference(name: str) -> None:
    member = PAIR_STATISTICS.get(name)
    assert f"`{name}`" in (ROOT / member.proof).read_text()
    assert "Ensures" in (member.range.__doc__ or "")
    assert name in TRUTHS
    assert member.summary


def large_cells(centre: float = 0.0, width: float = 5.0, size: int = 400) -> PairCells:
    random = np.random.default_rng(9)
    x = random.normal(0, 20, size)
    y = 0.6 * x + random.normal(0, 16, size) + 120
    most = random.integers(1, 8, size)
    least = np.where(random.random(size) < 0.7, most, 0)
    x, y = x + centre, y + centre
    return PairCells(x, x + random.exponential(width, size), y, y + random.exponential(width, size), least, most)


@pytest.mark.parametrize("size", [400, 25_000])
@pytest.mark.parametrize("name", ["covar_pop", "corr", "regr_slope"])
def test_tight_on_large_instances(name: str, size: int) -> None:
    found = PAIR_STATISTICS.get(name).range(large_cells(size=size))
    assert found.low is not None
    assert found.high is not None
    assert found.attained_low is not None
    assert found.attained_high is not None
    width = found.attained_high - found.attained_low
    assert found.low <= found.attained_low <= found.attained_high <= found.high
    assert found.high - found.low <= 1.005 * width


@pytest.mark.parametrize("centre", [0.0, 1e6])
@pytest.mark.parametrize("width", [0.0, 5.0])
def test_what_the_database_computes_is_inside(centre: float, width: float) -> None:
    cells, random = large_cells(centre, width), np.random.default_rng(2)
    ranges = {name: PAIR_STATISTICS.get(name).range(cells) for name in SQL}
    columns, database = ", ".join(SQL.values()), scratch()
    for _ in range(4):
        counts = random.integers(cells.least, cells.most + 1)
        x = random.uniform(np.repeat(cells.x_low, counts), np.repeat(cells.x_high, counts))
        y = random.uniform(np.repeat(cells.y_low, counts), np.repeat(cells.y_high, counts))
        query = f"select {columns} from (select unnest(?::double[]) as x, unnest(?::double[]) as y)"
        row = database.execute(query, [x.tolist(), y.tolist()]).fetchone()
        assert row is not None
        for name, truth in zip(SQL, row, strict=True):
            assert contains(ranges[name], truth), (name, ranges[name], truth)


def test_constant_columns_have_no_correlation() -> None:
    one = np.array([2, 2])
    cells = PairCells(np.array([1.0, 1.0]), np.array([2.0, 2.0]), np.array([0.0, 5.0]), np.array([1.0, 6.0]), one, one)
    found = PAIR_STATISTICS.get("corr").range(cells)
    assert found.may_be_null
    assert found.low == -math.inf  # values that differ by rounding errors only take a database anywhere
    assert PAIR_STATISTICS.get("corr").range(replace(cells, whole=True)).low == pytest.approx(-1)
    assert PAIR_STATISTICS.get("regr_slope").range(cells).high == math.inf


def test_negative_denominators_give_no_ratio() -> None:
    cells = replace(large_cells(), y_low=large_cells().y_low - 1000)
    assert PAIR_STATISTICS.get("ratio_of_sums").range(cells).high == math.inf


@pytest.mark.parametrize("end", [math.inf, 1e308])
def test_infinite_and_huge_ends_give_no_nonsense(end: float) -> None:
    cells = large_cells()
    for wide in (replace(cells, x_high=np.full(400, end)), replace(cells, y_low=np.full(400, -end))):
        for name in PAIR_STATISTICS:
            found = PAIR_STATISTICS.get(name).range(wide)
            assert found.low is not None
            assert found.high is not None
            assert found.low <= found.high


def test_nothing_selected() -> None:
    cells = large_cells()
    none = np.zeros_like(cells.most)
    for name in PAIR_STATISTICS:
        assert PAIR_STATISTICS.get(name).range(replace(cells, least=none, most=none)).is_null
