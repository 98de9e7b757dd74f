"""DuckDB, locked: no files, no network, no extensions, and nobody can unlock it from SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

import duckdb

from querygate.core.limits.deadline import over_the_limit
from querygate_adapters.store.interruption import interrupted_after

Config: TypeAlias = dict[str, str | bool | int | float | list[str]]

CONFIG: Config = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}


def connect(
    path: Path, *, read_only: bool, memory_mb: int = 1024, threads: int | None = None, beside: Sequence[Path] = ()
) -> duckdb.DuckDBPyConnection:
    """Open a database file that only its owner may read, and from which SQL can reach nothing on the machine but the
    files in the folders `beside`.
    """
    config: Config = {**CONFIG, "memory_limit": f"{memory_mb}MB", "lock_configuration": "true"}
    if threads:
        config["threads"] = str(threads)
    if beside:  # which must be set after the engine has started and before it is locked
        del config["enable_external_access"], config["lock_configuration"]
    database = duckdb.connect(str(path), read_only=read_only, config=config)
    if beside:
        folders = ", ".join(path_text(folder) for folder in beside)
        database.execute(f"SET allowed_directories = [{folders}]")
        database.execute("SET enable_external_access = false")
        database.execute("SET lock_configuration = true")
    if not read_only:
        path.chmod(0o600)
    return database


def in_memory(*, spill: Path | None = None, **config: str) -> duckdb.DuckDBPyConnection:
    """A database without a file. Data that do not fit into memory go into the folder `spill`, or nowhere: by default
    the engine would write them into the current folder, where everybody may read them.
    """
    return duckdb.connect(config={**CONFIG, "temp_directory": str(spill or ""), **config})


@contextmanager
def attached(
    database: duckdb.DuckDBPyConnection, files: Mapping[str, Path], *, read_only: bool = True
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Other files under the given names, in an open engine: starting one takes longer than reading a small file."""
    with ExitStack() as ended:
        own = database.cursor()  # others may use the connection at the same time
        ended.callback(own.close)
        for name, path in files.items():
            how = " (READ_ONLY)" if read_only else ""
            own.execute(f"ATTACH {path_text(path)} AS {name}{how}")
            ended.callback(own.execute, f"DETACH {name}")
            if not read_only:
                path.chmod(0o600)
        cursor = own.cursor()
        ended.callback(cursor.close)
        yield cursor


def path_text(path: Path) -> str:
    """A path as an SQL text."""
    return "'" + str(path.absolute()).replace("'", "''") + "'"


@contextmanager
def limited(cursor: duckdb.DuckDBPyConnection, timeout_s: float) -> Iterator[None]:
    """Interrupt the cursor's statement after `timeout_s`, or when the request's time is up; running out of time or
    memory is a coded refusal.
    """
    with interrupted_after(timeout_s, cursor.interrupt):
        try:
            yield
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise over_the_limit() from None
