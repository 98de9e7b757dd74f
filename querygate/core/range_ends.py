"""A range as a person reads it: sensible digits, and rounding that never moves an end inwards."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

ROUNDED = " (rounded)"
"""Follows a number that all of a range rounds to."""

_DIGITS = 6  # significant digits that are worth reading
_NEAREST = Decimal("1e-300")  # nearer to 0 no program agrees with another
_WIDE = Context(prec=800)  # enough for all digits of a double
_TRIED = 4  # digits more that are tried, where a value is so near to the middle of two that its ends part


def in_words(low: float, high: float) -> str:
    """The range in words: one number where it is exact, or where all of it rounds to that number.

    >>> in_words(127.41237, 131.88811), in_words(30.5, 30.5)
    ('127.41 .. 131.89', '30.5 exactly')
    >>> in_words(24.5009071, 24.5009074), in_words(30.499999999999996, 30.500000000000004)
    ('24.5009 (rounded)', '30.5 (rounded)')
    """
    if low == high:
        return f"{_exactly(low)} exactly"
    one = _rounded_value(low, high)
    return f"{one}{ROUNDED}" if one is not None else " .. ".join(shown(low, high))


def on_grid(end: float | None, digits: int, *, upwards: bool) -> float:
    """The first number of so many digits after the point at or above an end, or at or below it; as the double that a
    database makes of it.

    >>> on_grid(130.19999999999996, 1, upwards=True), on_grid(-0.05000000000000001, 2, upwards=False)
    (130.2, -0.06)
    """
    if end is None or not math.isfinite(end):
        return math.nan if end is None else end
    scale = 10**digits
    near = round(Fraction(end) * scale)
    tried = [near + step for step in ((-1, 0, 1) if upwards else (1, 0, -1))]
    found: float = next(n / scale for n in tried if (n / scale >= end if upwards else n / scale <= end))
    return found


def shown(low: float, high: float) -> tuple[str, str]:
    """Both ends with the digits that matter beside the width, rounded outward. Whole numbers stay as they are.

    An end that is nearer to 0 than those digits tell keeps digits of its own: -8e-28 is not -10.

    >>> shown(127.41237, 131.88811), shown(-8e-28, 5130.2)
    (('127.41', '131.89'), ('-8e-28', '5140'))
    >>> shown(2, 2), shown(0.1, 0.1), shown(1.0, 1.0000000000000002)
    (('2', '2'), ('0.1', '0.1'), ('1', '1.000001'))
    """
    if (isinstance(low, int) and isinstance(high, int)) or low == high:
        return _exactly(low), _exactly(high)
    power = _power(low, high)
    return _end(low, power, math.floor), _end(high, power, math.ceil)


def near(value: float, low: float, high: float) -> str:
    """A number of a range with the digits that matter beside its width.

    >>> near(129.64183, 127.41237, 131.88811), near(130, 127, 131)
    ('129.64', '130')
    """
    if isinstance(value, int) or not math.isfinite(value):
        return _exactly(value)
    power = _power(low, high)
    return _text(Decimal(round(Fraction(value) / Fraction(10) ** power)).scaleb(power, _WIDE))


def _power(low: float, high: float) -> int:
    """The place of the last digit: three digits of the width, but no more than are worth reading."""
    finite = [abs(Decimal(end)) for end in (low, high) if math.isfinite(end)]
    finest = min(Decimal(1), sum(finite, Decimal(0))).adjusted() - _DIGITS
    if len(finite) < 2:
        return finest
    return max((Decimal(high) - Decimal(low)).adjusted() - 2, finest)


def _rounded_value(low: float, high: float) -> str | None:
    """The number that every value of a range rounds to; None where the range is wider than the digits that are shown.

    Sound: both ends round to it, and rounding is monotone.
    """
    if isinstance(low, int) or isinstance(high, int) or not (math.isfinite(low) and math.isfinite(high)):
        return None
    size = max(abs(Decimal(low)), abs(Decimal(high)))
    if Decimal(high) - Decimal(low) > Decimal(1).scaleb(min(0, size.adjusted()) - _DIGITS):
        return None
    last = min(0, size.adjusted() - _DIGITS + 1)
    for power in range(last, last - _TRIED, -1):
        first, second = (round(Fraction(end) / Fraction(10) ** power) for end in (low, high))
        if first == second != 0:
            return _text(Decimal(first).scaleb(power, _WIDE))
    return None


def _exactly(value: float) -> str:
    """The shortest text that is read back as this very double."""
    return repr(value + 0).removesuffix(".0")  # no negative zero


def _end(value: float, power: int, towards: Callable[[Fraction], int]) -> str:
    """A multiple of 10^power at or beyond the value, or the value itself where its own text has no more digits.

    In fractions, because Decimal's own division rounds.
    """
    if not math.isfinite(value):
        return _exactly(value)
    if value and abs(Decimal(value)) < _NEAREST:
        return _text(towards(Fraction(value) / Fraction(_NEAREST)) * _NEAREST)
    if value and abs(Decimal(value)) < Decimal(1).scaleb(power):
        power = Decimal(value).adjusted() - 1
    own = Decimal(repr(value + 0))
    if own == own.quantize(Decimal(1).scaleb(power), context=_WIDE):
        return _text(own)
    return _text(Decimal(towards(Fraction(value) / Fraction(10) ** power)).scaleb(power, _WIDE))


def _text(value: Decimal) -> str:
    """Without zeros that say nothing; as a power of ten where that is shorter to read."""
    if value and not -7 < value.adjusted() < 16:
        return f"{value.normalize():e}"
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
