"""Which ranges are the same but for rounding: those that versions of QueryGate may tell of the same store.

Every end is rounded outwards, and how far depends on the order in which a version adds. What it adds is off by far less
than `ROUNDING`; whoever changes an answer by more is found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

ROUNDING = 1e-9
"""Ends of a range that differ by no more than this part of the end that was made now are the same. Whole numbers, and
what is a point, are equal or not."""

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
    """Does one range, which was logged, hold the other, which was made now, but for rounding? None is an end that is
    not there. The room for rounding is that of what was made now: whoever forged the other has no say in it."""
    (low, low_now), (high, high_now) = ((outer[name], inner[name]) for name in ("low", "high"))
    holds_low = low is None or (low_now is not None and _is_at_most(low, low_now, _room(low_now)))
    holds_high = high is None or (high_now is not None and _is_at_most(high_now, high, _room(high_now)))
    return holds_low and holds_high and (outer["may_be_null"] or not inner["may_be_null"])


def number(end: Any) -> float | int | None:
    """An end as JSON has it, where the infinite ones are text; None where it is no number, as the end of a date.

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
    """None around whole numbers."""
    return ROUNDING * abs(end) if isinstance(end, float) and math.isfinite(end) else 0.0
