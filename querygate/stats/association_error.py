"""How far a covariance, correlation or slope that a database computes in doubles may be off."""

from __future__ import annotations

import math
from typing import NamedTuple

from querygate.stats.numerics import UNIT


class VarianceRanges(NamedTuple):
    """Certified ranges of both variances, and how far the deviations that a database computes may be off."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    shift_x: float
    shift_y: float
    factor: float


def covariance_error(spread: VarianceRanges) -> float:
    """|C' - C| of docs/explanation/proofs/welford.md."""
    x, y = math.sqrt(spread.x_high), math.sqrt(spread.y_high)
    shift = spread.shift_x * y + spread.shift_y * x + spread.shift_x * spread.shift_y
    return (shift + spread.factor * (x + spread.shift_x) * (y + spread.shift_y)) * (1 + 8 * UNIT) + 1e-320


def _relative(shift: float, low: float, factor: float) -> float:
    """Relative error of a computed deviation that is at least sqrt(low)."""
    return shift / math.sqrt(low) * 2 + factor if low > 0.0 else math.inf


def correlation_error(spread: VarianceRanges) -> float:
    """Covariance and both deviations are off by small fractions of the deviations; infinite where the fractions may be
    large."""
    x, y = (
        _relative(shift, low, spread.factor)
        for shift, low in ((spread.shift_x, spread.x_low), (spread.shift_y, spread.y_low))
    )
    return 4 * (x + y + spread.factor + 4 * UNIT) if x + y < 0.01 else math.inf


def slope_error(spread: VarianceRanges) -> float:
    x = _relative(spread.shift_x, spread.x_low, spread.factor)
    if not x < 0.01:
        return math.inf
    size = math.sqrt(spread.y_high / spread.x_low)
    return 4 * (size * (x + spread.factor + 4 * UNIT) + spread.shift_y / math.sqrt(spread.x_low))
