"""The engines under test. One that is added here runs the whole suite.

What an engine cannot do stands beside it with the reason, and a test that needs it is skipped with that reason: not
done by us yet, the engine's own limit, or never.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from querygate.core.ports import Release
from querygate_adapters.duckdb_store import DuckDBStore

Capability = Literal[
    "time limit",  # a statement is stopped in the middle
    "memory limit",  # a statement that needs more than its memory is stopped
    "lock",  # SQL on its connection reaches nothing but the cells, and cannot change that
    "switch",  # another version may be served while the first is being read
]


@dataclass(frozen=True)
class Engine:
    """How to open the release that a store serves, with so much memory, and what the engine lacks."""

    name: str
    open: Callable[[Path, str, int], Release]
    lacks: Mapping[Capability, str] = field(default_factory=dict)

    def needs(self, capability: Capability) -> None:
        if capability in self.lacks:
            pytest.skip(f"{self.name}: {self.lacks[capability]}")


def _duckdb(store: Path, dataset: str, memory_mb: int) -> Release:
    return DuckDBStore(store, memory_mb=memory_mb).current(dataset)


ENGINES = (Engine("duckdb", _duckdb),)
