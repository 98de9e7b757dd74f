"""The public bounds of an expression, from the domains of the policy alone."""

from __future__ import annotations

import numpy as np

from querygate.bounds.expression_values import expression_bounds
from querygate.bounds.membership import Membership
from querygate.core.block import MISSING, SOME_NULLS, Block, BlockColumn, Dictionary, NumberColumn, SetColumn
from querygate.core.expression import Expression
from querygate.core.predicate import Predicate, columns
from querygate.core.types import Catalog, Column


def public_domain(value: Expression, where: Predicate, catalog: Catalog) -> tuple[float, float] | None:
    """The smallest and largest `value` of any record for which `where` is TRUE; None if there is no bound.

    It is the hull over one imaginary cell that contains every value of every column.
    """
    wanted = {*value.columns, *columns(where)}
    held = {column.name: _everything(column) for column in catalog.columns if column.name in wanted}
    if any(found is None for found in held.values()):
        return None
    block = Block(np.ones(1, dtype=np.int64), {name: found for name, found in held.items() if found is not None})
    box = expression_bounds(value, Membership(block), where)
    low, high = float(box.low[0]), float(box.high[0])
    if low > high:
        return 0.0, 0.0  # no record can be selected
    return (low, high) if np.isfinite([low, high]).all() else None


def _everything(column: Column) -> BlockColumn | None:
    if column.is_codes:
        return None
    if not column.is_numeric:
        members = [(0, MISSING), *((0, i) for i in range(len(column.values)))]
        return SetColumn(np.zeros(1, dtype=np.int64), Dictionary.of(column.values, members))
    if column.low is None or column.high is None:
        return None
    missing = np.array([SOME_NULLS])
    if column.is_discrete:
        return NumberColumn(np.array([int(column.low)]), np.array([int(column.high)]), missing)
    return NumberColumn(np.array([float(column.low)]), np.array([float(column.high)]), missing)
