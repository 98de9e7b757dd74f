"""IN and EXISTS over the same dataset, where a record decides them by itself.

A record is one of the dataset, so `region IN (SELECT region FROM t WHERE region LIKE 'n%')` is TRUE exactly where its
own region is like that. A person has one row, so `mrn IN (SELECT mrn FROM t WHERE died)` is what that row says.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Catalog, folded
from querygate.sql.allow_list import may_have
from querygate.sql.parse import span_of

_PLAIN = {"expressions", "from_", "where", "distinct"}


def reduce_subqueries(tree: exp.Select, catalog: Catalog) -> None:
    """Put conditions in place of such subqueries; the others are refused."""
    if not may_have(tree, exp.Subquery, exp.Exists):
        return
    clause = tree.args.get("where")
    found = [node for node in clause.walk() if isinstance(node, (exp.In, exp.Exists))] if clause is not None else []
    for node in found:
        if isinstance(node, exp.Exists) or node.args.get("query") is not None:
            source = tree.args["from_"].this
            plain = isinstance(source, exp.Table) and folded(source.name) == folded(catalog.dataset)
            reduced = _reduced(node, folded(source.alias_or_name), catalog) if plain else None
            if reduced is None or tree.args.get("joins"):
                raise _refused(node)
            node.replace(exp.Paren(this=reduced))


def _reduced(node: exp.Expr, outer: str, catalog: Catalog) -> exp.Expr | None:
    query = node.this if isinstance(node, exp.Exists) else node.args["query"].this
    source = query.args.get("from_") if isinstance(query, exp.Select) else None
    if source is None or not isinstance(source.this, exp.Table) or source.this.args.get("db"):
        return None
    if {name for name, part in query.args.items() if part} - _PLAIN or len(query.expressions) != 1:
        return None
    if folded(source.this.name) != folded(catalog.dataset):
        return None
    clause, inner = query.args.get("where"), folded(source.this.alias_or_name)
    conditions = list(clause.this.flatten()) if clause is not None and isinstance(clause.this, exp.And) else []
    conditions = conditions or ([clause.this] if clause is not None else [])
    if isinstance(node, exp.Exists):
        return _exists(conditions, inner, outer, catalog)
    return _in(node, query.expressions[0], conditions, inner, outer, catalog)


def _in(
    node: exp.Expr, item: exp.Expr, conditions: list[exp.Expr], inner: str, outer: str, catalog: Catalog
) -> exp.Expr | None:
    asked, given = node.this.unnest(), (item.this if isinstance(item, exp.Alias) else item).unnest()
    if not _is_of(asked, outer) or not _is_of(given, inner) or folded(asked.name) != folded(given.name):
        return None
    own = _own(conditions, inner)
    if own is None:
        return None
    if catalog.person and folded(asked.name) == folded(catalog.person):
        return _is_true(own)
    named = {folded(column.name) for part in own for column in part.find_all(exp.Column)}
    if named - {folded(asked.name)} or not _is_only_true_asked(node):
        return None
    missing = exp.Is(this=asked.copy(), expression=exp.Null())
    return exp.and_(exp.Not(this=missing), *own)


def _exists(conditions: list[exp.Expr], inner: str, outer: str, catalog: Catalog) -> exp.Expr | None:
    """Of the same person: one condition says so, the others speak of the inner row."""
    same = [part for part in conditions if catalog.person and _is_same_person(part.unnest(), inner, outer, catalog)]
    own = _own([part for part in conditions if not any(part is other for other in same)], inner)
    return _is_true(own) if same and own is not None else None


def _is_same_person(node: exp.Expr, inner: str, outer: str, catalog: Catalog) -> bool:
    if not isinstance(node, exp.EQ) or inner == outer:
        return False
    sides = [side.unnest() for side in (node.this, node.expression)]
    columns = [side for side in sides if isinstance(side, exp.Column) and folded(side.name) == folded(catalog.person)]
    return len(columns) == 2 and {folded(column.table) for column in columns} == {inner, outer}


def _own(conditions: Iterable[exp.Expr], inner: str) -> list[exp.Expr] | None:
    """The conditions as ones on the outer row, which is the same row; None where they speak of another."""
    found: list[exp.Expr] = []
    for condition in conditions:
        part = exp.Paren(this=condition.copy())
        if part.find(exp.Select):
            return None
        for column in part.find_all(exp.Column):
            if not _is_of(column, inner):
                return None
            column.set("table", None)
        found.append(part)
    return found


def _is_of(node: exp.Expr, table: str) -> bool:
    return isinstance(node, exp.Column) and folded(node.table) in ("", table)


def _is_true(conditions: list[exp.Expr]) -> exp.Expr:
    """Never NULL, as a person's number is never missing."""
    if not conditions:
        return exp.true()
    return exp.Is(this=exp.Paren(this=exp.and_(*conditions)), expression=exp.true())


def _is_only_true_asked(node: exp.Expr) -> bool:
    """Does it matter only whether it is TRUE? Where it is not, it may be NULL or FALSE."""
    around = node.parent
    while isinstance(around, (exp.And, exp.Or, exp.Paren)):
        around = around.parent
    return isinstance(around, exp.Where)


def _refused(node: exp.Expr) -> UnsupportedSQL:
    code, what = ("QG206", "EXISTS") if isinstance(node, exp.Exists) else ("QG208", "IN with a subquery")
    return UnsupportedSQL(
        code,
        f"{what} is supported only where it can be decided for each record on its own.",
        "Write it as conditions in WHERE.",
        span=span_of(node),
    )
