"""The records behind a log, for the auditor: whom a condition selects, by place.

A *place* is a distinct combination of the known columns. Records are copied once into a locked in-memory database,
where conditions of logged statements are evaluated in their own SQL. Only the custodian's own jobs get this module; it
sees raw rows.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import duckdb
import numpy as np

from querygate.core.audit.audit_records import MOST_DISTINCT, SecretTests, Unanswerable
from querygate.core.errors import Refusal
from querygate.core.publications.vault_ports import Source
from querygate.core.types import Array, Bools, Floats, Ints, SqlValue
from querygate_adapters.sources.files import quoted
from querygate_adapters.store.catalog_json import Row
from querygate_adapters.store.duckdb_lockdown import in_memory, limited

LONGEST_S = 60.0
"""Time limit for one expression over all places or records."""

_GROUPS = 5_000
"""The most groups of one statement that are examined."""

_AT_ONCE = 100
"""The most conditions evaluated in one statement."""

_FROM_TEXT = ("BIGINT", "DOUBLE", "DATE", "TIMESTAMP")

_NARROW = frozenset({"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"})
"""Whole numbers whose squares may not fit."""


class DuckDBRecords:
    """Records in memory, numbered by place."""

    has_secrets = True

    def __init__(self, source: Source, *, memory_mb: int = 4096) -> None:
        spill = Path(mkdtemp(prefix="querygate-"))  # only its owner may read it
        self._db = in_memory(spill=spill, memory_limit=f"{memory_mb}MB")
        weakref.finalize(self, _end, self._db, spill)
        self.columns = source.columns()
        with source.reading():
            reader = source.batches(self.columns)
            self._db.register("given", reader)
            self._db.execute("CREATE TABLE found AS SELECT * FROM given")
            self._db.unregister("given")
        self._db.execute(f"CREATE TABLE people AS SELECT {', '.join(self._typed())} FROM found")
        self._db.execute("DROP TABLE found")
        self._db.execute("SET lock_configuration = true")
        self._known: tuple[str, ...] = ()

    def _typed(self) -> list[str]:
        """Columns of text in the first type that fits all their values: in a file without types 51 is a text.

        A column without any value stays text, and so do codes with leading zeros. Whole numbers get a type that can
        hold their squares.
        """
        chosen = []
        for name, kind in [(str(row[0]), str(row[1])) for row in self._rows("DESCRIBE found")]:
            x = quoted(name)
            if kind == "VARCHAR":
                told = f"COUNT({x}) > 0 AND NOT coalesce(bool_or(regexp_matches({x}, '^0[0-9]')), FALSE)"
                tests = ", ".join(f"{told} AND COUNT(TRY_CAST({x} AS {other})) = COUNT({x})" for other in _FROM_TEXT)
                fits = self._rows(f"SELECT {tests} FROM (SELECT NULLIF({x}, '') AS {x} FROM found)")[0]
                kind = next((other for other, fit in zip(_FROM_TEXT, fits, strict=True) if fit), "VARCHAR")
                x = x if kind == "VARCHAR" else f"CAST(NULLIF({x}, '') AS {kind})"
            x = f"CAST({x} AS BIGINT)" if kind in _NARROW else x
            chosen.append(f"{x} AS {quoted(name)}")
        return chosen

    def settle(self, known: Sequence[str]) -> int:
        """Number the places by these columns; returns their number."""
        self._known = tuple(known)
        named = ", ".join(quoted(name) for name in known)
        self._db.execute("DROP TABLE IF EXISTS placed")
        self._db.execute("DROP TABLE IF EXISTS place")
        number = f"dense_rank() OVER (ORDER BY {named}) - 1" if known else "0"
        self._db.execute(f"CREATE TABLE placed AS SELECT {number} AS place_number, * FROM people ORDER BY 1")
        listed = f", {named}" if known else ""
        self._db.execute(f"CREATE TABLE place AS SELECT DISTINCT place_number{listed} FROM placed ORDER BY 1")
        return int(self._rows("SELECT COUNT(*) FROM place")[0][0])

    def values(self, column: str) -> list[SqlValue]:
        """The value of a known column in each place."""
        return [row[0] for row in self._rows(f"SELECT {quoted(column)} FROM place ORDER BY place_number")]

    def mask(self, condition: str) -> Bools:
        """Per place whether a condition on known columns is TRUE."""
        found = self._column(f"SELECT COALESCE(({condition}), FALSE) AS x FROM place ORDER BY place_number")
        return np.asarray(np.ma.filled(found, False), dtype=np.bool_)

    def masks(self, conditions: Sequence[str]) -> list[Bools | None]:
        """The same for many at once; None for those that cannot be evaluated."""
        found: list[Bools | None] = []
        for begin in range(0, len(conditions), _AT_ONCE):
            some = conditions[begin : begin + _AT_ONCE]
            listed = ", ".join(f"COALESCE(({condition}), FALSE) AS x{i}" for i, condition in enumerate(some))
            try:
                columns = self._columns(f"SELECT {listed} FROM place ORDER BY place_number")
                found += [np.asarray(np.ma.filled(columns[f"x{i}"], False), dtype=np.bool_) for i in range(len(some))]
            except Unanswerable:
                found += [self._mask_or_none(condition) for condition in some]
        return found

    def _mask_or_none(self, condition: str) -> Bools | None:
        try:
            return self.mask(condition)
        except Unanswerable:
            return None

    def groups(self, keys: Sequence[str]) -> tuple[Ints, list[tuple[SqlValue, ...]]]:
        """The group of each place by these expressions of known columns, and the keys of each group."""
        listed = ", ".join(f"({key}) AS k{i}" for i, key in enumerate(keys))
        names = ", ".join(f"k{i}" for i in range(len(keys)))
        labelled = f"SELECT place_number, {listed} FROM place"
        label = self._column(
            f"SELECT dense_rank() OVER (ORDER BY {names}) - 1 AS x FROM ({labelled}) ORDER BY place_number"
        )
        found = self._rows(f"SELECT DISTINCT {names} FROM ({labelled}) ORDER BY ALL")
        if len(found) > _GROUPS:
            raise Unanswerable(f"It makes more than {_GROUPS:,} groups.")
        return np.asarray(label, dtype=np.int64), found

    def expect(self, tests: Mapping[str, SecretTests]) -> None:
        """Conditions are tried on the records themselves, whatever they compare."""

    def held(self, secret: str) -> Bools:
        """A secret condition as the records it holds for, so that different wordings of it are equal."""
        found = self._column(f"SELECT COALESCE(({secret}), FALSE) AS x FROM placed")
        return np.asarray(np.ma.filled(found, False), dtype=np.bool_)

    def distinct(self, value: str) -> list[SqlValue]:
        """The distinct values of an expression over records, including NULL."""
        found = self._rows(f"SELECT DISTINCT ({value}) AS x FROM placed ORDER BY 1 LIMIT {MOST_DISTINCT + 1}")
        if len(found) > MOST_DISTINCT:
            raise Unanswerable(f"It groups by a secret with more than {MOST_DISTINCT} values.")
        return [row[0] for row in found]

    def largest(self, value: str, secret: str) -> tuple[Floats, Floats, Floats]:
        """For each place the sum of the absolute values, the largest and the second largest, where the secret condition
        holds."""
        test = f"({secret})" if secret else "TRUE"
        size = f"abs(CAST(({value}) AS DOUBLE))"
        listed = f"list({size} ORDER BY {size} DESC) FILTER (WHERE {test} AND ({value}) IS NOT NULL)"
        found = self._rows(
            f"SELECT COALESCE(list_sum(x), 0), COALESCE(x[1], 0), COALESCE(x[2], 0) FROM "
            f"(SELECT place_number, {listed} AS x FROM placed GROUP BY place_number) ORDER BY place_number"
        )
        total, first, second = np.array(found, dtype=np.float64).reshape(-1, 3).T
        return total, first, second

    def counts(self, value: str, secret: str) -> Ints:
        """Records of each place that have the value (any, if empty) and satisfy the secret condition."""
        test = f"({secret})" if secret else "TRUE"
        present = f" AND ({value}) IS NOT NULL" if value else ""
        found = self._column(
            f"SELECT COUNT(*) FILTER (WHERE {test}{present}) AS x FROM placed "
            "GROUP BY place_number ORDER BY place_number"
        )
        return np.asarray(found, dtype=np.int64)

    def sums(self, value: str, secret: str) -> list[Fraction]:
        """The exact total of the value in each place: decimals, whatever the order of addition."""
        if not value:
            return [Fraction(int(n)) for n in self.counts("", secret)]
        found = self._rows(
            f"SELECT SUM(CAST(({value}) AS DECIMAL(38, 9))) FILTER (WHERE {f'({secret})' if secret else 'TRUE'}) "
            "FROM placed GROUP BY place_number ORDER BY place_number"
        )
        return [Fraction(total or 0) for (total,) in found]

    def extent(self, value: str) -> tuple[SqlValue, SqlValue]:
        """The smallest and the largest value."""
        low, high = self._rows(f"SELECT MIN({value}), MAX({value}) FROM placed")[0]
        return low, high

    def _rows(self, sql: str) -> list[Row]:
        with _coded(), limited(self._db, LONGEST_S):
            return self._db.execute(sql).fetchall()

    def _column(self, sql: str) -> Array:
        return self._columns(sql)["x"]

    def _columns(self, sql: str) -> dict[str, Array]:
        with _coded(), limited(self._db, LONGEST_S):
            return dict(self._db.execute(sql).fetchnumpy())


def _end(database: duckdb.DuckDBPyConnection, spill: Path) -> None:
    database.close()
    rmtree(spill, ignore_errors=True)


@contextmanager
def _coded() -> Iterator[None]:
    """The engine's messages may quote values, so they are not passed on."""
    try:
        yield
    except (duckdb.Error, RuntimeError, UnicodeError):  # the last two for texts with half a character
        raise Unanswerable("The database cannot evaluate one of its expressions.") from None
    except Refusal:
        raise Unanswerable(f"An expression takes longer than {LONGEST_S:g} s, or too much memory.") from None
