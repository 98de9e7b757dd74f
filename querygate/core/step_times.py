"""How long each step of an answer takes, for listeners. There are none unless a server measures itself."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TypeAlias

Listener: TypeAlias = Callable[[str, float], None]
"""Is told the name of a step and its seconds."""

_listeners: list[Listener] = []


def listen(listener: Listener) -> Callable[[], None]:
    """Report every step of this process from now on; returns a function that stops it."""
    _listeners.append(listener)
    return lambda: _listeners.remove(listener)


class timed:  # noqa: N801  (reads as a statement)
    """`with timed("fetch"): ...` However the step ends, its time is told.

    >>> told = []
    >>> stop = listen(lambda step, seconds: told.append(step))
    >>> with timed("fetch"):
    ...     pass
    >>> stop()
    >>> told
    ['fetch']
    """

    __slots__ = ("_began", "_step")

    def __init__(self, step: str) -> None:
        self._step = step

    def __enter__(self) -> None:
        self._began = perf_counter()

    def __exit__(self, *error: object) -> None:
        for listener in _listeners:
            listener(self._step, perf_counter() - self._began)
