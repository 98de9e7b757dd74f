"""Cells of a new version of which some classes are those of an earlier one: the earlier store's cells, without classes
that are gone, and the cells that were made anew.

Value sets keep their numbers, unless a value that nobody had before moves them: then carried cells are renumbered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import duckdb
import pyarrow as pa

from querygate.core.publications.carried_classes import CarriedClasses, CarriedProof
from querygate.core.types import Catalog, Column
from querygate_adapters.store.cell_query import stored
from querygate_adapters.store.class_moments import TABLE
from querygate_adapters.vault.carried_rows import is_carried, keep_gone

Members: TypeAlias = frozenset[str | None]
Sets: TypeAlias = dict[int, dict[int, Members]]
"""Per column, the texts of each set; None is a missing value."""

_SET_KINDS = {"column_id": pa.int32(), "set_id": pa.int32(), "value_id": pa.int32(), "alone": pa.bool_()}


def write_beside(
    database: duckdb.DuckDBPyConnection,
    earlier: str,
    tables: Mapping[str, pa.Table],
    catalog: Catalog,
    carried: CarriedClasses,
) -> None:
    """Write the tables of a store. `tables` has what was made anew, `earlier` is the attached store of the version that
    the other classes are carried over from.
    """
    keep_gone(database, carried)
    categories = [column for column in catalog.columns if not column.is_numeric]
    before, made = _sets_in(database, earlier), _given_sets(tables)
    sets = {column.index: _Numbering.of(column, before, made, catalog) for column in categories}
    _write_cells(database, earlier, tables["cells"], catalog, carried, sets)
    used = {
        i: {int(row[0]) for row in database.execute(f"SELECT DISTINCT c{i}_set FROM cells").fetchall()} for i in sets
    }
    _put(database, "set_value", _set_table(sets, used, catalog))
    _put(database, "value_text", tables["value_text"])
    if TABLE in tables:
        _put(database, TABLE, tables[TABLE])
        database.execute(f"INSERT INTO {TABLE} SELECT * FROM {earlier}.{TABLE} WHERE {is_carried(carried)}")


@dataclass(frozen=True, slots=True)
class _Numbering:
    """The sets of a column in the new version, and what the numbers of earlier and of new ones become."""

    sets: dict[int, Members]
    own: frozenset[int]  # numbers of sets that may be nobody's
    from_earlier: dict[int, int]
    from_made: dict[int, int]

    @classmethod
    def of(cls, column: Column, before: Sets, made: Sets, catalog: Catalog) -> _Numbering:
        old, new = before.get(column.index, {}), made.get(column.index, {})
        if column.role == "quasi-identifier":
            sets, number = dict(old), {members: number for number, members in old.items()}
            for members in new.values():
                if members not in number:
                    number[members] = max(sets, default=-1) + 1
                    sets[number[members]] = members
            own: frozenset[int] = frozenset()
        else:  # each value has a set of its own, with the number of the value
            sets = {i: frozenset({text}) for i, text in enumerate(column.values)}
            if column.nullable:
                sets[len(column.values)] = frozenset({None})
            number, own = {members: i for i, members in sets.items()}, frozenset(sets)
        return cls(
            sets,
            own,
            {i: number[members] for i, members in old.items() if members in number},
            {i: number[members] for i, members in new.items() if members in number},
        )


def _write_cells(
    database: duckdb.DuckDBPyConnection,
    earlier: str,
    made: pa.Table,
    catalog: Catalog,
    carried: CarriedClasses,
    sets: Mapping[int, _Numbering],
) -> None:
    database.register("made", made)
    known = {str(row[0]) for row in database.execute(f"DESCRIBE {earlier}.cells").fetchall()}
    parts = []
    for table, names, where, one in (
        (f"{earlier}.cells", known, is_carried(carried), "from_earlier"),
        ("made", set(made.column_names), "true", "from_made"),
    ):
        shown, joins = ["class", "n", "class_n"], ""
        for column in catalog.columns:
            numbers = getattr(sets[column.index], one) if column.index in sets else {}
            if all(old == new for old, new in numbers.items()):
                shown += [_there(name, names) for name in stored(column)]
                continue
            renumber = f"{one}_{column.index}"
            database.execute(f"CREATE TEMP TABLE {renumber} (old INTEGER, new INTEGER)")
            database.executemany(f"INSERT INTO {renumber} VALUES (?, ?)", list(numbers.items()))
            shown.append(f"{renumber}.new AS c{column.index}_set")
            joins += f" JOIN {renumber} ON {renumber}.old = c{column.index}_set"
        parts.append(f"SELECT {', '.join(shown)} FROM {table}{joins} WHERE {where}")
    database.execute(f"CREATE TABLE cells AS {' UNION ALL '.join(parts)}")
    database.unregister("made")


def _there(name: str, names: set[str]) -> str:
    """SQL: a column of the cells; where nothing is missing, there is none that says so."""
    return name if name in names else f"CAST(0 AS TINYINT) AS {name}"


def _sets_in(database: duckdb.DuckDBPyConnection, store: str) -> Sets:
    rows = database.execute(
        f"SELECT column_id, set_id, text FROM {store}.set_value LEFT JOIN {store}.value_text "
        "USING (column_id, value_id)"
    )
    return _gathered(rows.fetchall())


def _given_sets(tables: Mapping[str, pa.Table]) -> Sets:
    texts = {(row["column_id"], row["value_id"]): row["text"] for row in tables["value_text"].to_pylist()}
    rows = [(row["column_id"], row["set_id"], row["value_id"]) for row in tables["set_value"].to_pylist()]
    return _gathered((column, number, texts.get((column, value))) for column, number, value in rows)


def _gathered(rows: Iterable[tuple[int, int, str | None]]) -> Sets:
    """Sets from a row for each member: column, set, text."""
    found: dict[int, dict[int, set[str | None]]] = {}
    for column, number, text in rows:
        found.setdefault(column, {}).setdefault(number, set()).add(text)
    return {column: {i: frozenset(texts) for i, texts in sets.items()} for column, sets in found.items()}


def _set_table(sets: Mapping[int, _Numbering], used: Mapping[int, set[int]], catalog: Catalog) -> pa.Table:
    rows: list[tuple[int, int, int, bool]] = []
    for column in catalog.columns:
        if column.index not in sets:
            continue
        place: dict[str | None, int] = {text: i for i, text in enumerate(column.values)} | {None: -1}
        numbering = sets[column.index]
        for number, members in sorted(numbering.sets.items()):
            if number in used[column.index] or number in numbering.own:
                rows += [(column.index, number, v, len(members) == 1) for v in sorted(place[text] for text in members)]
    columns = zip(*rows, strict=True) if rows else ((), (), (), ())
    return pa.table({name: pa.array(c, kind) for (name, kind), c in zip(_SET_KINDS.items(), columns, strict=True)})


def _put(database: duckdb.DuckDBPyConnection, name: str, table: pa.Table) -> None:
    database.register("given", table)
    database.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    database.unregister("given")


# -- measured on the written file ----------------------------------------------------------------------------------


def prove(
    database: duckdb.DuckDBPyConnection,
    store: str,
    earlier: str,
    catalogs: tuple[Catalog, Catalog],
    carried: CarriedClasses,
    *,
    same_rows: bool,
) -> CarriedProof:
    """Count a written store, attached as `store`, with the raw rows of the version in the making; and compare carried
    cells with those of the earlier one.
    """
    now, then = catalogs
    [(uneven, cells, told, smallest, largest)] = database.execute(
        "SELECT COUNT(*) FILTER (r.rows IS DISTINCT FROM n OR low <> n OR high <> n OR least < 1), "
        "SUM(cells), SUM(n), MIN(n), MAX(n) FROM (SELECT class, COUNT(*) AS cells, SUM(n) AS n, MIN(n) AS least, "
        f"MIN(class_n) AS low, MAX(class_n) AS high FROM {store}.cells GROUP BY class) "
        "FULL JOIN (SELECT class, COUNT(*) AS rows FROM main.row_class GROUP BY class) r USING (class)"
    ).fetchall()
    bins, width = {}, {}
    for column in now.columns:
        if not column.is_numeric:
            continue
        lo, hi = f"c{column.index}_lo", f"c{column.index}_hi"
        known = f"FROM {store}.cells WHERE {lo} IS NOT NULL"
        least = f"SELECT COALESCE(MIN(held), 0) FROM (SELECT SUM(n) AS held {known} GROUP BY {lo}, {hi})"
        mean = f"SELECT COALESCE(SUM((CAST({hi} AS DOUBLE) - {lo}) * n) / SUM(n), 0) {known}"
        [(bins[column.index], width[column.name])] = database.execute(f"SELECT ({least}), ({mean})").fetchall()
    old, new = _sets_in(database, earlier), _sets_in(database, store)
    numbered = all(sets.items() <= new.get(column, {}).items() for column, sets in old.items())
    figures = [
        _figures(database, file, catalog, carried, by_number=numbered)
        for file, catalog in ((store, now), (earlier, then))
    ]
    return CarriedProof(
        carried,
        figures[0] == figures[1],
        same_rows,
        uneven,
        int(cells),
        int(told),
        int(smallest),
        int(largest),
        bins,
        width,
    )


def _figures(
    database: duckdb.DuckDBPyConnection, store: str, catalog: Catalog, carried: CarriedClasses, *, by_number: bool
) -> tuple[int, int]:
    """The number of carried cells, and the sum of digests of what they say: of sets their numbers, where these mean the
    same in both versions, or the texts in them.
    """
    known = {str(row[0]) for row in database.execute(f"DESCRIBE {store}.cells").fetchall()}
    shown, joins = ["class", "n", "class_n"], ""
    for column in catalog.columns:
        i = column.index
        if column.is_numeric:
            names = (f"c{i}_lo", f"c{i}_hi", f"c{i}_null")
            shown += [name if name in known else "CAST(0 AS TINYINT)" for name in names]
        elif by_number:
            shown.append(f"c{i}_set")
        else:
            joins += (
                f" JOIN (SELECT set_id AS set_{i}, hash(list(text ORDER BY text NULLS FIRST)) AS h{i} "
                f"FROM {store}.set_value LEFT JOIN {store}.value_text USING (column_id, value_id) "
                f"WHERE column_id = {i} GROUP BY set_id) ON set_{i} = c{i}_set"
            )
            shown.append(f"h{i}")
    [(cells, total)] = database.execute(
        f"SELECT COUNT(*), SUM(CAST(hash({', '.join(shown)}) AS HUGEINT)) FROM {store}.cells{joins} "
        f"WHERE {is_carried(carried)}"
    ).fetchall()
    return int(cells), int(total or 0)
