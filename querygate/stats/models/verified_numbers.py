"""Arrays of intervals with every operation rounded outwards, so that results are proved. Proof: models.md.

A double operation is off by at most half a unit in the last place, so the next double on either side encloses the real
result. A sum of n terms is off by at most gamma(n) of the sum of magnitudes, in any order (Higham). exp is trusted with
eight units in the last place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from querygate.core.types import Bools, Floats
from querygate.stats.numerics import UNIT, gamma

_EXP = 16 * UNIT  # assumed relative error of exp: eight units in the last place
_TINY = 5e-324


@dataclass(frozen=True, slots=True)
class Intervals:
    """Real numbers that lie in [low, high], an array of each. An end may be infinite where nothing is known."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, values: ArrayLike) -> Intervals:
        """Doubles as they are.

        >>> (Intervals.of([0.1]) + Intervals.of([0.2])).low <= 0.3
        array([ True])
        """
        array = np.asarray(values, np.float64)
        return cls(array, array)

    @classmethod
    def stack(cls, parts: Sequence[Intervals]) -> Intervals:
        return cls(np.stack([part.low for part in parts]), np.stack([part.high for part in parts]))

    def __add__(self, other: Intervals) -> Intervals:
        return _outward(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Intervals) -> Intervals:
        return _outward(self.low - other.high, self.high - other.low)

    def __neg__(self) -> Intervals:
        return Intervals(-self.high, -self.low)

    def __mul__(self, other: Intervals) -> Intervals:
        with np.errstate(invalid="ignore", over="ignore"):
            products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        each = np.stack(products)
        low, high = np.where(np.isnan(each), -np.inf, each), np.where(np.isnan(each), np.inf, each)
        return _outward(low.min(axis=0), high.max(axis=0))

    def over(self, other: Intervals) -> Intervals:
        """The quotient, by a divisor that is above zero; unbounded where it may be zero."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            quotients = np.stack([a / b for a in self.ends for b in other.ends])
        safe = ~np.isnan(quotients).any(axis=0) & (other.low > 0)
        found = _outward(quotients.min(axis=0), quotients.max(axis=0))
        return Intervals(np.where(safe, found.low, -np.inf), np.where(safe, found.high, np.inf))

    @property
    def ends(self) -> tuple[Floats, Floats]:
        return self.low, self.high

    def __getitem__(self, place: int | slice | Bools) -> Intervals:
        return Intervals(np.asarray(self.low[place]), np.asarray(self.high[place]))

    def total(self, axis: int = -1) -> Intervals:
        """The sum along an axis."""
        factor = gamma(self.low.shape[axis] + 2)
        with np.errstate(invalid="ignore", over="ignore"):
            low = self.low.sum(axis) - factor * np.abs(self.low).sum(axis)
            high = self.high.sum(axis) + factor * np.abs(self.high).sum(axis)
        low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
        return _outward(low, high)

    def exp(self) -> Intervals:
        with np.errstate(over="ignore", under="ignore"):
            return Intervals(
                np.maximum(0.0, np.exp(self.low) * (1 - _EXP) - _TINY), np.exp(self.high) * (1 + _EXP) + _TINY
            )

    def sqrt(self) -> Intervals:
        """Of numbers that cannot be below zero, whatever their low end says."""
        found = _outward(np.sqrt(np.maximum(self.low, 0.0)), np.sqrt(np.maximum(self.high, 0.0)))
        return Intervals(np.maximum(found.low, 0.0), found.high)

    def square(self) -> Intervals:
        largest = np.maximum(np.abs(self.low), np.abs(self.high))
        least = np.where((self.low <= 0) & (self.high >= 0), 0.0, np.minimum(np.abs(self.low), np.abs(self.high)))
        with np.errstate(over="ignore"):
            found = _outward(least * least, largest * largest)
        return Intervals(np.maximum(found.low, 0.0), found.high)

    def at_least(self, least: float) -> Intervals:
        """The same numbers, known not to be below `least`."""
        return Intervals(np.maximum(self.low, least), np.maximum(self.high, least))

    def met(self, other: Intervals) -> Intervals:
        """The intersection of both."""
        return Intervals(np.maximum(self.low, other.low), np.minimum(self.high, other.high))

    def wider(self, by: Floats | float) -> Intervals:
        return _outward(self.low - by, self.high + by)

    @property
    def magnitude(self) -> Floats:
        """The largest absolute value."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())


def _outward(low: Floats, high: Floats) -> Intervals:
    return Intervals(np.nextafter(low, -np.inf), np.nextafter(high, np.inf))


def dot(numbers: Floats, intervals: Intervals) -> Intervals:
    """numbers @ intervals: each row of numbers against intervals of its length."""
    return (Intervals.of(numbers) * intervals).total()


def inverse_diagonal(rows: Floats, weights: Floats, *, upper: bool) -> Floats | None:
    """A bound of the diagonal of the inverse of sum w x x', above or below it; None where none can be proved.

    With an approximate inverse R and E = I - R G, the inverse is (I - E)^-1 R, so it differs from R by at most
    e / (1 - e) times the largest number in the column of R, e the largest row sum of |E|.
    """
    size = rows.shape[1]
    gram = (rows * weights[:, None]).T @ rows
    try:
        found = np.linalg.inv(gram).astype(np.float64)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(found).all():
        return None
    pairs = Intervals.of(rows[:, :, None]) * Intervals.of(rows[:, None, :])
    exact = (pairs * Intervals.of(weights[:, None, None])).total(axis=0)
    error = Intervals.stack(
        [Intervals.of(np.eye(size)[k]) - _row_times(found[k], exact) for k in range(size)]
    ).magnitude
    e = float(np.nextafter(error.sum(axis=1) * (1 + gamma(size + 2)), np.inf).max())
    if not e < 0.5:
        return None
    margin = np.nextafter(e / (1 - e) * (1 + 8 * UNIT) * np.abs(found).max(axis=0), np.inf)
    diagonal: Floats = np.diag(found)
    bound: Floats = np.nextafter(diagonal + margin, np.inf) if upper else np.nextafter(diagonal - margin, -np.inf)
    return bound


def _row_times(row: Floats, matrix: Intervals) -> Intervals:
    """row @ matrix."""
    return (Intervals.of(row[:, None]) * matrix).total(axis=0)
