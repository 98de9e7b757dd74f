"""Floats and the numbers they stand for."""

from __future__ import annotations

import math
from fractions import Fraction


def exact(number: float | Fraction) -> Fraction:
    """The number that a float is written as: 0.1 is one tenth, not the double next to it. For what people declare.

    >>> exact(0.1), exact(2)
    (Fraction(1, 10), Fraction(2, 1))
    """
    return Fraction(number) if isinstance(number, Fraction | int) else Fraction(repr(float(number)))


def at_least(number: Fraction) -> float:
    """A float that is written as no less than the number."""
    near = float(number)
    return near if exact(near) >= number else math.nextafter(near, math.inf)


def rounded_up(number: Fraction) -> float:
    """The least float that is no less than the number. For ends of intervals."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def rounded_down(number: Fraction) -> float:
    """The largest float that is no more than the number."""
    return -rounded_up(-number)
