"""Two groups, tables and whole distributions, as people call them."""

from __future__ import annotations

import doctest
import inspect
import math

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from querygate import stats
from querygate.core.types import Cells, Range
from querygate.stats import (
    DISTRIBUTIONS,
    GROUP_STATISTICS,
    TABLE_STATISTICS,
    Band,
    Enclosure,
    GroupCells,
    Histogram,
    TableCells,
    distribution,
)
from querygate.stats.api import two_groups, whole_distribution

LO, HI = [1, 2, 7, 8], [2, 3, 9, 9]
FIRST, SECOND = [0, (0, 1), 3, 3], [3, 3, 0, (0, 2)]


@pytest.mark.parametrize("module", [two_groups, whole_distribution], ids=lambda module: module.__name__)
def test_examples_run(module: object) -> None:
    tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert tried.failed == 0
    assert tried.attempted > 0


@pytest.mark.parametrize("name", list(GROUP_STATISTICS))
def test_groups_are_the_statistic(name: str) -> None:
    numbers = [np.array(column) for column in ([0, 0, 3, 3], [0, 1, 3, 3], [3, 3, 0, 0], [3, 3, 0, 2])]
    apart = GroupCells(np.array(LO), np.array(HI), numbers[1] + numbers[3], *numbers, integer=True)
    found = getattr(stats, name)(LO, HI, first=FIRST, second=SECOND, integer=True)
    assert found.range == GROUP_STATISTICS.get(name).range(apart)
    assert found == stats.group_bounds(name, LO, HI, first=FIRST, second=SECOND, integer=True)
    shared = GroupCells(np.array(LO), np.array(HI), np.array([3, 3, 3, 4]), *numbers, integer=True)
    narrower = getattr(stats, name)(LO, HI, first=FIRST, second=SECOND, sizes=[3, 3, 3, 4], integer=True)
    assert narrower.range == GROUP_STATISTICS.get(name).range(shared)


def test_groups_from_a_column_of_labels() -> None:
    data = pd.DataFrame({"arm": ["a", "b", "a", "b"], "low": [3.0, 1.0, 4.0, 2.0], "high": [3.5, 1.5, 4.5, 2.5]})
    found = stats.mean_difference(data.low, data.high, first=data.arm == "a", second=data.arm == "b")
    assert found.range == Range(1.5, 2.5, 1.5, 2.5)


@pytest.mark.parametrize("name", list(TABLE_STATISTICS))
def test_tables_are_the_statistic(name: str) -> None:
    sizes, exposed, outcome = np.array([9, 8]), (np.array([5, 2]), np.array([7, 2])), (np.array([6, 3]),) * 2
    found = getattr(stats, name)([(5, 7), 2], [6, 3], [9, 8])
    assert found.range == TABLE_STATISTICS.get(name).range(TableCells.certain(sizes, exposed, outcome))
    assert found == stats.table_bounds(name, [(5, 7), 2], [6, 3], sizes=[9, 8], counts=[9, 8])
    uncertain = getattr(stats, name)([(5, 7), 2], [6, 3], [9, 8], [(6, 9), 8])
    assert uncertain.low <= found.low <= found.high <= uncertain.high


def test_a_table_of_records_is_exact() -> None:
    exposed = np.array([True] * 5 + [False] * 4)
    outcome = np.array([True] * 3 + [False] * 4 + [True] * 2)
    assert 2 / 5 + 1 / 5 in stats.proportion(exposed, outcome)
    assert 3 / 5 - 2 / 4 in stats.risk_difference(exposed, outcome)
    assert stats.risk_difference(exposed, outcome).width < 1e-15


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.welch_t([1], [2], first=[1], second=[1, 2]), "1 intervals and 2 counts"),
        (lambda: stats.welch_t([1], [2], first=[2], second=[2], sizes=[3]), "class 0 has fewer members"),
        (lambda: stats.welch_t([1], [2], first=[2], second=[2], sizes=[(3, 5)]), "size 0 is uncertain"),
        (lambda: stats.proportion(3, [2]), "exposed must be a column"),
        (lambda: stats.proportion([1, 3], [1, 1], [1, 2]), "class 1 has fewer members than are exposed"),
        (lambda: stats.proportion([1], [3], [2]), "class 0 has fewer members than are with the outcome"),
        (lambda: stats.proportion([1], [1], [2], [3]), "class 0 has fewer members than are selected"),
        (lambda: stats.histogram([1], [2], boundaries=[3, 1]), "ascend"),
    ],
)
def test_wrong_input_is_a_clear_error(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("name", list(DISTRIBUTIONS))
def test_distributions_have_a_function_with_an_example(name: str) -> None:
    function = getattr(stats, name)
    assert name in stats.__all__
    assert ">>> " in (function.__doc__ or "")
    assert set(DISTRIBUTIONS.get(name).parameters) <= set(inspect.signature(function).parameters)
    assert DISTRIBUTIONS.get(name).describe is getattr(distribution, name)


def test_the_band_is_the_one_of_the_cells() -> None:
    cells = Cells(np.array(LO), np.array(HI), np.array([3, 0, 1, 2]), np.array([3, 2, 1, 2]), integer=True)
    band = stats.ecdf(LO, HI, [3, (0, 2), 1, 2], integer=True)
    for t in (0, 1, 2.5, 8, 9):
        assert band.share(t).range == distribution.ecdf(cells).share(t)
    assert repr(stats.ecdf([], [])) == "ecdf: undefined"
    assert repr(stats.ecdf([1], [2], [(0, 1)])) == "ecdf: from 1 to 2, 2 steps, may be undefined"


def test_a_histogram_is_its_bins() -> None:
    found = stats.histogram(LO, HI, boundaries=[2, 8])
    assert len(found) == 3
    assert [one.statistic for one in found] == ["up to 2", "2 to 8", "above 8"]
    assert [list(one) for one in found] == [[1, 2], [0, 3], [0, 2]]
    assert [one.statistic for one in stats.histogram(LO, HI, boundaries=[])] == ["all"]


@pytest.mark.parametrize(
    "found",
    [
        stats.mean_difference(LO, HI, first=FIRST, second=SECOND),
        stats.risk_ratio([(5, 7), 2], [6, 3], [9, 8]),
        stats.risk_difference([(5, 7), 2], [6, 3], [9, 8]),
        stats.ecdf(LO, HI, [3, (0, 2), 1, 2]),
        stats.ecdf([-math.inf, 1], [3, math.inf]),
        stats.ecdf([-math.inf], [math.inf]),
        stats.ecdf([], []),
        stats.histogram(LO, HI, boundaries=[2, 8]),
    ],
    ids=repr,
)
def test_plot(found: Enclosure | Band | Histogram) -> None:
    matplotlib.use("Agg")
    figure = found.plot()
    title = "histogram" if isinstance(found, Histogram) else repr(found)
    assert figure.axes[0].get_title(loc="left") == title
    figure.canvas.draw()
    plt.close(figure)
    given = plt.figure()
    assert found.plot(given) is given
    plt.close(given)


def test_the_picture_of_a_band_has_its_curves() -> None:
    matplotlib.use("Agg")
    band = stats.ecdf([40, 50], [49, 59])
    figure = band.plot()
    low, high = (line.get_ydata() for line in figure.axes[0].lines)
    plt.close(figure)
    assert low.tolist() == [0.0, *band.pbox.low, 1.0]
    assert high.tolist() == [0.0, *band.pbox.high, 1.0]
