"""Divides a log by table. Each is audited by itself: knowledge of one says nothing about another, whatever its
columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.core.types import folded
from querygate.custody.audit.audit import LogStatement
from querygate.sql.logged.logged_statement import tables_of

_NAMED = re.compile(r"(?P<table>[\w.]+)=(?P<source>.+)", re.DOTALL)
_ENDINGS = re.compile(r"(\.[a-z]\w{0,7})+$", re.IGNORECASE)


@dataclass(frozen=True)
class TablePart:
    """Statements about one table, and one version if the log says which."""

    table: str
    version: int
    entries: list[LogStatement]


def by_table(entries: Sequence[LogStatement], dialect: str) -> list[TablePart]:
    """The log in parts. A statement about several tables, or none that can be read, goes with the first table."""
    read = [_read(entry.sql, dialect) for entry in entries]
    every = {name for names in read for name in names}
    first = next((_whole(names[0], every) for names in read if names), "")
    parts: dict[tuple[str, int], list[LogStatement]] = {}
    for entry, names in zip(entries, read, strict=True):
        table = _whole(names[0], every) if names else first
        parts.setdefault((table, entry.version), []).append(entry)
    return [TablePart(table, version, held) for (table, version), held in parts.items()]


def _read(sql: str, dialect: str) -> tuple[str, ...]:
    """The tables of a statement; if it cannot be read, the audit says why."""
    with suppress(Exception):
        return tables_of(sql, dialect)
    return ()


def _whole(name: str, names: Iterable[str]) -> str:
    """`patients` is `hospital.patients` where only one such table is named."""
    longer = [other for other in names if other.endswith(f".{name}")]
    return longer[0] if len(longer) == 1 else name


class TableSources:
    """The source of each table: `visits=visits.parquet`, or one source without a name.

    That one is for the table that it is named after; if there is none, for every table without a source.
    """

    def __init__(self, given: Sequence[str], tables: Collection[str]) -> None:
        self._named: dict[str, str] = {}
        self._bare = ""
        for one in given:
            found = None if Path(one).exists() else _NAMED.fullmatch(one)
            if found is not None:
                self._named[_whole(folded(found["table"]), tables)] = found["source"]
            elif self._bare:
                raise ConfigError(
                    "QG802",
                    "More than one source is without the name of its table.",
                    "Name each of them: --source patients=patients.csv --source visits=visits.csv.",
                )
            else:
                self._bare = one
        called = _called(self._bare)
        self._own = {table for table in tables if table.rpartition(".")[2] == called} or set(tables)

    @property
    def all(self) -> list[str]:
        return list(dict.fromkeys([*self._named.values(), *([self._bare] if self._bare else [])]))

    def of(self, table: str) -> str | None:
        """The source of a table; None where there is none."""
        if table in self._named:
            return self._named[table]
        return self._bare if self._bare and (table in self._own or not table) else None


def _called(source: str) -> str:
    """The name of a source's table or file.

    >>> _called("duckdb:hospital.duckdb#public.patients"), _called("data/Visits.csv.gz")
    ('patients', 'visits')
    """
    table = source.partition("#")[2]
    return folded(table.rpartition(".")[2] if table else _ENDINGS.sub("", Path(source.rpartition(":")[2]).name))
