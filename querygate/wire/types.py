"""Types of PostgreSQL that answers and parameters have, and which of them a published column is."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class PgType:
    """A type by its number in pg_type, its name and the bytes of a value (-1: they differ)."""

    oid: int
    name: str
    size: int = -1


BOOL, INT2, INT4, INT8 = PgType(16, "bool", 1), PgType(21, "int2", 2), PgType(23, "int4", 4), PgType(20, "int8", 8)
FLOAT4, FLOAT8, NUMERIC = PgType(700, "float4", 4), PgType(701, "float8", 8), PgType(1700, "numeric")
TEXT, VARCHAR, NAME, UNKNOWN = (
    PgType(25, "text"),
    PgType(1043, "varchar"),
    PgType(19, "name", 64),
    PgType(705, "unknown"),
)
BPCHAR, OID, CHAR = PgType(1042, "bpchar"), PgType(26, "oid", 4), PgType(18, "char", 1)
DATE, TIMESTAMP, TIMESTAMPTZ = PgType(1082, "date", 4), PgType(1114, "timestamp", 8), PgType(1184, "timestamptz", 8)
NUMRANGE, DATERANGE, TSRANGE = PgType(3906, "numrange"), PgType(3912, "daterange"), PgType(3908, "tsrange")
TEXTS, INT8S, OIDS = PgType(1009, "_text"), PgType(1016, "_int8"), PgType(1028, "_oid")
INT4S, INT2S, BOOLS = PgType(1007, "_int4"), PgType(1005, "_int2"), PgType(1000, "_bool")

ALL: tuple[PgType, ...] = (
    *(BOOL, INT2, INT4, INT8, FLOAT4, FLOAT8, NUMERIC, TEXT, VARCHAR, BPCHAR, NAME, UNKNOWN, OID, CHAR),
    *(DATE, TIMESTAMP, TIMESTAMPTZ, NUMRANGE, DATERANGE, TSRANGE, TEXTS, INT8S, INT4S, INT2S, OIDS, BOOLS),
)
BY_OID: dict[int, PgType] = {one.oid: one for one in ALL}

_WRITTEN = {
    "doubleprecision": FLOAT8, "charactervarying": VARCHAR,
    "timestampwithouttimezone": TIMESTAMP, "timestampwithtimezone": TIMESTAMPTZ,
    "int": INT4, "integer": INT4, "smallint": INT2, "bigint": INT8, "real": FLOAT4, "double": FLOAT8, "float": FLOAT8,
    "decimal": NUMERIC, "boolean": BOOL, "character": BPCHAR, "string": TEXT,
}  # fmt: skip
BY_NAME: dict[str, PgType] = {
    **{one.name: one for one in ALL},
    **{f"{one.name[1:]}[]": one for one in ALL if one.name.startswith("_")},
    **_WRITTEN,
}
"""Types by the names that casts have for them."""

WHOLE: dict[PgType, str] = {INT2: "!h", INT4: "!i", INT8: "!q", OID: "!I"}
REAL: dict[PgType, str] = {FLOAT4: "!f", FLOAT8: "!d"}
"""How numbers are packed in the binary format."""
MOMENTS = (TIMESTAMP, TIMESTAMPTZ)

ELEMENT: dict[PgType, PgType] = {TEXTS: TEXT, INT8S: INT8, INT4S: INT4, INT2S: INT2, OIDS: OID, BOOLS: BOOL}
WITHIN: dict[PgType, PgType] = {NUMRANGE: NUMERIC, DATERANGE: DATE, TSRANGE: TIMESTAMP}
"""What the ends of a range are."""

OF_COLUMN: dict[str, PgType] = {
    "integer": INT8,
    "number": FLOAT8,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "boolean": BOOL,
    "category": TEXT,
    "codes": TEXT,
}
"""The type of a value of a published column; of whatever else an expression makes, text."""

RANGE_OF: dict[str, PgType] = {"integer": NUMRANGE, "number": NUMRANGE, "date": DATERANGE, "timestamp": TSRANGE}
"""The type of a range of such values; of others, text."""


@dataclass(frozen=True, slots=True)
class Ends:
    """A range as a value: both ends belong to it, None is without end."""

    low: Value
    high: Value


Value: TypeAlias = "bool | int | float | Decimal | str | dt.date | dt.datetime | Ends | list[Value] | None"
"""What stands in a cell. Dates and times may also be texts, as answers have them."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a result."""

    name: str
    type: PgType


BYTES_OF_A_CELL = 16


def size_of(cell: Value) -> int:
    """About what a cell takes, in bytes."""
    if isinstance(cell, list):
        return BYTES_OF_A_CELL + sum(map(size_of, cell))
    return BYTES_OF_A_CELL + (len(cell) if isinstance(cell, str) else 0)
