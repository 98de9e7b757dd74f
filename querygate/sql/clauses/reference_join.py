"""JOIN to a public reference table: a function of the category it is joined on.

Keys of a reference are unique and never NULL, so a join matches each record at most once and a NULL never. An inner
join keeps the records whose value is a key; LEFT JOIN keeps all, and what has no match is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import SEPARATOR, Catalog, Column, Reference, folded
from querygate.sql.clauses.tables_in_scope import Names, Tables
from querygate.sql.parse import span_of

Origin = Callable[[exp.Expr], "Column | None"]
"""The column of the dataset that an expression is, under whatever name."""

_SQL_TYPES = {"category": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE"}
_TEXT = "text"


def join_reference(
    join: exp.Join, catalog: Catalog, ctes: Mapping[str, exp.Expr], tables: Tables, origin: Origin
) -> exp.Expr | None:
    """Add the names of the reference table; return what an inner join asks of the records."""
    reference, alias = _joined(join, catalog, ctes, tables)
    on = _joined_on(join, reference, alias, tables)
    column = origin(on)
    if not on.meta.get(_TEXT) and (column is None or column.type != "category"):
        raise UnsupportedSQL(
            "QG209",
            "A reference table must be joined on a category.",
            f"Join {reference.name} on a category column of {catalog.dataset}.",
            span=span_of(join),
        )
    rows = _possible(reference, column.values if column is not None else None)
    left = join.args.get("side") == "LEFT"
    key = folded(reference.key)
    names: Names = {key: _lookup(on, [(k, k) for k in rows], "category") if left else on}
    for name, values in reference.columns:
        found = [(k, values[place]) for k, place in rows.items()]
        names[folded(name)] = _lookup(on, found, reference.type_of(name))
    if join.args.get("using"):
        tables.merge(key, on, alias)
    tables.add(alias, names)
    if left:
        return None
    return _call("list_contains", _list(rows), on.copy()) if rows else exp.false()


def _joined(join: exp.Join, catalog: Catalog, ctes: Mapping[str, exp.Expr], tables: Tables) -> tuple[Reference, str]:
    """The reference table and the name it goes by. A named query of the statement hides a table of its name."""
    table = join.this
    is_name = isinstance(table, exp.Table) and not table.args.get("db") and folded(table.name) not in ctes
    reference = catalog.reference(table.name) if is_name else None
    side, kind = str(join.args.get("side") or ""), str(join.args.get("kind") or "")
    if reference is None or (side, kind) not in (("", ""), ("", "INNER"), ("LEFT", ""), ("LEFT", "OUTER")):
        known = ", ".join(r.name for r in catalog.references)
        raise UnsupportedSQL(
            "QG205",
            "JOIN accepts only reference tables that the custodian has registered, as JOIN or LEFT JOIN.",
            f"Tables that can be joined: {known}."
            if known
            else "This dataset has no reference tables: query it on its own.",
            span=span_of(table),
        )
    alias = folded(table.alias or table.name)
    if alias in tables:
        raise UnsupportedSQL(
            "QG205", "Two tables have the same name.", "Rename one of them with AS.", span=span_of(table)
        )
    return reference, alias


def _joined_on(join: exp.Join, reference: Reference, alias: str, tables: Tables) -> exp.Expr:
    """What the key is compared with: `ON dataset.column = reference.key`, either way round, or `USING (key)`."""
    key, on = folded(reference.key), join.args.get("on")
    using = join.args.get("using") or []
    if len(using) == 1 and on is None and folded(using[0].name) == key:
        found = tables.find(exp.column(using[0].copy()))
        if found is not None:
            return found.unnest()
    on = on.unnest() if on is not None else None
    if isinstance(on, exp.EQ) and not using:
        theirs: Names = {folded(name): exp.null() for name, _ in reference.columns}
        theirs[key] = exp.Star()
        both = Tables({**tables.names, alias: theirs}, tables.merged)
        asked = [side.unnest() for side in (on.this, on.expression)]
        sides = [both.find(side) if isinstance(side, exp.Column) else None for side in asked]
        for mine, other in (sides, sides[::-1]):
            if other is theirs[key] and mine is not None and not any(mine is value for value in theirs.values()):
                return mine.unnest()
    raise UnsupportedSQL(
        "QG205",
        f"A reference table must be joined on its key, {reference.key}.",
        f"Write ON {next(iter(tables.names)) or 'dataset'}.column = {alias}.{reference.key}.",
        span=span_of(join),
    )


def _possible(reference: Reference, values: Collection[str] | None) -> dict[str, int]:
    """The place of each key that the column may have as a value; others match nobody."""
    held = None if values is None else frozenset(values)
    return {key: place for place, key in enumerate(reference.keys) if held is None or key in held}


def _lookup(on: exp.Expr, found: list[tuple[str, str | int | float | None]], kind: str) -> exp.Expr:
    """The value that stands at the place of the key, in the type of the reference's column; NULL where there is none.

    Two lists, each in one literal: a CASE would be a branch for each key, and thousands of nodes wherever the column
    is named.
    """
    known = [(key, value) for key, value in found if value is not None]
    body: exp.Expr = exp.null()
    if known:
        place = _call("list_position", _list(key for key, _ in known), on.copy())
        body = _call("list_extract", _list(str(value) for _, value in known), place)
    body = exp.cast(body, _SQL_TYPES[kind]) if kind != "category" or not known else body
    body.meta[_TEXT] = kind == "category"
    return body


def _list(texts: Iterable[str]) -> exp.Expr:
    return _call("string_split", exp.Literal.string(SEPARATOR.join(texts)), exp.Literal.string(SEPARATOR))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))
