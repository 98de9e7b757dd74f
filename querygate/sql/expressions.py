"""Expressions over columns: tabulated where one column with few values decides, a tree of functions otherwise."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from operator import eq

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Call, Choice, Constant, Expression, Lookup, Ref, is_number, size_of
from querygate.core.limits.deadline import check_deadline
from querygate.core.predicate import FALSE, TRUE, Predicate, both, either, is_true, negate
from querygate.sql.aggregates import is_aggregate
from querygate.sql.allow_list import COMPARISONS
from querygate.sql.code_tests import is_code_test
from querygate.sql.context import Context
from querygate.sql.narrow_numbers import ROUNDINGS, decimal, is_single, single
from querygate.sql.parse import span_of
from querygate.sql.step_tables import stepped
from querygate.sql.tabulation import axis, constant_of, is_tabulable, made_table, refused, tabulate
from querygate.sql.timestamp_functions import by_calendar

MOST_PIECES, MOST_DOUBLED = 5_000, 500
"""Pieces of an expression that is written out; and of one whose pieces double with each argument."""

MOST_COMPARED = 3
"""CASE x WHEN inside each other, over several columns: x is compared in every branch of every one."""

MOST_JOINED = 500
"""Texts that columns give together, up to which they are put together."""

_WHOLE_CASTS = frozenset({"INT", "BIGINT", "HUGEINT", "SMALLINT", "TINYINT"})
_SPECIAL_DATE_UNITS = {
    "DAY": "x",
    "WEEK": "date_diff('week', DATE '1900-01-01', x)",
    "MONTH": "date_diff('month', DATE '1900-01-01', x)",
    "QUARTER": "date_diff('quarter', DATE '1900-01-01', x)",
    "YEAR": "date_diff('year', DATE '1900-01-01', x)",
}


Compile = Callable[[exp.Expr, Context], Expression]


def expression(node: exp.Expr, context: Context) -> Expression:
    """The expression of a value."""
    check_deadline()
    node = node.unnest()
    nested = next((part for part in node.walk() if is_aggregate(part)), None)
    if any(isinstance(part, exp.Star) for part in node.walk()):
        raise refused(node)
    if nested is not None:
        raise UnsupportedSQL(
            "QG207",
            "An aggregate cannot contain another aggregate.",
            "Compute the inner one in a subquery with GROUP BY.",
            span=span_of(nested),
        )
    columns = context.columns_of(node)
    if not columns:
        return constant_of(node, context)
    if isinstance(node, exp.Column):
        return Ref(columns[0].name, "moment" if columns[0].type == "timestamp" else columns[0].type)
    if len(columns) == 1 and is_tabulable(columns[0]):
        return tabulate(node, columns[0], context)
    calendar = by_calendar(node, columns[0], context.native) if len(columns) == 1 else None
    if calendar is not None:
        return calendar
    compile_ = _truth if is_code_test(node) else _COMPILERS.get(type(node))
    if compile_ is None:
        raise refused(node)
    found = _of_size(compile_(node, context), node)
    found = single(found) if found.type == "number" and is_single(node, context.singles) else found
    table = stepped(found, node, columns[0], context.native) if len(columns) == 1 else None
    return table or found


def _of_size(found: Expression, node: exp.Expr, most: int = MOST_PIECES) -> Expression:
    """Parts that stand in several branches are written out in each, and that can double at every step."""
    if size_of(found) > most:
        raise UnsupportedSQL(
            "QG207", "The expression is too large.", "Use fewer columns that can be NULL.", span=span_of(node)
        )
    return found


def number(node: exp.Expr, context: Context) -> Expression:
    """The expression of a number or a day."""
    found = expression(node, context)
    if not is_number(found) and found.type != "null":
        raise UnsupportedSQL(
            "QG209", f"A number is needed here, not a {found.type}.", "Count it, or turn it into numbers with CASE.",
            span=span_of(node),
        )  # fmt: skip
    return found


# -- one column ------------------------------------------------------------------------------------------------------


# -- several columns, or continuous ones -------------------------------------------------------------------------------


def _arithmetic(name: str) -> Compile:
    def compile_(node: exp.Expr, context: Context) -> Expression:
        left, right = number(node.this, context), number(node.expression, context)
        kinds = {left.type, right.type}
        if "null" in kinds:
            return Constant(None, "null")
        if "moment" in kinds:
            raise refused(node)
        if "date" in kinds:
            return _with_days(name, left, right, node)
        whole = kinds == {"integer"} and name != "div"
        if not whole and is_single(node, context.singles):
            left, right = single(left), single(right)
        return Call(name, (left, right), "integer" if whole else "number")

    return compile_


def _with_days(name: str, left: Expression, right: Expression, node: exp.Expr) -> Expression:
    """Days may be subtracted from each other, and moved by a whole number; by a column they cannot, in DuckDB."""
    if name == "sub" and left.type == right.type == "date":
        return Call("sub", (left, right), "integer")
    moved = [side for side in (left, right) if isinstance(side, Constant) and side.type == "integer"]
    if len(moved) == 1 and (name == "add" or (name == "sub" and moved[0] is right)):
        return Call(name, (left, right), "date")
    raise refused(node)


def _function(name: str, *, keeps_type: bool = False, whole: bool = False) -> Compile:
    def compile_(node: exp.Expr, context: Context) -> Expression:
        others = [value for key, value in node.args.items() if key != "this" and isinstance(value, (exp.Expr, list))]
        if any(others):
            raise refused(node)
        inner = number(node.this, context)
        _no_days(inner, node)
        if inner.type == "null":
            return inner
        if whole or (keeps_type and inner.type == "integer"):
            return Call(name, (inner,), "integer")
        return Call(name, (inner,), "number")

    return compile_


def _round(node: exp.Expr, context: Context) -> Expression:
    digits = node.args.get("decimals")
    inner, places = number(node.this, context), expression(digits, context) if digits else Constant(0, "integer")
    _no_days(inner, node)
    if not isinstance(places, Constant) or not isinstance(places.value, int) or not -300 < places.value < 300:
        raise refused(node)
    if inner.type == "integer":
        if places.value < 0:
            raise refused(node)
        return inner
    return Call("round", (inner, places), "number")


def _power(node: exp.Expr, context: Context) -> Expression:
    base, exponent = number(node.this, context), expression(node.expression, context)
    _no_days(base, node)
    if not isinstance(exponent, Constant) or not isinstance(exponent.value, (int, float, Decimal)):
        raise refused(node)
    return Call("power", (base, Constant(float(exponent.value), "number")), "number")


def _log(node: exp.Expr, context: Context) -> Expression:
    base = str(node.this) if node.expression is not None else "10"
    if base not in ("2", "10"):
        raise refused(node)
    inner = number(node.expression if node.expression is not None else node.this, context)
    _no_days(inner, node)
    return Call(f"log{base}", (inner,), "number")


def _extreme(name: str) -> Compile:
    """LEAST and GREATEST pass over NULLs: where one side is missing the other is taken."""

    def compile_(node: exp.Expr, context: Context) -> Expression:
        found, *others = (number(part, context) for part in (node.this, *node.expressions))
        for other in others:
            type_ = _common_type([found, other], node)
            sides = ((negate(is_true(found.present)), other), (negate(is_true(other.present)), found))
            taken = tuple(side for side in sides if side[0] != FALSE)  # what is never missing needs no stand-in
            both_ = Call(name, (found, other), type_)
            found = _of_size(Choice(taken, both_, type_) if taken else both_, node, MOST_DOUBLED)
        return found

    return compile_


def _coalesce(node: exp.Expr, context: Context) -> Expression:
    parts = [number(part, context) for part in (node.this, *node.expressions)]
    type_ = _common_type(parts, node)
    return Choice(tuple((is_true(part.present), part) for part in parts[:-1]), parts[-1], type_)


def _nullif(node: exp.Expr, context: Context) -> Expression:
    inner = number(node.this, context)
    same = context.condition(exp.EQ(this=node.this.copy(), expression=node.expression.copy()), context)
    return Choice(((same, Constant(None, "null")),), inner, inner.type)


def _case(node: exp.Expr, context: Context) -> Expression:
    """CASE and IF. `CASE x WHEN v` compares x with each v."""
    branches: list[tuple[Predicate, Expression]] = []
    if sum(1 for part in node.find_all(exp.Case) if part.this is not None) > MOST_COMPARED:
        raise refused(node)
    whens = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    for when in whens:
        test = when.this
        if isinstance(node, exp.Case) and node.this is not None:
            test = exp.EQ(this=node.this.copy(), expression=test.copy())
        branches.append((context.condition(test, context), expression(when.args["true"], context)))
    default = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
    otherwise = expression(default, context) if default is not None else Constant(None, "null")
    type_ = _common_type([value for _, value in branches] + [otherwise], node)
    return Choice(tuple(branches), otherwise, type_)


def _truth(node: exp.Expr, context: Context) -> Expression:
    """A condition as a value: to be grouped by, or counted."""
    p = context.condition(node, context)
    ways = ((p, Constant(True, "boolean")), (negate(p), Constant(False, "boolean")))
    return Choice(ways, Constant(None, "null"), "boolean")


def _cast(node: exp.Expr, context: Context) -> Expression:
    inner = expression(node.this, context)
    inner = _one_or_zero(node.this, context) if inner.type == "boolean" else number(node.this, context)
    to = node.args["to"]
    kind = to.this.value
    _no_days(inner, node)
    if kind in ("DOUBLE", "FLOAT") and not to.expressions:
        return Call("double", (inner,), "number") if kind == "DOUBLE" else single(inner, node.meta.get(ROUNDINGS, 0))
    if kind in _WHOLE_CASTS and not to.expressions:
        return inner if inner.type == "integer" else Call("whole", (inner,), "integer")
    found = decimal(inner, to) if kind == "DECIMAL" else None
    if found is None:
        raise refused(node)
    return found


def _one_or_zero(node: exp.Expr, context: Context) -> Expression:
    """A condition as a number: 1 where it is TRUE, 0 where it is FALSE."""
    p = context.condition(node, context)
    ways = ((p, Constant(1, "integer")), (negate(p), Constant(0, "integer")))
    return Choice(ways, Constant(None, "null"), "integer")


def _joined_text(node: exp.Expr, context: Context) -> Expression:
    """Texts of several columns put together: a choice among all that they can give. CONCAT passes over NULL."""
    if isinstance(node, exp.DPipe):
        parts, between, passes = list(node.flatten()), "", False
    else:
        parts, between, passes = list(node.expressions), "", True
    if isinstance(node, exp.ConcatWs):
        first = expression(parts.pop(0), context)
        if not isinstance(first, Constant) or not isinstance(first.value, str):
            raise refused(node)
        between = first.value
    ways: list[tuple[tuple[str | None, ...], Predicate]] = [((), TRUE)]
    for part in parts:
        texts = _texts(exp.Cast(this=part.copy(), to=exp.DataType.build("TEXT")), context, node)
        joined = [((*known, text), both([p, q])) for known, p in ways for text, q in texts]
        ways = [(known, p) for known, p in joined if p != FALSE]
        if len(ways) > MOST_JOINED:
            raise refused(node)
    found: dict[str | None, list[Predicate]] = {}
    for known, p in ways:
        there = [text for text in known if text is not None]
        whole = between.join(there) if passes or len(there) == len(known) else None
        found.setdefault(whole, []).append(p)
    made = [(either(ps), Constant(text, "null" if text is None else "category")) for text, ps in found.items()]
    return Choice(tuple(made), Constant(None, "null"), "category", complete=True)


def _texts(part: exp.Expr, context: Context, node: exp.Expr) -> list[tuple[str | None, Predicate]]:
    """The texts that a part can be, each with the condition, never NULL, under which it is."""
    found = expression(part, context)
    if isinstance(found, Constant):
        return [(None if found.value is None else str(found.value), TRUE)]
    column = context.known(found) if isinstance(found, Ref) else None
    if column is not None and is_tabulable(column):
        found = Lookup.over_values(column.name, column.type, column.values, axis(column))
    if not isinstance(found, Lookup):
        raise refused(node)
    texts = [text for text in dict.fromkeys(found.results) if isinstance(text, str)]
    told = [(text, is_true(found.where(partial(eq, text)))) for text in texts]
    return [*told, (None, negate(is_true(found.present)))]


def _date_diff(node: exp.Expr, context: Context) -> Expression:
    """The number of boundaries between two days: the difference of their numbers on the axis of the unit."""
    unit = node.args.get("unit")
    text = _SPECIAL_DATE_UNITS.get(str(unit.name).upper() if unit is not None else "")
    if text is None:
        raise refused(node)
    sides = [_date_index(side, text, context, node) for side in (node.this, node.expression)]
    return Call("sub", (sides[0], sides[1]), "integer")


def _date_index(node: exp.Expr, text: str, context: Context, outer: exp.Expr) -> Expression:
    days = expression(node, context)
    if days.type != "date":
        raise refused(outer)
    if text == "x":
        return days
    columns = context.columns_of(node)
    if not columns:
        found = context.native.tabulate(text, "date", [days.value])  # type: ignore[union-attr]
        return Constant(found.results[0], "integer")
    if not isinstance(days, Ref) or not is_tabulable(columns[0]):
        raise refused(outer)
    found = context.native.tabulate(text, "date", axis(columns[0]))
    return made_table(columns[0], found.type, found.results, outer)


def _common_type(parts: list[Expression], node: exp.Expr) -> str:
    """The type of a choice: NULL fits all, whole numbers become numbers beside others."""
    kinds = {part.type for part in parts} - {"null"}
    if len(kinds) <= 1:
        return kinds.pop() if kinds else "null"
    if kinds == {"integer", "number"}:
        return "number"
    raise UnsupportedSQL(
        "QG209",
        "The branches have different types.",
        "Make all of them numbers, or all of them text.",
        span=span_of(node),
    )


def _no_days(inner: Expression, node: exp.Expr) -> None:
    if inner.type in ("date", "moment"):
        raise refused(node)


_COMPILERS: dict[type[exp.Expr], Compile] = {
    exp.Add: _arithmetic("add"),
    exp.Sub: _arithmetic("sub"),
    exp.Mul: _arithmetic("mul"),
    exp.Div: _arithmetic("div"),
    exp.Neg: _function("neg", keeps_type=True),
    exp.Abs: _function("abs", keeps_type=True),
    exp.Sign: _function("sign", whole=True),
    exp.Floor: _function("floor"),
    exp.Ceil: _function("ceil"),
    exp.Trunc: _function("trunc"),
    exp.Sqrt: _function("sqrt"),
    exp.Exp: _function("exp"),
    exp.Ln: _function("ln"),
    exp.Log: _log,
    exp.Round: _round,
    exp.Pow: _power,
    exp.Least: _extreme("least"),
    exp.Greatest: _extreme("greatest"),
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.Case: _case,
    exp.If: _case,
    exp.Cast: _cast,
    exp.DateDiff: _date_diff,
    **dict.fromkeys((exp.DPipe, exp.Concat, exp.ConcatWs), _joined_text),
    **dict.fromkeys((*COMPARISONS, exp.And, exp.Or, exp.Not, exp.Between, exp.In, exp.Is), _truth),
}
"""Functions of several columns, or of continuous ones, that interval arithmetic can bound."""
