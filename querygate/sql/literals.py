"""Constants in conditions, with exactly the value DuckDB would compare a column with.

A comparison must mean here what it means there. Where DuckDB would compare after a cast that can round (a whole
number column with a floating literal, a long decimal with a double column) the statement is refused rather than
guessed.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Column
from querygate.sql.parse import span_of

EPOCH = dt.date(1970, 1, 1).toordinal()
EXACT_DOUBLE = 2**53
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def is_constant(node: exp.Expr) -> bool:
    """A literal, a signed number, a date or NULL."""
    if isinstance(node, (exp.Literal, exp.Boolean, exp.Null)):
        return True
    if isinstance(node, (exp.Neg, exp.Paren, exp.Cast)):
        return is_constant(node.this)
    return False


def constant(node: exp.Expr, column: Column) -> int | float | str | Decimal | None:
    """The constant as a value comparable with the column's; None for NULL.

    A whole-number column may be compared with a decimal (`age > 40.5`), which is returned as a Decimal.
    """
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(node, exp.Null):
        return None
    if column.type == "date":
        return _date(node, column)
    if column.type == "boolean":
        if isinstance(node, exp.Boolean):
            return "true" if node.this else "false"
        raise _mismatch(node, column, "TRUE or FALSE")
    if column.type == "category":
        if isinstance(node, exp.Literal) and node.is_string:
            return str(node.this)
        raise _mismatch(node, column, "a text in single quotes")
    return _number(node, column)


def _number(node: exp.Expr, column: Column) -> int | float | Decimal:
    sign = 1
    while isinstance(node, (exp.Neg, exp.Paren)):
        sign = -sign if isinstance(node, exp.Neg) else sign
        node = node.this
    if not isinstance(node, exp.Literal) or node.is_string:
        raise _mismatch(node, column, "a number without quotes")
    text = str(node.this)
    try:
        exact = sign * Decimal(text)
    except ArithmeticError:
        raise _mismatch(node, column, "a decimal number") from None
    floating = "e" in text.lower()
    digits = len(exact.normalize().as_tuple().digits)
    if column.type == "number":
        value = float(exact)
        if not math.isfinite(value):
            raise _mismatch(node, column, "a number of ordinary size")
        if digits > 15 and not floating and Decimal(value) != exact:
            raise _mismatch(node, column, "a number of at most 15 digits")
        return value
    if floating and not _fits_double(exact, column):
        raise _mismatch(node, column, "a whole number, not in scientific notation")
    if digits > 38 or abs(exact) >= Decimal(10) ** 38 or -int(exact.as_tuple().exponent) > 18:
        raise _mismatch(node, column, "a number of ordinary size")
    return int(exact) if exact == exact.to_integral_value() else exact


def _fits_double(value: Decimal, column: Column) -> bool:
    """Whether comparing as doubles is the same as comparing exactly: value and column stay below 2^53."""
    known = column.low is not None and column.high is not None
    return (
        abs(value) <= EXACT_DOUBLE
        and Decimal(float(value)) == value
        and known
        and max(abs(column.low or 0), abs(column.high or 0)) <= EXACT_DOUBLE
    )


def _date(node: exp.Expr, column: Column) -> int:
    if isinstance(node, exp.Cast) and node.to.this == exp.DType.DATE:
        node = node.this
    if isinstance(node, exp.Literal) and node.is_string and _ISO_DATE.fullmatch(str(node.this)):
        try:
            return dt.date.fromisoformat(str(node.this)).toordinal() - EPOCH
        except ValueError:
            pass
    raise _mismatch(node, column, "a date like '2015-12-31'")


def _mismatch(node: exp.Expr, column: Column, wanted: str) -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG209",
        f"Column {column.name} ({column.type}) cannot be compared with this value.",
        f"Compare {column.name} with {wanted}.",
        span=span_of(node),
    )
