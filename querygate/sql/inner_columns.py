"""The outputs of an inner query as the columns of the query around it."""

from __future__ import annotations

from typing import cast

from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Lookup
from querygate.core.plan import Plan
from querygate.core.types import Catalog, Column, Type, folded
from querygate.sql.aggregates import quantiles
from querygate.sql.compose import Query
from querygate.sql.narrow_numbers import is_decimal, is_single


def inner_columns(inner: Plan, catalog: Catalog) -> dict[str, Column]:
    """The outputs of an inner query as columns."""
    below = catalog.columns if inner.inner is None else inner_columns(inner.inner, catalog).values()
    rare = {column.name: column.rare for column in below if column.rare}
    found = {}
    for i, output in enumerate(inner.outputs[: inner.shown]):
        key = inner.keys[output.source] if output.kind == "key" else None
        values = key.values if key is not None else ()
        few = rare.get(key.by.column, "") if key is not None and isinstance(key.by, Lookup) else ""
        known = [value for value in values if value is not None]
        type_ = cast(Type, "category" if output.type == "timestamp" and output.kind == "key" else output.type)
        numbers = [value for value in known if not isinstance(value, str)] if type_ in ("integer", "number") else []
        low, high = (numbers[0], numbers[-1]) if numbers else (None, None)
        texts = tuple(str(value) for value in known) if type_ in ("category", "boolean", "date") else ()
        if type_ == "date":
            type_ = "category" if output.kind == "key" else "date"
        few = few if few in texts else ""
        order = key.order if key is not None else ()
        found[folded(output.name)] = Column(
            output.id, i, "public", type_, True, low, high, texts, rare=few, order=order
        )
    return found


def check_inner_numbers(query: Query | None, inner: Plan | None) -> None:
    """The groups of an inner query are asked about by their keys and numbers."""
    if query is None or inner is None:
        return
    found = [output.type for output in inner.outputs[: inner.shown] if output.kind == "range"]
    if (
        "boolean" in found
        or "category" in found
        or any(quantiles(i.unalias().unnest()) for i in query.tree.expressions)
    ):
        raise UnsupportedSQL(
            "QG209",
            "A subquery with GROUP BY cannot return conditions, texts or lists for each group.",
            "Return numbers: CASE WHEN ... THEN 1 ELSE 0 END.",
        )


def narrow_outputs(inner: Query | None) -> tuple[frozenset[str], frozenset[str]]:
    """Outputs of an inner query that may be of single precision, and those that may be decimals, by name."""
    if inner is None:
        return frozenset(), frozenset()
    singles, decimals = narrow_outputs(inner.inner)
    items = {folded(item.alias_or_name): item for item in inner.tree.expressions}
    return (
        frozenset(name for name, item in items.items() if is_single(item, singles)),
        frozenset(name for name, item in items.items() if is_decimal(item, decimals)),
    )
