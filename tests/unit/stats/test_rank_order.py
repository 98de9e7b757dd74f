from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, mannwhitneyu, spearmanr

from querygate.core.types import Range
from querygate.stats.comparison import GroupCells
from querygate.stats.pairs import PairCells
from querygate.stats.rank_order import kendall, mann_whitney, spearman, superiority


def _holds(found: Range, value: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= value <= found.high


def _boxes(x: np.ndarray, y: np.ndarray, width: float) -> PairCells:
    """Each record in a box on a grid, as a publication has them."""
    low_x, low_y = (np.floor(v / width) * width if width else v for v in (x, y))
    ones = np.ones(x.size, dtype=np.int64)
    return PairCells(low_x, low_x + width, low_y, low_y + width, ones, ones)


@pytest.mark.parametrize("size", [50, 400, 6_000])
def test_correlations_of_many_records_are_inside_and_near(size: int) -> None:
    """Beyond 2,000 kinds of boxes these are made wider."""
    random = np.random.default_rng(size)
    x = random.normal(100, 20, size).round(1)
    y = (0.6 * x + random.normal(0, 16, size)).round(1)
    for width, wide in ((0.0, 0.35 if size > 2_000 else 1e-6), (2.0, 0.6)):
        cells = _boxes(x, y, width)
        for statistic, software in ((spearman, spearmanr), (kendall, kendalltau)):
            found = statistic(cells)
            assert _holds(found, software(x, y).statistic), (statistic.__name__, width)
            assert (found.high or 0.0) - (found.low or 0.0) < wide


def test_orders_of_many_values_are_inside_and_near() -> None:
    random = np.random.default_rng(1)
    x, first = random.normal(0, 1, 9_000), random.random(9_000) < 0.3
    one = np.ones(x.size, dtype=np.int64)
    cells = GroupCells(x, x + 0.01, one, first * one, first * one, ~first * one, ~first * one)
    truth = mannwhitneyu(x[first], x[~first]).statistic

    assert _holds(mann_whitney(cells), truth)
    found = superiority(cells)
    assert _holds(found, truth / (first.sum() * (~first).sum()))
    assert (found.high or 0.0) - (found.low or 0.0) < 0.02
    assert not found.sharp


def test_huge_whole_numbers_are_told_apart() -> None:
    """Doubles would take them for equal."""
    x = np.array([2**60, 2**60 + 1, 2**60 + 2])
    ones = np.ones(3, dtype=np.int64)
    cells = PairCells(x, x, -x, -x, ones, ones, whole=True)

    assert (kendall(cells).high or 0.0) < -0.999
    assert (spearman(cells).high or 0.0) < -0.999
    first = np.array([0, 0, 1])
    groups = GroupCells(x, x, ones, first, first, 1 - first, 1 - first, integer=True)
    assert mann_whitney(groups) == Range(2.0, 2.0, 2.0, 2.0)


def test_ties_are_ties() -> None:
    x, y = np.array([1, 1, 2, 2, 3]), np.array([1, 2, 2, 2, 5])
    ones = np.ones(5, dtype=np.int64)
    cells = PairCells(x, x, y, y, ones, ones, whole=True)

    for statistic, software in ((spearman, spearmanr), (kendall, kendalltau)):
        found = statistic(cells)
        assert _holds(found, software(x, y).statistic)
        assert (found.high or 0.0) - (found.low or 0.0) < 1e-6


def test_a_constant_column_is_null() -> None:
    x, ones = np.array([1.0, 2.0, 3.0]), np.ones(3, dtype=np.int64)

    assert kendall(PairCells(x, x, x * 0, x * 0, ones, ones)).is_null
    assert spearman(PairCells(x, x, x * 0, x * 0, ones, ones)).may_be_null
    assert kendall(PairCells(x[:1], x[:1], x[:1], x[:1], ones[:1], ones[:1])).is_null
