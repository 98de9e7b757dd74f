"""One Answer, many forms: the JSON of the contract, and what `core.answer_forms` makes of it for tables and people."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module

from querygate.core.answer_bodies import AnswerBody, CountBody, GroupBody, LimitBody, RangeBody, Row
from querygate.core.answer_forms.flat_table import table, to_csv
from querygate.core.answer_forms.plain_text import range_text, readable, wanted_text
from querygate.core.dates import day_text, moment_text
from querygate.core.range_ends import on_grid
from querygate.core.types import Answer, AnswerColumn, Estimate, Group, Limited, Range, Scalar

__all__ = ["FORMATS", "key_value", "make_body", "range_text", "readable", "table", "to_csv", "to_json"]


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
    wanted, rows = wanted_text(limited.first, limited.last), limited.certain + limited.possible
    if limited.ordered:
        shown = "All of them are shown." if rows > 1 else "It is shown."
        open_ = f"{limited.certain or 'none'} for certain, {limited.possible} perhaps"
        note = f"The ranges do not decide which groups are {wanted}: {open_}. {shown}"
    else:
        note = f"Without ORDER BY any group may be {wanted.replace('the first', 'among the first')}. All are shown."
    return LimitBody(
        first=limited.first, last=limited.last, certain=limited.certain, possible=limited.possible, note=note
    )


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
        return day_text(int(value))
    if column_type == "timestamp":
        return moment_text(int(value))
    return value + 0 if math.isfinite(value) else str(value)  # no negative zero; and JSON has no infinity


def key_value(key: Scalar, column_type: str) -> Scalar:
    if isinstance(key, float) and not math.isfinite(key):
        return str(key)  # JSON has no infinity
    return key == "true" if column_type == "boolean" and key is not None else key


# -- forms ---------------------------------------------------------------------------------------------------


def to_json(body: Mapping[str, object]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


def _by_arrow(name: str) -> Callable[[AnswerBody], bytes]:
    """A form that is written by pyarrow, which is loaded when somebody asks for it."""

    def write(body: AnswerBody) -> bytes:
        written: bytes = getattr(import_module("querygate.core.answer_forms.arrow_table"), name)(body)
        return written

    return write


FORMATS: dict[str, tuple[str, Callable[[AnswerBody], bytes]]] = {
    "json": ("application/json", to_json),
    "csv": ("text/csv; charset=utf-8", to_csv),
    "arrow": ("application/vnd.apache.arrow.stream", _by_arrow("to_arrow_stream")),
    "feather": ("application/vnd.apache.arrow.file", _by_arrow("to_arrow_file")),
    "parquet": ("application/vnd.apache.parquet", _by_arrow("to_parquet")),
}
