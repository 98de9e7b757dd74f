"""A queue for the writers of `control.db`, in all threads and processes: SQLite's own waiting is a poll with growing
pauses, so that under load writers sleep while nobody writes.

The lock lies on a file beside the database. It only puts writers in a row; what keeps the database whole is SQLite's
lock, which each of them takes as well. The kernel lets go of it when a process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from querygate.core.limits.turn import turn_given_up


class WriteQueue:
    """The row of those who want to write, over the file at `path`. Safe to share between threads, and after a fork."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._threads = threading.Lock()
        self._file: int | None = None
        self._process = 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the others; nobody else writes inside.

        Whoever finds it free goes on as it was: another thread that computes meanwhile would hold Python's lock for
        milliseconds between two steps of a write that takes a fraction of one, and all others wait for the write.
        Whoever has to wait lets others compute until it has written.
        """
        with ExitStack() as waiting:
            if not self._take(fcntl.LOCK_NB):
                waiting.enter_context(turn_given_up())
                self._take()
            try:
                yield
            finally:
                fcntl.flock(self._open(), fcntl.LOCK_UN)
                self._threads.release()

    def _take(self, at_once: int = 0) -> bool:
        """Is it ours? Without `at_once` it always is in the end."""
        if not self._threads.acquire(blocking=not at_once):
            return False
        try:
            fcntl.flock(self._open(), fcntl.LOCK_EX | at_once)
        except BaseException as error:
            self._threads.release()
            if isinstance(error, BlockingIOError):
                return False
            raise
        return True

    def close(self) -> None:
        """Whoever comes later opens it again."""
        with self._threads:
            if self._file is not None and self._process == os.getpid():
                os.close(self._file)
            self._file = None

    def _open(self) -> int:
        """The file of this very process: one that came through a fork would share its lock with the other side."""
        if self._file is None or self._process != os.getpid():
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._process = os.getpid()
        return self._file


def sync_file(path: Path) -> None:
    """What was written to a file, by whomever, is on disk when this returns. Where there is none, there is nothing.

    It is opened anew each time: a descriptor that was kept would be of another file once this one is replaced.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        os.fdatasync(file)
    finally:
        os.close(file)
