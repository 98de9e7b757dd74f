"""A source in which texts that stand for no value, such as NA, are none: which they are is said column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

import pyarrow as pa

from querygate.core.vault_ports import IdentifiedSource, ReadAs, Source
from querygate_adapters.sources.aged_source import with_ages
from querygate_adapters.sources.files import BATCH_ROWS, quoted
from querygate_adapters.store.duckdb_lockdown import in_memory

Absent = Mapping[str, tuple[str, ...]]


def amended(source: Source, read_as: ReadAs) -> Source:
    """The source as it is to be read: what stands for no value is none before ages are worked out."""
    return with_ages(with_blanks(source, read_as.absent), read_as.ages)


def with_blanks(source: Source, absent: Absent) -> Source:
    """The source without the texts that stand for no value; the same where it has none of these columns."""
    own = {name: absent[name] for name in source.columns() if absent.get(name)}
    if not own:
        return source
    return _IdentifiedBlanks(source, own) if isinstance(source, IdentifiedSource) else BlankedSource(source, own)


class BlankedSource:
    """`absent` are texts by column. A value is compared as it is written, without spaces around it; 99.0 is 99."""

    def __init__(self, source: Source, absent: Absent) -> None:
        self._source, self._absent = source, absent

    def columns(self) -> tuple[str, ...]:
        return self._source.columns()

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        read = self._source.batches(columns)
        if not any(name in self._absent for name in columns):
            return read
        database = in_memory(threads="1")  # in the order in which rows come
        database.register("incoming", read)
        stored = {str(row[0]): str(row[1]) for row in database.execute("DESCRIBE SELECT * FROM incoming").fetchall()}
        shown = [
            f"{_blanked(name, self._absent[name], stored[name])} AS {quoted(name)}"
            if name in self._absent
            else quoted(name)
            for name in columns
        ]
        return database.sql(f"SELECT {', '.join(shown)} FROM incoming").to_arrow_reader(BATCH_ROWS)

    def reading(self) -> AbstractContextManager[None]:
        return self._source.reading()


class _IdentifiedBlanks(BlankedSource):
    """Of a source that can tell whether it is still the same."""

    def identity(self) -> str:
        own = f"{self._source.identity()}" if isinstance(self._source, IdentifiedSource) else ""
        return f"{own} without {sorted(self._absent.items())}" if own else ""


def _blanked(name: str, texts: Sequence[str], stored: str) -> str:
    x = quoted(name)
    written = f"TRIM({x})" if stored == "VARCHAR" else f"CAST({x} AS VARCHAR)"
    if stored in ("FLOAT", "DOUBLE") or stored.startswith("DECIMAL"):
        written = f"regexp_replace({written}, '[.]0+$', '')"
    listed = ", ".join("'" + text.strip().replace("'", "''") + "'" for text in texts)
    return f"CASE WHEN {written} NOT IN ({listed}) THEN {x} END"
