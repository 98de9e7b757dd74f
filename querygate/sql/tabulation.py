"""A function of one column as a table of what the database makes of each of its values; and constants."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from sqlglot import exp

from querygate.core.dates import date_of
from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Constant, Expression, Lookup, Ref
from querygate.core.types import Column, SqlValue, folded
from querygate.sql.context import Context
from querygate.sql.parse import span_of
from querygate.sql.restatement import own_wording, wording_over_x

MOST_VALUES = 100_000
"""Values of a public domain up to which a function of the column is tabulated."""

LARGEST = 2**62


def sql_type(node: exp.Expr, context: Context) -> str:
    """The type that the database gives an expression; empty where a column of groups may be of any."""
    holder = exp.Paren(this=node.copy())
    for found in list(holder.find_all(exp.Column)):
        column = context.column(found)
        if folded(found.name) in context.singles | context.decimals:
            return ""
        found.replace(exp.Cast(this=exp.Null(), to=exp.DataType.build(_SQL_TYPES[column.type], dialect="duckdb")))
    return str(context.native.tabulate(f"typeof({own_wording(holder)})", "integer", [0]).results[0])


_SQL_TYPES = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "category": "VARCHAR",
    "boolean": "BOOLEAN",
}


def is_tabulable(column: Column) -> bool:
    """Has it so few values that each can be looked at?"""
    if column.is_codes or column.type == "timestamp":
        return False  # its values are sets of codes, or microseconds
    if not column.is_numeric:
        return len(column.values) <= MOST_VALUES
    if not column.is_discrete or column.low is None or column.high is None:
        return False
    return column.high - column.low < MOST_VALUES


def tabulate(node: exp.Expr, column: Column, context: Context) -> Expression:
    """What the database makes of every value of the column."""
    results_of = context.native.tabulate(wording_over_x(node), column.type, axis(column))
    return made_table(column, results_of.type, results_of.results, node)


@lru_cache(maxsize=256)
def axis(column: Column) -> tuple[SqlValue, ...]:
    """Every value of a column, and NULL."""
    if column.type == "boolean":
        return (*(value == "true" for value in column.values), None)
    if not column.is_numeric:
        return (*column.values, None)
    low, high = int(column.low or 0), int(column.high or 0)
    if column.type == "date":
        return (*(date_of(day) for day in range(low, high + 1)), None)
    return (*range(low, high + 1), None)


def made_table(column: Column, type_: str, results: tuple[SqlValue, ...], node: exp.Expr) -> Expression:
    """A table from its results; the column itself where nothing changes."""
    if type_ == "other" or any(isinstance(r, int) and abs(r) >= LARGEST for r in results):
        raise refused(node)
    results = tuple(float("inf") if isinstance(r, float) and math.isnan(r) else r for r in results)
    if all(result is None for result in results):
        return Constant(None, "null")
    if results == axis(column) and type_ == column.type:
        return Ref(column.name, column.type)
    if column.is_numeric:
        starts = np.arange(int(column.low or 0), int(column.high or 0) + 1, dtype=np.int64)
        return Lookup.over_pieces(column.name, type_, starts, results)
    return Lookup.over_values(column.name, type_, column.values, results)


def constant_of(node: exp.Expr, context: Context) -> Constant:
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        whole = int(node.this)
        if whole < LARGEST:
            return Constant(whole, "integer")
    found = context.native.tabulate(own_wording(exp.Paren(this=node.copy())), "integer", [0])
    value = found.results[0]
    if found.type == "other" or (isinstance(value, int) and abs(value) >= LARGEST):
        raise refused(node)
    if isinstance(value, float) and not math.isfinite(value):
        raise UnsupportedSQL("QG215", "This value is not finite.", "Use another number.", span=span_of(node))
    return Constant(value, "null" if value is None else found.type)


def refused(node: exp.Expr) -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG207",
        "No range can be computed for this expression.",
        "Functions of a single category, date or whole-number column are all supported. For several columns, or "
        "continuous ones, use + - * /, CASE, COALESCE, ABS, ROUND, FLOOR, LN, EXP, SQRT, POWER, LEAST and GREATEST.",
        span=span_of(node),
    )
