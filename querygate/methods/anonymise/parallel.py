"""Runs work in several processes that share the memory of this one.

NumPy releases the interpreter lock only for single steps, so threads with many small steps wait for each other most of
the time. A forked process sees all arrays as they are, without a copy, and sends back nothing but its results. It uses
arrays alone, closes every file that it inherited (a lock on one would outlive this process), and ends without tidying
up, so nothing that other threads of this process hold at the moment of the fork is ever waited for.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from multiprocessing.connection import Connection, Pipe, wait
from typing import NoReturn, TypeVar

T = TypeVar("T")

TICKET = 4
"""Bytes of the number of a piece of work."""

MOST = 10_000
"""The most pieces of work whose numbers a pipe holds at once."""

_IS_ALONE = ContextVar("is_alone", default=False)


@contextmanager
def alone() -> Iterator[None]:
    """Whatever is worked out inside is worked out by this process: others use the processors."""
    token = _IS_ALONE.set(True)
    try:
        yield
    finally:
        _IS_ALONE.reset(token)


def side_by_side(work: Callable[[int], T], number: int) -> Iterator[T]:
    """The results of `work` for 0, 1 ... number - 1, in the order in which they finish.

    Where there is one processor, or no fork is allowed, it is done here; as is whatever a process that died has left
    undone.

    >>> sorted(side_by_side(lambda piece: piece * piece, 4))
    [0, 1, 4, 9]
    """
    left = set(range(number))
    for piece, result in _from_helpers(work, number):
        left.discard(piece)
        yield result
    for piece in sorted(left):
        yield work(piece)


def _from_helpers(work: Callable[[int], T], number: int) -> Iterator[tuple[int, T]]:
    processors = min(number, len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1)
    if processors < 2 or number > MOST or _IS_ALONE.get():
        return
    tickets, filled = os.pipe()
    os.write(filled, b"".join(piece.to_bytes(TICKET, "big") for piece in range(number)))
    os.close(filled)
    helpers: dict[Connection, int] = {}
    try:
        for _ in range(processors):
            ours, theirs = Pipe(duplex=False)
            try:
                helpers[ours] = _forked(work, tickets, theirs)
            except OSError:  # no more processes are allowed
                ours.close()
                break
            finally:
                theirs.close()
        waiting = list(helpers)
        while waiting:
            ready = wait(waiting)
            for pipe in [pipe for pipe in waiting if pipe in ready]:
                try:
                    yield pipe.recv()
                except (EOFError, OSError, pickle.UnpicklingError):
                    waiting.remove(pipe)
    finally:
        os.close(tickets)
        for pipe, child in helpers.items():
            pipe.close()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _forked(work: Callable[[int], object], tickets: int, results: Connection) -> int:
    """The number of a new process that works as long as there are tickets."""
    parent, collects = os.getpid(), gc.isenabled()
    gc.disable()  # in the child from its first step on: what it would collect belongs to the parent
    try:
        with warnings.catch_warnings():
            # From Python 3.12 on it warns where there are threads: locks that they hold stay locked in the child. It
            # takes none of theirs.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            _help(work, tickets, results, parent)
    finally:  # in the parent alone: a child ends in `_help`
        if collects:
            gc.enable()
    return child


def _help(work: Callable[[int], object], tickets: int, results: Connection, parent: int) -> NoReturn:
    try:
        kept = sorted({tickets, results.fileno()})
        for low, high in zip([2, *kept], [*kept, os.sysconf("SC_OPEN_MAX")], strict=True):
            os.closerange(low + 1, high)
        while (ticket := os.read(tickets, TICKET)) and os.getppid() == parent:
            piece = int.from_bytes(ticket, "big")
            results.send((piece, work(piece)))
    finally:
        os._exit(0)
