"""Decimals are read as doubles: up to fifteen digits nothing is told that the decimals themselves do not say."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from tests.policies import AGE, make_column, make_policy
from tests.unit.custody.publish.publications import ask, new_site, put


@pytest.fixture(scope="module", params=["quasi-identifier", "sensitive"])
def study(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("decimals")
    opened = new_site(folder)
    chance = np.random.default_rng(5)
    tenths = chance.integers(-100, 101, 500)  # most values lie on an edge of the grid
    cents = np.where(chance.random(500) < 0.7, tenths * 10, chance.integers(-1000, 1001, 500))
    values = [Decimal(int(cent)).scaleb(-2) for cent in cents]
    policy = make_policy("t", {"age": AGE, "x": make_column(request.param, "number", (-10, 10), grid=0.1)})
    put(opened, policy, {"age": chance.integers(0, 100, 500), "x": pa.array(values, pa.decimal128(12, 2))})
    return opened, folder / "source.parquet"


@pytest.mark.parametrize(
    "where",
    ["TRUE", "x >= 0.1", "x < 0.3", "x = 0.7", "x BETWEEN -0.3 AND 0.3", "x <= -9.9", "x > 2.55", "x IN (0.1, 0.2)"],
)
def test_the_truth_about_decimals_lies_in_the_ranges(study, where):
    opened, source = study
    figures = "COUNT(*) AS a, MIN(x) AS b, MAX(x) AS c, SUM(x) AS d, AVG(x) AS e"
    (row,) = ask(opened, f"SELECT {figures} FROM t WHERE {where}")
    truth = duckdb.sql(f"SELECT {figures} FROM read_parquet('{source}') WHERE {where}").fetchall()[0]
    assert truth[0] > 0
    for name, value in zip("abcde", truth, strict=True):
        assert row[name]["low"] <= float(value) <= row[name]["high"]
