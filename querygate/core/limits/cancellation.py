"""A request that its sender may call off: whatever takes long finds out where it checks its deadline."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from querygate.core.errors import NotPermitted

_called_off: ContextVar[threading.Event | None] = ContextVar("called_off", default=None)


@contextmanager
def cancellable(called_off: threading.Event) -> Iterator[None]:
    """Everything inside stops soon after the event is set; QG315."""
    token = _called_off.set(called_off)
    try:
        yield
    finally:
        _called_off.reset(token)


def is_called_off() -> bool:
    """Was the request called off? Never outside one that can be."""
    event = _called_off.get()
    return event is not None and event.is_set()


def check_cancelled() -> None:
    """Stop here if the request was called off."""
    if is_called_off():
        raise NotPermitted(
            "QG315", "The statement was cancelled at the client's request.", "Send it again to get the answer."
        )
