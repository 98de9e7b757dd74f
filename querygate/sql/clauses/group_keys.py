"""GROUP BY: what records are grouped by, from public domains, and the sets of keys that are asked for."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from sqlglot import exp

from querygate.core.canonical_text import told
from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Choice, Constant, Expression, Lookup, Ref, told_key
from querygate.core.plan import GroupKey
from querygate.core.predicate import TRUE
from querygate.core.types import Column, Scalar, SqlValue
from querygate.sql.aggregates import is_aggregate
from querygate.sql.context import Context
from querygate.sql.expressions import expression
from querygate.sql.parse import span_of
from querygate.sql.subqueries.scalar_queries import is_call
from querygate.sql.tabulation import axis, is_tabulable

MOST_SETS = 64

OF_DISTINCT = "distinct"
"""Marks a GROUP BY ALL that SELECT DISTINCT stands for."""

WITHOUT_COLUMN = "without column"
"""Marks items of a select list that were written without a column."""


def group_of_distinct() -> exp.Group:
    """SELECT DISTINCT of columns shows each combination once: it is grouping by them."""
    group = exp.Group(all=True)
    group.meta[OF_DISTINCT] = True
    return group


def is_constant(term: exp.Expr) -> bool:
    """Is it the same for every record, and for every group?"""
    return not any(
        isinstance(part, (exp.Column, exp.Window)) or is_aggregate(part) or is_call(part) for part in term.walk()
    )


def grouping_sets(clause: exp.Group, items: list[exp.Expr]) -> tuple[list[exp.Expr], list[tuple[int, ...]]]:
    """The terms of a GROUP BY, each once, and the sets of them that are grouped by. Positions are looked up."""
    terms: list[exp.Expr] = []
    sets: list[tuple[int, ...]] = [()]

    def place(node: exp.Expr) -> int:
        node = meant(node, items)
        if node not in terms:
            terms.append(node)
        return terms.index(node)

    for part in all_items(clause, items) if clause.args.get("all") else _parts(clause):
        if isinstance(part, exp.Tuple) and part.expressions:
            raise _refused(
                part, "Columns in parentheses count as a single value.", "List the columns without parentheses."
            )
        if len(sets) * _number_of_sets(part) > MOST_SETS:  # before they are made: a CUBE doubles with each term
            raise UnsupportedSQL(
                "QG212", f"There are more than {MOST_SETS} grouping sets.", "Use fewer.", span=span_of(clause)
            )
        sets = [(*before, *added) for before in sets for added in _sets_of(part, place)]
    fixed = next(filter(is_constant, terms), None)
    if fixed is not None and len(sets) > 1:  # in the sets without it, it would be NULL wherever it is written
        raise _refused(fixed, "A constant cannot be a grouping set.", "Remove it from GROUP BY.")
    return terms, [tuple(dict.fromkeys(chosen)) for chosen in sets]


def _parts(clause: exp.Group) -> list[exp.Expr]:
    listed = [clause.args.get(name) or [] for name in ("expressions", "rollup", "cube", "grouping_sets")]
    return [part for parts in listed for part in parts]


def all_items(clause: exp.Group, items: list[exp.Expr]) -> list[exp.Expr]:
    """GROUP BY ALL: every item of the select list that is no aggregate and was written with a column.

    What was written without one is not grouped by: with nothing else there is one group, be there records or not. That
    of DISTINCT is there only if a record is.
    """
    listed = [item for item in items if clause.meta.get(OF_DISTINCT) or not item.meta.get(WITHOUT_COLUMN)]
    plain = [item.this if isinstance(item, exp.Alias) else item for item in listed]
    return [item for item in plain if not any(is_aggregate(node) for node in item.walk())]


def mark_without_columns(items: list[exp.Expr]) -> None:
    """Before names are replaced by what they stand for: a column of a subquery may stand for a constant."""
    for item in items:
        if not item.find(exp.Column):
            item.meta[WITHOUT_COLUMN] = True


def _number_of_sets(part: exp.Expr) -> int:
    if isinstance(part, exp.Rollup):
        return len(part.expressions) + 1
    if isinstance(part, exp.Cube):
        return 1 << min(len(part.expressions), MOST_SETS)
    if isinstance(part, exp.GroupingSets):
        return sum(_number_of_sets(term) for term in part.expressions)
    return 1


def _sets_of(part: exp.Expr, place: Callable[[exp.Expr], int]) -> list[tuple[int, ...]]:
    if isinstance(part, exp.Rollup):
        places = [_group(term, place) for term in part.expressions]
        return [tuple(itertools.chain(*places[:n])) for n in range(len(places), -1, -1)]
    if isinstance(part, exp.Cube):
        places = [_group(term, place) for term in part.expressions]
        chosen = itertools.product((True, False), repeat=len(places))
        return [tuple(itertools.chain(*(p for p, keep in zip(places, c, strict=True) if keep))) for c in chosen]
    if isinstance(part, exp.GroupingSets):
        return [found for term in part.expressions for found in _sets_of(term, place)]
    return [_group(part, place)]


def _group(term: exp.Expr, place: Callable[[exp.Expr], int]) -> tuple[int, ...]:
    """One term, or a bracket of several."""
    if isinstance(term, exp.Tuple):
        return tuple(place(part) for part in term.expressions)
    if isinstance(term, (exp.Rollup, exp.Cube, exp.GroupingSets)):
        raise UnsupportedSQL(
            "QG210", "Nested grouping sets are not supported.", "List them side by side.", span=span_of(term)
        )
    return (place(term),)


def meant(node: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """A term is an expression, a name of the select list, or a position in it."""
    named = bool(node.meta.get("item"))
    node = node.unnest()
    if isinstance(node, exp.Literal) and not node.is_string and not named:
        if not str(node.this).isdigit() or not 1 <= int(node.this) <= len(items):
            raise UnsupportedSQL(
                "QG214",
                f"A position must be between 1 and {len(items)}.",
                "Use the name of the column.",
                span=span_of(node),
            )
        node = items[int(node.this) - 1]
        return (node.this if isinstance(node, exp.Alias) else node).unnest()
    return node


def make_key(node: exp.Expr, context: Context) -> GroupKey:
    """The key of a term, with every value it can have."""
    if any(is_aggregate(part) for part in node.walk()):
        raise _refused(node, "You cannot group by an aggregate.", "Group by columns, or by expressions of columns.")
    column = context.column(node) if isinstance(node, exp.Column) else None
    if column is not None:
        return _column_key(column, node, context)
    found = expression(node, context)
    if isinstance(found, Ref):
        return _column_key(context.known(found), node, context)
    if isinstance(found, Constant):
        found = Choice(((TRUE, found),), found, found.type)  # one group, which is there if anybody is
    if isinstance(found, Lookup):
        return GroupKey(_id(found, context), found.type, found, _ordered(found.results))
    if not isinstance(found, Choice) or not all(isinstance(value, Constant) for _, value in found.ways):
        raise _continuous(node)
    return GroupKey(_id(found, context), found.type, found, _ordered([_value(value) for _, value in found.ways]))


def possible_groups(keys: Sequence[GroupKey]) -> int:
    """How many groups an answer may have. Keys that cut one column into runs of values cut it together."""
    together: dict[str, list[Lookup]] = {}
    possible = 1
    product: dict[str, int] = {}
    for key in keys:
        by = key.by
        if isinstance(by, Lookup) and (by.of_category or len(set(by.results)) == len(by.results)):
            together.setdefault(by.column, []).append(by)
            product[by.column] = product.get(by.column, 1) * len(key.values)
        else:
            possible *= len(key.values)
    for column, tables in together.items():
        parts = tables[0].values if tables[0].of_category else {start for by in tables for start in by.starts.tolist()}
        possible *= min(product[column], len(parts) + 1) if len(tables) > 1 else product[column]
    return possible


def _column_key(column: Column, node: exp.Expr, context: Context) -> GroupKey:
    if not is_tabulable(column):
        raise _continuous(node, column)
    values = axis(column)
    if column.is_numeric:
        starts = np.arange(int(column.low or 0), int(column.high or 0) + 1, dtype=np.int64)
        table = Lookup.over_pieces(column.name, column.type, starts, values)
    else:
        table = Lookup.over_values(column.name, column.type, column.values, values)
    listed = (*column.order, None) if column.order else _ordered(values)
    return GroupKey(_id(table, context), column.type, table, listed, column.order)


def _id(by: Lookup | Choice, context: Context) -> str:
    """The name of a key as a column of the groups: equal for equal keys."""
    return "key " + hashlib.sha256(told(by, context.named).encode()).hexdigest()[:24]


def _value(e: Expression) -> SqlValue:
    return e.value if isinstance(e, Constant) else None


def _ordered(results: Iterable[SqlValue]) -> tuple[Scalar, ...]:
    """The distinct values in order, NULL last. Places of NULL are kept even where there is none: nobody is there."""
    distinct = {told_key(result) for result in results}
    return (*sorted(value for value in distinct if value is not None), None)


def _continuous(node: exp.Expr, column: Column | None = None) -> UnsupportedSQL:
    name = node.name if isinstance(node, exp.Column) else column.name if column is not None else "column"
    what = f"Column {name} ({column.type}) has" if column is not None else "This has"
    return _refused(
        node,
        f"{what} too many values to group by.",
        f"Group by FLOOR({name} / 10) * 10, a CASE, or a category.",
    )


def _refused(node: exp.Expr, detail: str, remedy: str) -> UnsupportedSQL:
    return UnsupportedSQL("QG210", detail, remedy, span=span_of(node))
