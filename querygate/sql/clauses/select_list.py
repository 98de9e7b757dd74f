"""The select list of a query: what its items are called, and stars written out."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from querygate.core.types import folded
from querygate.sql.aggregates import is_aggregate
from querygate.sql.clauses.tables_in_scope import Names, Tables, nameless


def is_grouped(tree: exp.Select) -> bool:
    return bool(tree.args.get("group") or tree.args.get("having")) or any(
        is_aggregate(node) for item in tree.expressions for node in item.walk()
    )


def items_by_name(tree: exp.Select) -> Names:
    """The select list by name; what has no name cannot be called, and of two of one name neither."""
    called = Counter(folded(name_of(item)) for item in tree.expressions)
    names: Names = {}
    for place, item in enumerate(tree.expressions):
        name = folded(name_of(item))
        names[name if name and called[name] == 1 else nameless(place)] = item.unalias()
    return names


def name_of(item: exp.Expr) -> str:
    """The name under which an item of a select list can be called from outside; empty where it has none."""
    return str(item.alias if isinstance(item, exp.Alias) else item.name if isinstance(item, exp.Column) else "")


def expand_stars(tree: exp.Select, tables: Tables) -> None:
    """SELECT * in a subquery offers every name; at the top it would show rows, which is refused later."""
    items: list[exp.Expr] = []
    for item in tree.expressions:
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            items += tables.columns(folded(item.table) if isinstance(item, exp.Column) else "")
        else:
            items.append(item)
    tree.set("expressions", items)


def name_items(tree: exp.Select) -> None:
    """A column keeps the name it was asked by, whatever is put in its place."""
    for item in list(tree.expressions):
        node = item.unnest() if isinstance(item, exp.Paren) else item
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            named = exp.alias_(node.copy(), node.name, quoted=True)
            named.meta["own"] = True
            item.replace(named)
