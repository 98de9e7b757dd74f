"""WHERE to a predicate in normal form: one atom for all that is said about one column."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.predicate import (
    FALSE,
    NULL,
    TRUE,
    Atom,
    Predicate,
    both,
    compare,
    either,
    is_not_null,
    is_null,
    is_true,
    negate,
)
from querygate.core.types import Column
from querygate.core.valueset import ValueSet, kind_of
from querygate.sql.allow import COMPARISONS
from querygate.sql.literals import constant, constants, is_constant
from querygate.sql.parse import span_of

Resolve = Callable[[exp.Column], Column]

_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}


def condition(node: exp.Expr, resolve: Resolve) -> Predicate:
    """The predicate of a condition. `resolve` turns a column reference into a catalog column or refuses.

    AND and OR chains are flattened first, so that a long one costs no recursion.
    """
    match node:
        case exp.Paren():
            return condition(node.this, resolve)
        case exp.And() | exp.Or():
            parts = [condition(part, resolve) for part in node.flatten()]
            return both(parts) if isinstance(node, exp.And) else either(parts)
        case exp.Not():
            return negate(condition(node.this, resolve))
        case exp.Boolean():
            return TRUE if node.this else FALSE
        case exp.Null():
            return NULL
        case exp.Column():
            return _flag(node, resolve)
        case exp.Between():
            column = _column(node.this, resolve)
            low, high = constants([node.args["low"], node.args["high"]], column)
            return both([_compare(exp.GTE, column, low), _compare(exp.LTE, column, high)])
        case exp.In():
            return _in(_column(node.this, resolve), node)
        case exp.Is():
            return _is(node, resolve)
        case _ if isinstance(node, COMPARISONS):
            return _comparison(node, resolve)
    raise _refused(node)


def _in(column: Column, node: exp.In) -> Predicate:
    """One set for the whole list. A NULL in it leaves open what is not found."""
    listed = constants(node.expressions, column)
    whole = [value for value in listed if value is not None and not isinstance(value, Decimal)]
    found = compare(column.name, ValueSet.points(kind_of(column.type), whole))
    return either([found, NULL]) if None in listed else found


def _comparison(node: exp.Expr, resolve: Resolve) -> Predicate:
    left, right, operator = node.this, node.expression, type(node)
    if is_constant(left) and is_constant(right):
        raise _refused(node)
    if is_constant(left):
        left, right, operator = right, left, _MIRRORED.get(operator, operator)
    column = _column(left, resolve)
    if not is_constant(right):
        raise _refused(right)
    return _compare(operator, column, constant(right, column))


def _compare(operator: type[exp.Expr], column: Column, value: int | float | str | Decimal | None) -> Predicate:
    """column OP value, with the NULLs of SQL."""
    if value is None:
        if operator is exp.NullSafeEQ:
            return is_null(column.name)
        return is_not_null(column.name) if operator is exp.NullSafeNEQ else NULL
    atom = compare(column.name, _true_set(operator, column, value))
    if operator is exp.NullSafeEQ:
        return is_true(atom)
    if operator is exp.NullSafeNEQ:
        return Atom(atom.column, atom.true, atom.false, "true")
    return atom


def _true_set(operator: type[exp.Expr], column: Column, value: Any) -> ValueSet:
    kind = kind_of(column.type)
    if isinstance(value, Decimal):  # a whole-number column against a fraction: equality never, order by the floor
        below = ValueSet.at_most(kind, math.floor(value))
        at_most, equal = below, ValueSet.nothing()
    else:
        below, at_most, equal = ValueSet.below(value), ValueSet.at_most(kind, value), ValueSet.points(kind, [value])
    if operator in (exp.EQ, exp.NullSafeEQ):
        return equal
    if operator in (exp.NEQ, exp.NullSafeNEQ):
        return ~equal
    if operator is exp.LT:
        return below
    if operator is exp.LTE:
        return at_most
    return ~at_most if operator is exp.GT else ~below


def _is(node: exp.Is, resolve: Resolve) -> Predicate:
    what = node.expression
    if isinstance(what, exp.Null):
        return is_null(_column(node.this, resolve).name)
    if isinstance(what, exp.Boolean):
        inner = condition(node.this, resolve)
        return is_true(inner if what.this else negate(inner))
    raise _refused(node)


def _flag(node: exp.Column, resolve: Resolve) -> Predicate:
    column = resolve(node)
    if column.type != "boolean":
        raise UnsupportedSQL(
            "QG209",
            f"Column {column.name} ({column.type}) is not a condition by itself.",
            f"Compare {column.name} with a value.",
            span=span_of(node),
        )
    return compare(column.name, ValueSet.points("text", ["true"]))


def _column(node: exp.Expr, resolve: Resolve) -> Column:
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if not isinstance(node, exp.Column):
        raise _refused(node)
    return resolve(node)


def _refused(node: exp.Expr) -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG208",
        "A condition compares one column with values.",
        "Use = <> < <= > >=, BETWEEN, IN, IS NULL, AND, OR and NOT with a column on one side and values on the other.",
        span=span_of(node),
    )
