"""Loads raw rows into a vault: reads them from their sources, types them as the policy says, joins them into one table,
and adds columns derived from tables of events.

Each source is read once, as a stream, into a table that spills to disk; only what the policy needs is kept. Join
columns are kept as texts while they are needed, and stay in the vault only if the policy needs them too. An error names
columns, counts and numbers of rows, never a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict

import duckdb
import pyarrow as pa

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import IdentifiedSource, JoinedTable, SelectiveSource, Source
from querygate_adapters.sources.files import quoted
from querygate_adapters.sources.value_casts import as_key, as_text, cast_column, is_sure, is_unread, person_key
from querygate_adapters.store.catalog_json import Row
from querygate_adapters.vault.event_rows import People, date_sql, derive, derived_value
from querygate_adapters.vault.free_names import free_name, free_stem

LOADED = "loaded"
"""A table that records what `rows` was read from, during the publication."""

FORM = 6
"""Increase this whenever the way of reading sources changes."""


class RowLoader:
    """Fills the table `rows` of a vault. `row` is the name of its column with the number of each row."""

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        columns: Mapping[str, str],
        joins: Sequence[JoinedTable],
        person: str = "",
    ) -> None:
        self._db, self._columns, self._joins, self._person = database, columns, joins, person
        self._people = {person, *(ours for join in joins if join.derived for _, ours in join.on)}
        wanted = [*columns, *(name for join in joins for name in join.columns)]
        self.row = free_name("row_id", wanted)
        # followed by a number
        self._key, self._wrong, self._date = (free_stem(stem, wanted) for stem in ("key", "wrong", "date"))
        self.matched: dict[str, int] = {}

    def run(self, source: Source) -> int:
        """Read everything; return the number of rows."""
        key = self._identity(source)
        with _within_memory():
            self._fill(source)
        if key and key == self._identity(source):
            self._db.execute(f"CREATE TABLE {LOADED} AS SELECT ? AS key, ? AS matched", [key, json.dumps(self.matched)])
        self._db.execute("CHECKPOINT")
        return self._rows()

    def resume(self, source: Source) -> int | None:
        """Continue from the rows that an interrupted publication has read; None if it read something else."""
        tables = {str(name) for (name,) in self._db.execute("SHOW TABLES").fetchall()}
        found = self._db.execute(f"SELECT key, matched FROM {LOADED}").fetchall() if LOADED in tables else []
        key = self._identity(source)
        if not key or [read for read, _ in found] != [key]:
            return None
        for table in sorted(tables - {LOADED, "rows"}):
            self._db.execute(f"DROP TABLE {table}")
        self.matched = json.loads(found[0][1])
        return self._rows()

    def _rows(self) -> int:
        return int(self._figures("SELECT COUNT(*) FROM rows")[0])

    def _identity(self, source: Source) -> str:
        """Everything that determines the rows; empty if a source cannot tell whether it has changed."""
        sources = [source, *(join.source for join in self._joins)]
        told = [source.identity() for source in sources if isinstance(source, IdentifiedSource)]
        joins = [
            [join.name, join.on, dict(join.columns), join.inner, join.time, *map(asdict, join.derived)]
            for join in self._joins
        ]
        return json.dumps([FORM, told, dict(self._columns), joins, self._person]) if len(told) == len(sources) else ""

    def _fill(self, source: Source) -> None:
        if self._joins:
            keys = list(dict.fromkeys(ours for join in self._joins for _, ours in join.on))
            dates = list(dict.fromkeys(one.around for join in self._joins for one in join.derived if one.around))
            self._read(source, self._columns, [(key, key) for key in keys], "TEMP TABLE main_rows", dates=dates)
            for own in (join for join in self._joins if join.of_source):
                self._keep_one_each(f"{self._key}{keys.index(own.on[0][1])}")
            for i, join in self._brought():
                if join.derived:
                    self._derive(i, join, keys, dates)
                    continue
                label = f"{join.label}, "
                self._read(join.source, join.columns, join.on, f"TEMP TABLE part_{i}", label)
                self._check_once(i, join)
            self._join(keys)
        else:
            self._read(source, self._columns, [], "TABLE rows")

    # -- one source ------------------------------------------------------------------------------------------------

    def _read(
        self,
        source: Source,
        columns: Mapping[str, str],
        keys: Sequence[tuple[str, str]],
        table: str,
        label: str = "",
        dates: Sequence[str] = (),
    ) -> None:
        """A source as a typed table: a number for each row, the columns, the keys as texts, and days. A key is a
        column and the one of the main source that it must equal."""
        with source.reading(), _within_memory():
            wanted = dict.fromkeys([*columns, *(name for name, _ in keys), *dates])
            self._db.register("incoming", source.batches(tuple(wanted)))
            described = self._db.execute("DESCRIBE SELECT * FROM incoming").fetchall()
            found = {str(row[0]): str(row[1]) for row in described}
            casts = {name: cast_column(name, kind, found[name], self._person) for name, kind in columns.items()}
            doubtful = [name for name, kind in columns.items() if not is_sure(kind, found[name])]
            days = {name: date_sql(name, found[name]) for name in dates}
            typed = [f"row_number() OVER () - 1 AS {self.row}"]
            typed += [f"{cast} AS {quoted(name)}" for name, cast in casts.items()]
            texts = [person_key(as_text(n, found[n])) if of in self._people else as_key(n, found[n]) for n, of in keys]
            typed += [f"{text} AS {self._key}{i}" for i, text in enumerate(texts)]
            typed += [f"{day} AS {self._date}{i}" for i, day in enumerate(days.values())]
            unread = [(name, casts[name]) for name in doubtful] + list(days.items())
            typed += [f"{is_unread(name, cast)} AS {self._wrong}{i}" for i, (name, cast) in enumerate(unread)]
            self._db.execute(f"CREATE {table} AS SELECT {', '.join(typed)} FROM incoming")
        self._db.unregister("incoming")
        kinds = [(name, columns[name]) for name in doubtful] + [(name, "date") for name in dates]
        self._check_casts(table.rpartition(" ")[2], kinds, label)

    def _check_casts(self, table: str, kinds: Sequence[tuple[str, str]], label: str) -> None:
        """Check that every value could be read; NaN counts as missing. The error names the row, never the value."""
        if not kinds:
            return
        marks = [f"{self._wrong}{i}" for i in range(len(kinds))]
        wanted = ", ".join(f"COUNT(*) FILTER ({mark}), MIN({self.row} + 1) FILTER ({mark})" for mark in marks)
        figures = self._figures(f"SELECT {wanted} FROM {table}")
        for mark in marks:
            self._db.execute(f"ALTER TABLE {table} DROP COLUMN {mark}")
        problems = [
            f"{label}column {name}: {counted(figures[2 * i], 'value')} cannot be read as {kind}, "
            f"the first in row {figures[2 * i + 1]:,}"
            for i, (name, kind) in enumerate(kinds)
            if figures[2 * i]
        ]
        if problems:
            raise ConfigError(
                "QG802", "; ".join(problems) + ".", "Correct the source, or the column's type in the policy."
            )

    # -- several ---------------------------------------------------------------------------------------------------

    def _brought(self) -> list[tuple[int, JoinedTable]]:
        """The tables that add columns, or leave records out."""
        return [(i, join) for i, join in enumerate(self._joins) if join.derived or not join.of_source]

    def _keep_one_each(self, key: str) -> None:
        """For a source of events, keep one row for each person; rows without a key belong to nobody."""
        self._db.execute(f"DELETE FROM main_rows WHERE {key} IS NULL")
        self._db.execute(
            f"DELETE FROM main_rows WHERE {self.row} NOT IN (SELECT MIN({self.row}) FROM main_rows GROUP BY {key})"
        )
        self._db.execute(
            f"CREATE OR REPLACE TEMP TABLE main_rows AS SELECT * REPLACE (row_number() OVER (ORDER BY {self.row}) - 1 "
            f"AS {self.row}) FROM main_rows"
        )

    def _derive(self, part: int, join: JoinedTable, keys: Sequence[str], dates: Sequence[str]) -> None:
        """Add the columns derived from each person's events."""
        names = [theirs for theirs, _ in join.on] + [name for one in join.derived for name in one.read]
        names += [join.time] if join.time else []
        people = People(
            "main_rows",
            self.row,
            {name: f"{self._key}{i}" for i, name in enumerate(keys)},
            {name: f"{self._date}{i}" for i, name in enumerate(dates)},
        )
        with join.source.reading(), _within_memory():
            self._db.register("incoming", _events(join, tuple(dict.fromkeys(names))))
            derive(self._db, f"part_{part}", join, people)
        self._db.unregister("incoming")

    def _check_once(self, part: int, join: JoinedTable) -> None:
        """Check that each key has one row: a second one would count its record twice."""
        keys = [f"{self._key}{i}" for i in range(len(join.on))]
        known = " AND ".join(f"{key} IS NOT NULL" for key in keys)
        several, rows = self._figures(
            f"SELECT COUNT(*), SUM(n) FROM (SELECT COUNT(*) AS n FROM part_{part} WHERE {known} "
            f"GROUP BY {', '.join(keys)} HAVING COUNT(*) > 1)"
        )
        if several:
            raise ConfigError(
                "QG803",
                f"{join.label}: {counted(several, 'key has', 'keys have')} more than one row ({rows:,} in all), "
                "so a record would be counted several times.",
                f"Provide one row per {', '.join(theirs for theirs, _ in join.on)}, or put the table under [events] "
                "and say with [derive] what is taken of several rows.",
            )

    def _join(self, keys: Sequence[str]) -> None:
        """Join all tables into one. A missing or unknown key has no match."""
        place = {name: f"m.{self._key}{i}" for i, name in enumerate(keys)}
        shown = [f"m.{self.row}", *(f"m.{quoted(name)}" for name in self._columns)]
        text = ""
        for i, join in self._brought():
            on = f"p{i}.{self.row} = m.{self.row}"
            if not join.derived:
                on = " AND ".join(f"p{i}.{self._key}{j} = {place[ours]}" for j, (_, ours) in enumerate(join.on))
            self._count_matches(i, join, on)
            text += f" {'JOIN' if join.inner else 'LEFT JOIN'} part_{i} p{i} ON {on}"
            derived = {
                one.name: f"{derived_value(one, join.columns[one.name], f'p{i}')} AS {quoted(one.name)}"
                for one in join.derived
            }
            shown += [derived.get(name, f"p{i}.{quoted(name)}") for name in join.columns]
        self._db.execute(f"CREATE TABLE rows AS SELECT {', '.join(shown)} FROM main_rows m{text}")
        for table in ("main_rows", *(f"part_{i}" for i, _ in self._brought())):
            self._db.execute(f"DROP TABLE {table}")

    def _count_matches(self, part: int, join: JoinedTable, on: str) -> None:
        """How many records have a row in the table. If none has, the tables write their keys differently."""
        (found,) = self._figures(f"SELECT COUNT(*) FROM main_rows m JOIN part_{part} p{part} ON {on}")
        self.matched[join.name] = int(found)
        if not found:
            raise ConfigError(
                "QG802",
                f"{join.label}: no record of the source has a matching row.",
                f"Compare how both tables write {', '.join(f'{theirs} and {ours}' for theirs, ours in join.on)}: they "
                "are compared as text.",
            )

    def _figures(self, sql: str) -> Row:
        return self._db.execute(sql).fetchall()[0]


def _events(join: JoinedTable, columns: Sequence[str]) -> pa.RecordBatchReader:
    """The events, without those that no column uses if their engine can leave these out."""
    tests = [one.where[0] for one in join.derived if one.where]
    if isinstance(join.source, SelectiveSource) and len(tests) == len(join.derived):
        return join.source.selected(columns, tests)
    return join.source.batches(columns)


@contextmanager
def _within_memory() -> Iterator[None]:
    """Needed inside `reading` too: a source would report running out of memory as a file that cannot be read."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise ConfigError(
            "QG804",
            "Reading and joining the tables needs more memory than the setting publish_memory_mb allows.",
            "Raise publish_memory_mb in the site's settings.",
        ) from None
