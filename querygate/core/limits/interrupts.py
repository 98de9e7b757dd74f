"""Ctrl-C: how it is told apart from a fault, and where it has to wait a moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted(KeyboardInterrupt):
    """Somebody pressed Ctrl-C; the text says what stands."""


def is_interrupt(error: BaseException) -> bool:
    """Whether this is Ctrl-C. DuckDB tells of it by an error of its own while it computes."""
    told = str(error) == "Query interrupted" or type(error).__name__ == "InterruptException"
    return isinstance(error, KeyboardInterrupt) or told


@contextmanager
def interrupts_say(text: str) -> Iterator[None]:
    """Whoever presses Ctrl-C meanwhile is told this."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        if not is_interrupt(error):
            raise
        raise Interrupted(text) from None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """For a moment in which stopping would leave something done and not on record. Only the main thread is told of
    signals, so elsewhere there is nothing to do.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
