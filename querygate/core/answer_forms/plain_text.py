"""An answer as a person reads it: one cell for each range, and the state of its group."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from querygate.core.answer_forms.flat_table import is_rolled_up
from querygate.core.range_ends import ROUNDED, in_words, near, shown

if TYPE_CHECKING:  # which needs numpy, and a client does not
    from querygate.core.answer_bodies import AnswerBody, NoisyBody, RangeBody
    from querygate.core.types import Scalar


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


def key_text(value: Scalar) -> str:
    """A key, or an end of a domain, as a person reads it.

    >>> key_text(10.0), key_text(2.5), key_text(None), key_text("under 40")
    ('10', '2.5', 'NULL', 'under 40')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < _LONGEST_WHOLE:
        return str(int(value))
    return "NULL" if value is None else str(value)


_LONGEST_WHOLE = 1e15
"""From here on, digits would be written that nobody knows."""


_TEXTS: dict[str, Callable[..., str]] = {"key": key_text, "range": range_text, "noisy": noisy_text}


def readable(body: AnswerBody) -> tuple[list[str], list[list[str]]]:
    """Headings and cells for a person: one cell per output, and the group's count where there are groups."""
    grouped = body["mode"] == "interval" and any(column["kind"] == "key" for column in body["columns"])
    limit = body.get("limit")
    headings = [column["name"] for column in body["columns"]] + (["records in group"] if grouped else [])
    headings += [] if limit is None else [wanted_text(limit["first"], limit["last"])]
    rows = []
    for row in body["rows"]:
        cells = []
        for column in body["columns"]:
            rolled_up = column["kind"] == "key" and is_rolled_up(column["name"], row.get("_group", {}))
            cells.append(ALL if rolled_up else _TEXTS[column["kind"]](row[column["name"]]))
        if grouped:
            count = _ends_text(row["_group"]["count"]["low"], row["_group"]["count"]["high"])
            cells.append(count if row["_group"]["certain"] or limit is not None else f"{count} (possible group)")
        if limit is not None:
            cells.append("certainly" if row["_group"].get("first") else "perhaps")
        rows.append(cells)
    return headings, rows


def wanted_text(first: int, last: int | None) -> str:
    """The groups that LIMIT and OFFSET ask for."""
    if last is None:
        return f"those after the first {first - 1}"
    if first == 1:
        return f"the first {last}"
    return f"numbers {first} to {last}" if first < last else f"number {first}"
