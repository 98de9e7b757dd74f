"""Least squares with numeric covariates, from moments of covariate patterns: numbers of records, means, covariances.

The normal equations G b = h are sums of parts between and within patterns. With coefficients b0 in the middle, b = b0 +
d and V near the inverse of G, for every linear function f

    f . d = (V f) . (h - G b0) + (f - G V f) . d,

the first term a sum over patterns whose range is known, the second small (Krawczyk 1969, Rump 1983).
Proof: docs/explanation/proofs/models.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy  # loaded when it is first needed

from querygate.core.types import Floats, Range
from querygate.stats.models.coefficient_table import FIGURES, SOFTWARE, Figure
from querygate.stats.models.logistic_and_poisson import Trouble
from querygate.stats.models.verified_numbers import Intervals
from querygate.stats.models.wald import tails, wald_p
from querygate.stats.numerics import gamma

_GROWTHS = 60
_SWEEPS = 4


@dataclass(frozen=True, slots=True)
class Moments:
    """For each pattern: its row of the design, its number of records, and the moments of their numbers.

    `means` and `covariances` are of the outcome first, then of the covariates: covariances[a][b] by pattern.
    """

    design: Floats
    records: Intervals
    means: tuple[Intervals, ...]
    covariances: tuple[tuple[Intervals, ...], ...]

    @property
    def middle(self) -> tuple[Floats, list[Floats], list[list[Floats]]]:
        """One choice of all moments, which need not be those of any data."""
        return (
            _middle(self.records),
            [_middle(mean) for mean in self.means],
            [[_middle(one) for one in row] for row in self.covariances],
        )


def _middle(part: Intervals) -> Floats:
    return part.low / 2 + part.high / 2


class Solution(NamedTuple):
    """Least squares in doubles: coefficients, the inverse of the normal matrix, residual sum of squares."""

    coefficients: Floats
    inverse: Floats
    residual: float


def solve(design: Floats, records: Floats, means: list[Floats], covariances: list[list[Floats]]) -> Solution | None:
    """Not proved; None where nothing is determined."""
    columns = np.column_stack([design, *means[1:]])
    size, numbers = design.shape[1], len(means) - 1
    normal = (columns * records[:, None]).T @ columns
    right = (columns * records[:, None]).T @ means[0]
    for a in range(numbers):
        right[size + a] += float(records @ covariances[a + 1][0])
        for b in range(numbers):
            normal[size + a, size + b] += float(records @ covariances[a + 1][b + 1])
    try:
        inverse = np.linalg.inv(normal).astype(np.float64)
    except np.linalg.LinAlgError:
        return None
    found = inverse @ right
    if not (np.isfinite(inverse).all() and np.isfinite(found).all()) or np.linalg.cond(normal) > 1e13:
        return None
    total = float(records @ (means[0] ** 2 + covariances[0][0]))
    return Solution(found, (inverse + inverse.T) / 2, max(0.0, total - float(found @ right)))


def moment_figures(
    given: Moments, likely: Solution | None, records: float, *, exact: bool
) -> list[dict[str, Figure]] | Trouble:
    """The figures of each coefficient, those of the design first; or why there are none.

    `likely` is the solution of the likely moments, and `records` how many they are of.
    """
    moments, shifts = _centred(given)
    begun = solve(moments.design, *moments.middle)
    if begun is None:
        return "undetermined"
    box = _Box(moments, begun)
    away = box.contracted()
    if away is None:
        return "wide"
    size = moments.design.shape[1]
    functions = np.eye(size + len(shifts))
    functions[0, size:] = -np.array(shifts)  # the intercept of numbers that were not centred
    freedom = moments.records.total() - Intervals.of(np.array(float(functions.shape[0])))
    if not float(freedom.low) >= 0.5:
        return "wide"
    spread = box.residual(away).over(freedom).at_least(0.0)
    ends = [float(scipy.special.stdtrit(float(df), 0.975)) for df in (freedom.high, freedom.low)]
    steps = Intervals(np.array(ends[0]), np.array(ends[1])).wider(1e-12 * ends[1])
    rows = []
    for k, function in enumerate(functions):
        value, variance = box.range(function, away), box.variance(function)
        if variance is None:
            return "wide"
        error = (variance * spread).sqrt()
        slack = SOFTWARE * (float(error.high) if math.isfinite(float(error.high)) else float(error.low))
        value, error = value.wider(slack + 1e-12 * float(value.magnitude)), error.wider(slack).at_least(0.0)
        made = (value, error, value - steps * error, value + steps * error, wald_p(value, error, freedom))
        points = _points(likely, k, records)
        rows.append(
            {name: _figure(found, points.get(name), exact=exact) for name, found in zip(FIGURES, made, strict=True)}
        )
    return rows


def _points(likely: Solution | None, k: int, records: float) -> dict[str, float]:
    if likely is None or records <= likely.coefficients.size:
        return {}
    freedom = records - likely.coefficients.size
    error = math.sqrt(max(0.0, float(likely.inverse[k, k])) * likely.residual / freedom)
    value, step = float(likely.coefficients[k]), float(scipy.special.stdtrit(freedom, 0.975))
    p_value = float(tails(np.array(abs(value) / error), freedom)) if error > 0 else 0.0
    return dict(zip(FIGURES, (value, error, value - step * error, value + step * error, p_value), strict=True))


def _figure(found: Intervals, likely: float | None, *, exact: bool) -> Figure:
    low, high = float(found.low), float(found.high)
    known = likely is not None and math.isfinite(likely)
    return Figure(Range(low, high, None, None, sharp=exact), min(max(likely or 0.0, low), high) if known else None)


def _centred(given: Moments) -> tuple[Moments, list[float]]:
    """Covariates about numbers in their middle, which does not change their coefficients."""
    shifts = []
    means = [given.means[0]]
    for mean in given.means[1:]:
        shift = float(np.average(_middle(mean), weights=np.maximum(_middle(given.records), 1e-9)))
        shifts.append(shift)
        means.append(mean - Intervals.of(np.full(mean.low.shape, shift)))
    return Moments(given.design, given.records, tuple(means), given.covariances), shifts


class _Box:
    """The equations about one solution."""

    def __init__(self, moments: Moments, begun: Solution) -> None:
        self._moments, self._begun = moments, begun
        self._size = moments.design.shape[1]
        unit = np.eye(begun.coefficients.size)
        self._remainders = np.stack([self._remainder(begun.inverse @ row, row) for row in unit])
        self._sums = [self._residual_sum(begun.inverse @ row) for row in unit]

    def _line(self, coefficients: Floats) -> Intervals:
        """x . b of each pattern, of its means."""
        design, numbers = self._moments.design, coefficients[self._size :]
        found = (Intervals.of(design) * Intervals.of(coefficients[: self._size])).total()
        for mean, number in zip(self._moments.means[1:], numbers, strict=True):
            found = found + mean * Intervals.of(np.array(number))
        return found

    def _within(self, one: Floats, other: Floats) -> Intervals:
        """Covariance within patterns of one linear function of the numbers with another."""
        found = Intervals.of(np.zeros(self._moments.design.shape[0]))
        for a, first in enumerate(one):
            for b, second in enumerate(other):
                if first and second:
                    found = found + self._moments.covariances[a][b] * (
                        Intervals.of(np.array(first)) * Intervals.of(np.array(second))
                    )
        return found

    def _residual_sum(self, row: Floats) -> Intervals:
        """The range of v . (h - G b0)."""
        centre = self._begun.coefficients
        beside = self._moments.means[0] - self._line(centre)
        inside = self._within(np.append(0.0, row[self._size :]), np.append(1.0, -centre[self._size :]))
        return (self._moments.records * (self._line(row) * beside + inside)).total()

    def _remainder(self, row: Floats, function: Floats) -> Floats:
        """Bounds of |f - G v|, number by number."""
        line, records = self._line(row), self._moments.records
        found = []
        for k in range(self._size):
            found.append((records * line * Intervals.of(self._moments.design[:, k])).total())
        for a, mean in enumerate(self._moments.means[1:]):
            unit = np.zeros(len(self._moments.means))
            unit[a + 1] = 1.0
            inside = self._within(unit, np.append(0.0, row[self._size :]))
            found.append((records * (mean * line + inside)).total())
        return (Intervals.of(function) - Intervals.stack(found)).magnitude

    def contracted(self) -> Floats | None:
        """Bounds of |d| that imply smaller ones."""
        start = np.array([float(part.magnitude) for part in self._sums])
        return self._shrunk(start)

    def _shrunk(self, start: Floats) -> Floats | None:
        """a with start + M a < a."""
        away = start * 1.05 + 1e-12 * (1 + start)
        for _ in range(_GROWTHS):
            reached = np.nextafter(start + self._spread(away), np.inf)
            if not np.isfinite(reached).all() or float(reached.max()) > 1e100:
                return None
            if (reached < away).all():
                for _ in range(_SWEEPS):
                    away = np.minimum(away, np.nextafter(start + self._spread(away), np.inf))
                return away
            away = np.maximum(away, reached * 1.2 + 1e-13)
        return None

    def _spread(self, away: Floats) -> Floats:
        found: Floats = (self._remainders @ away) * (1 + gamma(away.size + 4)) + 1e-300
        return found

    def range(self, function: Floats, away: Floats) -> Intervals:
        """Of a linear function of the coefficients."""
        row = self._begun.inverse @ function
        rest = float(self._remainder(row, function) @ away) * (1 + gamma(away.size + 4))
        value = (Intervals.of(function) * Intervals.of(self._begun.coefficients)).total()
        return value + self._residual_sum(row).wider(rest)

    def variance(self, function: Floats) -> Intervals | None:
        """Of f' G^-1 f: u = G^-1 f differs from V f by (I - V G) u, which M bounds."""
        row = self._begun.inverse @ function
        rounding = np.abs(self._begun.inverse) @ np.abs(function) * gamma(2 * row.size + 4)
        off = self._shrunk(self._spread(np.abs(row) + rounding) + rounding)
        if off is None:
            return None
        middle = (Intervals.of(function) * Intervals.of(row)).total()
        return middle.wider(float(np.abs(function) @ off) * (1 + gamma(row.size + 4))).at_least(0.0)

    def residual(self, away: Floats) -> Intervals:
        """The sum of squared residuals: at most what any coefficients leave, at least what lies within patterns."""
        coefficients = self._begun.coefficients
        beside = self._moments.means[0] - self._line(coefficients)
        ones = np.append(1.0, -coefficients[self._size :])
        inside = self._within(ones, ones).at_least(0.0)
        most = (self._moments.records * (beside.square() + inside)).total()
        numbers = [Intervals(np.array(c - a), np.array(c + a)) for c, a in zip(coefficients, away, strict=True)]
        least = self._moments.covariances[0][0]
        for a, number in enumerate(numbers[self._size :]):
            least = least - (self._moments.covariances[0][a + 1] * number) * Intervals.of(np.array(2.0))
            for b, other in enumerate(numbers[self._size :]):
                least = least + self._moments.covariances[a + 1][b + 1] * number * other
        low = (self._moments.records * least.at_least(0.0)).total()
        return Intervals(np.maximum(low.low, 0.0), np.maximum(most.high, 0.0))
