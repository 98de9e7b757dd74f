"""Categories whose values the policy has put in order: comparisons follow it, as those of an ENUM do in DuckDB.

`education >= 'high school'` is written out as `education IN ('high school', 'college')`, so that whatever reads it, the
database too, means the same by it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Column, folded
from querygate.sql.literals import is_constant

OF_ORDER: dict[type[exp.Expr], Callable[[int, int], bool]] = {
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
}
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}


def values_in_order(of: type[exp.Expr], column: Column, value: str) -> list[str]:
    """The values that compare so with one of them."""
    if value not in column.order:
        raise UnsupportedSQL(
            "QG209",
            f"This is not one of the values of {column.name}, which are compared in the policy's order.",
            f"The order is: {', '.join(column.order)}.",
        )
    place = column.order.index(value)
    return [text for at, text in enumerate(column.order) if OF_ORDER[of](at, place)]


def write_out_order(tree: exp.Expr, columns: Mapping[str, Column], note: Callable[[str], None]) -> None:
    """Lists of values in place of comparisons of such columns with a value; a note says how they were read."""
    if not any(column.order for column in columns.values()):
        return
    for node in [node for node in tree.walk() if isinstance(node, (*OF_ORDER, exp.Between))]:
        if isinstance(node, exp.Between):
            found = _between(node, columns)
        else:
            found = _compared(type(node), node.this, node.expression, columns)
        if found is not None:
            name = next(found.find_all(exp.Column)).name
            note(f"Values of {name} were compared in the policy's order.")
            node.replace(exp.Paren(this=found))


def _between(node: exp.Between, columns: Mapping[str, Column]) -> exp.Expr | None:
    low = _compared(exp.GTE, node.this, node.args["low"], columns)
    high = _compared(exp.LTE, node.this, node.args["high"], columns)
    return None if low is None or high is None else exp.And(this=exp.Paren(this=low), expression=exp.Paren(this=high))


def _compared(of: type[exp.Expr], left: exp.Expr, right: exp.Expr, columns: Mapping[str, Column]) -> exp.Expr | None:
    """None where no such column is compared with a text."""
    left, right = left.unnest(), right.unnest()
    if is_constant(left):
        left, right, of = right, left, _MIRRORED[of]
    column = columns.get(folded(left.name)) if isinstance(left, exp.Column) else None
    if column is None or not column.order or not isinstance(right, exp.Literal) or not right.is_string:
        return None
    listed = [exp.Literal.string(text) for text in values_in_order(of, column, str(right.this))]
    if listed:
        return exp.In(this=left.copy(), expressions=listed)
    missing = exp.Is(this=left.copy(), expression=exp.Null())  # FALSE, but NULL where it is missing
    return exp.And(this=exp.Paren(this=missing), expression=exp.Null())
