"""Rows that are as they were in an earlier version, and the classes that consist of nothing else.

Rows that are not where they were are found by two digests of 64 bits each over all their columns, one of the values and
one of their texts: those that differ are taken for the same once in 10^38 comparisons.
"""

from __future__ import annotations

import duckdb
import pyarrow as pa

from querygate.core.publications.carried_classes import CarriedClasses
from querygate_adapters.sources.files import quoted
from querygate_adapters.store.column_arrays import ints
from querygate_adapters.vault.person_history import Vault

SAME, CHANGED, GONE = "same", "changed", "gone"
"""Tables of a version in the making: each row with the class that it keeps, if any; rows that keep none; and classes of
the earlier version that are gone."""


def carry(database: duckdb.DuckDBPyConnection, version: int, rows: int) -> CarriedClasses | None:
    """Find what a version in the making has in common with an earlier one, which is attached as v1, v2 ... and had so
    many rows; None where they cannot be compared, or where most rows have changed.

    At least one class is made anew, so that there is something to make.
    """
    now, then = Vault.of(database, "main"), Vault.of(database, f"v{version}")
    held, all_rows = _one(database, f"SELECT (SELECT COUNT(*) FROM {then.schema}.rows), COUNT(*) FROM main.rows")
    if now.types != then.types or held != rows:  # somebody may have been deleted from the vault
        return None
    _find_same(database, now, then)
    database.execute(f"UPDATE {SAME} SET class = NULL WHERE class IN (SELECT class FROM {GONE})")
    kept, first = _one(database, f"SELECT COUNT(class), MIN(class) FROM {SAME}")
    if kept == all_rows:
        database.execute(f"INSERT INTO {GONE} VALUES (?)", [first])
        database.execute(f"UPDATE {SAME} SET class = NULL WHERE class = ?", [first])
    database.execute(
        f"CREATE TABLE {CHANGED} AS SELECT * FROM main.rows "
        f"WHERE {quoted(now.row)} IN (SELECT row_id FROM {SAME} WHERE class IS NULL)"
    )
    kept, known, changed = _one(
        database, f"SELECT COUNT(class), COUNT(*), (SELECT COUNT(*) FROM {CHANGED}) FROM {SAME}"
    )
    if known != all_rows or kept + changed != all_rows or changed > kept:
        forget(database)
        return None
    last, classes = _one(database, f"SELECT MAX(class), COUNT(DISTINCT class) FROM {then.schema}.row_class")
    gone = ints(database.execute(f"SELECT class FROM {GONE} ORDER BY class").fetchnumpy()["class"])
    return CarriedClasses(version, classes - gone.size, kept, gone, last)


def _find_same(database: duckdb.DuckDBPyConnection, now: Vault, then: Vault) -> None:
    """Every row with the class of the same row of the earlier version, NULL where there is none; and the classes of
    those that are not the same any more.

    Most rows are where they were, and to compare two rows in one place needs no search. All others are looked up by
    their digests, wherever they are.
    """
    columns = sorted(now.types)
    equal = " AND ".join(f"n.{quoted(name)} IS NOT DISTINCT FROM o.{quoted(name)}" for name in columns)
    database.execute(
        f"CREATE TABLE beside AS SELECT n.{quoted(now.row)} AS row_id, o.{quoted(then.row)} AS before, c.class, "
        f"COALESCE(c.row_id = o.{quoted(then.row)} AND {equal}, false) AS is_same FROM main.rows n "
        f"POSITIONAL JOIN {then.schema}.rows o POSITIONAL JOIN {then.schema}.row_class c"
    )
    digests = _digests(columns)
    database.execute(
        f"CREATE TABLE moved AS SELECT row_id, before, class FROM "
        f"(SELECT {quoted(now.row)} AS row_id, {digests} FROM main.rows WHERE {quoted(now.row)} IN "
        "(SELECT row_id FROM beside WHERE NOT is_same AND row_id IS NOT NULL)) n FULL JOIN "
        f"(SELECT o.{quoted(then.row)} AS before, class, {digests} FROM {_classed(then)} WHERE o.{quoted(then.row)} IN "
        "(SELECT before FROM beside WHERE NOT is_same AND before IS NOT NULL)) o USING (d1, d2)"
    )
    database.execute(f"CREATE TABLE {GONE} AS SELECT DISTINCT class FROM moved WHERE row_id IS NULL")
    database.execute(
        f"CREATE TABLE {SAME} AS SELECT b.row_id, CASE WHEN is_same THEN b.class ELSE m.class END AS class "
        "FROM beside b LEFT JOIN (SELECT * FROM moved WHERE row_id IS NOT NULL AND before IS NOT NULL) m "
        "ON m.row_id = b.row_id WHERE b.row_id IS NOT NULL"
    )
    database.execute("DROP TABLE beside")
    database.execute("DROP TABLE moved")


def forget(database: duckdb.DuckDBPyConnection) -> None:
    for table in (SAME, CHANGED, GONE):
        database.execute(f"DROP TABLE IF EXISTS {table}")


def same_rows(database: duckdb.DuckDBPyConnection, carried: CarriedClasses, now: str = "main") -> bool:
    """Do carried classes have the very rows that they had? Needs the table of those that are gone."""
    figures = []
    for schema in (now, f"v{carried.version}"):
        vault = Vault.of(database, schema)
        listed = ", ".join(f"o.{quoted(name)}" for name in sorted(vault.types))
        total = f"COUNT(*), SUM(CAST(hash(class, {listed}) AS HUGEINT))"
        apart, *found = _one(
            database,
            f"SELECT MAX(c.row_id IS DISTINCT FROM o.{quoted(vault.row)})::INT, {total} FROM {schema}.rows o "
            f"POSITIONAL JOIN {schema}.row_class c WHERE {is_carried(carried)}",
        )
        if apart:  # classes are not in the order of rows
            found = list(_one(database, f"SELECT {total} FROM {_classed(vault)} WHERE {is_carried(carried)}"))
        figures.append(found)
    return figures[0] == figures[1]


def is_carried(carried: CarriedClasses) -> str:
    """SQL: does a class of either version stay as it was?"""
    return f"(class NOT IN (SELECT class FROM {GONE}) AND class <= {carried.last})"


def keep_gone(database: duckdb.DuckDBPyConnection, carried: CarriedClasses) -> None:
    """The table of classes that are gone, where there is none."""
    database.register("given", pa.table({"class": carried.gone}))
    database.execute(f"CREATE OR REPLACE TEMP TABLE {GONE} AS SELECT * FROM given")
    database.unregister("given")


def still_to_compare(vault: Vault, version: int, carried: CarriedClasses, person: str) -> str:
    """SQL: which rows of an earlier version are to be compared with a new one: all but those of the people in carried
    classes. What was told of these before is what is told now.
    """
    then = f"v{carried.version}"
    if version == carried.version:
        return f"{quoted(vault.row)} IN (SELECT row_id FROM {then}.row_class WHERE class IN (SELECT class FROM {GONE}))"
    return (
        f"CAST({quoted(person)} AS VARCHAR) NOT IN (SELECT CAST({quoted(person)} AS VARCHAR) "
        f"FROM {then}.rows o JOIN {then}.row_class c ON c.row_id = o.{quoted(vault.row)} "
        f"WHERE class NOT IN (SELECT class FROM {GONE}))"
    )


def made_anew(vault: Vault, carried: CarriedClasses, *, staged: bool) -> str:
    """SQL: which rows of the new version are not carried over."""
    if staged:
        return f"{quoted(vault.row)} IN (SELECT {quoted(vault.row)} FROM {CHANGED})"
    return f"{quoted(vault.row)} IN (SELECT row_id FROM {vault.schema}.row_class WHERE NOT {is_carried(carried)})"


def _classed(vault: Vault) -> str:
    """SQL: rows with their classes."""
    return f"{vault.schema}.rows o JOIN {vault.schema}.row_class c ON c.row_id = o.{quoted(vault.row)}"


def _digests(columns: list[str]) -> str:
    texts = ", ".join(f"COALESCE(CAST({quoted(name)} AS VARCHAR), chr(30))" for name in columns)
    return f"hash({', '.join(map(quoted, columns))}) AS d1, hash(concat_ws(chr(31), '', {texts})) AS d2"


def _one(database: duckdb.DuckDBPyConnection, sql: str) -> tuple[int, ...]:
    [found] = database.execute(sql).fetchall()
    return tuple(found)
