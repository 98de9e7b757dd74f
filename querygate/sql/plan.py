"""Step 4: a qualified tree to a Plan: groups, measures, outputs, order, and a hash of the meaning."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.plan import Measure, Order, Output, Plan
from querygate.core.predicate import TRUE, Predicate, both, canonical, is_not_null, is_true
from querygate.core.types import Catalog, Column, folded
from querygate.sql.allow import AGGREGATES
from querygate.sql.conditions import condition
from querygate.sql.parse import span_of
from querygate.sql.qualify import Scope

RESERVED = "_group"
"""The name under which an answer's row tells its group's count range."""


@dataclass
class _Draft:
    """A plan in the making."""

    scope: Scope
    where: Predicate
    groups: list[str] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)

    @property
    def catalog(self) -> Catalog:
        return self.scope.catalog

    def measure(self, column: str | None, where: Predicate) -> int:
        wanted = Measure(column, where)
        if wanted not in self.measures:
            self.measures.append(wanted)
        return self.measures.index(wanted)


def make_plan(tree: exp.Select, scope: Scope, *, max_groups: int = 10_000) -> Plan:
    """The plan of an allowed and qualified statement."""
    clause = tree.args.get("where")
    draft = _Draft(scope, is_true(condition(clause.this, scope.resolve)) if clause else TRUE)
    draft.measure(None, draft.where)
    _read_groups(tree, draft, max_groups)
    for item in tree.expressions:
        _read_output(item, draft)
    if not draft.outputs:
        raise UnsupportedSQL("QG201", "There is no aggregate.", "Ask for COUNT(*), AVG(column) and the like.")
    shown = len(draft.outputs)
    orders = _read_orders(tree, draft, shown)
    limit = _read_limit(tree, draft, orders)
    meaning = _meaning(draft, shown, orders, limit)
    return Plan(
        dataset=draft.catalog.dataset,
        groups=tuple(draft.groups),
        measures=tuple(draft.measures),
        outputs=tuple(draft.outputs),
        shown=shown,
        orders=orders,
        limit=limit,
        canonical=meaning,
        hash=hashlib.sha256(meaning.encode()).hexdigest(),
    )


# -- GROUP BY --------------------------------------------------------------------------------------------


def _read_groups(tree: exp.Select, draft: _Draft, max_groups: int) -> None:
    clause = tree.args.get("group")
    possible = 1
    for node in clause.expressions if clause else ():
        column = _group_column(node, tree, draft.scope)
        if column.is_numeric:
            raise UnsupportedSQL(
                "QG210",
                f"Column {column.name} ({column.type}) is published as intervals, so its single values are not groups.",
                f"Group by a category, or ask for ranges of {column.name} with WHERE.",
                span=span_of(node),
            )
        if column.name not in draft.groups:
            draft.groups.append(column.name)
            possible *= len(column.values) + column.nullable
    if possible > max_groups:
        raise UnsupportedSQL(
            "QG212",
            f"These columns make {possible:,} groups; at most {max_groups:,} are answered.",
            "Group by fewer columns, or narrow one down with WHERE.",
            span=span_of(clause) if clause else None,
        )


def _group_column(node: exp.Expr, tree: exp.Select, scope: Scope) -> Column:
    """A GROUP BY term is a column, an alias of one, or a position in the select list."""
    position = _position(node, len(tree.expressions))
    node = tree.expressions[position] if position is not None else node.unnest()
    is_row = isinstance(node, exp.Column) and folded(node.name) == scope.table  # DuckDB reads the table's name so
    if isinstance(node, exp.Column) and scope.catalog.column(node.name) is None and not is_row:
        aliased = _aliased(node, tree)
        node = node if aliased is None else tree.expressions[aliased]
    node = _unaliased(node)
    if not isinstance(node, exp.Column):
        raise UnsupportedSQL(
            "QG210", "GROUP BY takes columns of categories.", "Name a column as it is.", span=span_of(node)
        )
    return scope.resolve(node)


# -- select list -----------------------------------------------------------------------------------------


def _read_output(item: exp.Expr, draft: _Draft) -> None:
    name = item.alias if isinstance(item, exp.Alias) else ""
    node = _unaliased(item)
    if isinstance(node, exp.Column):
        column = draft.scope.resolve(node)
        if column.name not in draft.groups:
            raise _not_grouped(node, column, bool(draft.groups))
        output = Output(name or column.name, "key", draft.groups.index(column.name), column.type)
    else:
        output = _statistic(node, name, draft)
    draft.outputs.append(_named_once(output, draft.outputs, span_of(item)))


def _statistic(node: exp.Expr, name: str, draft: _Draft) -> Output:
    """An aggregate over a column: which measure it reads, and the type of its result."""
    if isinstance(node, exp.Star):
        raise UnsupportedSQL(
            "QG201", "Rows are never shown.", "Ask for aggregates: COUNT(*), AVG(column) ...", span=span_of(node)
        )
    statistic = AGGREGATES.get(type(node))
    if statistic is None:
        raise UnsupportedSQL(
            "QG207",
            "The select list takes group columns and aggregates.",
            "Available are COUNT, SUM, AVG, MIN and MAX of a column.",
            span=span_of(node),
        )
    argument = node.this
    if statistic == "count" and (argument is None or isinstance(argument, exp.Star)):
        return Output(name or "count", "range", 0, "integer", "count")
    if not isinstance(argument, exp.Column):
        raise UnsupportedSQL(
            "QG207",
            f"{statistic.upper()} takes a column as it is.",
            f"Write {statistic.upper()}(column).",
            span=span_of(node),
        )
    column = draft.scope.resolve(argument)
    present = both([draft.where, is_not_null(column.name)])
    if statistic == "count":
        return Output(name or f"count_{column.name}", "range", draft.measure(None, present), "integer", "count")
    _check_numeric(statistic, column, argument)
    number = draft.measure(column.name, present)
    kind = "number" if statistic == "avg" else column.type
    return Output(name or f"{statistic}_{column.name}", "range", number, kind, statistic)


def _check_numeric(statistic: str, column: Column, node: exp.Expr) -> None:
    fits = column.is_numeric and (column.type != "date" or statistic in ("min", "max"))
    if not fits:
        other = "MIN and MAX" if column.type == "date" else "COUNT"
        raise UnsupportedSQL(
            "QG209",
            f"{statistic.upper()} is not available for {column.name} ({column.type}).",
            f"Use {other}, or group by it." if column.type != "date" else f"Use {other}.",
            span=span_of(node),
        )


def _not_grouped(node: exp.Expr, column: Column, grouped: bool) -> UnsupportedSQL:
    if not grouped:
        return UnsupportedSQL(
            "QG201",
            "Rows are never shown, only aggregates of them.",
            f"Group by {column.name}, or aggregate it."
            if not column.is_numeric
            else f"Aggregate it: AVG({column.name}), MIN({column.name}) ...",
            span=span_of(node),
        )
    return UnsupportedSQL(
        "QG211",
        f"Column {column.name} is neither grouped nor aggregated.",
        "Put it into GROUP BY, or aggregate it.",
        span=span_of(node),
    )


def _named_once(output: Output, before: list[Output], span: object) -> Output:
    """Answers are keyed by name, so a name comes once; a second gets a number."""
    taken = {other.name for other in before}
    name, number = output.name, 2
    while name in taken or name == RESERVED:
        name, number = f"{output.name}_{number}", number + 1
    return Output(name, output.kind, output.source, output.type, output.statistic)


# -- ORDER BY and LIMIT ----------------------------------------------------------------------------------


def _read_orders(tree: exp.Select, draft: _Draft, shown: int) -> tuple[Order, ...]:
    clause = tree.args.get("order")
    orders = []
    for term in clause.expressions if clause else ():
        index = _ordered_output(term.this, tree, draft, shown)
        orders.append(Order(index, bool(term.args.get("desc")), bool(term.args.get("nulls_first"))))
    return tuple(orders)


def _ordered_output(node: exp.Expr, tree: exp.Select, draft: _Draft, shown: int) -> int:
    """The output an ORDER BY term means: a position, an alias, else a group column or an aggregate of its own."""
    position = _position(node, shown)
    if position is not None:
        return position
    node = node.unnest()
    aliased = _aliased(node, tree) if isinstance(node, exp.Column) else None
    if aliased is not None:
        return aliased
    try:
        _read_output(node, draft)
    except UnsupportedSQL as refusal:
        if refusal.code == "QG203":
            raise
        raise UnsupportedSQL(
            "QG214",
            "ORDER BY takes group columns, aggregates, aliases and positions of the select list.",
            "Order by one of those.",
            span=span_of(node),
        ) from None
    wanted = draft.outputs[-1]
    for index, output in enumerate(draft.outputs[:-1]):
        if (output.kind, output.source, output.statistic) == (wanted.kind, wanted.source, wanted.statistic):
            draft.outputs.pop()
            return index
    return len(draft.outputs) - 1


def _read_limit(tree: exp.Select, draft: _Draft, orders: tuple[Order, ...]) -> int | None:
    clause = tree.args.get("limit")
    if clause is None:
        return None
    node = clause.expression
    if not isinstance(node, exp.Literal) or node.is_string or not str(node.this).isdigit():
        raise UnsupportedSQL("QG207", "LIMIT takes a whole number.", "Write LIMIT 10.", span=span_of(clause))
    limit = int(node.this)
    if limit >= 2**63:
        raise UnsupportedSQL("QG207", "LIMIT is out of range.", "Leave it out to see all groups.", span=span_of(clause))
    if draft.groups and not orders and limit:
        raise UnsupportedSQL(
            "QG213",
            "Without ORDER BY, LIMIT shows groups of no one's choosing.",
            "Add ORDER BY, or leave out LIMIT.",
            span=span_of(clause),
        )
    return limit


# -- helpers ---------------------------------------------------------------------------------------------


def _unaliased(node: exp.Expr) -> exp.Expr:
    return (node.this if isinstance(node, exp.Alias) else node).unnest()


def _aliased(node: exp.Column, tree: exp.Select) -> int | None:
    """The item of the select list that a name without table calls by its alias."""
    wanted = folded(node.name)
    named = [
        i for i, item in enumerate(tree.expressions) if isinstance(item, exp.Alias) and folded(item.alias) == wanted
    ]
    if node.table or not named:
        return None
    if len(named) > 1:
        raise UnsupportedSQL(
            "QG214", f"The select list has {len(named)} columns of this name.", "Give each its own.", span=span_of(node)
        )
    return named[0]


def _position(node: exp.Expr, length: int) -> int | None:
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string or not str(node.this).isdigit() or not 1 <= int(node.this) <= length:
        raise UnsupportedSQL(
            "QG214", f"A position lies between 1 and {length}.", "Name the column instead.", span=span_of(node)
        )
    return int(node.this) - 1


def _meaning(draft: _Draft, shown: int, orders: tuple[Order, ...], limit: int | None) -> str:
    """Equal for statements that ask the same, whatever their names, spelling and order of columns."""
    asked: list[list[str | None]] = []
    for output in draft.outputs:
        if output.kind == "key":
            asked.append(["key", draft.groups[output.source]])
        else:
            measure = draft.measures[output.source]
            asked.append([output.statistic, measure.column, canonical(measure.where)])
    cut = None
    if limit is not None and draft.groups:
        cut = [limit, [[asked[order.output], order.descending, order.nulls_first] for order in orders]]
    body = {
        "dataset": draft.catalog.dataset,
        "groups": sorted(draft.groups),
        "where": canonical(draft.where),
        "asked": sorted((a for a in asked[:shown] if a[0] != "key"), key=str),
        "limit": cut,
    }
    return json.dumps(body, sort_keys=True, ensure_ascii=False)
