"""How many people two vaults have in common, by the columns that identify them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from querygate_adapters.sources.files import quoted
from querygate_adapters.vault.person_history import attach

MEMORY_MB = 1024


def count_shared(own: tuple[Path, str], other: tuple[Path, str]) -> int:
    """Identifiers are compared as text, without surrounding spaces."""
    with closing(attach({"own": own[0], "other": other[0]}, MEMORY_MB)) as database:
        people = [
            f"SELECT TRIM(CAST({quoted(person)} AS VARCHAR)) FROM {name}.rows WHERE {quoted(person)} IS NOT NULL"
            for name, (_, person) in (("own", own), ("other", other))
        ]
        [(count,)] = database.execute(f"SELECT COUNT(*) FROM ({people[0]} INTERSECT {people[1]})").fetchall()
    return int(count)
