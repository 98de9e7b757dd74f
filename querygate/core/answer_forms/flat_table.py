"""An answer as a flat table: `name_low`, `name_high`, `name_estimate`, `name_may_be_null` for each range. It is made
from the JSON form, so that a stored answer and one at a client are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from querygate.core.answer_forms.spreadsheet_cells import escape

if TYPE_CHECKING:  # which needs numpy, and a client does not
    from querygate.core.answer_bodies import AnswerBody, ColumnBody, GroupBody, Row
    from querygate.core.types import Scalar


def table(body: AnswerBody, *, tells_sharp: bool = False) -> tuple[list[str], list[list[Scalar]]]:
    """Column names and rows: a key is one column, a range is `name_low`, `name_high`, `name_estimate`, which
    is not guaranteed, and `name_may_be_null`; the group's state follows. Answers that were logged before there were
    estimates have none.

    A noisy number is `name`, `name_low95` and `name_high95`; of its group nothing else is told.
    """
    flat = [(column, endings_of(column, body, tells_sharp=tells_sharp)) for column in body["columns"]]
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
    return [(f"{name}_rolled_up", partial(is_rolled_up, name)) for name in keys]


def is_rolled_up(name: str, group: GroupBody) -> bool:
    return name in group.get("rolled_up", ())


def has_subtotals(body: AnswerBody) -> bool:
    """Whether rows say which keys they are over all values of."""
    return any("rolled_up" in row.get("_group", ()) for row in body["rows"])


def endings_of(column: ColumnBody, body: AnswerBody, *, tells_sharp: bool = False) -> tuple[str, ...]:
    """The endings of the flat columns that a column becomes."""
    endings = (*_ENDINGS[column["kind"]], *(("_sharp",) if tells_sharp and column["kind"] == "range" else ()))
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
