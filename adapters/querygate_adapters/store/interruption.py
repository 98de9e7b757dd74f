"""A statement that has had its time is interrupted, and refused even if it ends before the interrupt reaches it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from querygate.core.limits.deadline import over_the_limit, seconds_left

AGAIN_S = 0.01
"""An engine may not have begun with the statement when it is interrupted; so it is told again."""


@contextmanager
def interrupted_after(timeout_s: float, interrupt: Callable[[], object]) -> Iterator[threading.Event]:
    """Interrupt what runs inside after `timeout_s`, or when the request has had its time; the event says that this was
    done. What is over the limit is refused with QG305, and does not depend on who was faster.
    """
    timeout_s = seconds_left(timeout_s)
    ended, late = threading.Event(), threading.Event()

    def watch() -> None:
        wait_s = timeout_s
        while not ended.wait(wait_s):
            late.set()
            interrupt()
            wait_s = AGAIN_S

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield late
    finally:
        ended.set()
        watcher.join()  # it holds what is interrupted
    if late.is_set():
        raise over_the_limit()
