"""How far the values reach: largest minus smallest, and the interquartile range.

Proof: docs/explanation/proofs/extent.md.
"""

from __future__ import annotations

import math

import numpy as np

from querygate.core.types import Cells, Floats, Ints, Range
from querygate.stats.numerics import ADDABLE, are_within
from querygate.stats.quantiles import quantile_cont
from querygate.stats.registry import statistic

_PROOF = "extent.md"


@statistic("range", proof=_PROOF, result="value", summary="largest minus smallest value")
def range_(cells: Cells) -> Range:
    """Range of max(x) - min(x).

    Ensures: sharp; on doubles the one rounding of the subtraction is the same as in the database.
    """
    low, high = _smallest_extent(cells), _largest_extent(cells)
    kind = int if cells.integer else float
    return Range(kind(low), kind(high), kind(low), kind(high))


def _smallest_extent(cells: Cells) -> int | float:
    """Records that may be left out are left out; the others move together as far as they can."""
    certain = cells.least > 0
    if not certain.any():
        return 0
    return max(0, _scalar(cells.low[certain].max()) - _scalar(cells.high[certain].min()))


def _largest_extent(cells: Cells) -> int | float:
    """One record at the very top, another at the very bottom: they must not be the same record."""
    top, bottom = int(np.argmax(cells.high)), int(np.argmin(cells.low))
    if top != bottom or cells.most[top] > 1:
        return _scalar(cells.high[top]) - _scalar(cells.low[bottom])
    others = np.delete(np.arange(cells.high.size), top)
    if not others.size:
        return 0
    upper, lower = _scalar(cells.high[others].max()), _scalar(cells.low[others].min())
    return max(0, _scalar(cells.high[top]) - lower, upper - _scalar(cells.low[top]))


def _scalar(value: np.float64 | np.int64) -> int | float:
    """A Python number, so that differences of 64-bit integers cannot overflow."""
    return value.item()


@statistic("iqr", proof=_PROOF, result="number", summary="interquartile range, quantile_cont 0.75 minus 0.25")
def iqr(cells: Cells) -> Range:
    """Range of quantile_cont(x, 0.75) - quantile_cont(x, 0.25).

    Ensures: sound: difference of the ranges of the quartiles, never below 0. The attained values are those of two
             data sets built for the purpose, so the range says itself where it is sharp.
    """
    upper, lower = quantile_cont(cells, 0.75), quantile_cont(cells, 0.25)
    if upper.low is None or upper.high is None or lower.low is None or lower.high is None:
        return Range.null()
    if not are_within(ADDABLE, cells.low, cells.high):
        return Range(0.0, math.inf, None, None, sharp=False)
    # Rounding is monotone, so the plain difference of bounds bounds the difference the database computes.
    low, high = max(0.0, upper.low - lower.high), max(0.0, upper.high - lower.low)
    attained_low = min(_iqr_of(*data) for data in _narrow(cells, (lower.high + upper.low) / 2))
    attained_high = max(_iqr_of(*data) for data in _wide(cells, (upper.high + lower.low) / 2))
    sharp = attained_low - low <= 1e-12 * (1 + low) and high - attained_high <= 1e-12 * (1 + high)
    return Range(low, high, attained_low, attained_high, sharp=sharp)


def _selections(cells: Cells) -> list[Ints]:
    """As few records as possible, and as many."""
    return [cells.most, cells.least] if cells.least.any() else [cells.most]


def _narrow(cells: Cells, level: float) -> list[tuple[Floats, Ints]]:
    """Data sets with every value as near to one level as it can be."""
    near = np.clip(round(level) if cells.integer else level, cells.low, cells.high).astype(np.float64)
    return [(near, taken) for taken in _selections(cells)]


def _wide(cells: Cells, middle: float) -> list[tuple[Floats, Ints]]:
    """Data sets with every value at the end away from the middle, or with every cell split between its ends."""
    low, high = cells.low.astype(np.float64), cells.high.astype(np.float64)
    far = np.where(low + high < 2 * middle, low, high)
    both = np.concatenate([low, high])
    data = [(far, taken) for taken in _selections(cells)]
    return data + [(both, np.concatenate([taken // 2, taken - taken // 2])) for taken in _selections(cells)]


def _iqr_of(values: Floats, counts: Ints) -> float:
    """The interquartile range of one data set, given as values with counts."""
    order = np.argsort(values)
    ordered, reached = values[order], np.cumsum(counts[order])
    position = (int(reached[-1]) - 1) * np.array([0.25, 0.75])
    below, above = ordered[np.searchsorted(reached, np.stack([np.floor(position), np.ceil(position)]) + 1)]
    quartiles = below + (above - below) * (position - np.floor(position))
    return float(quartiles[1] - quartiles[0])
