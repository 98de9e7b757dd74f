"""A source as its custodian says it is to be read, column by column: texts that stand for no value, such as NA, are
none, and dates with slashes are written year first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

import pyarrow as pa

from querygate.core.vault_ports import IdentifiedSource, ReadAs, Source
from querygate_adapters.sources.aged_source import with_ages
from querygate_adapters.sources.files import BATCH_ROWS, quoted
from querygate_adapters.sources.value_formats import iso_day
from querygate_adapters.store.duckdb_lockdown import in_memory


def amended(source: Source, read_as: ReadAs) -> Source:
    """The source as it is to be read: what stands for no value is none, and days are days, before ages are worked
    out.
    """
    return with_ages(with_values(source, read_as.absent, read_as.written), read_as.ages)


def with_values(source: Source, absent: Mapping[str, tuple[str, ...]], written: Mapping[str, str]) -> Source:
    """The source without the texts that stand for no value and with days as ISO writes them; the same where it has
    none of these columns.
    """
    here = source.columns()
    own = ReadAs(
        {name: absent[name] for name in here if absent.get(name)},
        written={name: written[name] for name in here if written.get(name)},
    )
    if not own.absent and not own.written:
        return source
    return _IdentifiedValues(source, own) if isinstance(source, IdentifiedSource) else AmendedSource(source, own)


class AmendedSource:
    """A value is compared as it is written, without spaces around it; 99.0 is 99."""

    def __init__(self, source: Source, read_as: ReadAs) -> None:
        self._source, self._read_as = source, read_as

    def columns(self) -> tuple[str, ...]:
        return self._source.columns()

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        read, own = self._source.batches(columns), self._read_as
        if not any(name in own.absent or name in own.written for name in columns):
            return read
        database = in_memory(threads="1")  # in the order in which rows come
        database.register("incoming", read)
        stored = {str(row[0]): str(row[1]) for row in database.execute("DESCRIBE SELECT * FROM incoming").fetchall()}
        shown = [f"{_value(name, stored[name], own)} AS {quoted(name)}" for name in columns]
        return database.sql(f"SELECT {', '.join(shown)} FROM incoming").to_arrow_reader(BATCH_ROWS)

    def reading(self) -> AbstractContextManager[None]:
        return self._source.reading()


class _IdentifiedValues(AmendedSource):
    """Of a source that can tell whether it is still the same."""

    def identity(self) -> str:
        own = f"{self._source.identity()}" if isinstance(self._source, IdentifiedSource) else ""
        read_as = self._read_as
        return f"{own} without {sorted(read_as.absent.items())} with {sorted(read_as.written.items())}" if own else ""


def _value(name: str, stored: str, read_as: ReadAs) -> str:
    x = quoted(name)
    if name in read_as.written and stored == "VARCHAR":
        x = iso_day(x, read_as.written[name])
    return f"CASE WHEN {_is_there(name, read_as.absent[name], stored)} THEN {x} END" if name in read_as.absent else x


def _is_there(name: str, texts: Sequence[str], stored: str) -> str:
    x = quoted(name)
    written = f"TRIM({x})" if stored == "VARCHAR" else f"CAST({x} AS VARCHAR)"
    if stored in ("FLOAT", "DOUBLE") or stored.startswith("DECIMAL"):
        written = f"regexp_replace({written}, '[.]0+$', '')"
    listed = ", ".join("'" + text.strip().replace("'", "''") + "'" for text in texts)
    return f"{written} NOT IN ({listed})"
