"""Which ranges are equal up to rounding: different versions of QueryGate may give them for the same store.

Every end is rounded outwards, and how far depends on the order in which a version adds. The error is far below
`ROUNDING`; a forger who changes an answer by more is found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

ROUNDING = 1e-9
"""Ends of a range count as equal if they differ by no more than this fraction of today's end. Whole numbers and points
must be exactly equal."""

ENDS = ("low", "high", "attained_low", "attained_high")


def rounded_alike(logged: Any, made: Any) -> Any:
    """Today's answer, with the logged ends in ranges that are equal up to rounding.

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
    """Does the logged range contain today's, up to rounding? None is a missing end. The tolerance depends on today's
    range only, so a forger cannot influence it."""
    (low, low_now), (high, high_now) = ((outer[name], inner[name]) for name in ("low", "high"))
    holds_low = low is None or (low_now is not None and _is_at_most(low, low_now, _room(low_now)))
    holds_high = high is None or (high_now is not None and _is_at_most(high_now, high, _room(high_now)))
    return holds_low and holds_high and (outer["may_be_null"] or not inner["may_be_null"])


def number(end: Any) -> float | int | None:
    """An end from JSON, where infinite ones are texts; None if it is not a number, such as a date.

    >>> number("-inf"), number(3), number("2024-01-01")
    (-inf, 3, None)
    """
    if end in ("inf", "-inf"):
        return float(end)
    return end if isinstance(end, int | float) and not isinstance(end, bool) and end == end else None


def _is_same_range(logged: Mapping[str, Any], made: Mapping[str, Any]) -> bool:
    ends = [(logged.get(name), made.get(name)) for name in ENDS]
    (low, low_now), (high, high_now), *_ = ends
    if (low == high) != (low_now == high_now):
        return False
    return all(
        one == other or (isinstance(one, float) and isinstance(other, float) and abs(one - other) <= _room(other))
        for one, other in ends
    )


def _is_at_most(one: Any, other: Any, room: float) -> bool:
    """Numbers with numbers, and texts such as dates with texts."""
    low, high = number(one), number(other)
    if low is not None and high is not None:
        return low <= high + room
    return isinstance(one, str) and isinstance(other, str) and (low, high) == (None, None) and one <= other


def _room(end: Any) -> float:
    """The tolerance; 0 for whole numbers."""
    return ROUNDING * abs(end) if isinstance(end, float) and math.isfinite(end) else 0.0
