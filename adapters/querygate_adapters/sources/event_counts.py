"""How many people have which values in a table of events, the most common first: candidates for derived columns."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from querygate.core.publications.vault_ports import Source
from querygate_adapters.sources.value_casts import as_text, person_key
from querygate_adapters.store.duckdb_lockdown import in_memory


def count_people(source: Source, person: str, by: Sequence[str]) -> list[tuple[tuple[str, ...], int]]:
    """Each combination of texts that people have in these columns, with the number of people; a missing text is
    empty."""
    with (
        tempfile.TemporaryDirectory(prefix="querygate-") as folder,
        in_memory(spill=Path(folder)) as database,
        source.reading(),
    ):
        database.register("incoming", source.batches(list(dict.fromkeys([person, *by]))))
        stored = {str(row[0]): str(row[1]) for row in database.execute("DESCRIBE SELECT * FROM incoming").fetchall()}
        keys = [f"COALESCE(TRIM({as_text(name, stored[name])}), '')" for name in by]
        wanted = ", ".join([*keys, f"COUNT(DISTINCT {person_key(as_text(person, stored[person]))})"])
        found = database.execute(f"SELECT {wanted} FROM incoming GROUP BY ALL").fetchall()
    counted = [(tuple(map(str, row[:-1])), int(row[-1])) for row in found]
    return sorted(counted, key=lambda one: (-one[1], one[0]))
