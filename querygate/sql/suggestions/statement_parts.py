"""Parts of a statement that an edit looks at or makes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sqlglot import exp

from querygate.core.types import Catalog, Column, folded
from querygate.sql.aggregates import is_aggregate
from querygate.sql.name_text import column_node
from querygate.sql.tabulation import is_tabulable

MOST_STEPS = 20
"""Groups that a suggested step makes of a column's domain, about."""


def arguments_of(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    return [part for part in node.args.values() if isinstance(part, exp.Expr)] if isinstance(node, exp.AggFunc) else []


def each_alone(item: exp.Expr, tree: exp.Select, catalog: Catalog) -> list[exp.Expr]:
    """What a paper says of each of two columns whose relation cannot be told: mean and spread of numbers, the share of
    conditions."""
    node = item.unalias().unnest()
    arguments = arguments_of(node) if is_aggregate(node) else []
    columns = [column_of(argument, catalog) for argument in arguments]
    numbers = [column for column in columns if column is not None and column.is_numeric]
    if len(arguments) != 2 or len(numbers) == 1:
        return []
    if not numbers:
        return [share_of(argument, column, tree) for argument, column in zip(arguments, columns, strict=True)]
    return [each for c in numbers for each in (summary(c), exp.Stddev(this=column_node(c.name)))]


def share_of(condition: exp.Expr, column: Column | None, tree: exp.Select) -> exp.Expr:
    """For how many of a hundred it holds; of a column, among those of whom it is known, if there are any."""
    counted = count_all() if column is None else exp.Count(this=column_node(column.name))
    if column is not None and (tree.args.get("group") or tree.args.get("where")):
        counted = exp.Nullif(this=counted, expression=exp.Literal.number(0))
    holding = exp.Filter(this=count_all(), expression=exp.Where(this=condition.copy()))
    return exp.Div(this=exp.Mul(this=exp.Literal.number("100.0"), expression=holding), expression=counted)


def called(node: exp.Expr) -> str:
    return type(node).sql_name().lower() if isinstance(node, exp.Func) else ""


def column_of(node: exp.Expr | None, catalog: Catalog) -> Column | None:
    return catalog.column(node.name) if isinstance(node, exp.Column) else None


def has_aggregate(item: exp.Expr) -> bool:
    return any(map(is_aggregate, item.walk()))


def aggregates(tree: exp.Select) -> bool:
    return any(map(has_aggregate, tree.expressions))


def ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    while node.parent is not None:
        node = node.parent
        yield node


def count_all() -> exp.Expr:
    return exp.Count(this=exp.Star())


def summary(column: Column) -> exp.Expr:
    name = column_node(column.name)
    return exp.Min(this=name) if column.type in ("date", "timestamp") else exp.Avg(this=name)


def is_wide(column: Column) -> bool:
    return not is_tabulable(column) or (column.high or 0) - (column.low or 0) > 1_000


def step_of(column: Column) -> exp.Expr:
    """FLOOR(x / step) * step, with a step of one digit; of a date its year."""
    name = column_node(column.name)
    if column.type in ("date", "timestamp"):
        return exp.func("YEAR", name)
    width = float(column.high or 0) - float(column.low or 0)
    size = 10.0 ** math.floor(math.log10(max(width, 1e-9) / MOST_STEPS))
    step = next(size * digit for digit in (1, 2, 5, 10) if width / (size * digit) <= MOST_STEPS)
    number = exp.Literal.number(f"{step:g}" if step < 1 else f"{step:.0f}")
    return exp.Mul(this=exp.Floor(this=exp.Div(this=name, expression=number)), expression=number.copy())


def replace_by_groups(tree: exp.Select, item: exp.Expr, column: Column) -> None:
    """An aggregate of a category, replaced by the category with its counts."""
    named = step_of(column) if column.is_numeric else column_node(column.name)
    group = tree.args.get("group") or exp.Group(expressions=[])
    if not any(folded(term.name) == folded(column.name) for term in group.expressions):
        group.append("expressions", named.copy())
    tree.set("group", group)
    others = [other for other in tree.expressions if other is not item and other != named]
    counted = [] if any(isinstance(other.unalias().unnest(), exp.Count) for other in others) else [count_all()]
    tree.set("expressions", [named, *others, *counted])


def conjuncts(tree: exp.Select) -> Iterator[exp.Expr]:
    where = tree.args.get("where")
    if where is None:
        return
    yield from where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
