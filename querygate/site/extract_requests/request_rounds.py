"""What was changed in a request since it was last returned, so that nobody reads all of it again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

from querygate.control.log.entry_chain import LogEvent
from querygate.core.json_body import JsonValue


class WishChange(TypedDict):
    """One part of what is asked for, before and now, as text."""

    field: str
    before: str
    after: str


def changes_since_return(events: Iterable[LogEvent], request_id: str) -> list[WishChange]:
    """From the log, oldest entry first: it has what was asked for whenever that was changed."""
    wish: Mapping[str, JsonValue] = {}
    returned: Mapping[str, JsonValue] = {}
    for event in events:
        body = event["body"]
        if body.get("id") != request_id:
            continue
        if event["kind"] == "export.return":
            returned = wish
        written = body.get("wish")
        wish = written if isinstance(written, dict) else wish
    differing = (name for name in wish if returned and wish[name] != returned.get(name))
    return [{"field": name, "before": _text(returned.get(name)), "after": _text(wish[name])} for name in differing]


def _text(value: JsonValue) -> str:
    """What stands in a request, for a person.

    >>> _text(["age", "sex"]), _text(None), _text({"age": 2}), _text("")
    ('age, sex', '', 'age: 2', '')
    """
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_text(one)}" for name, one in value.items())
    return "" if value is None else str(value)
