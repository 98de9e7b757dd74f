"""Who is using a site's folder: whoever serves holds a lock on it, and whoever exchanges the folder must be alone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from querygate.core.errors import ConfigError

LOCK = "serving.lock"


@contextmanager
def present(folder: Path) -> Iterator[None]:
    """While this lasts, nobody exchanges the folder. Processes that are forked meanwhile count too."""
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _take(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """While this lasts, nobody serves from the folder."""
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _take(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _take(handle: int, kind: int) -> None:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ConfigError(
            "QG804", "The site is being served or restored right now.", "Stop `querygate serve` first, then try again."
        ) from None
