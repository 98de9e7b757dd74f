"""A disk without room, as the operating system and the engines report it."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from querygate.core.errors import ConfigError

CODES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TEXTS = (*(os.strerror(code) for code in CODES), "disk is full", "max_temp_directory_size")
"""The last two are SQLite's, and DuckDB's where what does not fit into memory does not fit onto the disk either."""

ROOM = 1 << 16
"""Bytes: SQLite puts a file of half of that beside a database when it opens it."""


def is_full_disk(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in CODES
    return any(text in str(error) for text in TEXTS)


def lacks_room(folder: Path) -> bool:
    """Whether a small file does not fit: SQLite tells of no room beside a database as of one that cannot be opened."""
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
            return probe.write(bytes(ROOM)) < ROOM
    except OSError as error:
        return is_full_disk(error)


def full_disk(done: str = "") -> ConfigError:
    """`done` says what stands."""
    detail = "The disk is full, or a file has reached its size limit."
    remedy = "Free some space, or ask the administrator of this machine to, and try again."
    return ConfigError("QG804", f"{detail} {done}".rstrip(), remedy)
