"""Variance against independent references: the lower end on continuous columns, the gap of the upper end."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from querygate.core.types import Cells
from querygate.stats import STATISTICS
from querygate.stats.variance import largest
from querygate.stats.variance.spread import centred_boxes, var_pop
from tests.unit.stats.enumerate_reference import TRUTHS, extremes, small_cases


def smallest_by_enumeration(cells: Cells, ddof: int) -> float | None:
    """Every selection, and for each the convex problem solved piece by piece."""
    low, high = cells.low.astype(float), cells.high.astype(float)
    best = None
    for chosen in product(*(range(a, b + 1) for a, b in zip(cells.least, cells.most, strict=True))):
        counts = np.array(chosen)
        if counts.sum() <= ddof:
            continue
        points = np.unique(np.concatenate([low, high]))
        for left, right in [*pairwise(points), (points[0], points[0])]:
            middle = (left + right) / 2
            fixed = np.where(low > middle, low, np.where(high < middle, high, np.nan))
            out = ~np.isnan(fixed) & (counts > 0)
            centre = np.average(fixed[out], weights=counts[out]) if out.any() else middle
            values = np.clip(np.clip(centre, left, right), low, high)
            mean = np.average(values, weights=counts)
            value = float((counts * (values - mean) ** 2).sum() / (counts.sum() - ddof))
            best = value if best is None else min(best, value)
    return best


@pytest.mark.parametrize(("name", "ddof"), [("var_pop", 0), ("var_samp", 1)])
def test_lower_end_is_the_minimum_on_doubles(name: str, ddof: int) -> None:
    compared = 0
    for cells, _ in small_cases():
        doubles = Cells(cells.low.astype(float), cells.high.astype(float), cells.least, cells.most)
        truth, found = smallest_by_enumeration(cells, ddof), STATISTICS.get(name).range(doubles)
        if truth is None:
            assert found.is_null
            continue
        assert found.low is not None
        assert found.low <= truth + 1e-12
        if found.attained_low is not None and cells.least.sum() > ddof:
            compared += 1
            assert found.attained_low == pytest.approx(truth, abs=1e-9)
            assert found.low == pytest.approx(truth, abs=1e-9)
    assert compared > 200


@pytest.mark.parametrize("ddof", [0, 1])
def test_upper_end_without_enumeration_keeps_its_gap(ddof: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(largest, "_VERTICES", 0)
    name = ("var_pop", "var_samp")[ddof]
    for cells, every in small_cases():
        kept = cells.most > 0
        cells = Cells(cells.low[kept], cells.high[kept], cells.least[kept], cells.most[kept], True)
        if cells.most.sum() <= ddof:
            continue
        truth = extremes(TRUTHS[name], every)
        assert truth is not None
        found = largest.largest_variance(centred_boxes(cells), ddof)
        reach, records = float(cells.high.max() - cells.low.min()), max(int(cells.least.sum()), ddof + 1)
        assert found.bound >= truth[1] * (1 - 1e-12)
        assert found.reached <= truth[1] + 1e-9
        if cells.least.sum() > ddof:
            assert found.bound - truth[1] <= reach**2 / (4 * records * (records - ddof)) + 1e-9


def test_a_cell_may_be_split() -> None:
    """Two records of one cell at its two ends: treating the cell as one value would give 0."""
    cells = Cells(np.array([0.0]), np.array([1.0]), np.array([2]), np.array([2]))
    assert var_pop(cells).high == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize("size", [300, 30_000])
def test_large_groups_are_tight(size: int) -> None:
    random = np.random.default_rng(3)
    low = random.normal(120, 20, size)
    most = random.integers(1, 9, size)
    least = np.where(random.random(size) < 0.7, most, 0)
    found = var_pop(Cells(low, low + random.exponential(9, size), least, most))
    assert found.sharp
    assert found.high == pytest.approx(found.attained_high, rel=1e-7)
    assert found.low == pytest.approx(found.attained_low, rel=1e-7)
