"""A source read into a vault, and what is then in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from tests.engine import reading


def load(folder: Path, specification: str | Path, types: Mapping[str, str]) -> list[tuple[Any, ...]]:
    """The rows of the vault, in the order of the source, without their numbers."""
    path = folder / "vault.duckdb"
    path.unlink(missing_ok=True)
    staging = DuckDBStagingTables(path)
    try:
        loaded = staging.load(open_source(str(specification)), types)
    finally:
        staging.close()
    with reading(path) as vault:
        rows = [row[1:] for row in vault.execute("SELECT * FROM rows ORDER BY 1").fetchall()]
    assert loaded == len(rows)
    return rows


def texts(folder: Path, specification: str | Path, *columns: str) -> list[tuple[Any, ...]]:
    """The same with every column as text."""
    return load(folder, specification, dict.fromkeys(columns, "category"))
