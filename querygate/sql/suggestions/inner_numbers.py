"""Records that are compared with a number of another query: that number is asked for first.

Its range has two ends, and what holds for a number between them lies between what holds for each.
"""

from __future__ import annotations

from sqlglot import exp

from querygate.core.types import Catalog
from querygate.sql.aggregates import is_aggregate
from querygate.sql.allow_list import COMPARISONS


def inner_number_first(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """The query whose number is compared with, by itself."""
    for node in tree.find_all(exp.Subquery):
        query = node.this
        if not isinstance(query, exp.Select) or not isinstance(node.parent, (*COMPARISONS, exp.Between)):
            continue
        if _is_of_records(node) and any(is_aggregate(part) for item in query.expressions for part in item.walk()):
            return query.copy()
    return None


def _is_of_records(node: exp.Expr) -> bool:
    """Is it inside WHERE, or inside an aggregate?"""
    around = node.parent
    while around is not None and not isinstance(around, exp.Where) and not is_aggregate(around):
        around = around.parent
    return around is not None
