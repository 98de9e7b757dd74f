"""How many people two vaults have in common, by the columns that identify them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from querygate_adapters.sources.files import quoted
from querygate_adapters.sources.value_casts import person_key
from querygate_adapters.vault.person_history import attach

MEMORY_MB = 1024


def count_shared(own: tuple[Path, str], other: tuple[Path, str]) -> int:
    """Identifiers are compared as keys of people."""
    with closing(attach({"own": own[0], "other": other[0]}, MEMORY_MB)) as database:
        people = [
            f"SELECT {person_key(f'CAST({quoted(person)} AS VARCHAR)')} AS key FROM {name}.rows WHERE key IS NOT NULL"
            for name, (_, person) in (("own", own), ("other", other))
        ]
        [(count,)] = database.execute(f"SELECT COUNT(*) FROM ({people[0]} INTERSECT {people[1]})").fetchall()
    return int(count)
