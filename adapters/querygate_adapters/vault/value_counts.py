"""Counts rows with a value in a column, and distinct values."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from querygate.core.publications.vault_ports import (
    ValueCount,
)
from querygate_adapters.sources.files import quoted


def count_values(database: duckdb.DuckDBPyConnection, table: str, columns: Iterable[str]) -> dict[str, ValueCount]:
    """For each column the rows with a value, and the distinct values. Groups spill to disk, distinct counts do not."""
    found = {}
    for name in columns:
        values = f"SELECT COUNT(*) AS n FROM {table} WHERE {quoted(name)} IS NOT NULL GROUP BY {quoted(name)}"
        known, distinct = database.execute(f"SELECT COALESCE(SUM(n), 0), COUNT(*) FROM ({values})").fetchall()[0]
        found[name] = ValueCount(int(known), int(distinct))
    return found
