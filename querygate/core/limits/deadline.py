"""One deadline for a whole request, checked wherever a step may take long.

It belongs to the request and not to a step, so it is kept where the request runs rather than handed through every
function on the way: what is asked of an engine, tried as a suggestion or checked as one of many statements uses up the
same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from querygate.core.errors import NotPermitted
from querygate.core.frozen_classes import frozen
from querygate.core.limits.cancellation import check_cancelled
from querygate.core.limits.turn import pass_turn

FOR_RANGES = 0.7
"""The part of the time left that searches may use; the rest is for what must be computed anyway."""

_BORROWED = 4.0  # shares of the ranges after it that one range may use up: most need far less than theirs


@frozen
class Deadline:
    """A moment on a clock."""

    clock_s: Callable[[], float]
    at_s: float

    def check(self) -> None:
        """Stop a statement that has had its time, QG305, or was called off, QG315."""
        check_cancelled()
        if self.clock_s() > self.at_s:
            raise over_the_limit()


_running: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(clock_s: Callable[[], float], limit_s: float) -> Iterator[Deadline]:
    """Everything inside has so much time in all, or what an earlier one has left of its own if that is less."""
    earlier, own = _running.get(), Deadline(clock_s, clock_s() + limit_s)
    deadline = own if earlier is None or own.at_s < earlier.at_s else earlier
    token = _running.set(deadline)
    try:
        yield deadline
    finally:
        _running.reset(token)


def check_deadline() -> None:
    """Stop here if the request has had its time; let others compute if it is theirs. Does nothing outside a request."""
    pass_turn()
    deadline = _running.get()
    if deadline is not None:
        deadline.check()


def seconds_left(most: float) -> float:
    """How long an engine may be asked: `most`, or what the request has left if that is less. QG305 if nothing is."""
    deadline = _running.get()
    if deadline is None:
        return most
    deadline.check()
    return min(most, deadline.at_s - deadline.clock_s())


def over_the_limit() -> NotPermitted:
    return NotPermitted(
        "QG305",
        "The statement exceeded the time or memory limit and was stopped.",
        "Use fewer groups or fewer columns per statement.",
    )
