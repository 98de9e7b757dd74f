"""Numbers narrower than a double: FLOAT of 24 bits, DECIMAL of so many digits.

The database calculates with them in their own precision, so what the gate calculates in doubles is moved outwards at
each step that may be one of theirs.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from querygate.core.expression import Call, Constant, Expression
from querygate.core.types import folded
from querygate.sql.aggregates import is_aggregate, read_aggregate

OF_VALUES = frozenset({"min", "max", "median", "mode", "mad", "iqr", "value_range", "quantile_cont", "quantile_disc"})
"""Aggregates that are of the type of their values; the others are whole numbers, or doubles."""

INTERPOLATED = frozenset({"median", "mad", "iqr", "quantile_cont"})
"""Aggregates that may lie between two values, where the database rounds what the type of the values cannot hold."""

ROUNDINGS = "roundings"
"""Marks a cast to FLOAT of what the database calculates in it, and the gate in one step, with these roundings more."""

_WIDTH, _SCALE = 18, 3
"""What DECIMAL without digits means."""

WIDEST = 38

_EXACT = 2**24
"""Whole numbers that single precision holds."""


def is_single(node: exp.Expr, singles: Collection[str] = ()) -> bool:
    """May the database calculate it in single precision? `singles` are columns that are."""
    return any(
        _is_cast(part, exp.DType.FLOAT) or (isinstance(part, exp.Column) and folded(part.name) in singles)
        for part in node.walk(prune=_is_double)
    )


def single(e: Expression, more: int = 0) -> Expression:
    """A number where the database may have rounded it to single precision, and so many times more on the way."""
    exact = isinstance(e, Constant) and isinstance(e.value, int) and abs(e.value) <= _EXACT
    return e if exact or e.type not in ("integer", "number") else Call("single", (e, Constant(more, "integer")))


def decimal(e: Expression, to: exp.DataType) -> Expression | None:
    """A number with so many digits after the point; None where the type is not one."""
    given = [str(part.this) for part in to.expressions]
    if not all(digits.isdigit() for digits in given) or len(given) > 2:
        return None
    width, scale = (int(given[0]), int([*given, "0"][1])) if given else (_WIDTH, _SCALE)
    if not 0 <= scale <= width <= WIDEST:
        return None
    return e if e.type == "integer" else Call("decimal", (e, Constant(scale, "integer")))


def is_decimal(node: exp.Expr, decimals: Collection[str] = ()) -> bool:
    """May the database calculate it in decimals? A quotient of them is a double. `decimals` are columns that are."""
    return any(
        (isinstance(part, exp.Literal) and not part.is_string and "." in str(part.this))
        or _is_cast(part, exp.DType.DECIMAL)
        or (isinstance(part, exp.Column) and folded(part.name) in decimals)
        for part in node.walk(prune=_is_no_decimal)
    )


def _is_no_decimal(part: exp.Expr) -> bool:
    """A sum of decimals is one, a quotient is not."""
    asked = read_aggregate(part) if is_aggregate(part) else None
    return isinstance(part, exp.Div) or (_is_double(part) and (asked is None or asked.name != "sum"))


def _is_double(part: exp.Expr) -> bool:
    """Is it a double, whatever is inside?"""
    if not is_aggregate(part):
        return _is_cast(part, exp.DType.DOUBLE)
    asked = read_aggregate(part)
    return asked is not None and asked.name not in OF_VALUES


def _is_cast(part: exp.Expr, kind: exp.DType) -> bool:
    return isinstance(part, exp.Cast) and part.to.this == kind
