"""DuckDB for tests, begun once for a process: to begin an engine takes longer than most of what tests ask it."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from querygate_adapters.sources.files import ParquetFile
from querygate_adapters.store.duckdb_lockdown import attached, connect, in_memory, path_text
from querygate_adapters.vault.staging_tables import ENGINE

_NUMBERS = count()


@cache
def _engine(process: int) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def engine() -> duckdb.DuckDBPyConnection:
    """A fork needs its own."""
    return _engine(os.getpid())


def scratch() -> duckdb.DuckDBPyConnection:
    """An empty database in memory, in place of duckdb.connect(). It goes with the connection."""
    name = f"scratch_{next(_NUMBERS)}"
    engine().execute(f"ATTACH ':memory:' AS {name}")
    connection = engine().cursor()
    connection.execute(f"USE {name}")
    weakref.finalize(connection, engine().execute, f"DETACH {name}").atexit = False
    return connection


@contextmanager
def reading(path: Path | str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A file to be read, in place of duckdb.connect(file, read_only=True)."""
    name = f"read_{next(_NUMBERS)}"
    with attached(engine(), {name: Path(path)}) as connection:
        connection.execute(f"USE {name}")
        yield connection


class SharedParquet(ParquetFile):
    """A file of the test's own as a source, in place of open_source(file), which begins an engine for it alone."""

    def __init__(self, path: Path) -> None:
        self.path, self._connection = path.resolve(), engine().cursor()
        self._files = self._found()
        self._columns = self._read_columns()


class _StagedFile:
    """A file of the engine, as if it were the only one; whoever owns it takes it away when it is closed."""

    def __init__(self, name: str, *, owns: bool = False) -> None:
        self._name, self._owns, self._connection = name, owns, engine().cursor()
        self._connection.execute(f"USE {name}")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def cursor(self) -> _StagedFile:
        return _StagedFile(self._name)

    def close(self) -> None:
        self._connection.close()
        if self._owns:
            engine().execute(f"DETACH {self._name}")
            self._owns = False


def attach_staged(path: Path, *, read_only: bool, memory_mb: int, beside: Sequence[Path] = ()) -> Any:
    """In place of `connect`, where a publication may use the usual memory: its file in the engine of all."""
    if read_only or memory_mb != round(ENGINE * 4096):
        return connect(path, read_only=read_only, memory_mb=memory_mb, beside=beside)
    name = f"staged_{next(_NUMBERS)}"
    engine().execute(f"ATTACH {path_text(path)} AS {name}")
    path.chmod(0o600)
    return _StagedFile(name, owns=True)


def attach_in_memory(*, spill: Path | None, memory_limit: str, **config: str) -> Any:
    """The same in place of `in_memory`."""
    if memory_limit != f"{round(ENGINE * 4096)}MB":
        return in_memory(spill=spill, memory_limit=memory_limit, **config)
    name = f"staged_{next(_NUMBERS)}"
    engine().execute(f"ATTACH ':memory:' AS {name}")
    return _StagedFile(name, owns=True)
