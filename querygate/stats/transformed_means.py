"""Means of transformed values: geometric, harmonic, and the share above a threshold.

A monotone map turns each into the ordinary mean: ends go to ends, so both stay sharp.
Proof: docs/explanation/proofs/means.md.
"""

from __future__ import annotations

import math

import numpy as np

from querygate.core.types import Cells, Floats, Range
from querygate.stats.largest_mean import Largest, largest_computed_mean
from querygate.stats.numerics import TINY, UNIT, down, up
from querygate.stats.registry import statistic
from querygate.stats.sums_and_means import avg

_PROOF = "means.md"
_LIBM = 4  # assumed error in ulps of a logarithm or exponential of the C library; published errors are below 1


@statistic("geometric_mean", proof=_PROOF, result="number", summary="geometric mean, exp(avg(ln x))")
def geometric_mean(cells: Cells) -> Range:
    """Range of exp(avg(ln(x))).

    Requires: positive values; where a cell reaches below 0 the logarithm may fail, and the answer may be NULL.
    Ensures:  every computed geometric mean is in the range; ends attained up to rounding where all cells are positive.
    """
    undefined = cells.low <= 0
    if undefined.any():
        return _geometric_where_positive(cells)
    high, attained_high = _largest_geometric(cells.high.astype(np.float64), cells)
    bottom = _mean_of(-_logarithm(cells.low.astype(np.float64), -1.0), cells)
    return Range(max(0.0, down(_exp(-bottom.bound), _LIBM)), high, _exp(-bottom.reached), attained_high)


def _largest_geometric(high: Floats, cells: Cells) -> tuple[float, float]:
    """A bound, and a value that is reached."""
    top = _mean_of(_logarithm(high, 1.0), cells)
    return up(_exp(top.bound), _LIBM), _exp(top.reached)


def _geometric_where_positive(cells: Cells) -> Range:
    """From 0 up: one record of 0 makes it 0 in the database. NULL for certain where a record must be below 0."""
    below = cells.high < 0
    if np.any(below & (cells.least > 0)) or below.all():
        return Range.null()
    never = cells.high <= 0
    if np.any(never & (cells.least > 0)) or never.all():
        return Range(0.0, 0.0, None, None, sharp=False, may_be_null=True)
    kept = Cells(cells.low[~never], cells.high[~never], cells.least[~never], cells.most[~never])
    high, attained_high = _largest_geometric(kept.high.astype(np.float64), kept)
    return Range(0.0, high, None, attained_high, sharp=False, may_be_null=True)


def _mean_of(values: Floats, cells: Cells) -> Largest:
    return largest_computed_mean(values, cells.least, cells.most)


def _logarithm(values: Floats, side: float) -> Floats:
    """Logarithms, moved up or down by more than the error of the library here and in the database."""
    logs = np.log(values)
    moved: Floats = logs + side * (4 * _LIBM * UNIT * np.abs(logs) + TINY)
    return moved


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


@statistic("harmonic_mean", proof=_PROOF, result="number", summary="harmonic mean, count(x) / sum(1 / x)")
def harmonic_mean(cells: Cells) -> Range:
    """Range of count(x) / sum(1 / x).

    Requires: positive values; otherwise the sum may pass through 0 and there is no bound.
    Ensures:  every computed harmonic mean is in the range; ends attained up to rounding where all cells are positive.
    """
    if np.any(cells.low <= 0):
        return Range(-math.inf, math.inf, None, None, sharp=False, may_be_null=True)
    with np.errstate(over="ignore"):
        inverse_low, inverse_high = 1.0 / cells.low.astype(np.float64), 1.0 / cells.high.astype(np.float64)
    most = _mean_of(np.nextafter(inverse_low, np.inf), cells)
    least = _mean_of(-np.nextafter(inverse_high, -np.inf), cells)
    low = 1.0 / most.bound
    high = -1.0 / least.bound if least.bound < 0.0 else math.inf
    return Range(max(0.0, down(low, 4)), up(high, 4), 1.0 / most.reached, -1.0 / least.reached)


@statistic(
    "exceedance", proof=_PROOF, result="number", summary="share of values above a threshold", parameters=("threshold",)
)
def exceedance(cells: Cells, threshold: float) -> Range:
    """Range of the share of records with x > threshold, the mean of an indicator.

    Ensures: sharp, exact up to one rounding of the quotient.
    """
    if cells.integer and math.isfinite(threshold):
        threshold = math.floor(threshold)  # x > t exactly when x > floor(t), and integers compare without rounding
    never_below, ever_above = (cells.low > threshold).astype(np.int64), (cells.high > threshold).astype(np.int64)
    return avg(Cells(never_below, ever_above, cells.least, cells.most, integer=True))
