"""Interval arithmetic on arrays: the hull of a function over boxes, never too narrow.

Whole numbers stay whole and exact; results that 64 bits might not hold are refused, as the database would fail on
them. Results in doubles that may have been rounded are moved one double outwards: the database rounds to nearest, which
is monotone, so what it computes from values inside the operands lies inside. Where each column occurs once the hull is
the exact range (Moore 1966); otherwise it is an outer bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Array, Bools, Floats

Ends: TypeAlias = Array
LARGEST = 2**62
_PARTS = 1024  # a quotient in whole parts of this size, times a whole number, is not rounded
LIBRARY = 8
"""Doubles by which two mathematical libraries may differ in EXP, LN, LOG and POWER (each is within 4 of the truth)."""


class Box(NamedTuple):
    """One interval per row."""

    low: Ends
    high: Ends

    @property
    def integer(self) -> bool:
        return bool(np.issubdtype(self.low.dtype, np.integer))


def as_doubles(box: Box) -> Box:
    """Whole numbers as doubles; those beyond 2^53 are rounded outwards."""
    if not box.integer:
        return box
    low, high = box.low.astype(np.float64), box.high.astype(np.float64)
    big = (np.abs(low) >= 2.0**53) | (np.abs(high) >= 2.0**53)
    return Box(np.where(big, np.nextafter(low, -np.inf), low), np.where(big, np.nextafter(high, np.inf), high))


def _hull(results: Sequence[Floats], exact: Sequence[Bools]) -> Box:
    """The least and the largest of results in doubles, each moved outwards unless it is exact: 0 stays 0."""
    low, high = np.minimum.reduce(results) + 0.0, np.maximum.reduce(results) + 0.0  # no negative zero
    if np.isnan(low).any() or np.isnan(high).any():
        raise _unbounded("Values in this expression may become too large.")
    low_rounded, high_rounded = (
        np.logical_or.reduce([(result == end) & ~sure for result, sure in zip(results, exact, strict=True)])
        for end in (low, high)
    )
    return Box(
        np.where(low_rounded, np.nextafter(low, -np.inf), low), np.where(high_rounded, np.nextafter(high, np.inf), high)
    )


def _are_whole(*numbers: Floats) -> Bools:
    """Whole numbers that doubles hold without rounding, and the numbers beside them too."""
    found: Bools = np.logical_and.reduce([(np.floor(x) == x) & (np.abs(x) < 2.0**53) for x in numbers])
    return found


def _whole(low: Ends, high: Ends, reach: Floats) -> Box:
    if reach.size and float(np.max(reach)) >= LARGEST:
        raise _unbounded("Whole numbers in this expression may become too large.")
    return Box(low, high)


def _unbounded(detail: str) -> UnsupportedSQL:
    return UnsupportedSQL("QG215", detail, "Divide or restrict the columns so that all values have an ordinary size.")


def _size(box: Box) -> Floats:
    """The largest magnitude of each row, as a double rounded up."""
    return np.maximum(np.abs(box.low.astype(np.float64)), np.abs(box.high.astype(np.float64)))


# -- functions ---------------------------------------------------------------------------------------------------


def add(a: Box, b: Box) -> Box:
    if a.integer and b.integer:
        return _whole(a.low + b.low, a.high + b.high, _size(a) + _size(b))
    a, b = as_doubles(a), as_doubles(b)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = [a.low + b.low, a.high + b.high]
    exact = [(x == 0) | (y == 0) | _are_whole(x, y, total) for x, y, total in zip(a, b, sums, strict=True)]
    return _hull(sums, exact)


def neg(a: Box) -> Box:
    return Box(-a.high, -a.low)


def sub(a: Box, b: Box) -> Box:
    return add(a, neg(b))


def mul(a: Box, b: Box) -> Box:
    whole = a.integer and b.integer
    if whole:
        _whole(a.low, a.high, _size(a) * _size(b))
    else:
        a, b = as_doubles(a), as_doubles(b)
    corners = [(x, y) for x in a for y in b]
    with np.errstate(over="ignore", invalid="ignore"):
        products = [x * y for x, y in corners]
    if whole:
        return Box(np.minimum.reduce(products), np.maximum.reduce(products))
    exact = [
        (x == 0) | (y == 0) | (np.abs(x) == 1) | (np.abs(y) == 1) | _are_whole(x, y, product)
        for (x, y), product in zip(corners, products, strict=True)
    ]
    return _hull(products, exact)


def div(a: Box, b: Box) -> Box:
    """Division as the database does it: in doubles, also for whole numbers."""
    a, b = as_doubles(a), as_doubles(b)
    if ((b.low <= 0) & (b.high >= 0)).any():
        raise UnsupportedSQL(
            "QG215",
            "The divisor may be zero, so no range can be computed.",
            "Keep the divisor away from zero with WHERE or HAVING, or divide by NULLIF(divisor, 0).",
        )
    none = b.low > b.high  # a row without a value holds an arbitrary one, and not zero
    b = Box(np.where(none, 1.0, b.low), np.where(none, 1.0, b.high))
    corners = [(x, y) for x in a for y in b]
    with np.errstate(over="ignore", invalid="ignore"):
        quotients = [x / y for x, y in corners]
        exact = [
            (x == 0) | (np.abs(y) == 1) | (_are_whole(x * _PARTS, y, quotient * _PARTS) & (quotient * y == x))
            for (x, y), quotient in zip(corners, quotients, strict=True)
        ]
    return _hull(quotients, exact)


def absolute(a: Box) -> Box:
    low = np.where((a.low <= 0) & (a.high >= 0), 0, np.minimum(np.abs(a.low), np.abs(a.high)))
    return Box(low.astype(a.low.dtype), np.maximum(np.abs(a.low), np.abs(a.high)))


def least(*boxes: Box) -> Box:
    boxes = _alike(boxes)
    return Box(np.minimum.reduce([b.low for b in boxes]), np.minimum.reduce([b.high for b in boxes]))


def greatest(*boxes: Box) -> Box:
    boxes = _alike(boxes)
    return Box(np.maximum.reduce([b.low for b in boxes]), np.maximum.reduce([b.high for b in boxes]))


def _alike(boxes: tuple[Box, ...]) -> tuple[Box, ...]:
    return boxes if all(b.integer for b in boxes) else tuple(as_doubles(b) for b in boxes)


def to_whole(a: Box) -> Box:
    """A cast to a whole number. Halves go to the even neighbour or away from zero: both are inside."""
    if a.integer:
        return a
    if float(np.max(_size(a), initial=0.0)) >= LARGEST:
        raise _unbounded("Numbers in this expression may become too large for whole numbers.")
    return Box(np.ceil(a.low - 0.5).astype(np.int64), np.floor(a.high + 0.5).astype(np.int64))


def single(a: Box, more: Box) -> Box:
    """A number that the database may have in single precision: between the nearest of those, and so many more roundings
    outwards."""
    ends = []
    for values, outwards in zip(as_doubles(a), (np.float32(-np.inf), np.float32(np.inf)), strict=True):
        with np.errstate(over="ignore"):
            found = values.astype(np.float32)
            inside = found > values if outwards < 0 else found < values
            found = np.where(inside, np.nextafter(found, outwards), found)
            for _ in range(int(more.low[0]) if more.low.size else 0):
                found = np.nextafter(found, outwards)
        ends.append(found.astype(np.float64))
    if not (np.isfinite(ends[0]) & np.isfinite(ends[1])).all():
        raise _unbounded("Numbers in this expression may become too large for FLOAT.")
    return Box(*ends)


def decimal(a: Box, digits: Box) -> Box:
    """A cast to a number with so many digits after the point, as the database does it: halves to the even neighbour,
    after a push of 1e-9 away from zero. Of a decimal that no double equals both neighbours are inside."""
    scale = 10.0 ** int(digits.low[0]) if digits.low.size else 1.0
    ends = []
    for values, outwards in zip(as_doubles(a), (-np.inf, np.inf), strict=True):
        moved = values * scale
        whole = np.rint(moved + np.sign(moved) * 1e-9)
        found = whole / scale
        ends.append(np.where(found * 4 == np.floor(found * 4), found, np.nextafter(found, outwards)))
    return Box(*ends)


def sign(a: Box) -> Box:
    return Box(np.sign(a.low).astype(np.int64), np.sign(a.high).astype(np.int64))


def _rising(function: Callable[[Floats], Floats], roundings: int = 0) -> Callable[[Box], Box]:
    """A non-decreasing function in doubles, computed by the database within `roundings` doubles of ours."""

    def apply(a: Box) -> Box:
        a = as_doubles(a)
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = function(a.low), function(a.high)
        for _ in range(roundings):
            low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
        if np.isnan(low).any() or not np.isfinite(high).all():
            raise _unbounded("Values in this expression may become too large.")
        return Box(low, high)

    return apply


def _within(function: Callable[[Box], Box], allowed: Callable[[Box], Bools], what: str) -> Callable[[Box], Box]:
    """A function that the database, like us, refuses outside a set of arguments."""

    def apply(a: Box) -> Box:
        if not allowed(a).all():
            raise UnsupportedSQL(
                "QG215", f"{what} may get a value it is not defined for.", "Restrict the values with WHERE."
            )
        return function(a)

    return apply


def round_to(a: Box, digits: Box) -> Box:
    """ROUND to a constant number of digits, halves away from zero: a rising function of the value."""
    places = int(digits.low[0]) if digits.low.size else 0
    scale = 10.0 ** abs(places)

    def rounded(values: Floats) -> Floats:
        # the database multiplies by a power of ten for digits after the point, and divides for digits before it
        found: Floats = half_away(values * scale) / scale if places > 0 else half_away(values / scale) * scale
        return found

    if not places:
        return _rising(half_away)(a)
    found = _rising(rounded, 2)(a)
    return Box(*(np.where(np.abs(end) < np.finfo(np.float64).tiny, 0.0, end) for end in found))  # 0 is 0


def half_away(values: Floats) -> Floats:
    whole: Floats = np.trunc(values)
    with np.errstate(invalid="ignore"):  # infinities stay as they are
        away: Floats = whole + np.where(np.abs(values - whole) >= 0.5, np.sign(values), 0.0)
    return away


def power(a: Box, exponent: Box) -> Box:
    """x to a constant power: for whole non-negative powers any x, else x > 0."""
    if not exponent.low.size:
        return as_doubles(a)
    p = float(exponent.low[0])
    a = as_doubles(a)
    if p >= 0 and p.is_integer() and p % 2 == 0:
        a = absolute(a)
    elif not (p.is_integer() and p >= 0) and not (a.low > 0).all():
        raise UnsupportedSQL(
            "QG215", "A power may get a value it is not defined for.", "Restrict the values with WHERE."
        )
    with np.errstate(over="ignore"):
        ends = [np.power(a.low, p), np.power(a.high, p)]
    low, high = np.minimum(*ends), np.maximum(*ends)
    for _ in range(LIBRARY):
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    rounded = np.zeros(low.shape, dtype=np.bool_)
    return _hull([low, high], [rounded, rounded])


FUNCTIONS: dict[str, Callable[..., Box]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "neg": neg,
    "abs": absolute,
    "least": least,
    "greatest": greatest,
    "double": as_doubles,
    "floor": _rising(np.floor),
    "ceil": _rising(np.ceil),
    "trunc": _rising(np.trunc),
    "round": round_to,
    "whole": to_whole,
    "single": single,
    "decimal": decimal,
    "sign": sign,
    "power": power,
    "exp": _rising(np.exp, LIBRARY),
    "sqrt": _within(_rising(np.sqrt, 1), lambda a: a.low >= 0, "SQRT"),
    "ln": _within(_rising(np.log, LIBRARY), lambda a: a.low > 0, "LN"),
    "log10": _within(_rising(np.log10, LIBRARY), lambda a: a.low > 0, "LOG"),
    "log2": _within(_rising(np.log2, LIBRARY), lambda a: a.low > 0, "LOG2"),
}
"""What `Call.name` may be."""
