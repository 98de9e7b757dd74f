"""An earlier version: its file in the store, and its raw rows in the vault."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import numpy as np

from querygate.core.publications.vault_ports import RawColumn
from querygate_adapters.sources.files import quoted
from querygate_adapters.vault.person_history import Vault

if TYPE_CHECKING:
    from querygate_adapters.vault.written_store import WrittenStore

_AXIS = {
    "BIGINT": "{x}",
    "DOUBLE": "{x}",
    "DATE": "CAST({x} - DATE '1970-01-01' AS BIGINT)",
    "TIMESTAMP": "epoch_us({x})",
}
"""Numbers by their type in a vault; everything else is text."""


class KeptVersion:
    """Rows that are attached to a database as `schema`, and what was published from them."""

    def __init__(self, number: int, written: WrittenStore, database: duckdb.DuckDBPyConnection, schema: str) -> None:
        self.number, self.written, self._db = number, written, database
        self._rows = Vault.of(database, schema)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._rows.types)

    def raw_column(self, column: str) -> RawColumn:
        """The same as for a version in the making."""
        kind = self._rows.types[column]
        axis = _AXIS.get(kind, "CAST({x} AS VARCHAR)").format(x=quoted(column))
        sql = f"SELECT {axis} AS v FROM {self._rows.schema}.rows ORDER BY {quoted(self._rows.row)}"
        return read_column(self._db, sql, is_number=kind in _AXIS)


def read_column(database: duckdb.DuckDBPyConnection, sql: str, *, is_number: bool) -> RawColumn:
    """The column `v` of a statement."""
    if is_number:
        found = database.execute(sql).fetchnumpy()["v"]
        values = np.ma.getdata(found)  # an array of objects if all are missing
        missing = np.ma.getmaskarray(found)
        return RawColumn(np.zeros(missing.size, np.int64) if values.dtype == object else values, missing)
    found = database.sql(sql).to_arrow_table()["v"].combine_chunks().dictionary_encode()
    texts = found.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    place = np.empty(len(texts) + 1, dtype=np.int64)
    place[order], place[-1] = np.arange(len(texts)), -1
    places = place[found.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return RawColumn(places, places < 0, tuple(texts[i] for i in order))
