"""Small edits that turn a statement into one that may be answered, each for one habit of people who write SQL.

An edit gives another tree, or None where it has nothing to do. Whether the outcome is accepted is for others to try.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from functools import reduce

from sqlglot import exp

from querygate.core.types import Catalog, folded
from querygate.sql.aggregates import is_aggregate
from querygate.sql.code_tests import codes_under, is_code_test
from querygate.sql.name_text import column_node, name_node, table_node
from querygate.sql.suggestions.glued_figures import figures_apart
from querygate.sql.suggestions.inner_numbers import inner_number_first
from querygate.sql.suggestions.statement_parts import (
    aggregates,
    ancestors,
    arguments_of,
    called,
    column_of,
    conjuncts,
    count_all,
    each_alone,
    has_aggregate,
    is_wide,
    replace_by_groups,
    share_of,
    step_of,
    summary,
)
from querygate.sql.value_notes import compared, meant_value

Edit = Callable[[exp.Select, Catalog], "exp.Select | None"]
_NEVER = ("qualify", "windows", "sample", "hint", "laterals", "locks", "into", "match")
_ONE_OF_MANY = frozenset(
    {"first", "last", "any_value", "arbitrary", "list", "array_agg", "group_concat", "arg_max", "arg_min", "max_by"}
)
_NEAR = {
    "approx_distinct": "COUNT(DISTINCT {0})",
    "approx_quantile": "QUANTILE_CONT({0}, {1})",
    "approx_percentile": "QUANTILE_CONT({0}, {1})",
    "percentile": "QUANTILE_CONT({0}, {1})",
    "std": "STDDEV_SAMP({0})",
}


def right_names(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """Give misspelt columns their nearest name, and name the dataset."""
    names = {folded(column.name): column.name for column in catalog.columns}
    given = {folded(node.alias) for node in tree.find_all(exp.Alias, exp.CTE, exp.Subquery) if node.alias}
    for node in tree.find_all(exp.Column):
        near = difflib.get_close_matches(folded(node.name), names, n=1, cutoff=0.6)
        if folded(node.name) not in names.keys() | given and near:
            node.set("this", name_node(names[near[0]]))
    source = tree.args.get("from_")
    if source is None or (isinstance(source.this, exp.Table) and folded(source.this.name) not in given):
        for node in tree.find_all(exp.Column):
            node.set("table", None)
        tree = tree.from_(table_node(catalog.dataset))
    return tree


def quoted_texts(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """Texts stand in single quotes; double quotes are for names."""
    found = [node for node in tree.find_all(exp.Column) if node.this.args.get("quoted")]
    found = [node for node in found if catalog.column(node.name) is None and not node.table]
    for node in found:
        node.replace(exp.Literal.string(node.name))
    return tree if found else None


def right_values(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """A value of a category as it is spelled, where a text differs by case or accents alone."""
    found = [
        (text, value)
        for node in tree.find_all(exp.Predicate, exp.Case)
        for name, text in compared(node)
        if (column := catalog.column(name.name)) and (value := meant_value(column, text.this))
    ]
    for text, value in found:
        text.replace(exp.Literal.string(value))
    return tree if found else None


def whole_groups(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """A group of codes in the place of a test for some of them, where views tell of groups alone."""
    changed = False
    for node in [node for node in tree.find_all(exp.Anonymous) if is_code_test(node) and node.expressions]:
        column = catalog.column(node.expressions[0].name)
        if column is None:
            continue
        codes = frozenset[str]().union(*(codes_under(column, text.name) for text in node.expressions[1:]))
        near = [name for name, own in column.groups if codes.intersection(own)]
        if near:
            node.replace(column_node(near[0]))
            changed = True
    return tree if changed else None


def plain_arguments(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """An aggregate of a column as it is: without DISTINCT, an order of its own, or a number of results."""
    found = [node for node in tree.find_all(exp.AggFunc) if isinstance(node.this, exp.Distinct | exp.Order)]
    found = [node for node in found if not isinstance(node, exp.Count) and (node.this.this or node.this.expressions)]
    counted = [node for node in tree.find_all(exp.Min, exp.Max) if node.args.get("count")]
    for node in found:
        node.set("this", node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this.this)
    for node in counted:
        node.set("count", None)
    return tree if found or counted else None


def flat_groups(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """GROUP BY (a, b) is GROUP BY a, b."""
    group = tree.args.get("group")
    if group is None or not any(isinstance(term, exp.Tuple) for term in group.expressions):
        return None
    parts = [term.expressions if isinstance(term, exp.Tuple) else [term] for term in group.expressions]
    group.set("expressions", [part for listed in parts for part in listed])
    return tree


def fewer_groups(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """Without the last of several groups."""
    group = tree.args.get("group")
    if group is None or len(group.expressions) < 2:
        return None
    last = group.expressions[-1]
    group.set("expressions", group.expressions[:-1])
    tree.set("expressions", [item for item in tree.expressions if item.unalias().unnest() != last])
    return tree


def without_clauses(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """Leave out the clauses that are never available."""
    for clause in (*_NEVER, "distinct"):
        tree.set(clause, None)
    group = tree.args.get("group")
    if group is not None and group.args.get("all") is False:
        group.set("all", None)
    limit = tree.args.get("limit")
    if limit is not None and (not isinstance(limit, exp.Limit) or limit.args.get("limit_options")):
        tree.set("limit", None)
    return tree


def without_joins(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """Ask the dataset by itself."""
    if not tree.args.get("joins"):
        return None
    tree.set("joins", None)
    for node in tree.find_all(exp.Column):
        node.set("table", None)
    return tree.from_(table_node(catalog.dataset))


def plain_subqueries(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """Subqueries without LIMIT, and with groups in place of DISTINCT."""
    inner = [node for node in tree.find_all(exp.Select) if node is not tree]
    changed = [node for node in inner if node.args.get("limit") or node.args.get("distinct")]
    for node in changed:
        node.set("limit", None)
        if node.args.get("distinct"):
            node.set("distinct", None)
            node.set("group", exp.Group(expressions=[item.unalias().unnest().copy() for item in node.expressions]))
    return tree if changed else None


def windows_to_groups(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """AVG(x) OVER (PARTITION BY c) is AVG(x) of the groups of c."""
    keys: list[exp.Expr] = []
    windows = list(tree.find_all(exp.Window))
    for window in windows:
        keys += [key for key in window.args.get("partition_by") or () if key not in keys]
        window.replace(window.this.copy())
    items = [item for item in tree.expressions if any(map(is_aggregate, item.walk()))]
    if not items or not windows:
        return None
    tree.set("expressions", [*(key.copy() for key in keys), *items])
    tree.set("group", exp.Group(expressions=keys) if keys else None)
    return tree


def step_groups(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """A number or a date with too many values is grouped in steps."""
    group = tree.args.get("group")
    columns = [column_of(term, catalog) for term in group.expressions] if group else []
    wide = {folded(c.name): c for c in columns if c is not None and c.is_numeric and is_wide(c)}
    if not wide:
        return None
    roots = [*tree.expressions, group, *([tree.args["order"]] if tree.args.get("order") else [])]
    for node in [node for root in roots for node in root.find_all(exp.Column)]:
        column = wide.get(folded(node.name))
        if column is not None and not any(is_aggregate(around) for around in ancestors(node)):
            step = step_of(column)
            is_item = node.parent is tree
            node.replace(
                exp.alias_(step, column.name) if is_item and column.type not in ("date", "timestamp") else step
            )
    return tree


def group_the_rest(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """Beside aggregates, categories become groups and numbers become means."""
    group = tree.args.get("group")
    terms = list(group.expressions) if group else []
    if not terms and not aggregates(tree):
        return None
    items: list[exp.Expr] = []
    for item in tree.expressions:
        column = column_of(item.unalias().unnest(), catalog)
        if column is None or any(folded(term.name) == folded(column.name) for term in terms):
            items.append(item)
        elif column.is_numeric:
            items.append(summary(column))
        else:
            items.append(item)
            terms.append(column_node(column.name))
    tree.set("expressions", items)
    tree.set("group", exp.Group(expressions=terms) if terms else None)
    return tree


def aggregate_rows(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """Rows to aggregates: categories become groups, numbers become means, and the groups are counted."""
    items: list[exp.Expr] = []
    groups: list[exp.Expr] = []
    for item in tree.expressions:
        node = item.unalias().unnest()
        column = column_of(node, catalog)
        if any(map(is_aggregate, node.walk())):
            items.append(item)
        elif column is None:
            items += [] if isinstance(node, exp.Star) or not node.find(exp.Column) else [exp.Avg(this=node.copy())]
        elif column.is_numeric:
            items.append(summary(column))
        else:
            groups.append(column_node(column.name))
    tree.set("expressions", [*groups, *(items or [count_all()])])
    tree.set("group", exp.Group(expressions=[group.copy() for group in groups]) if groups else None)
    tree.set("order", None)
    tree.set("limit", None)
    return tree


def fitting_aggregates(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """Of a category the counts, of a flag its share, of days the first; of one value out of many, the ends."""
    changed = False
    for item in list(tree.expressions):
        node = item.unalias().unnest()
        node = node.this if isinstance(node, exp.IgnoreNulls) else node
        arguments = arguments_of(node)
        column = column_of(arguments[0], catalog) if arguments else None
        name = str(node.this).lower() if isinstance(node, exp.Anonymous) else called(node)
        if name in _NEAR and column is not None:
            others = [argument.sql() for argument in arguments[1:]] or ["0.5"]
            item.replace(exp.maybe_parse(_NEAR[name].format(column.name, *others), dialect="duckdb"))
        elif column is None or isinstance(node, exp.Count):
            continue
        elif (not column.is_numeric and column.type != "boolean") or name == "histogram":
            replace_by_groups(tree, item, column)
        elif column.type == "boolean":
            item.replace(share_of(column_node(column.name), column, tree))
        elif column.type in ("date", "timestamp") or name in _ONE_OF_MANY:
            item.replace(exp.Min(this=column_node(column.name)))
            tree.append("expressions", exp.Max(this=column_node(column.name)))
        else:
            continue
        changed = True
    return tree if changed else None


def having_for_aggregates(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """A condition on aggregates belongs into HAVING."""
    parts = list(conjuncts(tree))
    moved = [part for part in parts if any(map(is_aggregate, part.walk()))]
    if not moved:
        return None
    kept = [part.copy() for part in parts if part not in moved]
    tree.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    return tree.having(*(part.copy() for part in moved))


def chained_comparisons(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """40 < age < 50 is meant as 40 < age AND age < 50."""
    order = (exp.LT, exp.LTE, exp.GT, exp.GTE)
    chains = [node for node in tree.find_all(*order) if isinstance(node.this, order)]
    for node in chains:
        first = node.this
        last = type(node)(this=first.expression.copy(), expression=node.expression.copy())
        node.replace(exp.and_(first.copy(), last))
    return tree if chains else None


def fewer_conditions(tree: exp.Select, catalog: Catalog) -> Iterator[exp.Select]:
    """The statement without one of its conditions, and without any."""
    parts = list(conjuncts(tree))
    for place in range(len(parts)) if 1 < len(parts) <= 6 else ():
        copy = tree.copy()
        kept = [part.copy() for i, part in enumerate(parts) if i != place]
        copy.set("where", exp.Where(this=reduce(lambda a, b: exp.And(this=a, expression=b), kept)))
        yield copy
    if parts:
        copy = tree.copy()
        copy.set("where", None)
        yield copy


def linked_columns(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """Of sensitive columns that no view tells of together, those that go with the first that is aggregated."""
    units = {folded(name): margin.sensitive for margin in catalog.margins for name in margin.sensitive}
    nodes = [*(item for item in tree.expressions if has_aggregate(item)), tree]
    first = next((c for node in nodes for c in node.find_all(exp.Column) if folded(c.name) in units), None)
    if first is None:
        return None
    kept = set(map(folded, units[folded(first.name)]))

    def has_others(node: exp.Expr) -> bool:
        return any(folded(column.name) in units.keys() - kept for column in node.find_all(exp.Column))

    if not has_others(tree):
        return None
    items: list[exp.Expr] = []
    others = [tree.args.get(clause) for clause in ("where", "group", "having", "order", "qualify")]
    alone = not any(folded(c.name) in units for other in others if other for c in other.find_all(exp.Column))
    for item in tree.expressions:
        columns = [catalog.column(c.name) for c in item.find_all(exp.Column) if folded(c.name) in kept]
        if not has_others(item):
            items.append(item)
        elif alone and (each := each_alone(item, tree, catalog)):
            items += each
        elif has_aggregate(item):
            items += [summary(column) for column in columns if column is not None and column.is_numeric]
    group, parts = tree.args.get("group"), [part.copy() for part in conjuncts(tree) if not has_others(part)]
    terms = [term for term in group.expressions if not has_others(term)] if group else []
    if not any(map(has_aggregate, items)):
        items.append(count_all())
    tree.set("expressions", list(dict.fromkeys(items)))
    tree.set("group", exp.Group(expressions=terms) if terms else None)
    tree.set("where", exp.Where(this=exp.and_(*parts)) if parts else None)
    for clause in ("having", "order"):
        if tree.args.get(clause) is not None and has_others(tree.args[clause]):
            tree.set(clause, None)
    return tree


MILD: tuple[Edit, ...] = (
    inner_number_first,
    figures_apart,
    whole_groups,
    linked_columns,
    quoted_texts,
    right_names,
    right_values,
    chained_comparisons,
    having_for_aggregates,
    plain_subqueries,
    plain_arguments,
    flat_groups,
    fitting_aggregates,
    step_groups,
    windows_to_groups,
    without_clauses,
    without_joins,
    group_the_rest,
    fewer_groups,
)
"""Edits that keep the question close, the closest first."""

REWORDED: tuple[Edit, ...] = (
    quoted_texts,
    right_names,
    right_values,
    chained_comparisons,
    having_for_aggregates,
    flat_groups,
)
"""Those after which the question is the one that was asked, for all that can be told: its spelling was mended."""


# -- helpers -----------------------------------------------------------------------------------------------------------
