"""The distribution against every data set: each point of the band and each bin of the histogram."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.core.types import Cells
from querygate.stats.distribution import ecdf, histogram
from querygate.stats.transformed_means import exceedance
from tests.engine import scratch
from tests.unit.stats.adversarial import draws, hard_cells
from tests.unit.stats.enumerate_reference import small_cases

POINTS = (-5.0, -1.0, 0.0, 0.5, 2.0, 3.0, 7.5, 20.0)


def test_each_point_of_the_band_is_what_enumeration_says() -> None:
    for cells, every in small_cases():
        band, data = ecdf(cells), [list(values) for values in every if values]
        if not data:
            assert band.share(0.0).is_null
            continue
        assert band.may_be_null == (() in every)
        for t in POINTS:
            shares = [sum(value <= t for value in values) / len(values) for values in data]
            found = band.share(t)
            assert (found.low, found.high) == (min(shares), max(shares)), (cells, t)


def test_the_band_is_monotone_and_agrees_with_exceedance() -> None:
    for cells, _ in small_cases():
        band = ecdf(cells)
        assert np.all(np.diff(band.low) >= 0)
        assert np.all(np.diff(band.high) >= 0)
        assert np.all(band.low <= band.high)
        for t in POINTS if cells.most.any() else ():
            above, share = exceedance(cells, t), band.share(t)
            assert above.low + share.high == pytest.approx(1.0)
            assert above.high + share.low == pytest.approx(1.0)


@pytest.mark.parametrize("boundaries", [(0.0, 2.0, 5.0), (0.2, 0.8, 2.5, 2.9, 3.0), (1.0, 1.0, 4.0), (), (3.0,)])
def test_each_bin_is_what_enumeration_says(boundaries: tuple[float, ...]) -> None:
    limits = [-np.inf, *boundaries, np.inf]
    for cells, every in small_cases():
        bins = histogram(cells, boundaries)
        assert len(bins) == len(boundaries) + 1
        for found, low, high in zip(bins, limits[:-1], limits[1:], strict=True):
            counts = [sum(low < value <= high for value in data) for data in every]
            assert (found.low, found.high) == (min(counts), max(counts)), (cells, low, high)


@pytest.mark.parametrize("label", list(hard_cells()))
def test_the_database_agrees(label: str) -> None:
    cells = hard_cells()[label]
    kind = "bigint" if cells.integer else "double"
    middle = (cells.low + cells.high) / 2
    boundaries = sorted({float(v) for v in np.quantile(middle, [0.1, 0.5, 0.9])})
    band, bins = ecdf(cells), histogram(cells, boundaries)
    with scratch() as database:
        for data in draws(cells, 6):
            for j, t in enumerate(boundaries):
                below = boundaries[j - 1] if j else -np.inf
                row = database.execute(
                    f"select avg((x <= $t)::int), count(*) filter (x <= $t and x > $below)"
                    f" from (select unnest($data::{kind}[]) as x)",
                    {"t": t, "below": below, "data": data},
                ).fetchone()
                assert row is not None
                share = band.share(t)
                assert row[0] is None or share.low <= row[0] <= share.high
                assert row[0] is not None or share.may_be_null
                assert bins[j].low <= row[1] <= bins[j].high


def test_whole_numbers_beyond_doubles_stay_apart() -> None:
    large = np.array([2**53, 2**53 + 1], dtype=np.int64)
    cells = Cells(large, large, np.ones(2, int), np.ones(2, int), integer=True)
    assert [found.low for found in histogram(cells, [float(2**53)])] == [1, 1]
    assert ecdf(cells).share(float(2**53)).high == 0.5


def test_wrong_boundaries_are_refused() -> None:
    cells = Cells(np.array([0.0]), np.array([1.0]), np.array([1]), np.array([1]))
    with pytest.raises(ValueError, match="ascend"):
        histogram(cells, [2.0, 1.0])
