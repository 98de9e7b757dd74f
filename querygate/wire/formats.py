"""Values as bytes, in PostgreSQL's text and binary formats.

>>> from querygate.wire.types import NUMRANGE, TEXT
>>> write_text(Ends(123.48, 124.79), NUMRANGE), write_text(Ends(None, 5), NUMRANGE), write_text(True, BOOL)
(b'[123.48,124.79]', b'(,5]', b't')
>>> write_binary(40, INT4), write_binary("F", TEXT)
(b'\\x00\\x00\\x00(', b'F')
"""

from __future__ import annotations

import datetime as dt
import math
import struct
from collections.abc import Callable
from decimal import Decimal

from querygate.core.errors import UnsupportedSQL
from querygate.wire.types import (
    BOOL,
    DATE,
    ELEMENT,
    FLOAT4,
    FLOAT8,
    MOMENTS,
    NUMERIC,
    REAL,
    WHOLE,
    WITHIN,
    Ends,
    PgType,
    Value,
)  # fmt: skip

EPOCH = dt.date(2000, 1, 1)
MIDNIGHT = dt.datetime(2000, 1, 1)
_LOW_INCLUSIVE, _HIGH_INCLUSIVE, _LOW_OPEN, _HIGH_OPEN = 0x02, 0x04, 0x08, 0x10


def write(value: Value, type_: PgType, *, binary: bool) -> bytes | None:
    """A cell of a row."""
    if value is None:
        return None
    return write_binary(value, type_) if binary else write_text(value, type_)


def write_text(value: Value, type_: PgType) -> bytes:
    return as_text(value, type_).encode(errors="replace")


def as_text(value: Value, type_: PgType) -> str:
    """A value in the text format, and not as bytes yet."""
    if isinstance(value, Ends):
        within = WITHIN.get(type_, type_)
        low = "(" if value.low is None else f"[{_quoted(as_text(value.low, within))}"
        high = ")" if value.high is None else f"{_quoted(as_text(value.high, within))}]"
        return f"{low},{high}"
    if isinstance(value, list):
        return "{" + ",".join("NULL" if one is None else _element(as_text(one, ELEMENT[type_])) for one in value) + "}"
    if isinstance(value, bool):
        return ("t" if value else "f") if type_ == BOOL else str(value).lower()
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, (dt.date, dt.datetime)):
        return str(value)
    if type_ in MOMENTS:
        return str(value).replace("T", " ")
    return str(value).partition("\0")[0]


def _float_text(value: float) -> str:
    """As PostgreSQL writes it: the fewest digits that give the same number back, and no `.0`."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return repr(value).removesuffix(".0")


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text or "," in text else text


def _element(text: str) -> str:
    plain = text and text.upper() != "NULL" and not any(sign in text for sign in '{},"\\ \t\n\r')
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# -- binary -----------------------------------------------------------------------------------------------------------


def write_binary(value: Value, type_: PgType) -> bytes:
    if isinstance(value, Ends):
        return _range_binary(value, WITHIN[type_]) if type_ in WITHIN else write_text(value, type_)
    if isinstance(value, list):
        return _array_binary(value, ELEMENT[type_])
    if type_ in WHOLE:
        try:
            return struct.pack(WHOLE[type_], int(value))  # type: ignore[arg-type]
        except struct.error:
            raise too_wide() from None
    write = _BINARY.get(type_)
    return write_text(value, type_) if write is None else write(value)


def too_wide() -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG215",
        "A whole number of the answer is too large for PostgreSQL's bigint.",
        "Ask with SET querygate.interval = 'range', or for a mean instead of a sum.",
    )


def _range_binary(value: Ends, type_: PgType) -> bytes:
    flags = _LOW_OPEN if value.low is None else _LOW_INCLUSIVE
    flags |= _HIGH_OPEN if value.high is None else _HIGH_INCLUSIVE
    ends = [write_binary(end, type_) for end in (value.low, value.high) if end is not None]
    return bytes([flags]) + b"".join(struct.pack("!I", len(end)) + end for end in ends)


def _array_binary(values: list[Value], type_: PgType) -> bytes:
    cells = [write(value, type_, binary=True) for value in values]
    head = struct.pack("!III", 1 if cells else 0, None in cells, type_.oid)
    size = struct.pack("!II", len(cells), 1) if cells else b""
    return (
        head
        + size
        + b"".join(b"\xff\xff\xff\xff" if cell is None else struct.pack("!I", len(cell)) + cell for cell in cells)
    )


def _numeric_binary(value: Value) -> bytes:
    """Digits to the base 10,000: how many, the weight of the first, the sign, how many decimals are shown."""
    number = Decimal(repr(value) if isinstance(value, float) else str(value))
    if not number.is_finite():
        return struct.pack("!hhHh", 0, 0, 0xC000 if number.is_nan() else 0xD000 if number > 0 else 0xF000, 0)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)  # noqa: S101  # it is finite
    shown = max(0, -exponent)
    whole = int("".join(map(str, digits))) * 10 ** max(0, exponent)
    padding = -shown % 4
    groups: list[int] = []
    left = whole * 10**padding
    while left:
        left, group = divmod(left, 10_000)
        groups.append(group)
    weight = len(groups) - 1 - (shown + padding) // 4
    groups.reverse()
    while groups and not groups[-1]:
        groups.pop()
    head = struct.pack("!hhHh", len(groups), weight if groups else 0, 0x4000 if sign else 0, shown)
    return head + struct.pack(f"!{len(groups)}h", *groups)


def too_far() -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG215", "A date of the answer is outside the years 1 to 9999.", "Fetch it in the text format."
    )


def _date_binary(value: Value) -> bytes:
    try:
        day = value if isinstance(value, dt.date) else dt.date.fromisoformat(str(value))
    except ValueError:
        raise too_far() from None
    return struct.pack("!i", day.toordinal() - EPOCH.toordinal())


def _moment_binary(value: Value) -> bytes:
    try:
        moment = value if isinstance(value, dt.datetime) else dt.datetime.fromisoformat(str(value))
    except ValueError:
        raise too_far() from None
    return struct.pack("!q", (moment.replace(tzinfo=None) - MIDNIGHT) // dt.timedelta(microseconds=1))


_BINARY: dict[PgType, Callable[[Value], bytes]] = {
    BOOL: lambda value: b"\1" if value in (True, "true") else b"\0",
    FLOAT8: lambda value: struct.pack(REAL[FLOAT8], float(value)),  # type: ignore[arg-type]
    FLOAT4: lambda value: struct.pack(REAL[FLOAT4], float(value)),  # type: ignore[arg-type]
    NUMERIC: _numeric_binary,
    DATE: _date_binary,
    **dict.fromkeys(MOMENTS, _moment_binary),
}


# -- read -------------------------------------------------------------------------------------------------------------


def read_binary(data: bytes, type_: PgType) -> Value:
    """A parameter in binary. Raises ValueError where it is not one of that type."""
    form = WHOLE.get(type_) or REAL.get(type_)
    if form:
        if len(data) != struct.calcsize(form):
            raise ValueError("size")
        found = struct.unpack(form, data)[0]
        return int(found) if type_ in WHOLE else float(found)
    if type_ == BOOL and len(data) == 1:
        return data != b"\0"
    if type_ == DATE and len(data) == 4:
        return dt.date.fromordinal(struct.unpack("!i", data)[0] + EPOCH.toordinal())
    if type_ in MOMENTS and len(data) == 8:
        return MIDNIGHT + dt.timedelta(microseconds=struct.unpack("!q", data)[0])
    if type_ == NUMERIC:
        return _read_numeric(data)
    if type_ in ELEMENT:
        return _read_array(data, ELEMENT[type_])
    if type_.size != -1 and type_.name not in ("name", "char"):
        raise ValueError("size")
    return data.decode()


def _read_array(data: bytes, type_: PgType) -> list[Value]:
    dimensions, _, _ = struct.unpack("!III", data[:12])
    if dimensions == 0:
        return []
    count, at = struct.unpack("!I", data[12:16])[0], 20
    if dimensions != 1 or count > len(data):
        raise ValueError("array")
    found: list[Value] = []
    for _ in range(count):
        size = struct.unpack("!i", data[at : at + 4])[0]
        found.append(None if size < 0 else read_binary(data[at + 4 : at + 4 + size], type_))
        at += 4 + max(0, size)
    return found


def _read_numeric(data: bytes) -> Decimal:
    if len(data) < 8:
        raise ValueError("size")
    count, weight, sign, shown = struct.unpack("!hhHh", data[:8])
    if (
        sign not in (0, 0x4000)
        or count < 0
        or len(data) != 8 + 2 * count
        or not 0 <= shown <= 1000
        or abs(weight) > 1000
    ):
        raise ValueError("numeric")
    groups = struct.unpack(f"!{count}h", data[8:])
    if any(not 0 <= group < 10_000 for group in groups):
        raise ValueError("numeric")
    digits = tuple(map(int, "".join(f"{group:04d}" for group in groups) or "0"))
    return Decimal((1 if sign else 0, digits, 4 * (weight - count + 1)))  # exactly, however many digits there are
