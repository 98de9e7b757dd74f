"""Count, sum, mean, smallest and largest value. All sharp. Proof: docs/explanation/proofs/location.md.

The truth that a range must contain is what the database computes. On integers it adds exactly and a mean is one or two
roundings away from the quotient. On doubles it adds in double arithmetic in an order of its own, so that its sum may be
off by gamma(N - 1) * sum|x|: each value is inflated by that factor before it is bounded, and containment needs no
tolerance.
"""

from __future__ import annotations

import math

import numpy as np

from querygate.core.types import Cells, Floats, Ints, Range
from querygate.stats.cells import mirrored
from querygate.stats.largest_mean import largest_computed_mean, largest_mean_exact
from querygate.stats.numerics import (
    EXACT,
    GRID,
    dot_size,
    enclose,
    exact_dot,
    exact_sum,
    gamma,
    to_float,
    up,
    whole_units,
)
from querygate.stats.registry import statistic

_PROOF = "location.md"


@statistic("count", proof=_PROOF, result="count", summary="number of records", needs=0)
def count(cells: Cells) -> Range:
    """Range of the number of records.

    Ensures: low = sum(least), high = sum(most), both attained.
    """
    low, high = exact_sum(cells.least), exact_sum(cells.most)
    return Range(low, high, low, high)


@statistic("sum", proof=_PROOF, result="value", summary="sum of the values")
def sum_(cells: Cells) -> Range:
    """Range of the sum as the database computes it.

    Requires: finite ends (an infinite end gives an infinite end).
    Ensures:  every computed sum of a consistent, non-empty selection is in the range; ends attained up to rounding.
    """
    high, attained_high = _largest_sum(cells)
    low, attained_low = _largest_sum(mirrored(cells))
    return Range(-low, high, -attained_low, attained_high)


def _largest_sum(cells: Cells) -> tuple[int | float, int | float]:
    """Bound and attained value: `most` of what is positive, `least` of what is negative, but never nothing at all."""
    values = cells.high
    taken = _gaining(cells)
    if not taken.any():
        top = values.max()
        return (int(top), int(top)) if cells.integer else (float(top), float(top))
    if cells.integer:
        total = exact_dot(taken, values.astype(np.int64))
        return total, total
    units = whole_units(values.astype(np.float64, copy=False), cells.most)
    if units is not None:
        exact = exact_dot(taken, units) / GRID
        return exact, exact
    if cells.count_high == 1:
        top = float(values[taken > 0][0])
        return top, top
    return _rounded_sum(taken, values.astype(np.float64, copy=False), exact_sum(cells.most))


def _gaining(cells: Cells) -> Ints:
    """`most` where it adds to the sum, `least` elsewhere; on most columns all values have the same sign."""
    if cells.high.min() >= 0:
        return cells.most
    if cells.high.max() < 0:
        return cells.least
    return np.where(cells.high >= 0, cells.most, cells.least)


def _rounded_sum(taken: Ints, values: Floats, records: int) -> tuple[float, float]:
    """The largest sum of doubles that the database can compute, whatever its order of addition."""
    real, size = dot_size(taken, values)
    bound = up(real.high + up(gamma(records - 1) * size))
    return (math.inf, math.inf) if math.isnan(bound) else (bound, (real.low + real.high) / 2)


@statistic("avg", proof=_PROOF, result="number", summary="mean of the values")
def avg(cells: Cells) -> Range:
    """Range of the mean as the database computes it. Never SUM over COUNT: the selection is the same in both.

    Requires: finite ends (an infinite end gives an infinite end).
    Ensures:  every computed mean of a consistent, non-empty selection is in the range; ends attained up to rounding.
    """
    high, attained_high = _largest_avg(cells)
    low, attained_low = _largest_avg(mirrored(cells))
    return Range(-low, high, -attained_low, attained_high)


def _largest_avg(cells: Cells) -> tuple[float, float]:
    """Bound and attained value of the mean."""
    units, scale = _units(cells)
    if units is not None:
        mean = largest_mean_exact(units, cells.least, cells.most) / scale
        bound = enclose(mean).high
        reach = max(abs(int(units.max())), abs(int(units.min())))
        if cells.integer and reach * exact_sum(cells.most) >= EXACT:
            bound = up(bound, 3)  # the database rounds the sum, the count and the quotient
        return bound, to_float(mean)
    found = largest_computed_mean(cells.high.astype(np.float64, copy=False), cells.least, cells.most)
    return found.bound, found.reached


def _units(cells: Cells) -> tuple[Ints | None, int]:
    """The upper ends as whole numbers of 1/scale, where they can be added without rounding."""
    if cells.integer:
        return cells.high.astype(np.int64), 1
    return whole_units(cells.high.astype(np.float64, copy=False), cells.most), GRID


@statistic("max", proof=_PROOF, result="value", summary="largest value")
def max_(cells: Cells) -> Range:
    """Range of the largest value.

    Ensures: sharp. The least it can be is set by the records that are certainly selected, or by any one if none is.
    """
    certain = cells.least > 0
    low = cells.low[certain].max() if certain.any() else cells.low.min()
    return _of_column(cells, low, cells.high.max())


@statistic("min", proof=_PROOF, result="value", summary="smallest value")
def min_(cells: Cells) -> Range:
    """Range of the smallest value.

    Ensures: sharp, as the mirror image of the largest.
    """
    certain = cells.least > 0
    high = cells.high[certain].min() if certain.any() else cells.high.max()
    return _of_column(cells, cells.low.min(), high)


def _of_column(cells: Cells, low: np.generic, high: np.generic) -> Range:
    """Ends in the type of the column."""
    kind = int if cells.integer else float
    return Range(kind(low), kind(high), kind(low), kind(high))
