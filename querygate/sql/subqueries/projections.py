"""Names of the select list in other clauses, and a SELECT that only filters, orders and projects the groups of another.

Such a SELECT is that other with more to it: `SELECT n FROM (SELECT sex, COUNT(*) AS n FROM t GROUP BY sex) WHERE n > 5`
is `SELECT COUNT(*) AS n FROM t GROUP BY sex HAVING COUNT(*) > 5`.

A column that was found in a table knows the name it was called by (`called`); one that was not is a name of the select
list.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import folded
from querygate.sql.aggregates import is_aggregate, listed
from querygate.sql.clauses.group_keys import all_items, meant
from querygate.sql.clauses.tables_in_scope import Names, is_nameless
from querygate.sql.parse import span_of

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)


def item_of(node: exp.Column, items: Sequence[exp.Expr]) -> exp.Expr:
    """The item of the select list that a name calls."""
    name = folded(node.meta.get("called") or node.name)
    named = [item for item in items if isinstance(item, exp.Alias) and folded(item.alias) == name]
    if len(named) != 1:
        raise UnsupportedSQL(
            "QG214",
            f"The select list has {len(named)} columns with this name.",
            "Give each column its own name.",
            span=span_of(node),
        )
    found: exp.Expr = named[0].this
    return found


def with_items(having: exp.Expr, items: Sequence[exp.Expr], terms: Sequence[exp.Expr]) -> exp.Expr:
    """A condition on groups with items in place of their names.

    A name in no aggregate is a group's, else an item's, and only then a column's: SUM(x) AS x ... HAVING x > 5.
    """
    given = [item for item in items if isinstance(item, exp.Alias) and not item.meta.get("own")]
    names = {folded(item.alias) for item in given}
    holder = exp.Paren(this=having.copy())
    for node in list(holder.walk(prune=lambda part: is_aggregate(part) or part in terms)):
        if not isinstance(node, exp.Column) or node in terms or node.meta.get("qualified"):
            continue
        if folded(node.meta.get("called", node.name)) in names:
            node.replace(_bracket(item_of(node, given)))
    found: exp.Expr = holder.this
    return found


def projected(outer: exp.Select, inner: exp.Select, items: Names) -> exp.Select:
    """The groups of `inner` as `outer` shows them. `items` are what its names stand for."""
    _settle(inner)
    windowed = inner.args.get("qualify") is not None or any(item.find(exp.Window) for item in inner.expressions)
    own = [part for clause in ("expressions", "qualify", "order") for part in listed(outer.args.get(clause))]
    again = next((part.find(exp.Window) for part in own if part.find(exp.Window)), None)
    if windowed and again is not None:
        raise UnsupportedSQL(
            "QG206",
            "A window over groups that already use windows is not supported.",
            "Use windows in one of the queries only.",
            span=span_of(again),
        )
    for clause in ("expressions", "where", "qualify", "order"):
        part = outer.args.get(clause)
        for root in listed(part):
            for node in list(root.find_all(exp.Column)):
                if clause != "order" or "called" in node.meta:  # ORDER BY may name what the outer one shows
                    _put_in(node, items)
    plain = [isinstance(item, exp.Alias) and is_nameless(item.alias) for item in outer.expressions]
    inner.set("expressions", [i.this if bare else i for i, bare in zip(outer.expressions, plain, strict=True)])
    where = outer.args.get("where")
    if where is not None:
        name, kind = ("qualify", exp.Qualify) if windowed else ("having", exp.Having)
        before = inner.args.get(name)
        inner.set(name, kind(this=exp.and_(before.this, where.this) if before is not None else where.this))
    if outer.args.get("qualify") is not None:
        inner.set("qualify", outer.args["qualify"])
    for clause in ("order", "limit", "offset"):
        inner.set(clause, outer.args.get(clause))
    return inner


def _settle(tree: exp.Select) -> None:
    """Let GROUP BY and HAVING speak of columns alone, so that they do not depend on the select list."""
    items, group, having = tree.expressions, tree.args.get("group"), tree.args.get("having")
    parts: list[exp.Expr] = []
    if group is not None and group.args.get("all"):
        listed_items = [_bracket(item) for item in all_items(group, items)]
        parts = [exp.Group(expressions=listed_items)] if listed_items else []
        tree.set("group", parts[0] if parts else None)
    elif group is not None:
        for node in [node for node in group.find_all(exp.Column) if "called" not in node.meta]:
            node.replace(_bracket(item_of(node, items)))
        parts = [group, *group.find_all(*_SETS)]
        for part in parts:
            part.set("expressions", [_term(term, items) for term in part.expressions])
    if having is not None:
        terms = [term.unnest() for part in parts for term in part.expressions if isinstance(term, exp.Paren)]
        having.set("this", with_items(having.this, items, terms))


def _term(term: exp.Expr, items: Sequence[exp.Expr]) -> exp.Expr:
    if isinstance(term, _SETS):
        return term
    return _bracket(meant(term, list(items)))


def _bracket(item: exp.Expr) -> exp.Paren:
    """An item in place of its name; a number there is no position."""
    bracket = exp.Paren(this=item.copy())
    bracket.meta["item"] = True
    return bracket


def _put_in(node: exp.Column, items: Names) -> None:
    """The item in place of its name."""
    name = folded(node.name)
    if name not in items:
        raise UnsupportedSQL(
            "QG203",
            "The subquery has more than one column with this name.",
            "Give each column its own name.",
            span=span_of(node),
        )
    bracket = exp.Paren(this=items[name].copy())
    bracket.meta.update(node.meta)
    node.replace(bracket)
