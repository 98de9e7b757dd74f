"""Several processes that serve from one port, and their parent, which serves nothing itself.

The parent listens, has imported everything and opened nothing: neither SQLite nor DuckDB survives a fork. Each child
opens the site for itself and accepts connections from the same socket. A child that ends is started again; when the
parent is told to stop, all of them stop, and when the parent dies, so do they.
"""

from __future__ import annotations

import json
import logging
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

from querygate.core.errors import ConfigError

STOP_S = 15.0
"""How long a child may take to stop before it is killed."""

ORPHAN_S = 3.0
"""The same for a child without a parent: whoever starts the server again needs the port."""

AGAIN_S = 1.0
"""A child that ended sooner than this after its start is not started again before this time has passed."""

Work = Callable[[Callable[[], None], int], None]
"""What a child does until it is told to stop. It calls what it is given once it takes requests; the second argument
is its place among them. Whoever is in the first, 0, does what one of them does for all."""

_STOPPING = (signal.SIGTERM, signal.SIGINT)

_log = logging.getLogger("querygate.processes")


@dataclass(slots=True)
class _Child:
    """A process that was started, and the end of the pipe on which it is heard: one line, then nothing until it
    ends."""

    pid: int
    heard: int
    place: int
    began_s: float
    is_ready: bool = False


def run_processes(
    number: int, work: Work, ready: Callable[[], None], ended: Callable[[int, int], None] = lambda pid, place: None
) -> None:
    """Run `work` in so many processes until told to stop. `ready` is called once all of them take requests, and `ended`
    with the number and the place of each that has ended.

    Raises ConfigError if the first one cannot begin.
    """
    alive, parent = os.pipe()  # nobody writes to it: whoever reads it hears when the parent has ended
    family = _Family(work, alive, parent, ended)
    try:
        with stopping_on_signals():
            family.start(0)
            family.wait_until_ready()  # it alone, so that what is wrong is told once
            for place in range(1, number):
                family.start(place)
            family.wait_until_ready()
            ready()
            family.watch()
    except KeyboardInterrupt:
        pass
    finally:
        with ignoring_signals():
            family.stop()
        os.close(alive)
        os.close(parent)


class _Family:
    """The children of this process."""

    def __init__(self, work: Work, alive: int, parent: int, ended: Callable[[int, int], None]) -> None:
        self._work, self._alive, self._parent, self._ended = work, alive, parent, ended
        self._children: dict[int, _Child] = {}

    def start(self, place: int) -> None:
        heard, told = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with _later():  # a signal must not send a child where its parent would go
            pid = os.fork()
            if not pid:
                for other in (heard, self._parent, *self._children):
                    os.close(other)
                _live(self._work, told, self._alive, place)
            os.close(told)
            self._children[heard] = _Child(pid, heard, place, time.monotonic())

    def wait_until_ready(self) -> None:
        """Until all that were started take requests; ConfigError if one says why it cannot."""
        while not all(child.is_ready for child in self._children.values()):
            for child in self._hear():
                problem = self._end(child)
                raise problem or ConfigError(
                    "QG804", "A process of the server ended before it had begun.", "Look at the log of the server."
                )

    def watch(self) -> None:
        """Start again whatever ends, until a signal comes."""
        while True:
            for child in self._hear():
                problem = self._end(child)
                _log.warning("A process of the server ended, and is started again. %s", problem or "")
                time.sleep(max(0.0, AGAIN_S - (time.monotonic() - child.began_s)))
                self.start(child.place)

    def stop(self) -> None:
        for child in self._children.values():
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGTERM)
        until = time.monotonic() + STOP_S
        while self._children:
            left = until - time.monotonic()
            if left <= 0:
                for child in self._children.values():
                    os.kill(child.pid, signal.SIGKILL)
                left = STOP_S
            for child in self._hear(left):
                self._end(child)

    def _hear(self, timeout_s: float | None = None) -> list[_Child]:
        """Wait for a child to say something; those that have ended, or said why they cannot begin."""
        ended = []
        for heard in select.select(list(self._children), [], [], timeout_s)[0]:
            child = self._children[heard]
            if os.read(heard, 1) == b"+":
                child.is_ready = True
            else:
                ended.append(child)
        return ended

    def _end(self, child: _Child) -> ConfigError | None:
        """Let go of a child; what it said, if that is why it ended."""
        with os.fdopen(child.heard, "rb") as rest:
            said = rest.read()
        del self._children[child.heard]
        os.waitpid(child.pid, 0)
        self._ended(child.pid, child.place)
        return ConfigError(**json.loads(said)) if said else None


def _live(work: Work, told: int, alive: int, place: int) -> NoReturn:
    """The whole life of a child. It never returns: what its parent would do next is none of its business."""
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
        threading.Thread(target=_stop_with_parent, args=(alive,), name="parent", daemon=True).start()
        work(lambda: _write(told, b"+"), place)
        code = 0
    except KeyboardInterrupt:
        code = 0
    except ConfigError as problem:
        said = {"code": problem.code, "detail": problem.detail, "remedy": problem.remedy}
        _write(told, b"-" + json.dumps(said).encode())
    except BaseException:
        _log.exception("A process of the server failed.")
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _write(told: int, what: bytes) -> None:
    with suppress(BrokenPipeError):
        os.write(told, what)


def _stop_with_parent(alive: int) -> None:
    os.read(alive, 1)  # returns when the parent has gone
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ORPHAN_S)  # nobody is left who would kill it: whatever it is busy with, it must not hold the port
    os.kill(os.getpid(), signal.SIGKILL)


# -- signals -----------------------------------------------------------------------------------------------------------


@contextmanager
def stopping_on_signals() -> Iterator[None]:
    """SIGTERM stops as Ctrl-C does: by KeyboardInterrupt."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with _handling(stop):
        yield


@contextmanager
def ignoring_signals() -> Iterator[None]:
    """While one stops, being told to stop again changes nothing."""
    with _handling(lambda number, frame: None):
        yield


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Only the main thread of a process may listen to signals; others leave them as they are."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in _STOPPING}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def _later() -> Iterator[None]:
    """Signals that come here are heard afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
