"""Rounding that never moves an end of a range inwards."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction


def shown(low: float, high: float) -> tuple[str, str]:
    """The range for a person: digits that matter beside its width, rounded outward. Whole numbers stay as they are.

    >>> shown(127.41237, 131.88811)
    ('127.41', '131.89')
    >>> shown(2, 2), shown(0.1, 0.1), shown(1.0, 1.0000000000000002)
    (('2', '2'), ('0.1', '0.1'), ('1', '1.000001'))
    """
    if isinstance(low, int) and isinstance(high, int):
        return str(low), str(high)
    if not (math.isfinite(low) and math.isfinite(high)) or low == high:
        return _exactly(low), _exactly(high)
    width = Decimal(high) - Decimal(low)
    finest = min(Decimal(1), abs(Decimal(high)) + abs(Decimal(low))).adjusted() - 6
    power = max(width.adjusted() - 2, finest)
    return _rounded(low, power, math.floor), _rounded(high, power, math.ceil)


def _exactly(value: float) -> str:
    """The shortest text that is read back as this very double."""
    return repr(value).removesuffix(".0")


def _rounded(value: float, power: int, towards: Callable[[Fraction], int]) -> str:
    """A multiple of 10^power at or beyond the value; in fractions, because Decimal's own division rounds."""
    steps = towards(Fraction(value) / Fraction(10) ** power)
    text = f"{Decimal(steps).scaleb(power):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
