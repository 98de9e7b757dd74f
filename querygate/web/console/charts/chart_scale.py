"""Where numbers stand in a picture, and which round numbers stand beside them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

LEAST_SPAN = 1e-300
"""Below this, differences are nothing."""


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    text: str


Placed = tuple[Callable[[float], float], tuple[Tick, ...]]


def linear_scale(low: float, high: float, first: float, last: float) -> Placed:
    """Where a number is drawn between two places of the picture, and round numbers along the way."""
    if high - low <= max(1e-9 * max(abs(low), abs(high)), LEAST_SPAN):  # all alike: in the middle of something
        around = max(abs(low), abs(high)) / 10 if max(abs(low), abs(high)) > LEAST_SPAN else 1.0
        low, high = low - around, high + around
    step = _round_step((high - low) / 5)
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    span = high - low

    def place(value: float) -> float:
        return first + (value - low) / span * (last - first)

    values = [low + i * step for i in range(round(span / step) + 1)]
    return place, tuple(Tick(place(value), f"{0.0 if abs(value) < step / 2 else value:g}") for value in values)


def ratio_scale(low: float, high: float, first: float, last: float) -> Placed:
    """The same for ratios, by their logarithm; what lies outside stands at the edge."""
    start, end = math.log10(low), math.log10(high)
    span = (end - start) or 1.0

    def place(value: float) -> float:
        at = math.log10(min(max(value, low), high))
        return first + (at - start) / span * (last - first)

    powers = range(math.floor(start), math.ceil(end) + 1)
    for factors in ((1, 2, 5), (1,)):
        steps = [m * 10.0**e for e in powers for m in factors if low <= m * 10.0**e <= high]
        if len(steps) <= 10:
            break
    every = len(steps) // 10 + 1
    return place, tuple(Tick(place(s), f"{s:g}") for s in steps[::every])


def _round_step(about: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is no less.

    >>> _round_step(0.7), _round_step(12), _round_step(3)
    (1.0, 20.0, 5.0)
    """
    power = 10.0 ** math.floor(math.log10(about))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= about * (1 - 1e-12))
