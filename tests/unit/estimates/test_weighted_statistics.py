"""Statistics of points: with a record each they are DuckDB's own, and every statistic of the registries has one."""

from __future__ import annotations

import random

import duckdb
import numpy as np
import pytest
from scipy.stats import kendalltau, mannwhitneyu, spearmanr

from querygate.estimates import weighted_statistics
from querygate.stats import GROUP_STATISTICS, PAIR_STATISTICS, STATISTICS, TABLE_STATISTICS
from tests.property.truth import define

ONE = {
    "count": "count(x)", "sum": "sum(x)", "avg": "avg(x)", "min": "min(x)", "max": "max(x)", "range": "max(x) - min(x)",
    "mode": "mode(x)", "var_pop": "var_pop(x)", "var_samp": "var_samp(x)", "stddev_pop": "stddev_pop(x)",
    "stddev_samp": "stddev_samp(x)", "skewness": "skewness(x)", "kurtosis": "kurtosis(x)", "entropy": "entropy(x)",
    "kurtosis_pop": "kurtosis_pop(x)", "cv": "cv(x)", "geometric_mean": "geomean(x)",
    "harmonic_mean": "harmonic_mean(x)", "mean_ci_low": "ci_low(x)", "mean_ci_high": "ci_high(x)",
    "quantile_disc": "quantile_disc(x, 0.3)", "exceedance": "exceedance(x, 5)",
}  # fmt: skip
PARAMETERS = {"mean_ci_low": (0.95,), "mean_ci_high": (0.95,), "quantile_disc": (0.3,), "exceedance": (5.0,)}
NEAR = {"median", "quantile_cont", "iqr", "mad", "count_distinct"}
"""Of points that are parts of records there is no telling what lies between two of them, or how many differ."""


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray, duckdb.DuckDBPyConnection]:
    rng = random.Random(3)
    x, y = (np.array([float(rng.randint(1, 9)) for _ in range(60)]) for _ in range(2))
    connection = duckdb.connect()
    define(connection)
    connection.execute("CREATE TABLE t AS SELECT unnest(?) AS x, unnest(?) AS y", [x.tolist(), y.tolist()])
    return x, y, connection


@pytest.mark.parametrize("name", sorted(ONE))
def test_a_record_each_is_what_the_database_says(name: str, rows: tuple) -> None:
    x, _, connection = rows
    expected = connection.execute(f"SELECT {ONE[name]} FROM t").fetchone()[0]

    assert weighted_statistics.OF_COLUMN[name](x, np.ones(x.size), *PARAMETERS.get(name, ())) == pytest.approx(expected)


@pytest.mark.parametrize("name", sorted(weighted_statistics.OF_PAIR))
def test_pairs_are_what_the_database_says(name: str, rows: tuple) -> None:
    x, y, connection = rows
    if name in ("spearman", "kendall"):
        software = {"spearman": spearmanr, "kendall": kendalltau}[name]
        assert weighted_statistics.of_pair(name, x, y, np.ones(x.size)) == pytest.approx(software(x, y).statistic)
        return
    quotients = {"ratio_of_sums": "sum(x) / sum(y)", "weighted_mean": "sum(y * x) / sum(y)"}
    sql = quotients.get(name, f"{name}(y, x)")
    assert weighted_statistics.of_pair(name, x, y, np.ones(x.size)) == pytest.approx(
        connection.execute(f"SELECT {sql} FROM t").fetchone()[0]
    )


@pytest.mark.parametrize(
    ("name", "sql"), [("mean_difference", "mean_diff"), ("welch_t", "welch_t"), ("welch_p", "welch_p")]
)
def test_comparisons_are_what_the_database_says(name: str, sql: str, rows: tuple) -> None:
    x, y, connection = rows
    first = (y > 4).astype(np.float64)
    assert weighted_statistics.of_groups(name, x, first, 1 - first) == pytest.approx(
        connection.execute(f"SELECT {sql}(x, y > 4) FROM t").fetchone()[0]
    )


@pytest.mark.parametrize(
    ("name", "sql"),
    [("proportion", "risk"), ("risk_difference", "risk_diff"), ("risk_ratio", "risk_ratio"),
     ("odds_ratio", "odds_ratio"), ("chi_square", "chi_square")],
)  # fmt: skip
def test_tables_are_what_the_database_says(name: str, sql: str, rows: tuple) -> None:
    x, y, connection = rows
    counts = [float(((x > 5) == a)[(y > 4) == b].sum()) for a in (True, False) for b in (True, False)]
    assert weighted_statistics.of_table(name, *counts) == pytest.approx(
        connection.execute(f"SELECT {sql}(x > 5, y > 4) FROM t").fetchone()[0]
    )


def test_orders_of_groups_are_what_statistical_software_says(rows: tuple) -> None:
    x, y, _ = rows
    first = (y > 4).astype(np.float64)
    truth = mannwhitneyu(x[y > 4], x[y <= 4]).statistic
    assert weighted_statistics.of_groups("mann_whitney", x, first, 1 - first) == pytest.approx(truth)
    pairs = first.sum() * (1 - first).sum()
    assert weighted_statistics.of_groups("superiority", x, first, 1 - first) == pytest.approx(truth / pairs)


def test_every_statistic_has_an_estimate() -> None:
    assert set(STATISTICS.names()) == set(weighted_statistics.OF_COLUMN) == {*ONE, *NEAR}
    assert set(PAIR_STATISTICS.names()) == set(weighted_statistics.OF_PAIR)
    assert set(GROUP_STATISTICS.names()) == {
        "mean_difference", "welch_t", "welch_p", "mann_whitney", "superiority"
    }  # fmt: skip
    assert set(TABLE_STATISTICS.names()) == {"proportion", "risk_difference", "risk_ratio", "odds_ratio", "chi_square"}


@pytest.mark.parametrize("name", sorted(weighted_statistics.OF_COLUMN))
def test_nobody_has_no_statistic(name: str) -> None:
    parameters = PARAMETERS.get(name, (0.5,) if name == "quantile_cont" else ())
    with np.errstate(all="ignore"):
        for x in (np.zeros(0), np.zeros(2)):
            found = weighted_statistics.OF_COLUMN[name](x, np.zeros(x.size), *parameters)
            assert found is None or (found == 0 and "count" in name)


def test_quantiles_lie_between_points() -> None:
    x, w = np.arange(101.0), np.ones(101)

    assert weighted_statistics.OF_COLUMN["median"](x, w) == pytest.approx(50)
    assert weighted_statistics.OF_COLUMN["quantile_cont"](x, w, 0.25) == pytest.approx(25, abs=0.5)
    assert weighted_statistics.OF_COLUMN["iqr"](x, w) == pytest.approx(50, abs=1)


def test_the_largest_of_small_parts_is_not_the_utmost() -> None:
    """A thousandth of a record at 99 is nobody."""
    x, w = np.array([10.0, 50.0, 99.0]), np.array([5.0, 3.0, 0.001])

    assert weighted_statistics.OF_COLUMN["max"](x, w) == 50
    assert weighted_statistics.OF_COLUMN["min"](x, w) == 10
