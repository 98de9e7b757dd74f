"""Who is using a site's folder: whoever serves holds a lock on it, and whoever exchanges the folder must be alone.

The operating system lets go of a lock when the last process that has it ends, however it ends, so nothing is left
behind by a crash. What is written in a file is only for people to read.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from querygate.core.errors import ConfigError

LOCK = "serving.lock"
GATE = "gate.lock"

ORPHANS_S = 5.0
"""Processes of a gate that was killed end within this time, and let go of the lock."""

_BUSY = "The site is being served or restored right now."


@contextmanager
def present(folder: Path) -> Iterator[None]:
    """While this lasts, nobody exchanges the folder. Processes that are forked meanwhile count too."""
    with _opened(folder / LOCK) as handle:
        if not _is_free(handle, fcntl.LOCK_SH):
            raise ConfigError("QG804", _BUSY, "Wait until the restore has finished, then try again.")
        yield


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """While this lasts, nobody serves from the folder."""
    with _opened(folder / LOCK) as handle:
        if not _is_free(handle, fcntl.LOCK_EX):
            raise ConfigError("QG804", _BUSY, "Stop `querygate serve` first, then try again.")
        yield


@contextmanager
def only_gate(folder: Path, address: str) -> Iterator[None]:
    """While this lasts, no other gate serves from the folder: two would each count the limits of a user anew, and each
    send the log away. Processes that are forked meanwhile count too."""
    with _opened(folder / GATE) as handle:
        until = time.monotonic() + ORPHANS_S
        while not _is_free(handle, fcntl.LOCK_EX):
            if time.monotonic() > until:
                told = os.pread(handle, 200, 0).decode(errors="replace").strip() or "another process"
                raise ConfigError(
                    "QG804",
                    f"This site is already being served, by {told}.",
                    "Use that one, or stop it first. For more processes at one address, set `processes`.",
                )
            time.sleep(0.1)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} at {address}\n".encode(), 0)
        yield


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as problem:
        raise not_writable(problem.strerror) from None
    try:
        yield handle
    finally:
        os.close(handle)


def _is_free(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def not_writable(why: str | None = None) -> ConfigError:
    """The folder, or a file in it, cannot be written, so nothing could be put on record."""
    return ConfigError(
        "QG804",
        f"The folder of the site cannot be written, so nothing could be logged{f' ({why.lower()})' if why else ''}.",
        "Check who owns the folder, control.db and the files beside it (-wal, -shm, -lock), that the disk has space, "
        "and that it is mounted for writing.",
    )
