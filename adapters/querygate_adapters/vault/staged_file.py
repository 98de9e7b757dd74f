"""Where the tables of a version in the making are: in a file, or in memory."""

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
        """With what a publication that was cut off left in it; anew if that cannot be opened."""
        try:
            return connect(self.path, read_only=False, memory_mb=self.memory_mb, beside=self.beside)
        except duckdb.Error:
            return self.anew()

    def anew(self) -> duckdb.DuckDBPyConnection:
        """Empty. Tables that are only dropped would still lie in it, and somebody may have left since."""
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
