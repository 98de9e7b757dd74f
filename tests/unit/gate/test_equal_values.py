"""Which values are equal: the database calculates in decimals where one double here is many of them."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from querygate.core.plan import Aggregate, MeasureCells
from querygate.core.types import Cells
from querygate.gate.aggregate_ranges import column_range
from tests.property.truth import holds

NUMBERS = [2**61 + step for step in range(0, 1600, 50)]
"""Different whole numbers; a tenth of them is a few doubles, and as many decimals."""


@pytest.mark.parametrize("statistic", ["count_distinct", "entropy"])
def test_decimals_that_are_one_double_are_told_apart(statistic: str) -> None:
    tenths = np.array(NUMBERS, dtype=np.float64) / 10
    n = np.ones(tenths.size, dtype=np.int64)
    cells = Cells(np.nextafter(tenths, -np.inf), np.nextafter(tenths, np.inf), n, n)
    found = column_range(Aggregate("a", "column", statistic, 0, "number"), MeasureCells(n, n, n, (cells,)))

    asked = {"count_distinct": "COUNT(DISTINCT x * 0.1)", "entropy": "ENTROPY(x * 0.1)"}[statistic]
    ((truth,),) = duckdb.sql(f"SELECT {asked} FROM (SELECT UNNEST({NUMBERS}::BIGINT[]) AS x)").fetchall()
    assert holds(found, truth)
