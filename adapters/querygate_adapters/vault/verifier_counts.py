"""Compares what was published with the raw rows: the verifier's half inside the staging tables.

Every raw row is assigned, by its class and value, to the interval or set that was published for it, and these are
counted. A single pass over the rows gives the extremes of numbers and the values of categories in all classes; where
that is not enough, a table of distinct values gives the position of each. This requires that published intervals (or
sets) are either one for each class or disjoint over all classes; any others count as wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Protocol

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.types import Array, Bools, Floats, Ints
from querygate_adapters.store.column_arrays import floats, ints

MISSING, NOWHERE = -1, -2
"""Positions for a missing value, and for a value that was published nowhere."""

BITS = 62
"""The most values of a category that fit into the bits of one number."""


class Engine(Protocol):
    """Who has the tables of a vault. All statements below are in SQL that every engine understands alike."""

    def query(self, sql: str) -> Mapping[str, Array]: ...

    def keep(self, table: str, select: str) -> None:
        """The result of a statement as a table."""
        ...

    def give(self, table: str, rows: pa.Table) -> None:
        """A table of the publisher's, for the statements that follow."""
        ...

    def drop(self, table: str) -> None:
        """Take back what was given."""
        ...


class DuckDBEngine:
    """DuckDB as such an engine."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._db = database

    def query(self, sql: str) -> Mapping[str, Array]:
        found: Mapping[str, Array] = self._db.execute(sql).fetchnumpy()
        return found

    def keep(self, table: str, select: str) -> None:
        self._db.execute(f"CREATE TABLE {table} AS {select}")

    def give(self, table: str, rows: pa.Table) -> None:
        self._db.register(table, rows)

    def drop(self, table: str) -> None:
        self._db.unregister(table)


class Checks:
    """Raw rows with their classes, from the tables of a vault. `axes` says in SQL how to read a column of row r."""

    def __init__(
        self,
        engine: Engine,
        row: str,
        axes: Mapping[str, str],
        numeric: Sequence[str],
        rows: str = "rows",
    ):
        self._engine, self._numeric, self._first, self._among = engine, tuple(numeric), 0, "true"
        self._names = {name: f"y{i}" for i, name in enumerate(axes)}
        self._texts = {
            name: self._distinct(axis, f"{rows} r").tolist() for name, axis in axes.items() if name not in numeric
        }
        self._extremes: Mapping[str, Array] | None = None
        values, joins = ["CAST(c.class AS INTEGER) AS class"], [f"{rows} r JOIN row_class c ON c.row_id = r.{row}"]
        for name, axis in axes.items():
            y = self._names[name]
            values.append(f"{axis if name in numeric else f'COALESCE(t{y}.place, {MISSING})'} AS {y}")
            if name in self._texts:
                engine.give(f"texts_{y}", _places(pa.array(self._texts[name], pa.string())))
                joins.append(f"LEFT JOIN texts_{y} t{y} ON t{y}.value = {axis}")
        engine.keep("judged", f"SELECT {', '.join(values)} FROM {' '.join(joins)}")
        for name in self._texts:
            engine.drop(f"texts_{self._names[name]}")

    def within(self, classes: range) -> Checks:
        """The same of some classes: neither cells nor rows of any other are there."""
        found = copy(self)
        found._first, found._extremes = classes.start, None
        found._among = f"class >= {classes.start} AND class < {classes.stop}"
        return found

    def hulls(self, column: str) -> tuple[Ints, Floats, Floats]:
        """(class, smallest, largest value), in order of class; NaN where all are missing."""
        found, name = self._found(), self._names[column]
        return ints(found["class"]) + self._first, floats(found[f"lo_{name}"]), floats(found[f"hi_{name}"])

    def values(self, column: str) -> tuple[Ints, Array, Ints]:
        """(class, value, records) of a number, sorted by class and value, without missing ones."""
        y = self._names[column]
        found = self._engine.query(
            f"SELECT class, {y} AS v, COUNT(*) AS n FROM judged WHERE {y} IS NOT NULL AND {self._among} "
            "GROUP BY ALL ORDER BY ALL"
        )
        return ints(found["class"]), np.asarray(found["v"]), ints(found["n"])

    def intervals_off(self, column: str, classes: Ints, low: Array, high: Array, null: Array, counts: Ints) -> int:
        classes, state = classes - self._first, np.asarray(null)
        ends = [np.where(state == 2, 0, np.ma.getdata(end)) for end in (low, high)]
        leader = _leaders(classes, *ends, state)
        if leader is not None:
            n = np.bincount(classes, counts, leader.size).astype(np.int64)
            return self._outside(column, n[classes[leader]], classes[leader], *(f[leader] for f in (*ends, state)))
        known = state == 0
        alone = None if (state == 1).any() else _leaders(classes[known], *(end[known] for end in ends))
        if alone is not None:
            at = np.flatnonzero(known)[alone]
            return self._beside(column, classes, counts, known, (classes[at], ends[0][at], ends[1][at]))
        edge, place = np.unique(ends[0][known], return_inverse=True)
        top = np.zeros_like(edge)
        top[place] = ends[1][known]
        mixed = int((top[place] != ends[1][known]).sum() + (top[:-1] >= edge[1:]).sum() + (state == 1).sum())
        if mixed:
            return mixed
        published = np.full(classes.size, MISSING)
        published[known] = place.reshape(-1)
        return _differing((classes, published, counts), self._counted(column, edge, top))

    def sets_off(
        self, column: str, classes: Ints, sets: Ints, counts: Ints, members: tuple[Ints, Ints], texts: Sequence[str]
    ) -> int:
        classes, sets, known = classes - self._first, np.asarray(sets, dtype=np.int64), self._texts[column]
        leader = _leaders(classes, sets)
        if leader is not None and len(known) <= BITS:
            n = np.bincount(classes, counts, leader.size).astype(np.int64)
            number = {text: i for i, text in enumerate(known)}
            bits = np.array([1 << (number[t] + 1) if t in number else 0 for t in texts] + [1])  # the last is missing
            allowed = np.zeros(int(members[0].max(initial=0)) + 1, dtype=np.int64)
            np.bitwise_or.at(allowed, members[0], bits[members[1]])
            return self._besides(column, n[classes[leader]], classes[leader], allowed[sets[leader]])
        found, value, n = self._by_text(column, texts)
        if leader is not None:
            set_of = np.full(int(max(classes.max(initial=0), found.max(initial=0))) + 1, NOWHERE)
            set_of[classes[leader]] = sets[leader]
            width = len(texts) + 2
            inside = np.isin(set_of[found] * width + value + 2, members[0] * width + members[1] + 2)
            return _differing((classes, np.zeros_like(sets), counts), (found, np.where(inside, 0, NOWHERE), n))
        repeated = members[1].size - np.unique(members[1]).size
        if repeated:
            return int(repeated)
        place = np.full(len(texts) + 2, NOWHERE)
        place[members[1] + 2] = members[0]
        return _differing((classes, sets, counts), (found, place[value + 2], n))

    # -- readings of the rows --------------------------------------------------------------------------------------

    def _found(self) -> Mapping[str, Array]:
        """For each class its records, the extremes and known values of every number, and which values of every small
        category occur: bit 0 is a missing value.
        """
        if self._extremes is None:
            wanted = [f"class - {self._first} AS class", "COUNT(*) AS n"]
            for y in (self._names[name] for name in self._numeric):
                wanted += [f"MIN({y}) AS lo_{y}", f"MAX({y}) AS hi_{y}", f"COUNT({y}) AS known_{y}"]
            for y in (self._names[name] for name, texts in self._texts.items() if len(texts) <= BITS):
                wanted.append(f"BIT_OR(CAST(1 AS BIGINT) << ({y} + 1)) AS has_{y}")
            sql = f"SELECT {', '.join(wanted)} FROM judged WHERE {self._among} GROUP BY ALL ORDER BY 1"
            self._extremes = self._engine.query(sql)
        return self._extremes

    def _outside(self, column: str, n: Ints, classes: Ints, low: Array, high: Array, state: Ints) -> int:
        """Classes with a different number of records than published, or with values (or missing ones) outside their
        interval."""
        found, name = self._found(), self._names[column]
        if not np.array_equal(found["class"], classes):
            return int(np.setxor1d(found["class"], classes).size)
        known = np.asarray(found[f"known_{name}"])
        least, greatest = (_known(found[f"{end}_{name}"]) for end in ("lo", "hi"))
        wrong = (found["n"] != n) | ((state == 0) & (known != n)) | ((state == 2) & (known != 0))
        wrong |= (known > 0) & ((least < low) | (greatest > high))
        return int(wrong.sum())

    def _beside(self, column: str, classes: Ints, counts: Ints, known: Bools, one: tuple[Ints, Array, Array]) -> int:
        """Classes with different numbers of known or missing values than published, or with known values outside their
        interval.
        """
        found, name = self._found(), self._names[column]
        label = np.asarray(found["class"], dtype=np.int64)
        if not np.array_equal(label, np.unique(classes)):
            return int(np.setxor1d(label, classes).size)
        size = int(label.max(initial=0)) + 1
        there, gone = (np.bincount(classes[part], counts[part], size)[label] for part in (known, ~known))
        held = np.asarray(found[f"known_{name}"])
        low, high = np.zeros(size, dtype=one[1].dtype), np.zeros(size, dtype=one[2].dtype)
        low[one[0]], high[one[0]] = one[1], one[2]
        least, greatest = (_known(found[f"{end}_{name}"]) for end in ("lo", "hi"))
        wrong = (held != there) | (np.asarray(found["n"]) - held != gone)
        wrong |= (held > 0) & ((least < low[label]) | (greatest > high[label]))
        return int(wrong.sum())

    def _besides(self, column: str, n: Ints, classes: Ints, allowed: Ints) -> int:
        """Classes with a different number of records than published, or with values outside their set."""
        found = self._found()
        if not np.array_equal(found["class"], classes):
            return int(np.setxor1d(found["class"], classes).size)
        return int(((found["n"] != n) | (found[f"has_{self._names[column]}"] & ~allowed != 0)).sum())

    def _counted(self, column: str, edge: Array, top: Array) -> tuple[Ints, Ints, Ints]:
        """(class, interval, records), with disjoint intervals."""
        y = self._names[column]
        values = self._distinct(y, "judged")
        place = np.searchsorted(edge, values, side="right") - 1
        inside = (place >= 0) & (values <= top[place] if edge.size else False)
        self._engine.give("given", _places(values, np.where(inside, place, NOWHERE)))
        found = self._tallied(
            f"CASE WHEN j.{y} IS NULL THEN {MISSING} ELSE COALESCE(p.place, {NOWHERE}) END",
            f"judged j LEFT JOIN given p ON p.value = j.{y}",
        )
        self._engine.drop("given")
        return found

    def _by_text(self, column: str, texts: Sequence[str]) -> tuple[Ints, Ints, Ints]:
        """(class, number among these texts, records)."""
        classes, value, n = self._tallied(f"j.{self._names[column]}", "judged j")
        number = {text: i for i, text in enumerate(texts)}
        places = np.array([number.get(text, NOWHERE) for text in self._texts[column]] + [MISSING])
        return classes, places[value], n

    def _tallied(self, place: str, rows: str) -> tuple[Ints, Ints, Ints]:
        found = self._engine.query(
            f"SELECT j.class - {self._first} AS class, {place} AS place, COUNT(*) AS n FROM {rows} "
            f"WHERE {self._among} GROUP BY ALL ORDER BY ALL"
        )
        return ints(found["class"]), ints(found["place"]), ints(found["n"])

    def _distinct(self, axis: str, rows: str) -> Array:
        found = self._engine.query(f"SELECT DISTINCT {axis} AS v FROM {rows} WHERE {axis} IS NOT NULL")
        return np.asarray(found["v"])


def _places(values: Array | pa.Array, places: Ints | None = None) -> pa.Table:
    """Values and their positions; by default each has its own."""
    return pa.table({"value": values, "place": np.arange(len(values)) if places is None else places})


def _leaders(classes: Ints, *figures: Array) -> Ints | None:
    """One row for each class, in order, if all rows of a class have the same figures."""
    last = np.full(int(classes.max(initial=-1)) + 1, -1)
    last[classes] = np.arange(classes.size)
    if all((figure == figure[last[classes]]).all() for figure in figures):
        return last[last >= 0]
    return None


def _known(extremes: Array) -> Array:
    """Extremes as plain numbers; arbitrary for a class without values. A column with only missing values comes as
    objects.
    """
    plain = np.ma.getdata(extremes)
    return np.zeros(len(plain), dtype=np.int64) if plain.dtype == object else plain


def _differing(published: tuple[Ints, Ints, Ints], found: tuple[Ints, Ints, Ints]) -> int:
    """The number of (class, position) pairs with different numbers of records."""
    width = int(max(published[1].max(initial=0), found[1].max(initial=0))) + 3
    (key, n), (key_found, n_found) = (_totals(c * width + place + 2, n) for c, place, n in (published, found))
    if np.array_equal(key, key_found):
        return int((n != n_found).sum())
    _, mine, theirs = np.intersect1d(key, key_found, assume_unique=True, return_indices=True)
    return int(key.size + key_found.size - 2 * mine.size + (n[mine] != n_found[theirs]).sum())


def _totals(key: Ints, n: Ints) -> tuple[Ints, Ints]:
    if (key[1:] < key[:-1]).any():  # cells are written in this order
        order = np.argsort(key)
        key, n = key[order], n[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    return key[starts], np.add.reduceat(n, starts) if key.size else n
