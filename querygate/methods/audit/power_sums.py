"""Second moments: a variance with the sum over the same set is a total of squares, and two power sums tell two people.

    sum of x^2 = n * var_pop + (sum of x)^2 / n

Squares are a measure of their own, to which every test applies. Where both sums of a group of two are fixed, its values
are the roots of a quadratic equation: t power sums fix t values (Newton's identities).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction

from querygate.methods.audit.totals import VARIANCE, Inference, QueryTotal

LOWER, HIGHER = "the lower of two", "the higher of two"


def with_squares(totals: Sequence[QueryTotal]) -> list[QueryTotal]:
    """The totals of a view, its variances as totals of squares where the view has the sum as well."""
    wanted = {(total.of, total.mark) for total in totals if total.extreme == VARIANCE}
    if not wanted:
        return list(totals)
    sums: dict[tuple[str, Hashable], QueryTotal] = {}
    for total in totals:
        key = (total.measure, total.mark)
        if not total.extreme and key in wanted and (key not in sums or sums[key].width is None):
            sums[key] = total
    return [
        _squares(total, sums[total.of, total.mark])
        if total.extreme == VARIANCE and (total.of, total.mark) in sums
        else total
        for total in totals
    ]


def _squares(spread: QueryTotal, of: QueryTotal) -> QueryTotal:
    found = replace(spread, extreme="", low=None, high=None, said="", beside=(of,))
    if spread.low is None or spread.high is None or of.low is None or of.high is None or not spread.records:
        return found
    least = Fraction(0) if of.low <= 0 <= of.high else min(of.low**2, of.high**2)
    low = spread.low + least / spread.records
    high = spread.high + max(of.low**2, of.high**2) / spread.records
    return replace(found, low=low, high=high, said=f"({spread.said} + ({of.said})^2/{spread.records})")


def two_values(total: Inference, squares: Inference) -> tuple[Inference, Inference] | None:
    """Both values of a group of two, from their sum and the sum of their squares, where these are exact."""
    if total.low is None or total.low != total.high or squares.low is None or squares.low != squares.high:
        return None
    under = 2 * squares.low - total.low**2
    root = _root(under) if under >= 0 else None
    if root is None:
        return None
    shown = f"sqrt(2*{squares.low} - {total.low}^2)"
    lower, higher = (total.low - root) / 2, (total.low + root) / 2
    return (
        Inference(f"{total.measure}, {LOWER}", lower, lower, f"({total.low} - {shown})/2"),
        Inference(f"{total.measure}, {HIGHER}", higher, higher, f"({total.low} + {shown})/2"),
    )


def _root(value: Fraction) -> Fraction | None:
    """The square root, where it is a fraction."""
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return root if root**2 == value else None
