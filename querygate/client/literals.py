"""Values in place of the question marks of a statement. A gate reads text alone, so they are written into it."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from numbers import Integral, Real

# A question mark inside these is none of ours: 'texts', "names", -- to the end of the line, /* comments */.
_PARTS = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|\?""", re.DOTALL)


def write_values(sql: str, values: Sequence[object]) -> str:
    """The statement with these values in place of its question marks, in their order.

    >>> write_values("SELECT COUNT(*) FROM t WHERE a > ? AND b = ? -- why?", (4, "it's"))
    "SELECT COUNT(*) FROM t WHERE a > 4 AND b = 'it''s' -- why?"
    """
    left: Iterator[object] = iter(values)
    places = 0

    def written(part: re.Match[str]) -> str:
        nonlocal places
        if part[0] != "?":
            return part[0]
        places += 1
        return write_value(next(left)) if places <= len(values) else "?"

    text = _PARTS.sub(written, sql)
    if places != len(values):
        raise ValueError(f"The statement has {places} question marks, and {len(values)} values were given.")
    return text


def write_value(value: object) -> str:
    """A value as SQL writes it.

    >>> [write_value(one) for one in (None, True, -3, 2.5, "a", dt.date(2020, 2, 29))]
    ['NULL', 'TRUE', '(-3)', '2.5', "'a'", "DATE '2020-02-29'"]
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, Real | Decimal):
        return _number(value)
    if isinstance(value, dt.datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str) and "\0" not in value:
        return "'" + value.replace("'", "''") + "'"
    raise ValueError(f"A {type(value).__name__} like this cannot be written as SQL.")


def _number(value: Real | Decimal) -> str:
    """Also one of numpy. In brackets below zero: behind a minus it would begin a comment."""
    if isinstance(value, Integral):
        text = str(int(value))
    elif not math.isfinite(value):
        raise ValueError("Infinity and NaN cannot be written as SQL.")
    else:
        text = str(value) if isinstance(value, Decimal) else repr(float(value))
    return f"({text})" if text.startswith("-") else text
