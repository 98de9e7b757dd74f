"""A pace for ranges that take long, so that all of them meet the deadline of their request.

Such a range is searched for: any bound on the way holds, and the search only makes it narrower. So every range gets a
share of the time, and a search that has had its share settles for the outer bound that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from querygate.core.limits.deadline import Deadline

FOR_RANGES = 0.7
"""The part of the time left that searches may use; the rest is for what must be computed anyway."""

_BORROWED = 4.0  # shares of the ranges after it that one range may use up: most need far less than theirs


@dataclass(slots=True)
class Pace:
    """Until when the range at hand may be searched for, and whether any search was cut short."""

    clock_s: Callable[[], float]
    end_s: float
    until_s: float
    is_cut: bool = False


_pace: ContextVar[Pace | None] = ContextVar("pace", default=None)


@contextmanager
def paced(deadline: Deadline) -> Iterator[Pace]:
    """Let the ranges that are computed here meet the deadline. Outside of it searches take the time they need."""
    now = deadline.clock_s()
    end = now + FOR_RANGES * (deadline.at_s - now)
    pace = Pace(deadline.clock_s, end, end)
    token = _pace.set(pace)
    try:
        yield pace
    finally:
        _pace.reset(token)


def take_share(ranges_left: int) -> None:
    """Begin the next of so many ranges."""
    pace = _pace.get()
    if pace is not None:
        now = pace.clock_s()
        pace.until_s = min(pace.end_s, now + _BORROWED * (pace.end_s - now) / max(ranges_left, 1))


def is_time_up() -> bool:
    """Whether the range at hand has had its time: what asks then settles for an outer bound."""
    pace = _pace.get()
    if pace is None or pace.clock_s() < pace.until_s:
        return False
    pace.is_cut = True
    return True
