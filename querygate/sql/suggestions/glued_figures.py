"""Figures glued into one text, such as mean (SD) or n (%), each in a column of its own: a range is no text."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from querygate.core.types import Catalog
from querygate.sql.suggestions.statement_parts import has_aggregate

_GLUE = (exp.DPipe, exp.Concat, exp.ConcatWs, exp.Format)
_NAMES = ("printf", "format")


def figures_apart(tree: exp.Select, catalog: Catalog) -> exp.Select | None:
    """Without texts between them, and without a name that was meant for all of them."""
    items = [(item, _is_glued(item.unalias())) for item in tree.expressions]
    if not any(glued for _, glued in items):
        return None
    tree.set("expressions", [part for item, glued in items for part in (_parts(item.unalias()) if glued else [item])])
    return tree


def _is_glued(item: exp.Expr) -> bool:
    return _is_glue(item) and has_aggregate(item)


def _is_glue(item: exp.Expr) -> bool:
    return isinstance(item, _GLUE) or (isinstance(item, exp.Anonymous) and item.name.lower() in _NAMES)


def _parts(item: exp.Expr) -> Iterator[exp.Expr]:
    """What is glued together, from left to right, without texts written in the statement."""
    inner = item.unnest()
    if isinstance(inner, exp.Cast) and inner.is_type(*exp.DataType.TEXT_TYPES):
        inner = inner.this.unnest()
    if _is_glue(inner):
        for part in inner.iter_expressions():
            yield from _parts(part)
    elif not (isinstance(inner, exp.Literal) and inner.is_string):
        yield inner.copy()
