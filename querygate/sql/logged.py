"""A logged statement of any system, taken apart for the auditor: what was added up, over whom, in which groups.

The statement is never run. Its conditions, keys and values are written out again in DuckDB's SQL, each an expression
over columns of one table, so that the auditor can see which records they select. A condition is split into what an
attacker may know of a person and what is secret: `COUNT(*) ... WHERE age = 51 AND dx = 'hiv'` adds up the secret
`dx = 'hiv'` over the people of 51.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import product

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from querygate.core.errors import Refusal
from querygate.core.types import Catalog, Column, folded
from querygate.sql.aggregates import Asked, is_aggregate, read_aggregate
from querygate.sql.allow import allow
from querygate.sql.compose import Query, compose
from querygate.sql.keys import grouping_sets
from querygate.sql.measures import as_filter
from querygate.sql.parse import DIALECT, parse

DIALECTS = ("duckdb", "postgres", "mysql", "tsql", "spark")
MOST_SECRETS = 3
"""Different secret conditions in one statement: each may be true, false or unknown, so there are 3^n parts."""

_TRUTHS = {"TRUE": exp.true, "FALSE": exp.false, "NULL": exp.null}


class Unreadable(Exception):
    """Why a statement cannot be audited; a sentence without values of the data."""


@dataclass(frozen=True)
class Part:
    """People whom `known` selects, as far as their own `secret` holds. Empty texts hold for everybody."""

    known: str
    secret: str


@dataclass(frozen=True)
class Added:
    """One aggregate: its name, what it is taken of (empty for COUNT(*)), and over whom: parts that exclude each other.

    `item` is its place in the select list, None where it stands inside an expression, HAVING or ORDER BY.
    """

    name: str
    value: str
    parts: tuple[Part, ...]
    item: int | None


@dataclass(frozen=True)
class Logged:
    """A statement taken apart. `keys` are (expression, place in the select list or None).

    `alone`: it groups by one set of keys, so that the rows of its answer can be told apart by them.
    """

    keys: tuple[tuple[str, int | None], ...]
    added: tuple[Added, ...]
    alone: bool = True


def table_columns(sql: str, dialect: str = DIALECT) -> tuple[frozenset[str], frozenset[str]]:
    """Folded names of the columns a statement measures (inside aggregates) and of those it mentions elsewhere."""
    tree = _read(sql, dialect)
    inside = {folded(column.name) for node in tree.walk() if is_aggregate(node) for column in _value_columns(node)}
    return frozenset(inside), frozenset(folded(column.name) for column in tree.find_all(exp.Column))


def _value_columns(node: exp.Expr) -> Iterable[exp.Column]:
    asked = read_aggregate(node)
    if asked is None or asked.name == "count":
        return ()
    return [column for argument in as_filter(asked).arguments for column in argument.find_all(exp.Column)]


def take_apart(sql: str, columns: Collection[str], secret: Collection[str], dialect: str = DIALECT) -> list[Logged]:
    """The statement over a table with these columns, as a list of what its branches asked; Unreadable says why not.

    >>> one, = take_apart("SELECT AVG(sbp) FROM t WHERE age < 51 AND dx = 'flu'", ["age", "sbp", "dx"], ["sbp", "dx"])
    >>> one.added[0].name, one.added[0].value, one.added[0].parts
    ('avg', '"sbp"', (Part(known='("age" < 51)', secret='("dx" = \\'flu\\')'),))
    """
    tree = _read(sql, dialect)
    if not isinstance(tree, (exp.Select, exp.Union)):
        raise Unreadable("It is not a SELECT.")
    try:
        tree = allow(tree)  # functions that are not known may depend on chance, on time, or on the machine
    except Refusal as refusal:
        raise Unreadable(refusal.detail) from None
    named = {folded(cte.alias) for cte in tree.find_all(exp.CTE)}
    tables = {folded(table.name) for table in tree.find_all(exp.Table)} - named
    if len(tables) != 1:
        raise Unreadable("It reads no table, or more than one.")
    for table in tree.find_all(exp.Table):
        for part in ("db", "catalog"):
            table.set(part, None)
    named_columns = tuple(Column(name, i, "public", "category", True) for i, name in enumerate(columns))
    catalog = Catalog(tables.pop(), 0, "", 0, 0, named_columns)
    try:
        queries = compose(tree, catalog)
    except Refusal as refusal:
        raise Unreadable(refusal.detail) from None
    own, hidden = frozenset(map(folded, columns)), frozenset(map(folded, secret))
    return [logged for query in queries for logged in _logged(query, own, hidden)]


def _read(sql: str, dialect: str) -> exp.Expr:
    try:
        if dialect == DIALECT:
            return parse(sql)
        trees = [tree for tree in sqlglot.parse(sql, dialect=dialect) if tree is not None]
    except Refusal as refusal:
        raise Unreadable(refusal.detail) from None
    except (SqlglotError, RecursionError, TypeError, ValueError, AttributeError, LookupError, AssertionError):
        raise Unreadable("It cannot be read as SQL of that dialect.") from None
    if len(trees) != 1:
        raise Unreadable("It is not one statement.")
    return trees[0]


def _logged(query: Query, columns: frozenset[str], secret: frozenset[str]) -> Iterable[Logged]:
    """What the statement asked, once for each set of keys that it groups by."""
    if query.inner is not None:
        raise Unreadable("It asks about the groups of another query.")
    tree = query.tree
    items = [item.this if isinstance(item, exp.Alias) else item for item in tree.expressions]
    terms, sets = _keys(tree, columns)
    clause = tree.args.get("where")
    where = clause.this if clause is not None else exp.true()
    found: list[Added] = []
    for node, item in _aggregates(tree, items):
        asked = read_aggregate(node)
        if asked is None:
            raise Unreadable("It has an aggregate that is not known.")
        found.append(_added(as_filter(asked), where, item, secret))
    if not found and not terms:
        raise Unreadable("It shows rows, which no audit of aggregates covers.")
    if any(_columns(term) & secret for term in terms):
        raise Unreadable("It groups by a secret column.")
    keys = [(_text(term), next((i for i, item in enumerate(items) if item.unnest() == term), None)) for term in terms]
    for chosen in sets:
        yield Logged(tuple(keys[i] for i in chosen), tuple(found), len(sets) == 1)


def _keys(tree: exp.Select, columns: frozenset[str]) -> tuple[list[exp.Expr], list[tuple[int, ...]]]:
    """The terms of GROUP BY, and the sets of them that are grouped by. Names may be of the select list."""
    group = tree.args.get("group")
    if group is None:
        return [], [()]
    for name in list(group.find_all(exp.Column)):
        if folded(name.name) not in columns:
            name.replace(_aliased(tree, name).copy())
    try:
        return grouping_sets(group, tree.expressions)
    except Refusal as refusal:
        raise Unreadable(refusal.detail) from None


def _aliased(tree: exp.Select, name: exp.Column) -> exp.Expr:
    """The item of the select list that a name calls."""
    for item in tree.expressions:
        if isinstance(item, exp.Alias) and folded(item.alias) == folded(name.name):
            found: exp.Expr = item.this.unnest()
            return found
    raise Unreadable("It groups by a name that is not there.")


def _aggregates(tree: exp.Select, items: list[exp.Expr]) -> Iterable[tuple[exp.Expr, int | None]]:
    """Every aggregate that the answer depends on; one alone in the select list with its place there."""
    for place, item in enumerate(items):
        plain = item.unnest()
        for node in plain.walk(prune=is_aggregate):
            if is_aggregate(node):
                yield node, place if node is plain else None
    for clause in ("having", "order"):
        part = tree.args.get(clause)
        for node in part.walk(prune=is_aggregate) if part is not None else ():
            if is_aggregate(node):
                yield node, None


def _added(asked: Asked, where: exp.Expr, item: int | None, secret: frozenset[str]) -> Added:
    arguments = [argument for argument in asked.arguments if not isinstance(argument, exp.Star)]
    condition = (
        where if asked.condition is None else exp.And(this=_bracketed(where), expression=_bracketed(asked.condition))
    )
    value = arguments[0].unnest() if arguments else None
    name = asked.name + (" distinct" if asked.distinct else "")
    if value is not None and not value.find(exp.Column):
        name, value = ("count", None) if name == "count" and not isinstance(value, exp.Null) else (name, value)
    return Added(name, _text(value) if value is not None else "", tuple(split(condition, secret)), item)


# -- known and secret ------------------------------------------------------------------------------------------------


def split(condition: exp.Expr, secret: frozenset[str]) -> list[Part]:
    """Parts that exclude each other and together are where the condition is TRUE.

    Each secret condition in it is TRUE, FALSE or NULL for a person; put in, the rest is about what is known.
    """
    leaves = {_text(leaf): leaf for leaf in _secret_leaves(condition, secret)}
    if len(leaves) > MOST_SECRETS:
        raise Unreadable(f"It has more than {MOST_SECRETS} secret conditions.")
    by_known: dict[str, list[str]] = {}
    for truths in product(_TRUTHS, repeat=len(leaves)):
        given = dict(zip(leaves, truths, strict=True))
        known = _text(_put_in(condition, given, secret))
        held = " AND ".join(f"({leaf}) IS NOT DISTINCT FROM {truth}" for leaf, truth in given.items())
        by_known.setdefault(known, []).append(held)
    return [Part(known, _either(held, len(leaves))) for known, held in by_known.items() if known != "FALSE"]


def _either(held: list[str], leaves: int) -> str:
    if not leaves or len(held) == 3**leaves:
        return ""
    return " OR ".join(f"({one})" for one in held)


def _secret_leaves(node: exp.Expr, secret: frozenset[str]) -> Iterable[exp.Expr]:
    """The largest conditions on secret columns alone."""
    used = _columns(node)
    if not used & secret:
        return
    if isinstance(node, (exp.And, exp.Or, exp.Not, exp.Paren)):
        for child in node.iter_expressions():
            yield from _secret_leaves(child, secret)
    elif used <= secret:
        yield node
    else:
        raise Unreadable("It compares what is secret with what is known.")


def _put_in(node: exp.Expr, given: dict[str, str], secret: frozenset[str]) -> exp.Expr:
    """The condition with its secret leaves replaced by what they are, as far as it can be decided by that."""
    if isinstance(node, exp.Paren):
        return _put_in(node.this, given, secret)
    if isinstance(node, exp.Not):
        inner = _put_in(node.this, given, secret)
        return (
            exp.false()
            if _is(inner, "TRUE")
            else exp.true()
            if _is(inner, "FALSE")
            else exp.Not(this=_bracketed(inner))
        )
    if isinstance(node, (exp.And, exp.Or)):
        absorbing, neutral = ("FALSE", "TRUE") if isinstance(node, exp.And) else ("TRUE", "FALSE")
        parts = [_put_in(part, given, secret) for part in node.flatten()]
        if any(_is(part, absorbing) for part in parts):
            return _TRUTHS[absorbing]()
        kept = [part for part in parts if not _is(part, neutral)]
        if not kept:
            return _TRUTHS[neutral]()
        joined = kept[0]
        for part in kept[1:]:
            joined = type(node)(this=_bracketed(joined), expression=_bracketed(part))
        return joined
    text = _text(node)
    return _TRUTHS[given[text]]() if text in given else node.copy()


def _is(node: exp.Expr, truth: str) -> bool:
    return _text(node) == truth


def _columns(node: exp.Expr) -> frozenset[str]:
    return frozenset(folded(column.name) for column in node.find_all(exp.Column))


def _bracketed(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=node.copy())


def _text(node: exp.Expr) -> str:
    return node.sql(dialect=DIALECT)


__all__ = ["Added", "DIALECTS", "Logged", "Part", "Unreadable", "table_columns", "take_apart"]
