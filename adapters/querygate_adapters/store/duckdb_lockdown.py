"""DuckDB, locked: no files, no network, no extensions, and nobody can unlock it from SQL."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import duckdb

from querygate.core.deadline import over_the_limit, seconds_left

Config: TypeAlias = dict[str, str | bool | int | float | list[str]]

CONFIG: Config = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}

AGAIN_S = 0.01
"""An interrupt that comes before the engine has begun is lost, so it is repeated until the statement has ended."""


def connect(
    path: Path, *, read_only: bool, memory_mb: int = 1024, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """Open a database file from which SQL can reach nothing else on the machine."""
    config: Config = {**CONFIG, "memory_limit": f"{memory_mb}MB", "lock_configuration": "true"}
    if threads:
        config["threads"] = str(threads)
    return duckdb.connect(str(path), read_only=read_only, config=config)


@contextmanager
def limited(cursor: duckdb.DuckDBPyConnection, timeout_s: float) -> Iterator[None]:
    """Interrupt the cursor's statement after `timeout_s`, or when the request has had its time; running out of time or
    memory is a coded refusal.

    One that ends before the interrupt has reached it is refused all the same: what is over the limit does not depend
    on who was faster.
    """
    timeout_s = seconds_left(timeout_s)
    ended, late = threading.Event(), threading.Event()

    def watch() -> None:
        wait_s = timeout_s
        while not ended.wait(wait_s):
            late.set()
            cursor.interrupt()
            wait_s = AGAIN_S

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except (duckdb.InterruptException, duckdb.OutOfMemoryException):
        raise over_the_limit() from None
    finally:
        ended.set()
        watcher.join()  # it holds the cursor
    if late.is_set():
        raise over_the_limit()
