"""Parameters of a statement become typed literals before it is planned: the gate reads one text, and logs it.

>>> from querygate.wire.types import TEXT
>>> literal(b"40", INT4, binary=False), literal(b"-5", INT8, binary=False), literal(b"it's", TEXT, binary=False)
('40', '(-5)', "'it''s'")
>>> literal(b"2020-02-29", DATE, binary=False), literal(None, TEXT, binary=False)
("DATE '2020-02-29'", 'NULL')
"""

from __future__ import annotations

import datetime as dt
import math
import re
import struct
from decimal import Decimal, InvalidOperation

from querygate.core.errors import UnsupportedSQL
from querygate.wire.formats import read_binary
from querygate.wire.messages import as_text
from querygate.wire.types import (
    BOOL,
    DATE,
    ELEMENT,
    MOMENTS,
    NUMERIC,
    REAL,
    TIMESTAMP,
    TIMESTAMPTZ,
    WHOLE,
    PgType,
    Value,
)  # fmt: skip

_TRUE, _FALSE = ("t", "true", "y", "yes", "on", "1"), ("f", "false", "n", "no", "off", "0")
LONGEST_NUMBER = 60
LARGEST_EXPONENT = 400
"""More than any floating-point number has; a number is written without its exponent, however large that is."""
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T][\d:.]*)?(?: ?[+-]\d\d(?::\d\d)?)?")
"""A day, and what drivers write after one: a time, an offset."""

SAMPLES: dict[PgType, str] = {
    BOOL: "TRUE",
    **dict.fromkeys(WHOLE, "1"),
    **dict.fromkeys((*REAL, NUMERIC), "1.5"),
    **dict.fromkeys(ELEMENT, "ARRAY[]"),
    DATE: "DATE '2000-01-01'",
    **dict.fromkeys(MOMENTS, "TIMESTAMP '2000-01-01 00:00:00'"),
}
"""What stands for a parameter whose value is not known yet, where only the columns of the answer matter."""

SAMPLE_TEXT = "''"


def literal(data: bytes | None, type_: PgType, *, binary: bool) -> str:
    """A value as SQL has it. QG209 where it is not one of its type."""
    if data is None:
        return "NULL"
    try:
        return write_literal(read_binary(data, type_) if binary else _read_text(as_text(data), type_))
    except (ValueError, OverflowError, InvalidOperation, struct.error):
        raise UnsupportedSQL(
            "QG209", f"A parameter is not a value of its type, {type_.name}.", "Send another value, or another type."
        ) from None


def _read_text(text: str, type_: PgType) -> Value:
    if type_ == BOOL:
        if text.lower() not in (*_TRUE, *_FALSE):
            raise ValueError("boolean")
        return text.lower() in _TRUE
    if type_ in WHOLE:
        return int(_short(text))
    if type_ in REAL or type_ == NUMERIC:
        return Decimal(_short(text))
    if type_ == DATE:
        return dt.date.fromisoformat(_DAY.sub(r"\1", text))
    if type_ == TIMESTAMP:  # of which PostgreSQL too leaves out the offset
        return dt.datetime.fromisoformat(text).replace(tzinfo=None)
    if type_ == TIMESTAMPTZ:
        return dt.datetime.fromisoformat(text)
    return text


def _short(text: str) -> str:
    if len(text) > LONGEST_NUMBER or "_" in text:
        raise ValueError("number")
    return text


def write_literal(value: Value) -> str:
    """A value as a literal. Negative numbers have brackets: `x-$1` must not become a comment."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float, Decimal)):
        if not math.isfinite(value):
            raise ValueError("not finite")
        if isinstance(value, Decimal) and max(abs(value.adjusted()), -_exponent(value)) > LARGEST_EXPONENT:
            raise ValueError("exponent")
        text = format(value, "f") if isinstance(value, Decimal) else repr(value)
        return f"({text})" if text.startswith("-") else text
    if isinstance(value, dt.datetime):
        utc = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
        return f"TIMESTAMP '{utc.isoformat(' ')}'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, list):
        return f"ARRAY[{', '.join(map(write_literal, value))}]"
    if value is None:
        return "NULL"
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("text")
    return "'" + value.replace("'", "''") + "'"


def _exponent(value: Decimal) -> int:
    return int(value.as_tuple().exponent)
