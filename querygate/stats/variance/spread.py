"""Variance and standard deviation, of a population and of a sample. Proof: docs/explanation/proofs/spread.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Cells, Range
from querygate.stats.numerics import SQUARABLE, UNIT, RealBounds, are_within, centred, exact_sum, tree_sum, whole_units
from querygate.stats.registry import statistic
from querygate.stats.variance.largest import Boxes, largest_variance
from querygate.stats.variance.smallest import Lower, smallest_variance
from querygate.stats.variance.welford import widened

_PROOF = "spread.md"
_UNDERFLOW = 1e-140  # a reach whose square is still far from the subnormal numbers


@statistic("var_pop", proof=_PROOF, result="number", summary="variance, divided by n")
def var_pop(cells: Cells) -> Range:
    """Range of the population variance as the database computes it.

    Requires: ends below 10^140 in magnitude; otherwise there is no upper bound.
    Ensures:  sound; the lower end is sharp on continuous columns, the upper exceeds the attained value by at most
              R^2 / (4 S^2), and is exact on small cohorts.
    """
    return _variance(cells, 0)


@statistic("var_samp", proof=_PROOF, result="number", summary="variance, divided by n - 1", needs=2)
def var_samp(cells: Cells) -> Range:
    """Range of the sample variance as the database computes it.

    Requires: ends below 10^140 in magnitude; otherwise there is no upper bound.
    Ensures:  as `var_pop`, over selections of two or more records.
    """
    return _variance(cells, 1)


@statistic("stddev_pop", proof=_PROOF, result="number", summary="standard deviation, divided by n")
def stddev_pop(cells: Cells) -> Range:
    """Range of the population standard deviation: the square root is monotone and correctly rounded.

    Ensures: as `var_pop`.
    """
    return _root(var_pop(cells))


@statistic("stddev_samp", proof=_PROOF, result="number", summary="standard deviation, divided by n - 1", needs=2)
def stddev_samp(cells: Cells) -> Range:
    """Range of the sample standard deviation.

    Ensures: as `var_samp`.
    """
    return _root(var_samp(cells))


def _root(found: Range) -> Range:
    ends = (found.low, found.high, found.attained_low, found.attained_high)
    low, high, attained_low, attained_high = (None if end is None else math.sqrt(end) for end in ends)
    return replace(found, low=low, high=high, attained_low=attained_low, attained_high=attained_high)


def _variance(cells: Cells, ddof: int) -> Range:
    if not are_within(SQUARABLE, cells.low, cells.high):
        return Range(0.0, math.inf, None, None, sharp=False)
    bottom, top = float(cells.low.min()), float(cells.high.max())
    records, size = exact_sum(cells.most), max(abs(bottom), abs(top))
    if records == 1 or (top == bottom and _is_constant_exact(cells)):
        return Range.exact(0.0)
    if top - bottom < _UNDERFLOW:
        return Range(0.0, widened(0.0, _UNDERFLOW**2, records, size, top - bottom)[1], None, None, sharp=False)
    if is_time_up():
        return _farthest_apart(cells, records, size, top - bottom, ddof)
    boxes = centred_boxes(cells)
    upper = largest_variance(boxes, ddof)
    bound, reached, sharp = _smallest(cells, boxes, ddof)
    low, high = widened(bound, upper.bound, records, size, top - bottom)
    return Range(low, high, reached, upper.reached, sharp=upper.sharp and sharp)


def _farthest_apart(cells: Cells, records: int, size: float, reach: float, ddof: int) -> Range:
    """Half of the records at either end of the reach (Popoviciu 1935): no variance is larger, and none below 0."""
    fewest = max(ddof + 1, exact_sum(cells.least))
    high = reach * reach / 4 * (fewest / (fewest - ddof)) * (1.0 + 8 * UNIT)
    return Range(0.0, widened(0.0, high, records, size, reach)[1], None, None, sharp=False)


def real_variance(boxes: Boxes, lower: bool = True) -> RealBounds:
    """Bounds of the population variance in real arithmetic; without the lower one, which costs time, it is 0."""
    reach = float(boxes.high.max()) - float(boxes.low.min())
    if reach < _UNDERFLOW:
        return RealBounds(0.0, _UNDERFLOW**2 if reach else 0.0)
    low = smallest_variance(boxes, 0).bound if lower and boxes.least.any() else 0.0
    return RealBounds(low, largest_variance(boxes, 0).bound)


def _is_constant_exact(cells: Cells) -> bool:
    """One value, and sums of it are exact: then every running mean is that value and the variance exactly 0."""
    return whole_units(cells.high.astype(np.float64), cells.most) is not None


def centred_boxes(cells: Cells) -> Boxes:
    """The cells about the middle of their reach, so that no digits are lost to an offset."""
    middle = _middle(cells)
    low, high = centred(cells.low, middle, -math.inf), centred(cells.high, middle, math.inf)
    return Boxes(low, high, cells.least, cells.most)


def _middle(cells: Cells) -> float:
    return float(cells.low.min()) / 2 + float(cells.high.max()) / 2


def _smallest(cells: Cells, boxes: Boxes, ddof: int) -> tuple[float, float | None, bool]:
    """A bound, a variance that is reached if one is known, and whether they are equal."""
    if exact_sum(cells.least) <= ddof:
        sharp = ddof == 0 or _two_can_meet(cells)
        return 0.0, 0.0 if sharp else None, sharp
    found = smallest_variance(boxes, ddof)
    if not cells.integer or found.reached == 0.0:
        return found.bound, found.reached, True
    reached = min(_near(cells, boxes, found, round_, ddof) for round_ in (math.floor, math.ceil))
    return found.bound, reached, reached - found.bound <= 1e-9 * reached


def _near(cells: Cells, boxes: Boxes, found: Lower, round_: Callable[[float], int], ddof: int) -> float:
    """The variance with every value as near to one whole number as it can be."""
    aim = round_(found.centre + _middle(cells))
    values = centred(np.clip(aim, cells.low, cells.high), _middle(cells), math.inf)
    distance = np.maximum(boxes.low - found.centre, found.centre - boxes.high)
    taken = np.where(np.maximum(distance, 0.0) ** 2 < found.level, cells.most, cells.least)
    records = exact_sum(taken)
    mean = tree_sum(taken * values)[0] / records
    return tree_sum(taken * (values - mean) ** 2)[0] / (records - ddof)


def _two_can_meet(cells: Cells) -> bool:
    """Whether two records, one of them certain if any is, can have the same value."""
    certain = np.flatnonzero(cells.least)
    if certain.size:
        low, high = cells.low[certain[0]], cells.high[certain[0]]
        near = (cells.low <= high) & (cells.high >= low)
        return exact_sum(cells.most[near]) > 1
    order = np.argsort(cells.low)
    reached = np.maximum.accumulate(cells.high[order])[:-1]
    return bool(np.any(cells.most > 1) or np.any(cells.low[order][1:] <= reached))
