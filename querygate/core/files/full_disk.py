"""A disk without room, as the operating system and the engines tell of it."""

from __future__ import annotations

import errno
import os

from querygate.core.errors import ConfigError

CODES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TEXTS = (*(os.strerror(code) for code in CODES), "disk is full", "max_temp_directory_size")
"""The last two are SQLite's, and DuckDB's where what does not fit into memory does not fit onto the disk either."""


def is_full_disk(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in CODES
    return any(text in str(error) for text in TEXTS)


def full_disk(done: str = "") -> ConfigError:
    """`done` says what stands."""
    detail = "The disk is full, or a file has reached its size limit."
    remedy = "Free some space, or ask the administrator of this machine to, and try again."
    return ConfigError("QG804", f"{detail} {done}".rstrip(), remedy)
