"""An answer as a table of PostgreSQL, from the body that every door gives: the same figures, number for number.

range    each statistic is a range: `numrange`, `daterange`, `tsrange`, or a text where values are texts
columns  the flat columns of CSV and Arrow: `name_low`, `name_high`, `name_estimate`, `name_may_be_null`, and the
         state of the group
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from querygate.core.answer_bodies import AnswerBody, ColumnBody, GroupBody, RangeBody, Row
from querygate.core.answer_forms.flat_table import told_apart
from querygate.gate.answer_columns import ForeseenColumns
from querygate.gate.likely_values import NOTE as ESTIMATES
from querygate.wire.formats import too_wide
from querygate.wire.types import BOOL, FLOAT8, INT8, OF_COLUMN, RANGE_OF, TEXT, Ends, Field, PgType, Value

Layout: TypeAlias = Literal["range", "columns"]
LAYOUTS: tuple[Layout, ...] = ("range", "columns")

_LEAST, _MOST = -(2**63), 2**63 - 1


def fields_of(foreseen: ForeseenColumns, layout: Layout) -> tuple[Field, ...]:
    """The columns of the table."""
    fields = [field for column in foreseen.columns for field in _fields(column, layout)]
    if layout == "columns" and foreseen.mode == "interval":
        fields += [Field("group_certain", BOOL), Field("group_count_low", INT8), Field("group_count_high", INT8)]
        fields += [Field(f"{name}_rolled_up", BOOL) for name in _rolled_up(foreseen)]
    names = told_apart([field.name for field in fields])
    return tuple(Field(name, field.type) for name, field in zip(names, fields, strict=True))


def _fields(column: ColumnBody, layout: Layout) -> Iterator[Field]:
    name, kind = column["name"], column["kind"]
    value = OF_COLUMN.get(column["type"], TEXT)
    if kind == "key":
        yield Field(name, value)
    elif kind == "noisy":
        yield Field(name, FLOAT8)
        if layout == "columns":
            yield from (Field(f"{name}_low95", FLOAT8), Field(f"{name}_high95", FLOAT8))
    elif layout == "range":
        yield Field(name, RANGE_OF.get(column["type"], TEXT))
    else:
        yield from (Field(f"{name}_low", value), Field(f"{name}_high", value))
        yield Field(f"{name}_estimate", FLOAT8 if value == INT8 else value)
        yield Field(f"{name}_may_be_null", BOOL)


def _rolled_up(foreseen: ForeseenColumns) -> list[str]:
    return [column["name"] for column in foreseen.columns if column["kind"] == "key"] if foreseen.has_subtotals else []


def rows_of(body: AnswerBody, foreseen: ForeseenColumns, layout: Layout) -> list[list[Value]]:
    """The rows of the table, in the order of the answer."""
    return [list(_cells(row, foreseen, layout)) for row in body["rows"]]


def _cells(row: Row, foreseen: ForeseenColumns, layout: Layout) -> Iterator[Value]:
    for column in foreseen.columns:
        cell, value = row[column["name"]], OF_COLUMN.get(column["type"], TEXT)
        if column["kind"] == "key":
            yield _value(cell, value)
        elif column["kind"] == "noisy":
            yield float(cell["value"])
            if layout == "columns":
                yield from (None if end is None else float(end) for end in cell["interval95"] or (None, None))
        elif layout == "range":
            yield _range(cell, column["type"])
        else:
            yield from (_value(cell["low"], value), _value(cell["high"], value))
            yield _value(cell.get("estimate"), FLOAT8 if value == INT8 else value)
            yield bool(cell["may_be_null"])
    if layout == "columns" and foreseen.mode == "interval":
        group: GroupBody = row["_group"]
        yield from (group["certain"], group["count"]["low"], group["count"]["high"])
        yield from (name in group.get("rolled_up", ()) for name in _rolled_up(foreseen))


def _value(value: Any, type_: PgType) -> Value:
    """A value of the body as one of its column's type; infinity is a text there."""
    if value is None:
        return None
    if type_ == FLOAT8:
        return float(value)
    if type_ == INT8:
        if isinstance(value, str) or not _LEAST <= value <= _MOST:
            raise too_wide()
        return int(value)
    found: Value = value if type_ == BOOL else str(value)
    return found


def _range(cell: RangeBody, kind: str) -> Value:
    low, high = cell["low"], cell["high"]
    if low is None or high is None:
        return None
    if kind in ("integer", "number"):
        return Ends(*(None if math.isinf(float(end)) else end for end in (low, high)))
    return Ends(low, high)


# -- what must not be lost --------------------------------------------------------------------------------------------


def notes_on(body: AnswerBody, layout: Layout) -> list[str]:
    """The notes of an answer; and where ranges alone are shown, what they do not say by themselves."""
    notes = [note for note in body["notes"] if layout == "columns" or note != ESTIMATES]
    limit = body.get("limit")
    notes += [] if limit is None else [limit["note"]]
    if body["mode"] != "interval" or layout == "columns":
        return notes
    rows = body["rows"]
    doubtful = sum(not row["_group"]["certain"] for row in rows)
    if doubtful:
        notes.append(f"Of these {len(rows)} groups, {doubtful} may have no records at all. {_SHOWN}")
    names = [column["name"] for column in body["columns"] if column["kind"] == "range"]
    null = [name for name in names if any(row[name]["may_be_null"] and row[name]["low"] is not None for row in rows)]
    if null:
        notes.append(f"Values in a range, or NULL: {', '.join(null)}. {_SHOWN}")
    return notes


_SHOWN = "SET querygate.interval = 'columns' shows which."
