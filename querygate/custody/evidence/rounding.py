"""Which ranges are the same but for rounding: those that versions of QueryGate may tell of the same store.

Every end is rounded outwards, and how far depends on the order in which a version adds. What it adds is off by far less
than `ROUNDING`; whoever changes an answer by more is found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

ROUNDING = 1e-9
"""Ends of a range that differ by no more than this part of the larger of them are the same. Whole numbers, and what is
a point, are equal or not."""

ENDS = ("low", "high", "attained_low", "attained_high")


def rounded_alike(logged: Any, made: Any) -> Any:
    """What was made now, with the ends of what was logged in ranges that are the same but for rounding.

    >>> rounded_alike({"low": 1.0, "high": 2.5}, {"low": 1.0, "high": 2.5000000000000004})
    {'low': 1.0, 'high': 2.5}
    """
    if isinstance(logged, list) and isinstance(made, list) and len(logged) == len(made):
        return [rounded_alike(*pair) for pair in zip(logged, made, strict=True)]
    if not isinstance(logged, dict) or not isinstance(made, dict):
        return made
    if {"low", "high"} <= logged.keys() and _is_same_range(logged, made):
        return {**made, **{name: logged[name] for name in ENDS if name in logged}}
    return {name: rounded_alike(logged.get(name), value) for name, value in made.items()}


def encloses(outer: Mapping[str, Any], inner: Mapping[str, Any]) -> bool:
    """Does one range hold the other, but for rounding? None is an end that is not there; ends of no range at all are no
    numbers."""
    room = _room(outer)
    low = outer["low"] is None or (inner["low"] is not None and outer["low"] <= inner["low"] + room)
    high = outer["high"] is None or (inner["high"] is not None and inner["high"] <= outer["high"] + room)
    return low and high and (outer["may_be_null"] or not inner["may_be_null"])


def _is_same_range(logged: Mapping[str, Any], made: Mapping[str, Any]) -> bool:
    ends = [(logged.get(name), made.get(name)) for name in ENDS]
    (low, low_now), (high, high_now), *_ = ends
    if (low == high) != (low_now == high_now):
        return False
    room = _room(logged)
    return all(
        one == other or (isinstance(one, float) and isinstance(other, float) and abs(one - other) <= room)
        for one, other in ends
    )


def _room(told: Mapping[str, Any]) -> float:
    """None between whole numbers."""
    ends = (told["low"], told["high"])
    return ROUNDING * max((abs(end) for end in ends if isinstance(end, float) and math.isfinite(end)), default=0.0)
