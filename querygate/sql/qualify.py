"""Step 3: names against the catalog. A column that is withheld is unknown, like one that never was."""

from __future__ import annotations

import difflib

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Catalog, Column, folded
from querygate.sql.parse import span_of


class Scope:
    """The names a statement may use: the dataset, its alias, its columns."""

    def __init__(self, tree: exp.Select, catalog: Catalog) -> None:
        self.catalog = catalog
        table = tree.args["from_"].this
        if folded(table.name) != folded(catalog.dataset):
            raise UnsupportedSQL(
                "QG205",
                "FROM does not name the dataset that was asked.",
                f"Write FROM {catalog.dataset}.",
                span=span_of(table),
            )
        self.table = folded(table.alias or table.name)

    def resolve(self, node: exp.Column) -> Column:
        """The catalog column of a reference."""
        if isinstance(node.this, exp.Star):
            raise UnsupportedSQL(
                "QG201", "Rows are never shown.", "Ask for aggregates: COUNT(*), AVG(column) ...", span=span_of(node)
            )
        found = self.catalog.column(node.name)
        if found is None or (node.table and folded(node.table) != self.table):
            raise unknown_column(node, self.catalog)
        return found


def qualify(tree: exp.Select, catalog: Catalog) -> Scope:
    """Check every column reference that is not an alias of the select list; return the scope."""
    scope = Scope(tree, catalog)
    aliases = {folded(item.alias) for item in tree.expressions if isinstance(item, exp.Alias)}
    in_clauses = [tree.args[name] for name in ("group", "order") if tree.args.get(name)]
    may_be_alias = {id(node) for clause in in_clauses for node in clause.find_all(exp.Column)}
    for node in tree.find_all(exp.Column):
        if id(node) in may_be_alias and not node.table and folded(node.name) in aliases:
            continue
        scope.resolve(node)
    return scope


def unknown_column(node: exp.Column, catalog: Catalog) -> UnsupportedSQL:
    names = {column.name.lower(): column.name for column in catalog.columns}
    near = difflib.get_close_matches(node.name.lower(), names, n=1)
    remedy = f"Did you mean {names[near[0]]}? " if near else ""
    listed = ", ".join(column.name for column in catalog.columns)
    return UnsupportedSQL(
        "QG203",
        f"{catalog.dataset} has no column of that name.",
        f"{remedy}The columns are: {listed}.",
        span=span_of(node),
    )
