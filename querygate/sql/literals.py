"""Constants in conditions, with exactly the value DuckDB would compare a column with.

A comparison must mean here what it means there. Where DuckDB would compare after a cast that can round (a whole
number column with a floating literal, a long decimal with a double column) the statement is refused rather than
guessed.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from querygate.core.dates import day_of, read_moment
from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Column
from querygate.sql.parse import span_of

EXACT_DOUBLE = 2**53
_MOMENTS = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ)
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
    if column.type == "timestamp":
        return _moment(node, column)
    if column.type == "boolean":
        if isinstance(node, exp.Boolean):
            return "true" if node.this else "false"
        raise _mismatch(node, column, "TRUE or FALSE")
    if column.type == "category":
        if isinstance(node, exp.Literal) and node.is_string:
            return str(node.this)
        raise _mismatch(node, column, "text in single quotes")
    return _number(node, column)


def constants(nodes: Sequence[exp.Expr], column: Column) -> list[int | float | str | Decimal | None]:
    """The constants of one BETWEEN or IN, which DuckDB compares in one type: a floating one makes doubles of all."""
    values = [constant(node, column) for node in nodes]
    if column.type == "integer" and any(_is_floating(node) for node in nodes):
        for node, value in zip(nodes, values, strict=True):
            if isinstance(value, (int, Decimal)) and not _fits_double(Decimal(value), column):
                raise _mismatch(node, column, "whole numbers, not in scientific notation")
    return values


def _number(node: exp.Expr, column: Column) -> int | float | Decimal:
    """The literal's exact value. Decimals are never calculated with: Python's context would round to 28 digits."""
    literal, negative = _unsigned(node)
    if not isinstance(literal, exp.Literal) or literal.is_string:
        raise _mismatch(literal, column, "a number without quotes")
    text = str(literal.this).replace("_", "")
    try:
        exact = Decimal(text).copy_negate() if negative else Decimal(text)
    except ArithmeticError:
        raise _mismatch(literal, column, "a decimal number") from None
    floating = "e" in text.lower()
    whole, _, fraction = text.partition(".")
    digits = len((whole + fraction.rstrip("0")).lstrip("0"))
    if column.type == "number":
        value = float(exact)
        if not math.isfinite(value):
            raise _mismatch(literal, column, "a number of ordinary size")
        if digits > 15 and not floating and Decimal(value) != exact:
            raise _mismatch(literal, column, "a number of at most 15 digits")
        return value
    if floating and not _fits_double(exact, column):
        raise _mismatch(literal, column, "a whole number, not in scientific notation")
    if not floating and (len(whole.lstrip("0")) > 20 or len(fraction) > 18):  # together they fill DECIMAL(38, 18)
        raise _mismatch(literal, column, "a number of ordinary size")
    return int(exact) if exact == exact.to_integral_value() else exact


def _unsigned(node: exp.Expr) -> tuple[exp.Expr, bool]:
    """What stands behind brackets and minus signs, and whether the signs negate it."""
    negative = False
    while isinstance(node, (exp.Neg, exp.Paren)):
        negative ^= isinstance(node, exp.Neg)
        node = node.this
    return node, negative


def _is_floating(node: exp.Expr) -> bool:
    literal, _ = _unsigned(node)
    return isinstance(literal, exp.Literal) and not literal.is_string and "e" in str(literal.this).lower()


def _fits_double(value: Decimal, column: Column) -> bool:
    """Whether comparing as doubles is the same as comparing exactly: value and column stay below 2^53."""
    known = column.low is not None and column.high is not None
    return (
        value.copy_abs() <= EXACT_DOUBLE
        and Decimal(float(value)) == value
        and known
        and max(abs(column.low or 0), abs(column.high or 0)) <= EXACT_DOUBLE
    )


def _date(node: exp.Expr, column: Column) -> int:
    if isinstance(node, exp.Cast) and node.to.this == exp.DType.DATE:
        node = node.this
    if isinstance(node, exp.Literal) and node.is_string and _ISO_DATE.fullmatch(str(node.this)):
        try:
            return day_of(dt.date.fromisoformat(str(node.this)))
        except ValueError:
            pass
    raise _mismatch(node, column, "a date such as '2015-12-31'")


def _moment(node: exp.Expr, column: Column) -> int:
    """A text, a timestamp or a day, which begins at midnight."""
    days_only = isinstance(node, exp.Cast) and node.to.this == exp.DType.DATE
    if isinstance(node, exp.Cast) and (days_only or node.to.this in _MOMENTS) and not node.to.expressions:
        node = node.this
    if isinstance(node, exp.Literal) and node.is_string:
        text = str(node.this)
        found = read_moment(text) if not days_only or _ISO_DATE.fullmatch(text) else None
        if found is not None:
            return found
    raise _mismatch(node, column, "a timestamp such as '2015-12-31 23:59:00'")


def _mismatch(node: exp.Expr, column: Column, wanted: str) -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG209",
        f"Column {column.name} ({column.type}) cannot be compared with this value.",
        f"Compare {column.name} with {wanted}.",
        span=span_of(node),
    )
