"""Turns of computing: in one process only one request computes at a time, and the others wait in a row.

Python lets one thread compute at a time anyway, but it hands the processor to and fro every few milliseconds, and each
request that is begun keeps all the others longer. Whoever waits for a disk or for another process lets the next one
go on; whoever computes for long is put at the end of the row now and then, so that short requests pass long ones.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SLICE_S = 0.05
"""How long one computes while others wait."""


class Turn:
    """The row of one process: first come, first served.

    >>> turn = Turn(lambda: 0.0)
    >>> with turn.taken():
    ...     with turn_given_up():
    ...         with turn.taken():
    ...             turn.waiting
    0
    """

    def __init__(self, clock_s: Callable[[], float], slice_s: float = SLICE_S) -> None:
        self._clock_s, self._slice_s = clock_s, slice_s
        self._guard = threading.Lock()
        self._row: deque[threading.Lock] = deque()
        self._is_taken = False
        self._since_s = 0.0

    @property
    def waiting(self) -> int:
        return len(self._row)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Compute when it is one's turn. Whoever has it already goes on."""
        if _held.get() is self:
            yield
            return
        self._take()
        token = _held.set(self)
        try:
            yield
        finally:
            _held.reset(token)
            self._give()

    def pass_on(self) -> None:
        """Let others go first, if one has computed for a while and somebody waits."""
        if self._row and self._clock_s() - self._since_s > self._slice_s:
            self._give()
            self._take()

    def _take(self) -> None:
        with self._guard:
            mine = threading.Lock() if self._is_taken else None
            if mine is not None:
                mine.acquire()
                self._row.append(mine)
            self._is_taken = True
        if mine is not None:
            mine.acquire()  # whoever gives it up hands it over
        self._since_s = self._clock_s()

    def _give(self) -> None:
        with self._guard:
            if self._row:
                self._row.popleft().release()
            else:
                self._is_taken = False


_held: ContextVar[Turn | None] = ContextVar("turn", default=None)


@contextmanager
def turn_given_up() -> Iterator[None]:
    """What is done here waits, and others compute meanwhile. Does nothing where no turn was taken."""
    turn = _held.get()
    if turn is None:
        yield
        return
    turn._give()
    token = _held.set(None)
    try:
        yield
    finally:
        _held.reset(token)
        turn._take()


def pass_turn() -> None:
    """Called now and then by whatever takes long."""
    turn = _held.get()
    if turn is not None:
        turn.pass_on()
