"""Conditions to predicates in normal form: one atom for all that is said about one column.

Three ways, the sharpest first: a column against values is read directly; whatever else speaks of one column with few
values is tabulated by the database; the rest compares expressions, row by row.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import partial
from operator import eq

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Choice, Constant, Expression, Lookup, Ref, choices_in, is_number
from querygate.core.predicate import (
    FALSE,
    NULL,
    TRUE,
    Atom,
    Predicate,
    both,
    compare,
    comparison,
    either,
    is_not_null,
    is_null,
    is_true,
    negate,
)
from querygate.core.types import Column, folded
from querygate.core.valueset import ValueSet, kind_of
from querygate.sql.allow_list import COMPARISONS
from querygate.sql.code_tests import code_test, is_code_test
from querygate.sql.context import Context
from querygate.sql.expressions import expression
from querygate.sql.literals import constant, constants, is_constant
from querygate.sql.narrow_numbers import is_single, single
from querygate.sql.ordered_values import OF_ORDER, values_in_order
from querygate.sql.parse import span_of
from querygate.sql.step_tables import decided
from querygate.sql.tabulation import axis, is_tabulable, tabulate
from querygate.sql.timestamp_functions import by_calendar
from querygate.sql.value_notes import nothing_matches

_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
MOST_CHOICES = 2
"""Choices inside each other that are compared: each comparison multiplies the ways through them by about ten."""

MOST_PAIRED = 200
"""Values up to which two categories are compared value by value."""


def condition(node: exp.Expr, context: Context) -> Predicate:
    """The predicate of a condition.

    AND and OR chains are flattened first, so that a long one costs no recursion.
    """
    match node:
        case exp.Paren():
            return condition(node.this, context)
        case exp.And() | exp.Or():
            parts = [condition(part, context) for part in node.flatten()]
            return both(parts) if isinstance(node, exp.And) else either(parts)
        case exp.Not():
            return negate(condition(node.this, context))
        case exp.Boolean():
            return TRUE if node.this else FALSE
        case exp.Null():
            return NULL
        case _ if is_code_test(node):
            return code_test(node, context.column)
    try:
        direct = _direct(node, context)
    except UnsupportedSQL as refusal:
        return _tabulated(node, context, refusal)
    if direct is not None:
        return direct
    found = context.columns_of(node)
    if len(found) <= 1 and all(is_tabulable(column) for column in found):
        return _tabulated(node, context)
    calendar = by_calendar(node, found[0], context.native) if len(found) == 1 else None
    if calendar is not None and calendar.type == "boolean":
        return calendar.where(bool)
    return _general(node, context)


# -- a column against values -----------------------------------------------------------------------------------------


def _direct(node: exp.Expr, context: Context) -> Predicate | None:
    """What is said of a column as it is; None where something else is said."""
    match node:
        case exp.Column():
            return _flag(node, context)
        case exp.Between() if _is_column(node.this):
            ends = [node.args["low"], node.args["high"]]
            if not all(map(is_constant, ends)):
                return None
            column = context.column(node.this.unnest())
            low, high = constants(ends, column)
            return both([_compare(exp.GTE, column, low), _compare(exp.LTE, column, high)])
        case exp.In() if _is_column(node.this) and all(map(is_constant, node.expressions)):
            return _in(context.column(node.this.unnest()), node, context)
        case exp.Is():
            return _is(node, context)
        case _ if isinstance(node, COMPARISONS):
            return _comparison(node, context)
    return None


def _is_column(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), exp.Column)


def _in(column: Column, node: exp.In, context: Context) -> Predicate:
    """One set for the whole list. A NULL in it leaves open what is not found."""
    listed = constants(node.expressions, column)
    whole = [value for value in listed if value is not None and not isinstance(value, Decimal)]
    found = compare(column.name, ValueSet.points(kind_of(column.type), whole))
    return either([found, NULL]) if None in listed else found


def _comparison(node: exp.Expr, context: Context) -> Predicate | None:
    left, right, operator = node.this, node.expression, type(node)
    if is_constant(left):
        left, right, operator = right, left, _MIRRORED.get(operator, operator)
    if not _is_column(left) or not is_constant(right):
        return None
    column, value = context.column(left.unnest()), constant(right, context.column(left.unnest()))
    return _compare(operator, column, value)


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


def _true_set(operator: type[exp.Expr], column: Column, value: int | float | str | Decimal) -> ValueSet:
    kind = kind_of(column.type)
    if column.order and operator in OF_ORDER:
        return ValueSet.points(kind, values_in_order(operator, column, str(value)))
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


def _is(node: exp.Is, context: Context) -> Predicate | None:
    what = node.expression.unnest()
    if isinstance(what, exp.Null):
        return is_null(context.column(node.this.unnest()).name) if _is_column(node.this) else None
    if isinstance(what, exp.Boolean):
        inner = condition(node.this, context)
        return is_true(inner if what.this else negate(inner))
    raise _refused(node)


def _flag(node: exp.Column, context: Context) -> Predicate:
    column = context.column(node)
    if column.type != "boolean":
        raise UnsupportedSQL(
            "QG209",
            f"Column {column.name} ({column.type}) is not a condition on its own.",
            f"Compare {column.name} with a value.",
            span=span_of(node),
        )
    return compare(column.name, ValueSet.points("text", ["true"]))


# -- one column with few values ----------------------------------------------------------------------------------------


def _tabulated(node: exp.Expr, context: Context, refusal: UnsupportedSQL | None = None) -> Predicate:
    """The database says for which values of the column the condition is TRUE, FALSE and NULL."""
    found = context.columns_of(node)
    if refusal is not None and (len(found) != 1 or not is_tabulable(found[0])):
        raise refusal
    try:
        table = tabulate(node, found[0], context) if found else expression(node, context)
    except UnsupportedSQL as second:
        raise refusal or second from None
    if table.type not in ("boolean", "null"):
        raise refusal or _refused(node)
    if isinstance(table, Constant):
        return NULL if table.value is None else TRUE if table.value else FALSE
    if isinstance(table, Lookup):
        if table.of_category and found[0].type == "category" and True not in table.results:
            context.note(nothing_matches(found[0], context.name_of(found[0]), node.sql("duckdb")))
        return table.where(bool)
    return compare(table.columns[0], ValueSet.points("text", ["true"]))


# -- several columns, or continuous ones -------------------------------------------------------------------------------


def _general(node: exp.Expr, context: Context) -> Predicate:
    match node:
        case exp.Between():
            low, high = (exp.GTE, node.args["low"]), (exp.LTE, node.args["high"])
            return both(
                condition(kind(this=node.this.copy(), expression=end.copy()), context) for kind, end in (low, high)
            )
        case exp.In() if node.expressions:
            equal = [exp.EQ(this=node.this.copy(), expression=value.copy()) for value in node.expressions]
            return either(condition(part, context) for part in equal)
        case exp.Is():
            return negate(is_true(expression(node.this, context).present))
        case exp.NullSafeEQ() | exp.NullSafeNEQ():
            same = _null_safe(node, context)
            return same if isinstance(node, exp.NullSafeEQ) else negate(same)
        case exp.Case() | exp.If():
            return _chosen(node, context)
        case _ if type(node) in _SIGNS:
            left, right = expression(node.this, context), expression(node.expression, context)
            found = context.columns_of(node)
            steps = decided([left, right], node, found[0], context.native) if len(found) == 1 else None
            return steps or _compared(left, _SIGNS[type(node)], right, context, node)
    raise _refused(node)


def _compared(left: Expression, sign: str, right: Expression, context: Context, node: exp.Expr) -> Predicate:
    if "null" in (left.type, right.type):
        return NULL
    if max(choices_in(left), choices_in(right)) > MOST_CHOICES:
        raise _refused(node)
    if is_number(left) and is_number(right):
        if left.type != right.type and {"date", "moment"} & {left.type, right.type}:
            raise _refused(node)
        if is_single(node, context.singles):
            left, right = single(left), single(right)
        return comparison(left, sign, right)
    if left.type == right.type and left.type in ("category", "boolean") and sign in ("=", "<>"):
        same = _is_joined_text(left, right) or _same_text(left, right, context, node)
        return same if sign == "=" else negate(same)
    raise _refused(node)


def _is_joined_text(left: Expression, right: Expression) -> Predicate | None:
    """Texts put together against a constant: the ways to this text; NULL where they are missing."""
    sides = (left, right) if isinstance(left, Choice) else (right, left)
    joined, text = sides
    if not isinstance(joined, Choice) or not joined.complete or not isinstance(text, Constant):
        return None
    told = [(way, value.value) for way, value in joined.ways if isinstance(value, Constant)]
    missing = both([*(way for way, value in told if value is None), NULL]) if None in dict(told).values() else FALSE
    return either([*(way for way, value in told if value == text.value), missing])


def _same_text(left: Expression, right: Expression, context: Context, node: exp.Expr) -> Predicate:
    """Two categories are the same if both are the first value, or both the second, and so on."""
    first, second = _texts(left, context, node), _texts(right, context, node)
    values = dict.fromkeys(v for table in (first, second) for v in table.results if v is not None)
    if len(values) > MOST_PAIRED:
        raise _refused(node)
    if not values:  # nothing but missing values
        return NULL
    return either(both([first.where(partial(eq, v)), second.where(partial(eq, v))]) for v in values)


def _texts(side: Expression, context: Context, node: exp.Expr) -> Lookup:
    """A category as a table of its values."""
    if isinstance(side, Lookup):
        return side
    column = context.columns.get(folded(side.columns[0])) if isinstance(side, Ref) else None
    if column is None or not is_tabulable(column):
        raise _refused(node)
    return Lookup.over_values(column.name, column.type, column.values, axis(column))


def _null_safe(node: exp.Expr, context: Context) -> Predicate:
    equal = condition(exp.EQ(this=node.this.copy(), expression=node.expression.copy()), context)
    missing = [negate(is_true(expression(side, context).present)) for side in (node.this, node.expression)]
    return either([is_true(equal), both(missing)])


def _chosen(node: exp.Expr, context: Context) -> Predicate:
    """A CASE that gives TRUE or FALSE: the truth of the branch that is taken."""
    whens = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    if isinstance(node, exp.Case) and node.this is not None:
        raise _refused(node)
    default = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
    ways: list[Predicate] = []
    before: list[Predicate] = []
    for when in whens:
        test = is_true(condition(when.this, context))
        ways.append(both([*before, test, condition(when.args["true"], context)]))
        before.append(negate(test))
    ways.append(both([*before, condition(default, context) if default is not None else NULL]))
    return either(ways)


def _refused(node: exp.Expr) -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG208",
        "This condition cannot be evaluated on ranges.",
        "Compare columns, values and expressions of the same type with = <> < <= > >=, BETWEEN, IN, LIKE or IS NULL.",
        span=span_of(node),
    )
