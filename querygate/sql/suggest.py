"""A refusal's way forward: SQL that the gate accepts, close to what was meant.

Candidates are made by small edits of the tree and tried; only one that passes all steps is ever shown.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator

from sqlglot import exp

from querygate.core.errors import Refusal
from querygate.core.types import Catalog
from querygate.sql.aggregates import is_aggregate
from querygate.sql.parse import DIALECT


def suggest(tree: exp.Expr | None, catalog: Catalog, accepts: Callable[[str], bool]) -> str | None:
    """The first candidate that is accepted."""
    for candidate in _candidates(tree, catalog):
        if accepts(candidate):
            return candidate
    return None


def _candidates(tree: exp.Expr | None, catalog: Catalog) -> Iterator[str]:
    if isinstance(tree, exp.Select):
        for edit in EDITS:
            try:
                edited = edit(tree.copy(), catalog)
                if edited is not None:
                    yield edited.sql(dialect=DIALECT)
            except (Refusal, RecursionError, ValueError, AttributeError, KeyError):
                continue
    categories = [c.name for c in catalog.columns if not c.is_numeric]
    if categories:
        name = exp.column(categories[0])
        yield exp.select(name, exp.Count(this=exp.Star())).from_(catalog.dataset).group_by(name).sql(DIALECT)
    yield exp.select(exp.Count(this=exp.Star())).from_(catalog.dataset).sql(DIALECT)


def _right_names(tree: exp.Select, catalog: Catalog) -> exp.Select:
    """Name the dataset, and give misspelt columns their nearest name."""
    names = {column.name.lower(): column.name for column in catalog.columns}
    for node in tree.find_all(exp.Column):
        near = difflib.get_close_matches(node.name.lower(), names, n=1, cutoff=0.5)
        if catalog.column(node.name) is None and near:
            node.set("this", exp.to_identifier(names[near[0]]))
        node.set("table", None)
    return tree.from_(catalog.dataset)


def _aggregate_columns(tree: exp.Select, catalog: Catalog) -> exp.Select:
    """Rows to aggregates: categories become groups, numbers become averages, and the groups are counted."""
    tree = _right_names(tree, catalog)
    items: list[exp.Expr] = []
    groups: list[exp.Expr] = []
    for item in tree.expressions:
        node = item.this if isinstance(item, exp.Alias) else item
        column = catalog.column(node.name) if isinstance(node, exp.Column) else None
        if is_aggregate(node):
            items.append(item)
        elif column is not None and not column.is_numeric:
            groups.append(exp.column(column.name))
        elif column is not None and column.type != "date":
            items.append(exp.Avg(this=exp.column(column.name)))
    tree.set("expressions", [*groups, *(items or [exp.Count(this=exp.Star())])])
    tree.set("group", exp.Group(expressions=[group.copy() for group in groups]) if groups else None)
    tree.set("order", None)
    tree.set("limit", None)
    return tree


def _order_for_limit(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    group = tree.args.get("group")
    return tree.order_by(*(g.copy() for g in group.expressions)) if group and tree.args.get("limit") else None


def _without_extras(tree: exp.Select, catalog: Catalog) -> exp.Select:
    """Leave out the clauses that are not available."""
    for clause in ("joins", "with_", "having", "distinct", "offset", "qualify", "windows", "sample", "hint"):
        tree.set(clause, None)
    return _right_names(tree, catalog)


def _without_where(tree: exp.Select, catalog: Catalog) -> exp.Select:
    tree = _aggregate_columns(_without_extras(tree, catalog), catalog)
    tree.set("where", None)
    return tree


EDITS: tuple[Callable[[exp.Select, Catalog], exp.Select | None], ...] = (
    _order_for_limit,
    _right_names,
    _without_extras,
    _aggregate_columns,
    lambda tree, catalog: _aggregate_columns(_without_extras(tree, catalog), catalog),
    _without_where,
)
