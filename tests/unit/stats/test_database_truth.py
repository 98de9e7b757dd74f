"""The truth is what DuckDB computes on the raw rows. Its answers lie in the ranges, without any tolerance."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pytest

from querygate.core.types import Cells
from querygate.stats import STATISTICS
from tests.engine import scratch
from tests.unit.stats.adversarial import draws, hard_cells
from tests.unit.stats.enumerate_reference import PARAMETERS

SQL: dict[str, str] = {
    "count": "count(x)",
    "sum": "sum(x)",
    "avg": "avg(x)",
    "min": "min(x)",
    "max": "max(x)",
    "quantile_disc": "quantile_disc(x, {})",
    "quantile_cont": "quantile_cont(x, {})",
    "median": "median(x)",
    "geometric_mean": "case when min(x) > 0 then geomean(greatest(x, 1e-323)) end",
    "harmonic_mean": "case when bool_and(x <> 0) then count(x) / sum(1 / x) end",
    "exceedance": "avg((x > {})::int)",
    "range": "max(x) - min(x)",
    "var_pop": "var_pop(x)",
    "var_samp": "var_samp(x)",
    "stddev_pop": "stddev_pop(x)",
    "stddev_samp": "stddev_samp(x)",
    "cv": "stddev_pop(x) / avg(x)",
    "mad": "mad(x)",
    "mode": "mode(x)",
    "iqr": "quantile_cont(x, 0.75) - quantile_cont(x, 0.25)",
}
CALLS = [(name, given) for name in STATISTICS for given in PARAMETERS.get(name, [()]) if name in SQL]


def random_cells() -> dict[str, Cells]:
    """Cells of the size of a real group, as doubles and as integers."""
    random = np.random.default_rng(17)
    cases: dict[str, Cells] = {}
    for label, centre, spread, width in [
        ("blood pressure", 120.0, 20.0, 10.0),
        ("narrow far from zero", 1e7, 1.0, 0.01),
        ("around zero", 0.0, 1.0, 1.0),
        ("positive", 1.5, 0.1, 0.2),
    ]:
        low = random.normal(centre, spread, 300)
        high = low + random.exponential(width, 300)
        most = random.integers(1, 8, 300)
        least = np.where(random.random(300) < 0.7, most, 0)
        cases[label] = Cells(low, high, least, most)
        cases[f"{label}, integers"] = Cells(
            np.floor(low).astype(np.int64), np.ceil(high).astype(np.int64), least, most, True
        )
        cases[f"{label}, points"] = Cells(low, low, most, most)
    return cases


CASES = {**hard_cells(), **random_cells()}


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    return scratch()


@pytest.mark.parametrize("label", list(CASES))
def test_what_the_database_computes_is_inside(database: duckdb.DuckDBPyConnection, label: str) -> None:
    cells = CASES[label]
    ranges = [STATISTICS.get(name).range(cells, *given) for name, given in CALLS]
    columns = ", ".join(SQL[name].format(*given) for name, given in CALLS)
    for data in draws(cells, 6):
        kind = "bigint" if cells.integer else "double"
        row = database.execute(f"select {columns} from (select unnest(?::{kind}[]) as x)", [data]).fetchone()
        assert row is not None
        for (name, given), found, truth in zip(CALLS, ranges, row, strict=True):
            if truth is None or math.isnan(truth):
                assert found.may_be_null, (name, given, found)
            else:
                assert found.low is not None, (name, given, truth)
                assert found.high is not None
                assert found.low <= truth <= found.high, (name, given, found, truth)
