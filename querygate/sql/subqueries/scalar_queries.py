"""A query of one number inside another: `COUNT(*) / (SELECT COUNT(*) FROM t)`.

It stands in the tree as a call that no statement can write, until the groups it stands beside are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.sql.aggregates import is_aggregate
from querygate.sql.parse import span_of
from querygate.sql.restatement import own_wording

if TYPE_CHECKING:
    from querygate.sql.compose import Query

NUMBERS = "numbers"
"""Marks a statement without FROM: one row of numbers of other queries."""

_NAME = "one number"
_QUERY = "query"
_CLAUSES = ("group", "having", "qualify", "limit", "offset", "distinct")


class _Kept:
    """A query that copies of a node share."""

    def __init__(self, query: Query) -> None:
        self.query = query

    def __deepcopy__(self, memo: object) -> _Kept:
        return self


def as_call(query: Query, item: exp.Expr, place: exp.Expr) -> exp.Expr:
    """The call that stands for an item of a query of one row."""
    tree = query.tree
    if query.inner is not None or any(tree.args.get(clause) for clause in _CLAUSES) or not _is_of_all(item):
        raise refused(place)
    query.tree = exp.Select(expressions=[item.copy()], where=tree.args.get("where"))
    call = exp.Anonymous(this=_NAME, expressions=[exp.Literal.string(own_wording(query.tree))])
    call.meta[_QUERY] = _Kept(query)
    call.meta.update(place.meta)
    return call


def _is_of_all(item: exp.Expr) -> bool:
    """Is it made of aggregates of all records?"""
    parts = list(item.walk(prune=is_aggregate))
    return any(map(is_aggregate, parts)) and not any(isinstance(p, (exp.Column, exp.Window)) for p in parts)


def is_call(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.this == _NAME


def query_of(call: exp.Expr) -> Query:
    kept: _Kept = call.meta[_QUERY]
    return kept.query


def refused(node: exp.Expr) -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG206",
        "A subquery can be used as a value only where it is one aggregate of the dataset, next to other aggregates.",
        "Run it first as a separate query, and write its result as a number.",
        span=span_of(node),
    )


def refused_threshold(node: exp.Expr) -> UnsupportedSQL:
    """Of a number of another query that single records are compared with."""
    return UnsupportedSQL(
        "QG206",
        "Records cannot be compared with the result of another query, which is itself known as a range.",
        "Run the inner query first. Then run this one twice, with each end of that range in its place: the true count "
        "lies between the two answers.",
        span=span_of(node),
    )
