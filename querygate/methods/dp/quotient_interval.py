"""The interval of a quotient of two noisy numbers, by the difference that its true value makes of them.

With A = a + X and B = b + Y noisy, the true quotient d = a / b makes A - d B the difference X - d Y of two noises,
whose distribution is known. So all d for which A - d B is no farther from zero than that difference is in 95 of 100
cases are an interval that holds the true one in 95 of 100 (Fieller 1954, for normal errors). To ask that both numbers
are in intervals of their own would hold in 99.

>>> low, high = quotient_interval(Fraction(5000), Fraction(1000), 200.0, 2.0, 100, "laplace", 0.95)
>>> round(float(low), 2), round(float(high), 2)
(4.4, 5.61)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

import numpy as np

from querygate.core.types import Bools, Floats

PLACES, STEPS = 513, 32
"""Places of the domain that are tried, and halvings between two of them: far below what a double tells apart."""


def quotient_interval(
    above: Fraction,
    below: Fraction,
    scale: float,
    scale_below: float,
    most: int,
    family: Literal["laplace", "gaussian"],
    level: float,
) -> tuple[Fraction, Fraction] | None:
    """Ends of the quotient, which is known to lie in [-most, most]; None where the noise left nothing possible.

    `scale` is that of the noise on the dividend, and no smaller than `most` times that on the divisor. Where the
    divisor is as good as zero, what is possible may be in two parts; the interval holds both.
    """
    a, b, reach = float(above), float(below), _reaches(family, level)

    def is_possible(d: Floats) -> Bools:
        # Noise on whole numbers is at most one further from zero than noise of the same scale on all numbers.
        farthest = scale * np.interp(np.abs(d) * scale_below / scale, *reach) + 1 + np.abs(d)
        found: Bools = np.abs(a - d * b) <= farthest * (1 + 1e-9)
        return found

    middle = min(max(a / b, -most), most) if b else 0.0
    places = np.sort(np.append(np.linspace(-most, most, PLACES), middle))
    possible = np.flatnonzero(is_possible(places))
    if not possible.size:
        return None
    first, last = possible[0], possible[-1]
    low = _end(is_possible, places[first], places[max(first - 1, 0)])
    high = _end(is_possible, places[last], places[min(last + 1, PLACES)])
    return Fraction(low), Fraction(high)


def _end(is_possible: Callable[[Floats], Bools], inside: float, outside: float) -> float:
    """Where what is possible ends between two places, rounded outward."""
    for _ in range(STEPS if inside != outside else 0):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if is_possible(np.array(middle)) else (inside, middle)
    return float(outside)


RATIOS = 257


@lru_cache
def _reaches(family: Literal["laplace", "gaussian"], level: float) -> tuple[Floats, Floats]:
    """By the ratio of the second scale to the first, how far X - Y is from zero at `level`, in first scales."""
    ratios = np.linspace(0.0, 1.0, RATIOS)
    if family == "gaussian":
        return ratios, NormalDist().inv_cdf((1 + level) / 2) * np.hypot(1.0, ratios)
    return ratios, np.array([_laplace_reach(ratio, 1 - level) for ratio in ratios.tolist()])


def _laplace_reach(ratio: float, tail: float) -> float:
    low, high = 0.0, 100.0
    for _ in range(2 * STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _laplace_tail(middle, ratio) > tail else (low, middle)
    return high


def _laplace_tail(t: float, ratio: float) -> float:
    """How often the difference of two Laplace noises of scales 1 and `ratio` is more than t from zero."""
    if ratio == 0:
        return math.exp(-t)
    if 1 - ratio < 1e-4:
        return math.exp(-t) * (1 + t / 2)
    square = ratio * ratio
    return (math.exp(-t) - square * math.exp(-t / ratio)) / (1 - square)
