"""One Answer, many forms: the JSON of the contract, flat tables (`name_low`, `name_high`, `name_estimate`,
`name_may_be_null`), text for a terminal.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from querygate.core.answer_bodies import (
    AnswerBody,
    ColumnBody,
    CountBody,
    GroupBody,
    LimitBody,
    NoisyBody,
    RangeBody,
    Row,
)
from querygate.core.range_ends import ROUNDED, in_words, near, on_grid, shown
from querygate.core.spreadsheet_cells import escape
from querygate.core.timestamps import moment_text
from querygate.core.types import Answer, AnswerColumn, Estimate, Group, Limited, Range, Scalar

_EPOCH = dt.date(1970, 1, 1).toordinal()


def make_body(answer: Answer) -> AnswerBody:
    """The answer as contracts have it: one object per group, keyed by column, with the group's count beside it."""
    body: AnswerBody = {
        "query_id": answer.query_id,
        "dataset": answer.dataset,
        "version": answer.version,
        "mode": answer.mode,
        "columns": [{"name": c.name, "kind": c.kind, "type": c.type} for c in answer.columns],
        "rows": [_row(answer, group) for group in answer.groups],
        "notes": list(answer.notes),
        "elapsed_ms": answer.elapsed_ms,
    }
    return body if answer.limited is None else {**body, "limit": _limit(answer.limited)}


def _limit(limited: Limited) -> LimitBody:
    """What LIMIT asks for, and why these rows are shown."""
    wanted, rows = _wanted(limited.first, limited.last), limited.certain + limited.possible
    if limited.ordered:
        shown = "All of them are shown." if rows > 1 else "It is shown."
        open_ = f"{limited.certain or 'none'} for certain, {limited.possible} perhaps"
        note = f"The ranges do not decide which groups are {wanted}: {open_}. {shown}"
    else:
        note = f"Without ORDER BY any group may be {wanted.replace('the first', 'among the first')}. All are shown."
    return LimitBody(
        first=limited.first, last=limited.last, certain=limited.certain, possible=limited.possible, note=note
    )


def _wanted(first: int, last: int | None) -> str:
    if last is None:
        return f"those after the first {first - 1}"
    if first == 1:
        return f"the first {last}"
    return f"numbers {first} to {last}" if first < last else f"number {first}"


def _row(answer: Answer, group: Group) -> Row:
    row: Row = {}
    for column in answer.columns:
        if column.kind == "key":
            row[column.name] = key_value(group.keys[column.source], column.type)
        else:
            estimate = group.estimates[column.source] if group.estimates else None
            row[column.name] = _range(group.ranges[column.source], column, estimate)
    count = CountBody(low=int(group.count.low or 0), high=int(group.count.high or 0))
    state: GroupBody = {"certain": group.certain, "count": count}
    if group.first is not None:
        state["first"] = group.first
    if group.rolled_up:
        keys = [column.name for column in answer.columns if column.kind == "key"]
        state["rolled_up"] = [name for name, all_of_it in zip(keys, group.rolled_up, strict=True) if all_of_it]
    return {**row, "_group": state}


def _range(found: Range, column: AnswerColumn, estimate: Estimate | None) -> RangeBody:
    if column.digits is not None and found.low is not None and found.high is not None:
        found, estimate = _with_digits(found, estimate, column.digits)
    body: RangeBody = {
        "low": _end(found.low, column),
        "high": _end(found.high, column),
        "attained_low": _end(found.attained_low, column),
        "attained_high": _end(found.attained_high, column),
        "sharp": found.sharp,
        "may_be_null": found.may_be_null,
    }
    if estimate is not None:
        body["estimate"] = _end(estimate.value, column)
        if estimate.value is None:
            body["estimate_note"] = estimate.note
    return body


def _with_digits(found: Range, estimate: Estimate | None, digits: int) -> tuple[Range, Estimate | None]:
    """With the digits that were asked for: no value between an end and the next number of so many digits is one."""
    low, high = on_grid(found.low, digits, upwards=True), on_grid(found.high, digits, upwards=False)
    if low > high:  # it cannot be: a value of so many digits is inside
        return found, estimate
    attained = [
        None if end is None else min(max(round(end, digits), low), high)
        for end in (found.attained_low, found.attained_high)
    ]
    if estimate is not None and estimate.value is not None:
        estimate = Estimate(min(max(round(estimate.value, digits), low), high))
    return replace(found, low=low, high=high, attained_low=attained[0], attained_high=attained[1]), estimate


def _end(value: int | float | None, column: AnswerColumn) -> int | float | str | None:
    column_type = column.type
    if value is None:
        return None
    if column.texts:
        return column.texts[int(value)]
    if column_type == "boolean":
        return bool(value)
    if column_type == "date":
        return dt.date.fromordinal(int(value) + _EPOCH).isoformat()
    if column_type == "timestamp":
        return moment_text(int(value))
    return value + 0 if math.isfinite(value) else str(value)  # no negative zero; and JSON has no infinity


def key_value(key: Scalar, column_type: str) -> Scalar:
    if isinstance(key, float) and not math.isfinite(key):
        return str(key)  # JSON has no infinity
    return key == "true" if column_type == "boolean" and key is not None else key


# -- flat tables, from the JSON form so that a stored answer renders the same ------------------------------------


def table(body: AnswerBody) -> tuple[list[str], list[list[Scalar]]]:
    """Column names and rows: a key is one column, a range is `name_low`, `name_high`, `name_estimate`, which
    is not guaranteed, and `name_may_be_null`; the group's state follows. Answers that were logged before there were
    estimates have none.

    A noisy number is `name`, `name_low95` and `name_high95`; of its group nothing else is told.
    """
    flat = [(column, _endings(column, body)) for column in body["columns"]]
    names = [column["name"] + ending for column, endings in flat for ending in endings]
    state = [*(_GROUP_STATE if body["mode"] == "interval" else ()), *_rolled_up_columns(body)]
    rows = [[*_flat(flat, row), *(read(row["_group"]) for _, read in state)] for row in body["rows"]]
    return told_apart([*names, *(name for name, _ in state)]), rows


_ENDINGS = {"key": ("",), "range": ("_low", "_high", "_estimate", "_may_be_null"), "noisy": ("", "_low95", "_high95")}
_GROUP_STATE: tuple[tuple[str, Callable[[GroupBody], Scalar]], ...] = (
    ("group_certain", lambda group: group["certain"]),
    ("group_count_low", lambda group: group["count"]["low"]),
    ("group_count_high", lambda group: group["count"]["high"]),
)


def _rolled_up_columns(body: AnswerBody) -> list[tuple[str, Callable[[GroupBody], Scalar]]]:
    """With several grouping sets, whether a row is over all values of a key: NULL then does not say that it is missing.

    A column `name_rolled_up` for each key.
    """
    if not has_subtotals(body):
        return []
    keys = [column["name"] for column in body["columns"] if column["kind"] == "key"]
    return [(f"{name}_rolled_up", partial(_is_rolled_up, name)) for name in keys]


def _is_rolled_up(name: str, group: GroupBody) -> bool:
    return name in group.get("rolled_up", ())


def has_subtotals(body: AnswerBody) -> bool:
    """Whether rows say which keys they are over all values of."""
    return any("rolled_up" in row.get("_group", ()) for row in body["rows"])


def _endings(column: ColumnBody, body: AnswerBody) -> tuple[str, ...]:
    """The endings of the flat columns that a column becomes."""
    endings = _ENDINGS[column["kind"]]
    told = column["kind"] != "range" or all("estimate" in row[column["name"]] for row in body["rows"])
    return endings if told else tuple(ending for ending in endings if ending != "_estimate")


def _flat(flat: Sequence[tuple[ColumnBody, tuple[str, ...]]], row: Row) -> Iterator[Scalar]:
    for column, endings in flat:
        value = row[column["name"]]
        if column["kind"] == "key":
            yield value
        elif column["kind"] == "range":
            yield from (value[ending[1:]] for ending in endings)
        else:
            yield from (value["value"], *(value["interval95"] or (None, None)))


def told_apart(names: list[str]) -> list[str]:
    """An alias may be what another column's `name_low` is: a second gets a number, as in the answer itself."""
    apart: list[str] = []
    for name in names:
        other, number = name, 2
        while other in apart or (other != name and other in names):
            other, number = f"{name}_{number}", number + 1
        apart.append(other)
    return apart


def to_csv(body: AnswerBody) -> bytes:
    names, rows = table(body)
    lines: list[Sequence[Scalar]] = [names, *rows]
    return "".join(",".join(map(_csv_cell, line)) + "\r\n" for line in lines).encode()


def _csv_cell(value: Scalar) -> str:
    """RFC 4180. NULL is empty and the empty text is `""`; what a spreadsheet would run gets an apostrophe."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    safe = value if value == "-inf" else escape(value)  # the low end of an open range is a number
    return '"' + safe.replace('"', '""') + '"' if not safe or any(sign in safe for sign in '",\r\n') else safe


def to_json(body: Mapping[str, object]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


def _arrow(body: AnswerBody) -> pa.Table:
    names, rows = table(body)
    types: list[pa.DataType] = []
    kinds = {"integer": pa.decimal128(38, 0), "number": pa.float64(), "boolean": pa.bool_()}
    for column in body["columns"]:
        kind = kinds.get(column["type"], pa.string())
        if column["type"] == "integer" and column["kind"] == "range":
            kind = pa.int64()
        if column["kind"] == "noisy":
            kind = pa.float64()
        types += [pa.bool_() if ending == "_may_be_null" else kind for ending in _endings(column, body)]
    types += [pa.bool_(), pa.int64(), pa.int64()] if body["mode"] == "interval" else []
    types += [pa.bool_()] * (len(names) - len(types))  # which keys are rolled up
    columns = [[row[i] for row in rows] for i in range(len(names))]
    arrays = [_array(values, kind) for values, kind in zip(columns, types, strict=True)]
    return pa.Table.from_arrays(arrays, names=names)


def _array(values: Sequence[Scalar], kind: pa.DataType) -> pa.Array:
    if kind == pa.float64():
        values = [None if value is None else float(value) for value in values]
    try:
        return pa.array(values, kind)
    except (OverflowError, pa.ArrowInvalid):  # a SUM beyond 64 bits
        return pa.array([None if value is None else str(value) for value in values], pa.string())


def to_arrow(body: AnswerBody) -> bytes:
    data = _arrow(body)
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, data.schema) as writer:
        writer.write_table(data)
    return sink.getvalue()


def to_parquet(body: AnswerBody) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(_arrow(body), sink)
    return sink.getvalue()


FORMATS: dict[str, tuple[str, Callable[[AnswerBody], bytes]]] = {
    "json": ("application/json", to_json),
    "csv": ("text/csv; charset=utf-8", to_csv),
    "arrow": ("application/vnd.apache.arrow.stream", to_arrow),
    "parquet": ("application/vnd.apache.parquet", to_parquet),
}


# -- for people ----------------------------------------------------------------------------------------------


def range_text(value: RangeBody) -> str:
    """A range as a person reads it: `127.4 .. 131.9 (about 129.6)`, `117 exactly`, `NULL`."""
    low, high, estimate = value["low"], value["high"], value.get("estimate")
    if low is None or high is None:
        return "NULL"
    told = _ends_text(low, high)
    one = estimate is None or low == high or told.endswith(ROUNDED)
    about = "" if one or estimate is None else f" (about {_about_text(estimate, low, high)})"
    return told + (" or NULL" if value["may_be_null"] else "") + about


def _about_text(estimate: float | str, low: float | str, high: float | str) -> str:
    """An estimate with the digits that its range is shown with."""
    if isinstance(estimate, str) or isinstance(low, str) or isinstance(high, str):
        return str(estimate)
    return near(estimate, low, high)


def _ends_text(low: float | str, high: float | str) -> str:
    low, high = (str(end).lower() if isinstance(end, bool) else end for end in (low, high))
    if not (isinstance(low, str) or isinstance(high, str)):
        return in_words(low, high)
    return f"{low} exactly" if low == high else f"{low} .. {high}"


def noisy_text(value: NoisyBody) -> str:
    """A noisy number as a person reads it: `417 (387 .. 447)`."""
    number = value["value"]
    if value["interval95"] is None:
        return f"{number:.6g}"
    low, high = shown(*value["interval95"])
    return f"{number if isinstance(number, int) else format(number, '.6g')} ({low} .. {high})"


ALL = "(all)"
"""A key over all of whose values a row is, for a person; NULL is a group of missing values."""


def _key_text(value: Scalar) -> str:
    return "NULL" if value is None else str(value)


_TEXTS: dict[str, Callable[..., str]] = {"key": _key_text, "range": range_text, "noisy": noisy_text}


def readable(body: AnswerBody) -> tuple[list[str], list[list[str]]]:
    """Headings and cells for a person: one cell per output, and the group's count where there are groups."""
    grouped = body["mode"] == "interval" and any(column["kind"] == "key" for column in body["columns"])
    limit = body.get("limit")
    headings = [column["name"] for column in body["columns"]] + (["records in group"] if grouped else [])
    headings += [] if limit is None else [_wanted(limit["first"], limit["last"])]
    rows = []
    for row in body["rows"]:
        cells = []
        for column in body["columns"]:
            rolled_up = column["kind"] == "key" and _is_rolled_up(column["name"], row.get("_group", {}))
            cells.append(ALL if rolled_up else _TEXTS[column["kind"]](row[column["name"]]))
        if grouped:
            count = _ends_text(row["_group"]["count"]["low"], row["_group"]["count"]["high"])
            cells.append(count if row["_group"]["certain"] or limit is not None else f"{count} (possible group)")
        if limit is not None:
            cells.append("certainly" if row["_group"].get("first") else "perhaps")
        rows.append(cells)
    return headings, rows
