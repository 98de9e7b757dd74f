"""A refusal's way forward: SQL that the gate accepts, close to what was meant.

Edits of the tree are tried, the closest first, and only what passes every step is shown. A suggestion is offered, never
answered in place of the statement: what it leaves out, the reader sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sqlglot import exp

from querygate.core.errors import Refusal
from querygate.core.types import Catalog
from querygate.sql.name_text import column_node, table_node
from querygate.sql.restatement import plain_wording
from querygate.sql.suggestions.statement_edits import (
    MILD,
    REWORDED,
    Edit,
    aggregate_rows,
    fewer_conditions,
    right_names,
    without_joins,
)

MOST_TRIED = 16
MISFITS = (Refusal, RecursionError, ValueError, AttributeError, KeyError, TypeError)
"""What an edit may end in that does not fit a tree; trees are as odd as what people write."""


class Suggestion(NamedTuple):
    """A statement that is accepted, and whether it asks what was asked, only in other words."""

    sql: str
    same: bool


def suggest(tree: exp.Expr | None, catalog: Catalog, accepts: Callable[[str], bool]) -> Suggestion | None:
    """The first candidate that is accepted."""
    tried: set[str] = set()
    for candidate in _texts(tree, catalog):
        if candidate.sql in tried:
            continue
        if len(tried) >= MOST_TRIED:
            break
        tried.add(candidate.sql)
        if accepts(candidate.sql):
            return candidate
    return next((Suggestion(sql, False) for sql in _simple(catalog) if accepts(sql)), None)


def _texts(tree: exp.Expr | None, catalog: Catalog) -> Iterator[Suggestion]:
    if tree is not None:
        for edit in (None, *REWORDED):
            found = tree.copy() if edit is None else _edited(edit, tree, catalog)
            if found is not None:
                yield from _written(found, same=True)
    for candidate in _candidates(tree, catalog):
        yield from _written(candidate, same=False)


def _written(candidate: exp.Expr, *, same: bool) -> Iterator[Suggestion]:
    try:
        yield Suggestion(plain_wording(candidate), same)
    except MISFITS:
        return


def _candidates(tree: exp.Expr | None, catalog: Catalog) -> Iterator[exp.Expr]:
    """Each edit by itself, several together, then with fewer conditions."""
    if tree is None:
        return
    if isinstance(tree, exp.Union):
        yield _union_all(tree.copy())
    if not isinstance(tree, exp.Select):
        return
    for edit in MILD:
        found = _edited(edit, tree, catalog)
        if found is not None:
            yield found
    together: exp.Select = tree.copy()
    for edit in MILD:
        together = _edited(edit, together, catalog) or together
        yield together
    named = _edited(right_names, tree, catalog) or tree
    for rows in (named, _edited(without_joins, named, catalog), together):
        if rows is not None:
            yield from filter(None, [_edited(aggregate_rows, rows, catalog)])
    for base in (tree, together):
        for fewer in fewer_conditions(base, catalog):
            yield fewer
            yield from filter(None, [_edited(aggregate_rows, fewer, catalog)])


def _edited(edit: Edit, tree: exp.Expr, catalog: Catalog) -> exp.Select | None:
    if not isinstance(tree, exp.Select):
        return None
    try:
        return edit(tree.copy(), catalog)
    except MISFITS:
        return None


def _union_all(tree: exp.Expr) -> exp.Expr:
    for union in tree.find_all(exp.Union):
        union.set("distinct", False)
    return tree


def _simple(catalog: Catalog) -> Iterator[str]:
    """What can be asked of any dataset."""
    categories = [column.name for column in catalog.columns if not column.is_numeric]
    counted = exp.select(exp.Count(this=exp.Star())).from_(table_node(catalog.dataset))
    if categories:
        name = column_node(categories[0])
        yield counted.select(name, exp.Count(this=exp.Star()), append=False).group_by(name).sql("duckdb")
    yield counted.sql("duckdb")
