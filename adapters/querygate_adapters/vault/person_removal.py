"""One person's rows: which vaults have them, sources without them, and vaults rewritten without them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

import duckdb
import pyarrow as pa

from querygate.core.publications.vault_ports import Source
from querygate_adapters.sources.files import BATCH_ROWS, DuckDBFile, quoted
from querygate_adapters.sources.value_casts import person_key
from querygate_adapters.store.duckdb_lockdown import CONFIG, Config, in_memory
from querygate_adapters.store.retired_versions import flush
from querygate_adapters.vault.person_history import Vault, attach

Person = tuple[str, str]
"""The column that identifies persons, and the value of this person."""

_GIVEN = person_key("CAST(? AS VARCHAR)")


class Without:
    """A source without one person's rows."""

    def __init__(self, source: Source, person: Person, more: Sequence[str] = ()) -> None:
        self._source, self._person = source, person
        self._more = tuple(name for name in more if name not in source.columns())
        self._db = in_memory(lock_configuration="true")

    def columns(self) -> tuple[str, ...]:
        """`more` are columns that are listed, but never read."""
        return (*self._source.columns(), *self._more)

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        name, key = self._person
        wanted = ", ".join(map(quoted, columns)) or "1"
        self._db.register("incoming", self._source.batches(tuple(dict.fromkeys([*columns, name]))))
        sql = f"SELECT {wanted} FROM incoming WHERE {_key(name)} IS DISTINCT FROM {_GIVEN}"
        return self._db.sql(sql, params=[key]).to_arrow_reader(BATCH_ROWS)

    def reading(self) -> AbstractContextManager[None]:
        return self._source.reading()


def _key(column: str) -> str:
    return person_key(f"CAST({quoted(column)} AS VARCHAR)")


def rows_of(vault: Path, more: Sequence[str], person: Person) -> Without:
    """The rows of a version as a source, without one person. `more` are columns that its vault does not have."""
    return Without(DuckDBFile(f"{vault}#rows"), person, more)


def holding(vaults: Mapping[int, Path], person: Person) -> dict[int, int]:
    """How many rows of a person each version has; versions without any are left out."""
    found = {}
    for version, path in vaults.items():
        with closing(attach({"vault": path}, 1024)) as database:
            if person[0] in Vault.of(database, "vault").types:
                sql = f"SELECT COUNT(*) FROM vault.rows WHERE {_key(person[0])} = {_GIVEN}"
                [(found[version],)] = database.execute(sql, [person[1]]).fetchall()
    return {version: rows for version, rows in found.items() if rows}


def remove(vault: Path, person: Person, staged: Path, memory_mb: int) -> None:
    """Rewrite the vault without one person and replace the old one: a row that is only deleted would remain in the
    file.
    """
    config: Config = {name: value for name, value in CONFIG.items() if name != "enable_external_access"}
    with closing(duckdb.connect(str(staged), config={**config, "memory_limit": f"{memory_mb}MB"})) as database:
        staged.chmod(0o600)
        escaped = str(vault).replace("'", "''")
        database.execute(f"ATTACH '{escaped}' AS vault (READ_ONLY)")
        row = quoted(Vault.of(database, "vault").row)
        others = f"{_key(person[0])} IS DISTINCT FROM {_GIVEN}"
        database.execute(f"CREATE TABLE rows AS SELECT * FROM vault.rows WHERE {others}", [person[1]])
        tables = database.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'vault'").fetchall()
        for (name,) in tables:
            if name != "rows":
                kept = f" SEMI JOIN rows ON rows.{row} = t.row_id" if name == "row_class" else ""
                database.execute(f"CREATE TABLE {quoted(name)} AS SELECT t.* FROM vault.{quoted(name)} t{kept}")
        database.execute("DETACH vault")
        database.execute("CHECKPOINT")
    flush(staged)
    os.replace(staged, vault)
    flush(vault.parent)
