"""Statistics of two columns: sound on every small instance and on what DuckDB computes, tight on large ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import combinations_with_replacement, product
from pathlib import Path

import duckdb
import numpy as np
import pytest

from querygate.core.types import Range
from querygate.stats import PAIR_STATISTICS, PairCells

Pairs = tuple[tuple[float, float], ...]
ROOT = Path(__file__).resolve().parents[3]


def co_moments(data: Pairs) -> tuple[float, float, float, float, float]:
    """Means and sums of squared deviations by the updating formulas that databases use."""
    mean_x = mean_y = square_x = square_y = both = 0.0
    for number, (x, y) in enumerate(data, 1):
        dx, dy = x - mean_x, y - mean_y
        mean_x, mean_y = mean_x + dx / number, mean_y + dy / number
        square_x, square_y, both = square_x + dx * (x - mean_x), square_y + dy * (y - mean_y), both + dx * (y - mean_y)
    return mean_x, mean_y, square_x, square_y, both


def slope(data: Pairs) -> float | None:
    _, _, square_x, _, both = co_moments(data)
    return both / square_x if square_x > 0 else None


def correlation(data: Pairs) -> float | None:
    _, _, square_x, square_y, both = co_moments(data)
    return both / math.sqrt(square_x * square_y) if square_x * square_y > 0 else None


def intercept(data: Pairs) -> float | None:
    mean_x, mean_y, *_ = co_moments(data)
    found = slope(data)
    return None if found is None else mean_y - found * mean_x


def r_squared(data: Pairs) -> float | None:
    _, _, square_x, square_y, _ = co_moments(data)
    if square_x == 0:
        return None
    return 1.0 if square_y == 0 else (correlation(data) or 0.0) ** 2


TRUTHS: dict[str, Callable[[Pairs], float | None]] = {
    "ratio_of_sums": lambda data: (
        sum(x for x, _ in data) / sum(y for _, y in data) if sum(y for _, y in data) else None
    ),
    "covar_pop": lambda data: co_moments(data)[4] / len(data),
    "covar_samp": lambda data: co_moments(data)[4] / (len(data) - 1) if len(data) > 1 else None,
    "corr": correlation,
    "regr_slope": slope,
    "regr_intercept": intercept,
    "regr_r2": r_squared,
}
SQL = {
    "ratio_of_sums": "sum(x) / sum(y)",
    "covar_pop": "covar_pop(y, x)",
    "covar_samp": "covar_samp(y, x)",
    "corr": "corr(y, x)",
    "regr_slope": "regr_slope(y, x)",
    "regr_intercept": "regr_intercept(y, x)",
    "regr_r2": "regr_r2(y, x)",
}


@lru_cache(maxsize=1)
def small_cases() -> list[tuple[PairCells, list[Pairs]]]:
    random = np.random.default_rng(5)
    cases: list[tuple[PairCells, list[Pairs]]] = []
    while len(cases) < 200:
        size = int(random.integers(1, 5))
        x_low, y_low = random.integers(0, 7, size), random.integers(1, 8, size)
        x_high, y_high = x_low + random.integers(0, 2, size), y_low + random.integers(0, 2, size)
        most = random.integers(1, 3, size)
        least = np.where(random.random(size) < 0.6, most, 0)
        cells = PairCells(x_low, x_high, y_low, y_high, least, most)
        every = list(datasets(cells))
        if len(every) <= 500:
            cases.append((cells, every))
    return cases


def datasets(cells: PairCells) -> list[Pairs]:
    choices = []
    for x0, x1, y0, y1, least, most in zip(
        cells.x_low, cells.x_high, cells.y_low, cells.y_high, cells.least, cells.most, strict=True
    ):
        points = [(float(x), float(y)) for x in {x0, (x0 + x1) / 2, x1} for y in {y0, (y0 + y1) / 2, y1}]
        choices.append([pick for n in range(least, most + 1) for pick in combinations_with_replacement(points, n)])
        if math.prod(len(options) for options in choices) > 500:
            return [()] * 501
    return [tuple(pair for part in parts for pair in part) for parts in product(*choices)]


def contains(found: Range, value: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= value <= found.high


@pytest.mark.parametrize("name", list(PAIR_STATISTICS))
def test_it_has_a_proof_a_contract_and_a_reference(name: str) -> None:
    member = PAIR_STATISTICS.get(name)
    assert f"`{name}`" in (ROOT / member.proof).read_text()
    assert "Ensures" in (member.range.__doc__ or "")
    assert name in TRUTHS
    assert member.summary


@pytest.mark.parametrize("name", list(PAIR_STATISTICS))
def test_sound_on_small_instances(name: str) -> None:
    checked = 0
    for cells, every in small_cases():
        found = PAIR_STATISTICS.get(name).range(cells)
        values = [TRUTHS[name](data) for data in every if data]
        null = len(values) < len(every) or None in values
        assert not null or found.may_be_null, (cells, found)
        for value in values:
            if value is not None:
                checked += 1
                assert contains(found, value), (cells, found, value)
        reached = [value for value in values if value is not None]
        if found.sharp and reached:
            assert found.low == pytest.approx(min(reached), rel=1e-9, abs=1e-9)
            assert found.high == pytest.approx(max(reached), rel=1e-9, abs=1e-9)
    assert checked > 5000


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
    columns, database = ", ".join(SQL.values()), duckdb.connect()
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
    assert found.low == pytest.approx(-1)
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
