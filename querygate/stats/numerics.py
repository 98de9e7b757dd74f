"""Sums whose error is known, and rounding that only ever goes outwards.

The one theorem used (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2): a sum evaluated by
any tree of height h differs from the real sum by at most gamma(h) * sum|x|, with gamma(h) = h u / (1 - h u). The order
in which numpy adds a long vector is not documented, so the height is forced here: rows of 128, then the row sums in
rows of 128, and so on. Inside a row any order is fine: its height is at most 127. Proof:
docs/explanation/proofs/numerics.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats, Ints

UNIT = 2.0**-53
"""Unit roundoff of double precision."""

SQUARABLE = 1e140
"""Numbers below this can be squared, multiplied by counts and added without overflow."""

ADDABLE = 1e300
"""Numbers below this can be multiplied by small constants and added without overflow."""

TINY = 5e-324
"""Smallest positive double: the most that one underflowing product may lose."""

EXACT = 2**53
"""Whole numbers up to here are doubles."""

INT64_SAFE = 2**62
GRID = 1024  # doubles that are multiples of 1/1024 are treated as whole numbers of that unit

_FEW, _SMALL = 8, 256
"""numpy adds this few doubles one after the other, and this few whole numbers are added faster without it."""

_ROW = 128
_PIECE = 8192
_PART = 512
_SLACK = 1.0 + 2.0**-48  # covers the few roundings made while a (positive) margin itself is computed


class RealBounds(NamedTuple):
    """The real number lies in [low, high]."""

    low: float
    high: float


def are_within(limit: float, *columns: Floats | Ints) -> bool:
    """Whether all numbers are smaller than the limit in magnitude; infinities are not."""
    return all(-limit < float(column.min()) and float(column.max()) < limit for column in columns)


def up(value: float, steps: int = 1) -> float:
    """The double `steps` above."""
    if steps == 1:
        return math.nextafter(value, math.inf)
    for _ in range(steps):
        value = math.nextafter(value, math.inf)
    return value


def down(value: float, steps: int = 1) -> float:
    """The double `steps` below."""
    if steps == 1:
        return math.nextafter(value, -math.inf)
    for _ in range(steps):
        value = math.nextafter(value, -math.inf)
    return value


def gamma(height: int) -> float:
    """An upper bound of h u / (1 - h u); infinite where the theorem says nothing."""
    product = height * UNIT
    return math.inf if product >= 0.5 else product / (1.0 - product) * _SLACK


def enclose(value: Fraction) -> RealBounds:
    """The doubles next to an exact quotient, equal to it where it is a double.

    >>> enclose(Fraction(15, 3))
    RealBounds(low=5.0, high=5.0)
    """
    nearest = to_float(value)
    if math.isinf(nearest):
        largest = np.finfo(np.float64).max
        return RealBounds(float(largest), nearest) if nearest > 0 else RealBounds(nearest, -float(largest))
    exact = Fraction(nearest)
    return RealBounds(nearest if exact <= value else down(nearest), nearest if exact >= value else up(nearest))


def quotient_above(dividend: int, divisor: int) -> float:
    """The upper end of `enclose` of a quotient of moderate whole numbers, but much faster; the divisor must be
    positive.

    >>> quotient_above(15, 3), quotient_above(1, 3) > 1 / 3
    (5.0, True)
    """
    nearest = dividend / divisor  # Python rounds the exact quotient
    above, below = nearest.as_integer_ratio()
    return nearest if above * divisor >= dividend * below else up(nearest)


def to_float(value: Fraction | int) -> float:
    """The nearest double; infinite instead of an error where there is none."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def pieces(size: int) -> Iterator[slice]:
    """Consecutive parts of a long array, small enough for what is computed from them to stay in the cache."""
    return (slice(start, start + _PIECE) for start in range(0, size, _PIECE))


def tree_sum(values: Floats) -> tuple[float, int]:
    """The sum, and a height that its evaluation did not exceed."""
    if values.size < _FEW:
        return reduce(add, values.tolist(), 0.0), max(values.size - 1, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        return quiet_sum(values)


def quiet_sum(values: Floats) -> tuple[float, int]:
    """The same for callers that have already silenced numpy's overflow warnings, which costs as much as a sum."""
    if values.size < _FEW:
        return reduce(add, values.tolist(), 0.0), max(values.size - 1, 0)
    height = 0
    while values.size > _ROW:
        whole = values.size - values.size % _ROW
        rows = np.empty(-(-values.size // _ROW))
        np.add.reduce(values[:whole].reshape(-1, _ROW), axis=1, out=rows[: whole // _ROW])
        if whole < values.size:
            rows[-1] = np.add.reduce(values[whole:])
        values = rows
        height += _ROW - 1
    return float(np.add.reduce(values)), height + max(values.size - 1, 0)


def sum_bounds(values: Floats, roundings: int = 0, underflows: int = 0) -> RealBounds:
    """Bounds of a real sum whose terms were computed with `roundings` roundings each, of which `underflows` may
    have lost a subnormal. Not finite: no bound on that side."""
    return _sized_bounds(values, roundings, underflows)[0]


def _sized_bounds(values: Floats, roundings: int, underflows: int) -> tuple[RealBounds, float]:
    """The same, and an upper bound of the sum of magnitudes."""
    with np.errstate(over="ignore", invalid="ignore"):
        return quiet_bounds(values, roundings, underflows)


def quiet_bounds(values: Floats, roundings: int, underflows: int) -> tuple[RealBounds, float]:
    """The same for callers that have already silenced numpy's overflow warnings."""
    total, height = quiet_sum(values)
    size, height_of_size = quiet_sum(np.abs(values))
    # Terms are known up to gamma(roundings) of their true size, so up to gamma(2 * roundings) of the computed one.
    size *= (1.0 + gamma(height_of_size)) * _SLACK
    margin = gamma(height + 2 * roundings) * size * _SLACK + underflows * values.size * TINY
    low, high = total - margin, total + margin
    if math.isnan(low) or math.isnan(high):
        return RealBounds(-math.inf, math.inf), size
    return RealBounds(low if margin == 0.0 else down(low), high if margin == 0.0 else up(high)), size


def totals(place: Ints, numbers: Floats | Ints, places: int) -> Floats:
    """The numbers of each place added up one after the other: exact for whole numbers below 2^53."""
    return np.bincount(place, numbers, places).astype(np.float64, copy=False)


class BoundsByPlace(NamedTuple):
    """The real sums lie in [low, high], place by place; infinite where there is no bound."""

    low: Floats
    high: Floats


def sums_by_place(values: Floats, place: Ints, places: int, roundings: int) -> BoundsByPlace:
    """Bounds of the real sums of the values of each place, whose terms were computed with `roundings` roundings each
    and may have lost a subnormal. Values are added a piece of each place at a time, so that the height of a long sum
    stays small."""
    pieces_of, number = place, 1 + values.size // _PART
    if number > 1:
        pieces_of = np.arange(values.size) // _PART * places + place
    total, size = (
        totals(pieces_of, each, number * places).reshape(number, places).sum(axis=0)
        for each in (values, np.abs(values))
    )
    height = min(values.size, _PART) + number
    margin = gamma(height + 2 * roundings) * (1.0 + 2.0 * gamma(height)) * _SLACK * size + values.size * TINY
    low, high = np.nextafter(total - margin, -np.inf), np.nextafter(total + margin, np.inf)
    return BoundsByPlace(np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high))


def dot_size(weights: Ints, values: Floats) -> tuple[RealBounds, float]:
    """Bounds of sum(weights * values), and an upper bound of sum(weights * |values|)."""
    with np.errstate(over="ignore", invalid="ignore"):
        bounds, size = _sized_bounds(weights * values, 2, underflows=1)
    return bounds, size * (1.0 + gamma(4)) * _SLACK + values.size * TINY


def dot_bounds(weights: Ints, values: Floats, roundings: int = 0) -> RealBounds:
    """Bounds of sum(weights * values); `roundings` counts those already in the values.

    >>> dot_bounds(np.array([2, 1]), np.array([0.25, 0.5])).low <= 1.0
    True
    """
    with np.errstate(over="ignore", invalid="ignore"):
        products = weights * values
    return sum_bounds(products, roundings + 2, underflows=1)


def exact_dot(weights: Ints, values: Ints) -> int:
    """sum(weights * values) without any rounding, however large."""
    if values.size < _SMALL:
        return sum(map(mul, weights.tolist(), values.tolist()))
    reach = max(abs(int(values.max())), abs(int(values.min()))) * exact_sum(np.abs(weights))
    if reach < INT64_SAFE:
        return int(np.add.reduce(weights * values))
    return sum(w * v for w, v in zip(weights.tolist(), values.tolist(), strict=True))


def exact_sum(values: Ints) -> int:
    """The sum without overflow."""
    if values.size < _SMALL:
        return sum(values.tolist())
    if max(abs(int(values.max())), abs(int(values.min()))) * values.size >= INT64_SAFE:
        return sum(values.tolist())
    return int(np.add.reduce(values))


def prefix_sums(values: Floats) -> tuple[Floats, int]:
    """Sums of the first 0, 1, ..., n values, and a height that none of them exceeded: two levels of blocks."""
    block = max(16, math.isqrt(values.size))
    rows = -(-values.size // block)
    padded = np.zeros(rows * block)
    padded[: values.size] = values
    inner = np.cumsum(padded.reshape(rows, block), axis=1)
    outer = np.concatenate([[0.0], np.cumsum(inner[:, -1])[:-1]]) if rows else np.zeros(0)
    sums = np.concatenate([[0.0], (inner + outer[:, None]).ravel()[: values.size]])
    return sums, block + rows + 1


def centred(values: Floats | Ints, centre: float, side: float) -> Floats:
    """values - centre as doubles, rounded towards `side` (an infinity) where it is not exact."""
    if np.issubdtype(values.dtype, np.integer) and float(np.max(np.abs(values))) >= EXACT / 2:
        return np.nextafter(np.nextafter(values.astype(np.float64) - centre, side), side)
    doubles = values.astype(np.float64)
    difference: Floats = doubles - centre
    # Knuth's two-sum: the error of the subtraction, exactly.
    back = difference - doubles
    error = (doubles - (difference - back)) - (centre + back)
    wrong = np.flatnonzero(error > 0.0 if side > 0.0 else error < 0.0)
    difference[wrong] = np.nextafter(difference[wrong], side)
    return difference


def whole_units(values: Floats, most: Ints) -> Ints | None:
    """The values as whole numbers of 1/GRID, if they are that and every partial sum of `most` of each is exact.

    Doubles on a dyadic grid add without rounding in every order as long as the sum of magnitudes stays below 2^53
    units, which is what makes exact answers possible on columns of doubles.
    """
    if not values.size:
        return values.astype(np.int64)
    first = values[:64] * GRID if are_within(ADDABLE, values) else np.array([0.5])
    if np.any(first != np.floor(first)):  # the usual reason, quickly checked
        return None
    reach = max(-float(values.min()), float(values.max())) * GRID
    if not reach * float(exact_sum(most)) < EXACT:
        return None
    scaled = values * GRID
    units = scaled.astype(np.int64)
    return units if bool(np.all(units == scaled)) else None
