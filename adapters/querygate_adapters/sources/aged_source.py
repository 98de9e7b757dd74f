"""A source with derived ages beside its own columns: whole years from a date of birth to another date.

A year is complete on the birthday, and for those born on 29 February on 1 March of a year that has no such day. The age
is missing where one of the dates is missing or birth comes last. Dates that cannot be read, and births so long ago that
the year must have been written with two digits, are passed on as a text that is no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import pyarrow as pa

from querygate.core.publications.vault_ports import AgeAt, IdentifiedSource, Source
from querygate_adapters.sources.files import BATCH_ROWS, quoted
from querygate_adapters.sources.value_casts import cast_to, is_unread
from querygate_adapters.store.duckdb_lockdown import in_memory

OLDEST = 150
UNREAD = "?"


def with_ages(source: Source, ages: Sequence[AgeAt]) -> Source:
    """The source with the ages that it does not have yet; rows of a vault already have theirs."""
    missing = [age for age in ages if age.name not in source.columns()]
    if not missing:
        return source
    return _IdentifiedAges(source, missing) if isinstance(source, IdentifiedSource) else AgedSource(source, missing)


class AgedSource:
    """The columns `ages` come after those of the source."""

    def __init__(self, source: Source, ages: Sequence[AgeAt]) -> None:
        self._source, self._ages = source, {age.name: age for age in ages}

    def columns(self) -> tuple[str, ...]:
        return (*self._source.columns(), *self._ages)

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        asked = [self._ages[name] for name in columns if name in self._ages]
        if not asked:
            return self._source.batches(columns)
        dates = [name for age in asked for name in (age.born, age.at) if name]
        needed = list(dict.fromkeys([*(name for name in columns if name not in self._ages), *dates]))
        database = in_memory(threads="1")  # in the order in which rows arrive
        database.register("incoming", self._source.batches(needed))
        stored = {str(row[0]): str(row[1]) for row in database.execute("DESCRIBE SELECT * FROM incoming").fetchall()}
        shown = [
            f"{_years(self._ages[name], stored)} AS {quoted(name)}" if name in self._ages else quoted(name)
            for name in columns
        ]
        return database.sql(f"SELECT {', '.join(shown)} FROM incoming").to_arrow_reader(BATCH_ROWS)

    def reading(self) -> AbstractContextManager[None]:
        return self._source.reading()


class _IdentifiedAges(AgedSource):
    """The same for a source that can tell whether it has changed."""

    def identity(self) -> str:
        return (
            f"{self._source.identity()} {[*self._ages.values()]}" if isinstance(self._source, IdentifiedSource) else ""
        )


def _years(age: AgeAt, stored: dict[str, str]) -> str:
    born, at = _day(age.born, stored), _day(age.at, stored) if age.at else f"DATE '{age.day}'"
    unread = " OR ".join(is_unread(name, _day(name, stored)) for name in (age.born, age.at) if name)
    before = f"month({at}) * 100 + day({at}) < month({born}) * 100 + day({born})"
    years = f"(year({at}) - year({born}) - CASE WHEN {before} THEN 1 ELSE 0 END)"
    return (
        f"CASE WHEN {unread} OR {years} > {OLDEST} THEN '{UNREAD}' "
        f"WHEN {born} <= {at} THEN CAST({years} AS VARCHAR) END"
    )


def _day(name: str, stored: dict[str, str]) -> str:
    """A date, whatever the time of day."""
    date, moment = (cast_to(name, kind, stored[name]) for kind in ("date", "timestamp"))
    return f"COALESCE({date}, CAST({moment} AS DATE))"
