"""A source with the amendments of its policy, column by column: texts such as NA become missing values, spellings of a
value become one, values beyond a limit of detection become the limit, and dates with slashes are rewritten with the
year first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import pyarrow as pa

from querygate.core.publications.vault_ports import IdentifiedSource, ReadAs, Source
from querygate_adapters.sources.aged_source import with_ages
from querygate_adapters.sources.files import BATCH_ROWS, quoted
from querygate_adapters.sources.value_casts import at_limit, iso_day
from querygate_adapters.store.duckdb_lockdown import in_memory


def amended(source: Source, read_as: ReadAs) -> Source:
    """The source with its amendments, before ages are derived: texts for missing values are removed, and days are
    rewritten.
    """
    return with_ages(with_values(source, read_as), read_as.ages)


def with_values(source: Source, read_as: ReadAs) -> Source:
    """The source with its amended values; unchanged where it has none of these columns."""
    here = source.columns()
    own = replace(
        read_as,
        absent={name: read_as.absent[name] for name in here if read_as.absent.get(name)},
        written={name: read_as.written[name] for name in here if read_as.written.get(name)},
        spelled={name: read_as.spelled[name] for name in here if read_as.spelled.get(name)},
        censored={name: read_as.censored[name] for name in here if read_as.censored.get(name)},
    )
    if not any((own.absent, own.written, own.spelled, own.censored)):
        return source
    return _IdentifiedValues(source, own) if isinstance(source, IdentifiedSource) else AmendedSource(source, own)


class AmendedSource:
    """A value is compared as written, without surrounding spaces, and other spellings with them; 99.0 equals 99."""

    def __init__(self, source: Source, read_as: ReadAs) -> None:
        self._source, self._read_as = source, read_as
        self._amended = {*read_as.absent, *read_as.written, *read_as.spelled, *read_as.censored}

    def columns(self) -> tuple[str, ...]:
        return self._source.columns()

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        read, own = self._source.batches(columns), self._read_as
        if not self._amended.intersection(columns):
            return read
        database = in_memory(threads="1")  # in the order in which rows arrive
        database.register("incoming", read)
        stored = {str(row[0]): str(row[1]) for row in database.execute("DESCRIBE SELECT * FROM incoming").fetchall()}
        shown = [f"{_value(name, stored[name], own)} AS {quoted(name)}" for name in columns]
        return database.sql(f"SELECT {', '.join(shown)} FROM incoming").to_arrow_reader(BATCH_ROWS)

    def reading(self) -> AbstractContextManager[None]:
        return self._source.reading()


class _IdentifiedValues(AmendedSource):
    """The same for a source that can tell whether it has changed."""

    def identity(self) -> str:
        own = f"{self._source.identity()}" if isinstance(self._source, IdentifiedSource) else ""
        return f"{own} {_told(self._read_as)}" if own else ""


def _told(read_as: ReadAs) -> str:
    spelled = {name: sorted(texts.items()) for name, texts in read_as.spelled.items()}
    told = f"without {sorted(read_as.absent.items())} with {sorted(read_as.written.items())}"
    return f"{told} as {sorted(spelled.items())} at {sorted(read_as.censored.items())}"


def _value(name: str, stored: str, read_as: ReadAs) -> str:
    x = quoted(name)
    if name in read_as.spelled:
        x = _respelled(x if stored == "VARCHAR" else f"CAST({x} AS VARCHAR)", read_as.spelled[name])
    if stored == "VARCHAR":
        x = iso_day(x, read_as.written[name]) if name in read_as.written else x
        x = at_limit(x, missing=read_as.censored[name] == "missing") if name in read_as.censored else x
    return f"CASE WHEN {_is_there(name, read_as.absent[name], stored)} THEN {x} END" if name in read_as.absent else x


def _respelled(x: str, spelled: Mapping[str, tuple[str, ...]]) -> str:
    cases = (f"WHEN {x} IN ({_texts(others)}) THEN {_texts([text])}" for text, others in spelled.items())
    return f"CASE {' '.join(cases)} ELSE {x} END"


def _is_there(name: str, texts: Sequence[str], stored: str) -> str:
    x = quoted(name)
    written = f"TRIM({x})" if stored == "VARCHAR" else f"CAST({x} AS VARCHAR)"
    if stored in ("FLOAT", "DOUBLE") or stored.startswith("DECIMAL"):
        written = f"regexp_replace({written}, '[.]0+$', '')"
    return f"{written} NOT IN ({_texts(text.strip() for text in texts)})"


def _texts(texts: Iterable[str]) -> str:
    return ", ".join("'" + text.replace("'", "''") + "'" for text in texts)
