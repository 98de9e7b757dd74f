"""A logged statement of any system, taken apart for the auditor: what was added up, over whom, in which groups.

The statement is never run. Its conditions, keys and values are written out again in DuckDB's SQL, each an expression
over columns of one table, so that the auditor can see which records they select. A condition is split into what an
attacker may know of a person and what is secret: `COUNT(*) ... WHERE age = 51 AND dx = 'hiv'` adds up the secret
`dx = 'hiv'` over the people of 51.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from querygate.core.errors import Refusal
from querygate.core.types import Catalog, Column, folded
from querygate.sql.aggregates import is_aggregate, read_aggregate
from querygate.sql.allow_list import allow
from querygate.sql.clauses.group_keys import grouping_sets
from querygate.sql.clauses.window_functions import check_windows
from querygate.sql.compose import Query, compose
from querygate.sql.formulas import AnswerFormula, Shown, make_formula, make_shown, number_of
from querygate.sql.logged.logged_conditions import (
    ConditionPart,
    UnauditableStatement,
    bracketed,
    columns_of,
    split,
    text_of,
)
from querygate.sql.logged.logged_value import Value, plain_value
from querygate.sql.parse import DIALECT, parse
from querygate.sql.subqueries.scalar_queries import NUMBERS, is_call, query_of

DIALECTS = ("duckdb", "postgres", "mysql", "tsql", "spark")


@dataclass(frozen=True)
class LoggedAggregate:
    """One aggregate: its name, what it is taken of (empty for COUNT(*)), and over whom: parts that exclude each other.

    `item` is its place in the select list, None where it stands inside an expression, HAVING or ORDER BY. Each record
    of the parts gives scale * value + shift. An average is taken over the parts, or over `among` where it names more.
    """

    name: str
    value: str
    parts: tuple[ConditionPart, ...]
    item: int | None
    scale: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)
    among: tuple[ConditionPart, ...] = ()
    parameters: tuple[str, ...] = ()
    secret: bool = True  # the value is about a secret column
    about: tuple[str, ...] = ()  # the secret columns of value, conditions and keys, folded, in order


@dataclass(frozen=True)
class LoggedStatement:
    """A statement taken apart. `keys` are (expression, place in the select list or None); `hidden` the secret ones.

    `formulas` are the items that are arithmetic over aggregates; `absent` the places of keys that are NULL in its rows,
    since it is one of several grouping sets; `shown` what HAVING says of groups; `branch` which part of a UNION it is.
    """

    keys: tuple[tuple[str, int | None], ...]
    added: tuple[LoggedAggregate, ...]
    alone: bool = True
    hidden: tuple[tuple[str, int | None], ...] = ()
    formulas: tuple[tuple[int, AnswerFormula], ...] = ()
    absent: tuple[int, ...] = ()
    shown: tuple[Shown, ...] = ()
    names: tuple[str, ...] = ()
    branch: tuple[int, int] = (0, 1)  # number, of how many


def table_columns(sql: str, dialect: str = DIALECT) -> tuple[frozenset[str], frozenset[str]]:
    """Folded names of the columns a statement measures (inside aggregates) and of those it mentions elsewhere."""
    tree = read_statement(sql, dialect)
    inside = {folded(column.name) for node in tree.walk() if is_aggregate(node) for column in _value_columns(node)}
    return frozenset(inside), frozenset(folded(column.name) for column in tree.find_all(exp.Column))


def tables_of(sql: str, dialect: str = DIALECT) -> tuple[str, ...]:
    """Folded names of the tables a statement reads, as far as it names them: `hospital.patients`, `patients`."""
    return _tables(read_statement(sql, dialect))


def _tables(tree: exp.Expr) -> tuple[str, ...]:
    """`patients` beside `hospital.patients` is the same table."""
    named = {folded(cte.alias) for cte in tree.find_all(exp.CTE)}
    found = {".".join(folded(part.name) for part in table.parts): None for table in tree.find_all(exp.Table)}
    tables = [name for name in found if name not in named]
    return tuple(name for name in tables if not any(other.endswith(f".{name}") for other in tables))


def _value_columns(node: exp.Expr) -> Iterable[exp.Column]:
    asked = read_aggregate(node)
    if asked is None or asked.name == "count":
        return ()
    plain = plain_value(asked)
    return [] if plain.value is None else list(plain.value.find_all(exp.Column))


def take_apart(
    sql: str, columns: Collection[str], secret: Collection[str], dialect: str = DIALECT, person: str = ""
) -> list[LoggedStatement]:
    """The statement over a table with these columns, as a list of what its branches asked; Unreadable says why not.

    `person` names a column that has another value in every row: what is counted of it is rows.

    >>> one, = take_apart("SELECT AVG(sbp) FROM t WHERE age < 51 AND dx = 'flu'", ["age", "sbp", "dx"], ["sbp", "dx"])
    >>> one.added[0].name, one.added[0].value, one.added[0].parts
    ('avg', '"sbp"', (ConditionPart(known='"age" < 51', secret='(("dx" = \\'flu\\') IS NOT DISTINCT FROM TRUE)'),))
    """
    tree = read_statement(sql, dialect)
    if not isinstance(tree, (exp.Select, exp.Union)):
        raise UnauditableStatement("It is not a SELECT.")
    if tree.find(exp.LogicalOr, exp.LogicalAnd, exp.Array) is not None:
        raise UnauditableStatement("It uses an unknown aggregate.")
    try:
        tree = allow(tree)  # functions that are not known may depend on chance, on time, or on the machine
    except Refusal as refusal:
        raise UnauditableStatement(refusal.detail) from None
    tables = _tables(tree)
    if len(tables) != 1:
        raise UnauditableStatement("It reads no table, or more than one table.")
    for table in tree.find_all(exp.Table):
        for part in ("db", "catalog"):
            table.set(part, None)
    named_columns = tuple(Column(name, i, "public", "category", True) for i, name in enumerate(columns))
    catalog = Catalog(tables[0].rpartition(".")[2], 0, "", 0, 0, named_columns, person=person)
    try:
        queries = compose(tree, catalog)
        for query in queries:
            check_windows(query.tree)
    except Refusal as refusal:
        raise UnauditableStatement(refusal.detail) from None
    own, hidden = frozenset(map(folded, columns)), frozenset(map(folded, secret))
    number = len(queries)
    return [
        replace(logged, branch=(i, number))
        for i, query in enumerate(queries)
        for logged in (*_own_part(query, own, hidden), *_numbers(query, own, hidden))
    ]


def _own_part(query: Query, columns: frozenset[str], secret: frozenset[str]) -> Iterable[LoggedStatement]:
    """What the query asks itself; one without FROM asks nothing but numbers of others."""
    return () if query.tree.meta.get(NUMBERS) else _logged(query, columns, secret)


def _numbers(query: Query, columns: frozenset[str], secret: frozenset[str]) -> Iterable[LoggedStatement]:
    """What queries of one number inside it asked, each by itself: their aggregates are parts of expressions."""
    for call in (node for node in query.tree.find_all(exp.Anonymous) if is_call(node)):
        for logged in _logged(query_of(call), columns, secret):
            yield replace(logged, added=tuple(replace(a, item=None) for a in logged.added), formulas=(), names=())


def read_statement(sql: str, dialect: str) -> exp.Expr:
    try:
        if dialect == DIALECT:
            return parse(sql)
        trees = [tree for tree in sqlglot.parse(sql, dialect=dialect) if tree is not None]
    except Refusal as refusal:
        raise UnauditableStatement(refusal.detail) from None
    except (SqlglotError, RecursionError, TypeError, ValueError, AttributeError, LookupError, AssertionError):
        raise UnauditableStatement("It is not valid SQL in that dialect.") from None
    if len(trees) != 1:
        raise UnauditableStatement("It is not a single statement.")
    return trees[0]


def _logged(query: Query, columns: frozenset[str], secret: frozenset[str]) -> Iterable[LoggedStatement]:
    """What the statement asked, once for each set of keys that it groups by."""
    if query.inner is not None:
        raise UnauditableStatement("It queries the groups of another query.")
    tree = query.tree
    items = [item.this if isinstance(item, exp.Alias) else item for item in tree.expressions]
    terms, sets = _keys(tree, columns)
    clause = tree.args.get("where")
    where = clause.this if clause is not None else exp.true()
    found: list[LoggedAggregate] = []
    places: dict[int, int] = {}
    for node, item in _aggregates(tree, items):
        asked = read_aggregate(node)
        if asked is None:
            raise UnauditableStatement("It uses an unknown aggregate.")
        places[id(node)] = len(found)
        found.append(_added(plain_value(asked), where, item, secret))
    if not found and not terms:
        raise UnauditableStatement("It returns rows, and the audit covers aggregates only.")
    if any(columns_of(term) & secret and not columns_of(term) <= secret for term in terms):
        raise UnauditableStatement("It groups by secret and known columns at the same time.")
    alone = {added.item for added in found}
    formulas = [(i, make_formula(item, places)) for i, item in enumerate(items) if i not in alone]
    keys = [(text_of(term), next((i for i, item in enumerate(items) if item.unnest() == term), None)) for term in terms]
    is_secret = [bool(columns_of(term) & secret) for term in terms]
    for chosen in sets:
        absent = [keys[i][1] for i in range(len(keys)) if i not in chosen]
        yield LoggedStatement(
            tuple(keys[i] for i in chosen if not is_secret[i]),
            tuple(_with_keys(one, [terms[i] for i in chosen], secret) for one in found),
            len(sets) == 1,
            tuple(keys[i] for i in chosen if is_secret[i]),
            tuple((i, formula) for i, formula in formulas if formula is not None and formula.operation != "number"),
            tuple(place for place in absent if place is not None),
            make_shown(tree.args.get("having"), places),
            tuple(item.alias_or_name for item in tree.expressions),
        )


def _with_keys(one: LoggedAggregate, terms: Iterable[exp.Expr], secret: frozenset[str]) -> LoggedAggregate:
    """An aggregate is about the secrets that it is grouped by, too."""
    return replace(
        one, about=tuple(sorted({*one.about, *(name for term in terms for name in columns_of(term) & secret)}))
    )


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
        raise UnauditableStatement(refusal.detail) from None


def _aliased(tree: exp.Select, name: exp.Column) -> exp.Expr:
    """The item of the select list that a name calls."""
    for item in tree.expressions:
        if isinstance(item, exp.Alias) and folded(item.alias) == folded(name.name):
            found: exp.Expr = item.this.unnest()
            return found
    raise UnauditableStatement("It groups by a name that does not exist.")


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


def _added(plain: Value, where: exp.Expr, item: int | None, secret: frozenset[str]) -> LoggedAggregate:
    both = where
    if plain.condition is not None:
        whole = isinstance(where, exp.Boolean)  # there is no WHERE
        both = plain.condition if whole else exp.And(this=bracketed(where), expression=bracketed(plain.condition))
    value = plain.value
    if value is not None and value.find(exp.Column) is None and plain.name != "count":
        raise UnauditableStatement("It sums a constant in a way the audit cannot follow.")
    return LoggedAggregate(
        plain.name,
        _written(value) if value is not None else "",
        tuple(split(both, secret)),
        item,
        plain.scale,
        plain.shift,
        tuple(split(where, secret)) if plain.zeros else (),
        tuple(text_of(parameter) for parameter in plain.parameters),
        value is None or bool(columns_of(value) & secret),
        tuple(sorted(secret & (columns_of(both) | (columns_of(value) if value is not None else frozenset())))),
    )


def _written(value: exp.Expr) -> str:
    """A value in one way of writing: squares are products."""
    value = value.unnest()
    if isinstance(value, exp.Pow) and number_of(value.expression) == 2:
        value = exp.Mul(this=value.this.unnest().copy(), expression=value.this.unnest().copy())
    if isinstance(value, exp.Mul) and value.this.unnest() == value.expression.unnest():
        return square_of(text_of(value.this.unnest()))
    return text_of(value)


def square_of(value: str) -> str:
    """The text of a square of a value.

    >>> square_of('"sbp"')
    '"sbp" * "sbp"'
    """
    return f"{value} * {value}"


__all__ = [
    "LoggedAggregate",
    "DIALECTS",
    "LoggedStatement",
    "ConditionPart",
    "UnauditableStatement",
    "square_of",
    "table_columns",
    "tables_of",
    "take_apart",
]
