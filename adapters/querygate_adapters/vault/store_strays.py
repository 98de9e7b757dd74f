"""Finds content of a store file that its catalog does not call for: an allow-list of tables, columns and rows.

A reader asks only for what it knows and would never see the rest; somebody who copies the file has all of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path

import duckdb

from querygate.core.types import Catalog, Column
from querygate_adapters.store.cell_query import stored
from querygate_adapters.store.class_moments import COLUMNS, TABLE
from querygate_adapters.store.code_sets import CODE_TABLES, code_columns
from querygate_adapters.store.duckdb_lockdown import attached, in_memory

WHOLE = frozenset({"TINYINT", "INTEGER", "BIGINT"})
NUMBER = WHOLE | {"DOUBLE"}
TEXT, FLAG = frozenset({"VARCHAR"}), frozenset({"BOOLEAN"})

Kinds = dict[str, frozenset[str]]
"""What a column may hold, by its name."""


def tables_of(catalog: Catalog) -> dict[str, Kinds]:
    """The tables of a store, with their columns."""
    cells = ("class", "class_n", "n", *(("margin", "frame") if catalog.margins else ()))
    told = [(name, column.is_numeric) for column in catalog.columns for name in stored(column)]
    codes = {table: _kinds(names) for table, names in CODE_TABLES.items()} if code_columns(catalog) else {}
    return {
        "catalog": {"body": TEXT},
        "cells": dict.fromkeys(cells, WHOLE) | {name: NUMBER if numeric else WHOLE for name, numeric in told},
        "set_value": _kinds("column_id, set_id, value_id") | {"alone": FLAG},
        "value_text": _kinds("column_id, value_id, text"),
        TABLE: _kinds(COLUMNS),
        **codes,
    }


def _kinds(names: str) -> Kinds:
    special = {"text": TEXT, "code": TEXT} | dict.fromkeys(("sum_lo", "sum_hi", "var_lo", "var_hi"), NUMBER)
    return {name: special.get(name, WHOLE) for name in names.split(", ")}


def strays(database: duckdb.DuckDBPyConnection, path: Path, catalog: Catalog) -> Iterator[str]:
    """What is wrong in the open file, table by table, in words that quote none of its content."""
    wanted, found = tables_of(catalog), _tables_alone(path)
    if found is None or not wanted.keys() - {TABLE} <= found.keys() <= wanted.keys():
        yield "there are the tables of a store, and nothing beside them"
        return
    for table, columns in found.items():
        kinds = wanted[table]
        if columns.keys() != kinds.keys() or any(kind not in kinds[name] for name, kind in columns.items()):
            yield f"{table} has its columns and no others"
            return
    texts = database.execute("SELECT column_id, value_id, text FROM value_text ORDER BY ALL").fetchall()
    if texts != [(c.index, i, text) for c in _categories(catalog) for i, text in enumerate(c.values)]:
        yield "texts are those of the values in the catalog"
    yield from _stray_sets(database, catalog)
    told = {TABLE: [c for c in catalog.columns if c.moments != "none"]} | dict.fromkeys(
        CODE_TABLES, code_columns(catalog)
    )
    for table in told.keys() & found.keys():
        own = "".join(f", {column.index}" for column in told[table])
        if _any(database, f"SELECT 1 FROM {table} WHERE column_id IS NULL OR column_id NOT IN (-1{own})"):
            yield f"{table} tells of the columns that the catalog says"


OTHERS = (
    *(f"duckdb_{kind}() WHERE NOT internal" for kind in ("functions", "types", "schemas")),
    *(f"duckdb_{kind}() WHERE true" for kind in ("sequences", "indexes", "constraints")),
    "duckdb_tables() WHERE (comment IS NOT NULL OR schema_name <> 'main')",
    "duckdb_columns() WHERE NOT internal AND (comment IS NOT NULL OR column_default IS NOT NULL)",
)
"""Everything other than tables and views, and comments and defaults in tables."""


def _tables_alone(path: Path) -> dict[str, dict[str, str]] | None:
    """The tables of a file, with the types of their columns; None if it holds anything else."""
    name = f"file_{next(_NUMBERS)}"
    with attached(_lister(os.getpid()), {name: path}) as database:
        others = " UNION ALL ".join(f"SELECT 1 FROM {listed} AND database_name = '{name}'" for listed in OTHERS)
        views = f"SELECT 1 FROM duckdb_views() WHERE NOT internal AND database_name = '{name}'"
        if _any(database, views) or _any(database, others):  # views first: listing the columns of a view evaluates it
            return None
        rows = database.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() "
            f"WHERE database_name = '{name}' ORDER BY column_index"
        ).fetchall()
    found: dict[str, dict[str, str]] = {}
    for table, column, kind in rows:
        found.setdefault(table, {})[column] = kind
    return found


_NUMBERS = count()


@cache
def _lister(process: int) -> duckdb.DuckDBPyConnection:
    """One engine for the whole process: listing its own views and functions along with a file's takes longer than
    reading the file. It evaluates nothing from a file. A forked process needs its own.
    """
    return in_memory(enable_external_access="true", threads="1", lock_configuration="true")


def _categories(catalog: Catalog) -> list[Column]:
    return [column for column in catalog.columns if not column.is_numeric and not column.is_codes]


def _stray_sets(database: duckdb.DuckDBPyConnection, catalog: Catalog) -> Iterator[str]:
    """Every set must occur in a cell; but a column that publishes each value by itself also has a set for values that
    nobody has, under the value's own number.
    """
    own = {c.index: c for c in _categories(catalog)}
    known = ", ".join(f"({i}, {len(c.values)})" for i, c in own.items()) or "(-1, 0)"
    if _any(
        database,
        f"SELECT 1 FROM set_value LEFT JOIN (VALUES {known}) AS known(column_id, size) USING (column_id) "
        "WHERE size IS NULL OR set_id IS NULL OR value_id IS NULL OR value_id NOT BETWEEN -1 AND size - 1",
    ):
        yield "sets have values of their column"
    if _any(
        database,
        "SELECT 1 FROM set_value GROUP BY column_id, set_id HAVING COUNT(*) <> COUNT(DISTINCT value_id) "
        "OR COUNT(*) <> COUNT(alone) OR BOOL_OR(alone) <> (COUNT(*) = 1) OR BOOL_AND(alone) <> (COUNT(*) = 1)",
    ):
        yield "sets have each value once, and say whether it is alone"
    for i, column in own.items():
        unused = f"set_id NOT IN (SELECT DISTINCT c{i}_set FROM cells WHERE c{i}_set IS NOT NULL)"
        by_itself = f"(alone AND set_id = CASE value_id WHEN -1 THEN {len(column.values)} ELSE value_id END)"
        if _any(database, f"SELECT 1 FROM set_value WHERE column_id = {i} AND {unused} AND NOT {by_itself}"):
            yield f"every set of {column.name} is that of a cell"


def _any(database: duckdb.DuckDBPyConnection, sql: str) -> bool:
    return database.execute(f"{sql} LIMIT 1").fetchone() is not None
