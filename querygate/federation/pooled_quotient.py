"""A mean or a share over all members: the largest and the least quotient of two totals that the members leave open.

A member tells the numerator, the denominator and their quotient, each as a range. What the three leave open together is
a polygon in the plane of denominator and numerator. Over all members the largest quotient of the sums is the root of
Dinkelbach's method (Management Science 13, 1967): at each step every member takes the corner that is best for the
quotient found so far. Corners are exact fractions, so the method ends, and at the sharpest end that those ranges allow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from querygate.client.answer import Range
from querygate.federation.pooled_range import NOTHING, Pooled, outward

Corner = tuple[Fraction, Fraction]
"""Denominator and numerator."""


@dataclass(frozen=True, slots=True)
class QuotientParts:
    """What one member tells of a quotient, whose denominator is a number of records: without any, the numerator has
    nothing either. With records the numerator may be NULL: databases count no condition that is unknown of all."""

    numerator: Range
    denominator: Range
    quotient: Range

    @property
    def may_be_absent(self) -> bool:
        """Can there be no record at all? Then the member adds nothing."""
        return self.denominator.may_be_null or self.denominator.low == 0

    @property
    def least(self) -> Any:
        """Of a denominator that is there."""
        return max(self.denominator.low, 1)  # type: ignore[type-var]


def pool_quotients(parts: Sequence[QuotientParts]) -> Pooled:
    some = [part for part in parts if part.denominator.high]
    if not some:
        return NOTHING
    if any(not math.isfinite(part.denominator.high) or part.least <= 0 for part in some):  # type: ignore[arg-type]
        low, high = -math.inf, math.inf
    else:
        low, high = -_largest(some, -1), _largest(some, 1)
    ends = [end for part in some for end in (part.quotient.low, part.quotient.high) if end is not None]
    low, high = outward(low, high, [*ends, 0.0])
    exact_one = len(parts) == 1 and some[0].quotient.sharp
    return Pooled(
        low,
        high,
        _estimate(some, low, high),
        sharp=low == high or exact_one,
        may_be_null=all(part.may_be_absent or part.numerator.may_be_null for part in parts),
    )


def _largest(parts: Sequence[QuotientParts], sign: int) -> Any:
    """The largest quotient of the totals, of numerators with this sign."""
    corners = [_corners(part, sign) for part in parts]
    if any(not found for found in corners):
        return math.inf  # a numerator without a bound
    best = max(numerator / denominator for found in corners for denominator, numerator in found if denominator)
    free = [part.may_be_absent for part in parts]
    best = best if all(free) else min(top / bottom for found in corners for bottom, top in found if bottom)
    while True:
        taken = [_best_corner(found, best, absent) for found, absent in zip(corners, free, strict=True)]
        bottom, top = sum((one[0] for one in taken), Fraction(0)), sum((one[1] for one in taken), Fraction(0))
        if top - best * bottom <= 0:
            return best
        best = top / bottom


def _best_corner(corners: Sequence[Corner], quotient: Fraction, absent: bool) -> Corner:
    choices = [*corners, (Fraction(0), Fraction(0))] if absent else corners
    return max(choices, key=lambda corner: corner[1] - quotient * corner[0])


def _corners(part: QuotientParts, sign: int) -> list[Corner]:
    """The upper corners of what a member leaves open: numerators as large as they may be for each denominator."""
    bounds: list[tuple[Fraction, Fraction]] = []  # numerator <= slope * denominator + rest
    for found, of_denominator in ((part.quotient, True), (part.numerator, False)):
        end = found.high if sign > 0 else found.low
        if end is not None and math.isfinite(end):  # type: ignore[arg-type]
            value = Fraction(end) * sign  # type: ignore[arg-type]
            bounds.append((value, Fraction(0)) if of_denominator else (Fraction(0), value))
    if not bounds:
        return []
    least, most = Fraction(part.least), Fraction(part.denominator.high)  # type: ignore[arg-type]
    places = {least, most}
    for (slope, rest), (other_slope, other_rest) in pairwise(bounds):
        if slope != other_slope:
            crossing = (other_rest - rest) / (slope - other_slope)
            places |= {crossing} if least < crossing < most else set()
    return [(place, min(slope * place + rest for slope, rest in bounds)) for place in sorted(places)]


def _estimate(parts: Sequence[QuotientParts], low: Any, high: Any) -> Any:
    tops, bottoms = [part.numerator.estimate for part in parts], [part.denominator.estimate for part in parts]
    bottoms = [
        part.denominator.low if part.denominator.is_exact else guess for part, guess in zip(parts, bottoms, strict=True)
    ]
    if None in tops or None in bottoms or not sum(bottoms):  # type: ignore[arg-type]
        return None
    return min(max(sum(tops) / sum(bottoms), low), high)  # type: ignore[arg-type]
