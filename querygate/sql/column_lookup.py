"""What names stand for: each column of a statement is replaced by what it means, or refused with what may be meant."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Catalog, folded
from querygate.sql.aggregates import listed
from querygate.sql.clauses.tables_in_scope import Tables
from querygate.sql.parse import span_of

_MAY_BE_ALIAS = {"group": False, "having": False, "qualify": False, "order": True}
"""Clauses that may use names of the select list, and whether these, as a whole term, come before those of columns."""


@dataclass(frozen=True)
class _Scope:
    """What names mean in a clause."""

    tables: Tables
    aliases: set[str]
    alias_first: bool
    catalog: Catalog

    def replace(self, node: exp.Column) -> int:
        """Put in what the name stands for; return how many nodes that are."""
        if isinstance(node.this, exp.Star):
            raise UnsupportedSQL(
                "QG201",
                "Rows are never shown.",
                "Ask for aggregates such as COUNT(*) or AVG(column).",
                span=span_of(node),
            )
        name, table = folded(node.name), folded(node.table)
        if self.alias_first and not table and name in self.aliases and _is_term(node):
            return 1
        found = self.tables.find(node)
        if found is None:
            is_row = name in self.tables  # DuckDB reads the table's name as a whole row
            if name in self.aliases and not table and not is_row:
                return 1
            raise _unknown_column(node, self.catalog, self.tables)
        node.meta["qualified"] = bool(table)
        node.meta["called"] = name
        if isinstance(found, exp.Column):
            named = found.this.copy()
            named.meta.update(node.this.meta)  # where it stands in the text, for a refusal to point at
            node.set("this", named)
            node.set("table", None)
            return 1
        bracket = exp.Paren(this=found.copy())
        for part in bracket.find_all(exp.Column):
            part.meta.setdefault("called", "")
        bracket.meta.update(node.meta)
        node.replace(bracket)
        return sum(1 for _ in found.walk())


def _is_term(node: exp.Expr) -> bool:
    """Is it a term of ORDER BY by itself, not a part of an expression?"""
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    return isinstance(around, exp.Ordered)


def substitute_names(tree: exp.Select, tables: Tables, catalog: Catalog) -> int:
    """Every name by what it stands for. Names of the select list may be used in GROUP BY, HAVING and ORDER BY."""
    given = {folded(item.alias) for item in tree.expressions if isinstance(item, exp.Alias)}
    size = 0
    for clause in ("expressions", "where", "group", "having", "qualify", "order"):
        aliases = given if clause in _MAY_BE_ALIAS else set()
        scope = _Scope(tables, aliases, _MAY_BE_ALIAS.get(clause, False), catalog)
        part = tree.args.get(clause)
        for root in listed(part):
            size += sum(scope.replace(node) for node in list(root.find_all(exp.Column)))
    return size


def _unknown_column(node: exp.Column, catalog: Catalog, tables: Tables) -> UnsupportedSQL:
    spelled = {folded(name): name for name in (*(column.name for column in catalog.columns), catalog.person)}
    hidden = folded(catalog.person) if catalog.person and catalog.column(catalog.person) is None else None
    names = {name: spelled.get(name, name) for name in tables.every_name()}
    listed = [name for key, name in names.items() if key != hidden]
    by_lower = {name.lower(): name for name in names.values()}
    near = difflib.get_close_matches(node.name.lower(), by_lower, n=1)
    remedy = f"Did you mean {by_lower[near[0]]}? " if near else ""
    return UnsupportedSQL(
        "QG203",
        f"{catalog.dataset} has no column with this name.",
        f"{remedy}The columns are: {', '.join(listed)}.",
        span=span_of(node),
    )
