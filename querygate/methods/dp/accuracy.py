"""What an epsilon is worth, shown before it is written into a policy. No data is needed: noise does not depend on it.

>>> within(0.1)
30.0
>>> needed_epsilon(30)
0.09819
>>> explain_accuracy(400, 0.1)
'a count of 400 will be within 30 in 95 of 100 answers'
"""

from __future__ import annotations

import math

from querygate.methods.dp.mechanisms import DEFAULT, LEVEL, MECHANISMS

DIGITS = 4
"""Significant digits of an epsilon that is proposed; it is rounded upward."""


def within(
    epsilon: float, *, sensitivity: float = 1, delta: float = 0.0, mechanism: str = DEFAULT, level: float = LEVEL
) -> float:
    """An answer is off by no more than this with probability `level`."""
    member = MECHANISMS.get(mechanism)
    return member.half_width(sensitivity=sensitivity, epsilon=epsilon, delta=delta, level=level)


def needed_epsilon(
    distance: float, *, sensitivity: float = 1, delta: float = 0.0, mechanism: str = DEFAULT, level: float = LEVEL
) -> float:
    """The least epsilon, to four digits, with which an answer is off by no more than `distance`."""
    if not (math.isfinite(distance) and distance > 0):
        raise ValueError(f"a distance is a number above 0, not {distance}")

    def good(epsilon: float) -> bool:
        return within(epsilon, sensitivity=sensitivity, delta=delta, mechanism=mechanism, level=level) <= distance

    low, high = 1e-4, 50.0
    if not good(high):
        raise ValueError(f"no epsilon of at most {high:g} gives an answer within {distance:g}")
    if good(low):
        return low
    while high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if good(middle) else (middle, high)
    unit = 10.0 ** (math.floor(math.log10(high)) + 1 - DIGITS)
    return float(f"{math.ceil(high / unit) * unit:.{DIGITS}g}")


def explain_accuracy(
    count: int,
    epsilon: float,
    *,
    sensitivity: float = 1,
    delta: float = 0.0,
    mechanism: str = DEFAULT,
    level: float = LEVEL,
) -> str:
    """The same in words."""
    off = within(epsilon, sensitivity=sensitivity, delta=delta, mechanism=mechanism, level=level)
    return f"a count of {count:,} will be within {off:,.4g} in {100 * level:g} of 100 answers"
