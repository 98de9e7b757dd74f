"""The functions for people who never run a server: every statistic, every kind of column, every wrong input."""

from __future__ import annotations

import doctest
import inspect
import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import matplotlib
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.stats
from matplotlib import pyplot as plt

from querygate import stats
from querygate.core.types import Cells, Range
from querygate.stats import (
    GROUP_STATISTICS,
    PAIR_STATISTICS,
    STATISTICS,
    TABLE_STATISTICS,
    Enclosure,
    enclosure,
    inputs,
)
from querygate.stats.api import one_column
from tests.each import each

LO, HI, COUNTS = [40, 50, 60], [49, 59, 69], [5, 3, 4]
GIVEN = {"p": 0.3, "threshold": 51.0}


def given(name: str) -> dict[str, float]:
    return {parameter: GIVEN.get(parameter, 0.9) for parameter in STATISTICS.get(name).parameters}


@pytest.mark.parametrize("module", [one_column, inputs, enclosure, stats], ids=lambda m: m.__name__)
def test_examples_run(module: object) -> None:
    tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert tried.failed == 0
    assert tried.attempted > 0


@each("name", [*STATISTICS, *PAIR_STATISTICS, *GROUP_STATISTICS, *TABLE_STATISTICS])
def test_every_statistic_has_a_function_with_an_example(name: str) -> None:
    function = getattr(stats, name)
    assert name in stats.__all__
    assert ">>> " in (function.__doc__ or "")
    assert inspect.signature(function).return_annotation == "Enclosure"


@each("name", list(STATISTICS))
def test_the_function_is_the_statistic(name: str) -> None:
    cells = Cells(np.array(LO), np.array(HI), np.array([5, 0, 4]), np.array([5, 3, 4]), integer=True)
    parameters = given(name)
    found = getattr(stats, name)(LO, HI, [5, (0, 3), 4], integer=True, **parameters)
    assert found.range == STATISTICS.get(name).range(cells, *parameters.values())
    assert found == stats.bounds(name, LO, HI, [(5, 5), (0, 3), (4, 4)], integer=True, **parameters)


@pytest.mark.parametrize("name", list(PAIR_STATISTICS))
def test_two_columns(name: str) -> None:
    x, y = ([1, 2, 4], [1.5, 2.5, 4.5]), ([2, 3, 3], [2.5, 3.5, 4.0])
    middle = pair_truth(name, [1.2, 2.2, 4.2], [2.2, 3.2, 3.9])
    assert middle in getattr(stats, name)(x, y)
    boxes = [pd.arrays.IntervalArray.from_arrays(*column) for column in (x, y)]
    assert getattr(stats, name)(*boxes) == getattr(stats, name)(x, y, [1, 1, 1])


def pair_truth(name: str, x: list[float], y: list[float]) -> float:
    slope, intercept = np.polyfit(x, y, 1)
    return float(
        {
            "covar_pop": np.cov(x, y, ddof=0)[0, 1],
            "covar_samp": np.cov(x, y)[0, 1],
            "corr": np.corrcoef(x, y)[0, 1],
            "regr_slope": slope,
            "regr_intercept": intercept,
            "regr_r2": np.corrcoef(x, y)[0, 1] ** 2,
            "ratio_of_sums": np.sum(x) / np.sum(y),
            "weighted_mean": np.average(x, weights=y),
            "spearman": scipy.stats.spearmanr(x, y).statistic,
            "kendall": scipy.stats.kendalltau(x, y).statistic,
        }[name]
    )


COLUMNS = {
    "lists": (LO, HI, COUNTS),
    "tuples": (tuple(LO), tuple(HI), tuple(COUNTS)),
    "arrays": (np.array(LO), np.array(HI), np.array(COUNTS)),
    "float32": (np.array(LO, np.float32), np.array(HI, np.float32), np.array(COUNTS, np.float64)),
    "unsigned": (np.array(LO, np.uint8), np.array(HI, np.uint64), np.array(COUNTS, np.uint16)),
    "decimals": ([Decimal(v) for v in LO], [Fraction(v) for v in HI], COUNTS),
    "series": (pd.Series(LO, index=[7, 8, 9]), pd.Series(HI), pd.Series(COUNTS, dtype="Int64")),
    "arrow": (pa.array(LO), pa.chunked_array([HI[:1], HI[1:]]), pa.array(COUNTS, pa.int8())),
    "arrow decimals": (pa.array([Decimal(v) for v in LO]), pa.array(HI, pa.float32()), pa.array(COUNTS)),
    "masked": (np.ma.array(LO, mask=False), HI, COUNTS),
    "pairs": (LO, HI, [(c, c) for c in COUNTS]),
    "frame of pairs": (LO, HI, pd.DataFrame({"least": COUNTS, "most": COUNTS})),
    "intervals": (pd.arrays.IntervalArray.from_arrays(LO, HI), None, COUNTS),
    "index of intervals": (pd.IntervalIndex.from_arrays(LO, HI, closed="both"), None, COUNTS),
    "series of intervals": (pd.Series(pd.arrays.IntervalArray.from_arrays(LO, HI)), None, COUNTS),
}


@pytest.mark.parametrize("kind", list(COLUMNS))
def test_every_kind_of_column_says_the_same(kind: str) -> None:
    assert stats.mean(*COLUMNS[kind]) == stats.mean(LO, HI, COUNTS)
    assert stats.mean(*COLUMNS[kind], integer=True) == stats.mean(LO, HI, COUNTS, integer=True)


def test_counts_may_be_left_out_or_be_one_number() -> None:
    assert stats.count(LO, HI).range == Range.exact(3)
    assert stats.count(LO, HI, 4).range == Range.exact(12)
    assert stats.count(LO, HI, [1, (0, 2), 3]).range == Range(4, 6, 4, 6)


@each(
    "columns, message",
    [
        (([1, math.nan], [2, 3]), "lower end 1 is unknown"),
        (([1, 2], [2, None]), "upper end 1 is unknown"),
        ((pa.array([1, None]), [2, 3]), "lower end 1 is unknown"),
        ((pd.Series([1, None], dtype="Int64"), [2, 3]), "lower end 1 is"),
        ((np.ma.array([1, 2], mask=[0, 1]), [2, 3]), "lower end 1 is unknown"),
        (([1, Decimal("NaN")], [2, 3]), "lower end 1 is not a number"),
        (([1, 5], [2, 3]), "interval 1 is reversed"),
        (([1], [2, 3]), "1 lower ends and 2 upper ends"),
        (([1, 2],), "IntervalArray"),
        ((pd.Series([1.0, 2.0]),), "IntervalArray"),
        ((1, 2), "column of numbers"),
        (([[1, 2]], [[2, 3]]), "not an array of 2 dimensions"),
        (([[1, 2], [1]], [2, 3]), "column of numbers"),
        ((["a"], ["b"]), "be numbers"),
        ((np.array(["2020-01-01"], "M8[D]"), [3]), "be numbers"),
        (([1], [2], [1, 2]), "1 intervals and 2 counts"),
        (([1], [2], [-1]), "count 0 is negative"),
        (([1], [2], [1.5]), "count 0 is not a whole number"),
        (([1], [2], [None]), "count 0 is unknown"),
        (([1], [2], [math.nan]), "count 0 is unknown"),
        (([1], [2], ["many"]), "counts must be numbers"),
        (([1], [2], [2**62]), "count 0 is too large"),
        (([1], [2], [(3, 1)]), "count 0 is reversed"),
        (([1], [2], [(1, 2, 3)]), "pairs"),
        (([1], [2], [(1, 2), (1, 2, 3)]), "pairs"),
    ],
)
def test_wrong_input_is_a_clear_error(columns: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stats.mean(*columns)


def test_other_wrong_calls() -> None:
    with pytest.raises(ValueError, match="whole number"):
        stats.mean([1.2], [1.8], integer=True)
    with pytest.raises(ValueError, match="64 bits"):
        stats.mean([1.0], [1e300], integer=True)
    with pytest.raises(ValueError, match="ddof"):
        stats.var([1], [2], ddof=2)
    with pytest.raises(TypeError, match="accepts the parameters: p"):
        stats.bounds("quantile_cont", [1], [2])
    with pytest.raises(KeyError, match="no statistic"):
        stats.bounds("nonsense", [1], [2])
    with pytest.raises(ValueError, match="1 intervals of x and 2 of y"):
        stats.corr(([1], [2]), ([1, 2], [2, 3]))


def test_numbers_that_are_not_doubles_are_rounded_outwards() -> None:
    large = 2**53 + 1
    assert stats.min([large], [large]).low < large < stats.min([large], [large]).high
    assert stats.min([large], [large], integer=True).range == Range.exact(large)
    tenth = Decimal("0.1")
    found = stats.max([tenth], [tenth])
    assert Fraction(found.low) < Fraction(1, 10) < Fraction(found.high)
    extended = np.longdouble(1) + np.finfo(np.longdouble).eps
    if extended != np.float64(extended):
        assert stats.max([1], np.array([extended])).high > 1


def test_infinite_ends_are_intervals() -> None:
    assert stats.max([-math.inf, 1], [0, 3]).range == Range(1.0, 3.0, 1.0, 3.0)
    assert stats.mean([-math.inf, 1], [0, 3]).low == -math.inf


def test_nothing_is_undefined() -> None:
    found = stats.mean([], [])
    assert repr(found) == "mean: undefined"
    assert math.isnan(found.low)
    assert math.isnan(found.width)
    assert found.may_be_null
    assert stats.count([], []).range == Range.exact(0)


def test_an_enclosure_reads_well() -> None:
    found = stats.mean(LO, HI, COUNTS)
    low, high = found
    assert (low, high) == (found.low, found.high)
    assert found.width == high - low
    assert found.attained == (pytest.approx(low), pytest.approx(high))
    assert found.sharp
    assert low in found
    assert high + 1 not in found
    assert math.nan not in found
    assert repr(stats.max([3], [3], integer=True)) == "max: 3 exactly"
    assert repr(stats.mean([1], [2], [(0, 1)])) == "mean: 1 .. 2, sharp, may be undefined"
    assert repr(Enclosure("x", Range(1.0, 2.0, sharp=False))) == "x: 1 .. 2, not sharp"


@pytest.mark.parametrize(
    "found",
    [
        stats.mean(LO, HI, [5, (0, 3), 4]),
        stats.var(LO, HI, COUNTS),
        stats.mean([-math.inf, 3], [3, 3]),
        stats.mean([], []),
        stats.corr((LO, HI), (LO, HI), [5, (0, 3), 4]),
    ],
    ids=repr,
)
def test_plot(found: Enclosure) -> None:
    matplotlib.use("Agg")
    figure = found.plot()
    upper, lower = figure.axes
    assert upper.get_title(loc="left") == repr(found)
    assert lower.get_xlabel() == found.statistic
    assert len(lower.lines) == (4 if math.isfinite(found.width) else 1)
    figure.canvas.draw()
    plt.close(figure)
    given = plt.figure()
    assert found.plot(given) is given
    plt.close(given)


def test_import_is_light() -> None:
    heavy = ("pandas", "matplotlib", "pyarrow", "duckdb", "flask", "sqlglot", "scipy.stats", "scipy.optimize")
    code = f"""
import sys, querygate
assert 'numpy' not in sys.modules
from querygate import stats
stats.mean([1, 2], [2, 3])
print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
