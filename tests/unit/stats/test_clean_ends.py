"""Ends that are known are told as they are: a share is between 0 and 1, and a bin ends at its edge."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from querygate.core.types import Cells
from querygate.stats import PAIR_STATISTICS, STATISTICS, PairCells
from querygate.stats.quantiles import on_edges

BEFORE_10 = math.nextafter(10.0, 0.0)


def ratio(rows: list[tuple], *, whole: bool = True) -> tuple[float | None, float | None]:
    """From (x low, x high, y, least, most)."""
    x_low, x_high, y, least, most = (np.array(column) for column in zip(*rows, strict=True))
    found = PAIR_STATISTICS.get("ratio_of_sums").range(PairCells(x_low, x_high, y, y, least, most, whole))
    return found.low, found.high


def test_a_share_of_a_count_in_a_count_is_between_0_and_1() -> None:
    assert ratio([(0, 0, 1, 0, 144), (1, 1, 1, 0, 2)]) == (0, 1)
    assert ratio([(0, 1, 1, 3, 5)]) == (0, 1)
    assert ratio([(0, 0, 1, 3, 3), (1, 1, 1, 1, 1)]) == (0.25, 0.25)


def test_a_quotient_of_sums_of_one_sign_has_it() -> None:
    low, high = ratio([(0.0, 0.3, 2.0, 0, 7), (0.0, 0.1, 3.0, 1, 7)], whole=False)
    assert low == 0
    assert high is not None
    assert high == pytest.approx(2.2 / 17, abs=1e-9)
    assert ratio([(-0.3, 0.0, 2.0, 0, 7)], whole=False)[1] == 0


@pytest.mark.parametrize("name", ["median", "quantile_cont"])
def test_a_quantile_of_a_bin_ends_at_its_edge(name: str) -> None:
    ends = np.array([0.0, 4.0]), np.array([math.nextafter(4.0, 0.0), BEFORE_10])
    cells = Cells(*ends, np.array([1, 2]), np.array([9, 6]))
    found = STATISTICS.get(name).range(on_edges(cells), *(() if name == "median" else (0.25,)))
    assert found.low == 0
    assert found.high == 10


@pytest.mark.parametrize("seed", range(5))
def test_a_quantile_near_an_edge_is_inside(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        edges = sorted(rng.choice([-10.0, BEFORE_10, 10.0, 3.9999999999999996, 0.1, 0.0, 1e17]) for _ in range(2))
        values = [rng.choice([edges[0], edges[1], rng.uniform(*edges)]) for _ in range(rng.randint(1, 9))]
        number = np.array([len(values)])
        cells = Cells(np.array([edges[0]]), np.array([edges[1]]), number, number)
        for p in (0.25, 0.5, 0.75, 0.9):
            found = STATISTICS.get("quantile_cont").range(on_edges(cells), p)
            assert found.low is not None
            assert found.high is not None
            assert found.low <= float(np.quantile(values, p)) <= found.high
