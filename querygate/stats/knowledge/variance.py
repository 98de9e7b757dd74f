"""Range of the variance with knowledge about the classes.

A class selected whole whose sum and sum of squares are known is replaced by two points with the same moments: no
variance can tell the difference. Proof: docs/explanation/proofs/knowledge.md.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Range
from querygate.stats.knowledge.classes import Classes
from querygate.stats.knowledge.largest_variance import largest, make_lists
from querygate.stats.knowledge.members import deviations
from querygate.stats.knowledge.smallest_variance import smallest
from querygate.stats.numerics import UNIT, exact_sum
from querygate.stats.variance.largest import Boxes
from querygate.stats.variance.welford import widened


def variance_range(classes: Classes, ddof: int) -> Range:
    """Range of the variance as a database computes it.

    Requires: most >= 1 in every class, more than ddof records that can be selected.
    """
    bottom, top = float(classes.low.min()), float(classes.high.max())
    records, middle = exact_sum(classes.most), bottom / 2 + top / 2
    may_be_null = exact_sum(classes.least) <= ddof
    if records == 1:
        return Range(0.0, 0.0, 0.0, 0.0, may_be_null=may_be_null)
    points = _points(classes, middle)
    rest = classes if points is None else classes.part(~classes.whole)
    bound, reached = largest(make_lists(rest, middle, points), ddof)
    floor, attained = smallest(rest, points, middle, ddof)
    if classes.squares_low is not None and (rest.size.size or not classes.integer):
        attained = reached = None  # members with these sums and squares need not exist, or not at these points
    low, high = widened(floor, bound, records, classes.reach, top - bottom)
    rounding = (1e-12 * classes.reach) ** 2
    sharp = attained is not None and attained - floor <= 1e-9 * attained + rounding
    sharp = sharp and reached is not None and bound - reached <= 1e-9 * bound + rounding
    return Range(low, high, attained, reached, sharp=sharp, may_be_null=may_be_null)


def _points(classes: Classes, middle: float) -> Boxes | None:
    """Classes selected whole, sum and squares known, as two points with the same count, sum and sum of squares.

    They are M + sd sqrt(m - 1) once and M - sd / sqrt(m - 1) for the m - 1 others, in boxes that hold all roundings.
    """
    if classes.squares_low is None or not classes.whole.any():
        return None
    whole = classes.part(classes.whole)
    size, others = whole.size, np.maximum(whole.size - 1, 1)
    mean = whole.sums[0].astype(np.float64) / size - middle
    low, high = deviations(whole)
    margin = 8 * UNIT * (whole.reach + abs(middle) + np.sqrt(size) * high)
    far, near = np.sqrt(size - 1), 1.0 / np.sqrt(others)
    bottom = np.concatenate([mean + low * far - margin, mean - high * near - margin])
    top = np.concatenate([mean + high * far + margin, mean - low * near + margin])
    count = np.concatenate([np.ones_like(size), size - 1])
    return Boxes(bottom, top, count, count).part(count > 0)
