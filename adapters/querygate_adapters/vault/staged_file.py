"""The database of a version in the making: in a file, or in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from querygate_adapters.store.duckdb_lockdown import connect, in_memory


@dataclass(frozen=True, slots=True)
class StagedFile:
    """The file of a version in the making, and how it is opened."""

    path: Path
    memory_mb: int
    beside: Sequence[Path]

    def opened(self) -> duckdb.DuckDBPyConnection:
        """With the remains of an interrupted publication; empty if they cannot be opened."""
        try:
            return connect(self.path, read_only=False, memory_mb=self.memory_mb, beside=self.beside)
        except duckdb.Error:
            return self.anew()

    def anew(self) -> duckdb.DuckDBPyConnection:
        """Empty, in a new file. Dropped tables would remain in the old one, and a person may have been deleted
        since."""
        for left in (self.path, self.path.with_name(self.path.name + ".wal")):
            left.unlink(missing_ok=True)
        return connect(self.path, read_only=False, memory_mb=self.memory_mb, beside=self.beside)


@dataclass(frozen=True, slots=True)
class StagedInMemory:
    """The same without a file."""

    memory_mb: int
    spill: Path | None

    def anew(self) -> duckdb.DuckDBPyConnection:
        return in_memory(spill=self.spill, memory_limit=f"{self.memory_mb}MB", lock_configuration="true")

    opened = anew
