"""Mantel-Haenszel estimates over strata of two-by-two tables, as ranges. Proof: models.md.

Each pooled measure is a quotient of two sums over strata. Its largest value is the l at which the largest sum of
(numerator - l denominator) is zero (Dinkelbach 1967). A stratum's part is monotone in each count (a quotient of linear
functions), so it is largest at a corner of the ranges. Corners are tables, so the ends are attained; they are computed
in fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np

from querygate.core.types import Range
from querygate.stats.models.coefficient_table import NORMAL
from querygate.stats.models.verified_numbers import Intervals
from querygate.stats.numerics import enclose

_ROUNDS = 100


class Counted(NamedTuple):
    """The least and most records."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Stratum:
    """Exposed with and without the outcome, unexposed with and without it."""

    exposed: tuple[Counted, Counted]
    unexposed: tuple[Counted, Counted]

    @property
    def counts(self) -> tuple[Counted, ...]:
        return (*self.exposed, *self.unexposed)

    @property
    def is_exact(self) -> bool:
        return all(count.least == count.most for count in self.counts)

    def corners(self) -> tuple[tuple[int, ...], ...]:
        """Every table at the ends of all ranges."""
        return tuple(product(*({count.least, count.most} for count in self.counts)))


Part = Callable[..., tuple[Fraction, Fraction]]
"""What a stratum adds to the numerator and to the denominator."""


def odds_part(a: int, b: int, c: int, d: int) -> tuple[Fraction, Fraction]:
    n = (a + b + c + d) or 1
    return Fraction(a * d, n), Fraction(b * c, n)


def risk_part(a: int, b: int, c: int, d: int) -> tuple[Fraction, Fraction]:
    n = (a + b + c + d) or 1
    return Fraction(a * (c + d), n), Fraction(c * (a + b), n)


def difference_part(a: int, b: int, c: int, d: int) -> tuple[Fraction, Fraction]:
    n = (a + b + c + d) or 1
    return Fraction(a * (c + d) - c * (a + b), n), Fraction((a + b) * (c + d), n)


PARTS: dict[str, Part] = {"odds_ratio": odds_part, "risk_ratio": risk_part, "risk_difference": difference_part}


def pooled_range(strata: Sequence[Stratum], measure: str) -> Range:
    """The range of a pooled measure; NULL where no divisor is possible, infinite where the divisor may be zero.

    Requires: whole numbers.
    Ensures:  sharp, exact up to one rounding outwards, where the divisor cannot be zero.
    """
    part = PARTS[measure]
    tables = [[part(*corner) for corner in stratum.corners()] for stratum in strata]
    least_divisor = sum((min(under for _, under in corners) for corners in tables), Fraction(0))
    if not any(under for corners in tables for _, under in corners):
        return Range.null()
    if not least_divisor:
        ends = {"risk_difference": (-1.0, 1.0)}.get(measure, (0.0, math.inf))
        low = largest_quotient(tables, sign=-1) if measure != "risk_difference" else None
        return Range(ends[0] if low is None else low, ends[1], None, None, sharp=False, may_be_null=True)
    high, low = largest_quotient(tables, sign=1), largest_quotient(tables, sign=-1)
    if high is None or low is None:
        return Range(-math.inf, math.inf, None, None, sharp=False, may_be_null=True)
    return Range(low, high, low, high)


def largest_quotient(tables: Sequence[Sequence[tuple[Fraction, Fraction]]], sign: int) -> float | None:
    """The largest quotient of sums over all choices of a corner in each stratum, or the least (sign -1), outwards.

    Newton's method on a convex, piecewise linear function: it ends at the quotient of the best choice. None where a
    choice has no divisor."""
    chosen = [max(corners, key=lambda pair: pair[1]) for corners in tables]
    for _ in range(_ROUNDS):
        under = sum((pair[1] for pair in chosen), Fraction(0))
        if not under:
            return None
        value = sum((pair[0] for pair in chosen), Fraction(0)) / under
        best = [max(corners, key=lambda pair: sign * (pair[0] - value * pair[1])) for corners in tables]
        gain = sum((sign * (over - value * under) for over, under in best), Fraction(0))
        if gain <= 0:
            return enclose(value).high if sign > 0 else enclose(value).low
        chosen = best
    return None


# -- confidence limits -----------------------------------------------------------------------------------------


def log_error(strata: Sequence[Stratum], measure: str) -> Intervals | None:
    """The standard error of the logarithm of a pooled ratio, outwards; None where it cannot be bounded.

    For odds ratios Robins, Breslow and Greenland (1986); for risk ratios Greenland and Robins (1985).
    """
    low, high = ([[getattr(count, end) for count in stratum.counts] for stratum in strata] for end in ("least", "most"))
    counts = Intervals(np.array(low, np.float64), np.array(high, np.float64))
    a, b, c, d = (Intervals(counts.low[:, k], counts.high[:, k]) for k in range(4))
    n = a + b + c + d
    there = counts.high.sum(axis=1) > 0
    a, b, c, d, n = (part[there] for part in (a, b, c, d, n))
    if not (n.low > 0).all():
        return None
    variance = (_odds_variance if measure == "odds_ratio" else _risk_variance)(a, b, c, d, n)
    return variance.at_least(0.0).sqrt() if variance.is_bounded else None


def _odds_variance(a: Intervals, b: Intervals, c: Intervals, d: Intervals, n: Intervals) -> Intervals:
    p, q = (a + d).over(n), (b + c).over(n)
    r, s = (a * d).over(n), (b * c).over(n)
    over, under = r.total(), s.total()
    two = Intervals.of(np.array(2.0))
    first = (p * r).total().over(two * over.square())
    second = (p * s + q * r).total().over(two * over * under)
    third = (q * s).total().over(two * under.square())
    return first + second + third


def _risk_variance(a: Intervals, b: Intervals, c: Intervals, d: Intervals, n: Intervals) -> Intervals:
    exposed, unexposed = a + b, c + d
    top = (exposed * unexposed * (a + c) - a * c * n).over(n.square())
    numerator, denominator = (a * unexposed).over(n).total(), (c * exposed).over(n).total()
    return top.total().at_least(0.0).over(numerator * denominator)


def limits(ratio: Range, error: Intervals | None, *, exact: bool) -> tuple[Range, Range]:
    """Both 95 % confidence limits of a pooled ratio; `exact` says that all counts are known."""
    unknown = Range(0.0, math.inf, None, None, sharp=False, may_be_null=ratio.may_be_null)
    if error is None or not ratio.low or ratio.high is None or not math.isfinite(ratio.high):
        return unknown, unknown
    away = error * Intervals.of(np.array(NORMAL)).wider(1e-12)
    value = Intervals(np.array(float(ratio.low)), np.array(float(ratio.high)))
    found = [value * (-away).exp(), value * away.exp()]
    low, high = (Range(float(end.low), float(end.high), None, None, sharp=exact) for end in found)
    return low, high
