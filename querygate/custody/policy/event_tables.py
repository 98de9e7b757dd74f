"""Tables with many rows per person, and the columns derived from them, with one value per person.

[events.laboratory]
source = "laboratory.csv"
on = { patient = "pid" }
time = "taken_on"

[derive.glucose]
events = "laboratory"
take = "last"
column = "value"
where = { test = "glucose", value = { least = 1, most = 60 } }

The role, type and domain of a derived column are in a table [columns.NAME], as for any column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from querygate.core.dates import day_text
from querygate.core.derived_columns import DerivedColumn, EventCondition, Take
from querygate.core.types import folded
from querygate.custody.policy.column_policy import ColumnPolicy
from querygate.custody.policy.joined_tables import read_pairs, tables_of
from querygate.custody.policy.policy_types import EventsPolicy, JoinPolicy, Policy
from querygate.custody.policy.toml_reader import SOME_TEXT, TomlTable, listed, read_value

TYPES: dict[Take, tuple[str, ...]] = {
    **dict.fromkeys(("first", "last", "min", "max"), ("integer", "number", "date", "timestamp", "category")),
    "mean": ("number",),
    "sum": ("integer", "number"),
    **dict.fromkeys(("count", "distinct"), ("integer", "category")),
    "any": ("boolean",),
    "list": ("codes",),
}
"""The types that a derived column may have, by `take`."""

EVENTS_ALONE: tuple[Take, ...] = ("count", "any")
"""Values of `take` that need no column of the events."""

_CONDITION = 'a text or number, a list of them, or { begins = ["E11"] } or { least = 1, most = 60 }'
_DAYS = "two whole numbers of days, the first not after the second, such as [-365, 0]"
_NAMES = 'texts by text, such as { "8507" = "male" }'
_LONGEST_DAYS = 100_000


def read_events(
    top: TomlTable, columns: Iterable[ColumnPolicy], joins: Iterable[JoinPolicy]
) -> tuple[EventsPolicy, ...]:
    """Every table [events.NAME], with the columns that tables [derive.NAME] derive from it."""
    tables: dict[str, EventsPolicy] = {}
    for name, table in tables_of(top, "events"):
        source = table.text("source", SOME_TEXT) if "source" in table else ""
        tables[name] = EventsPolicy(name, source, read_pairs(table), table.text("time"))
    known = {column.name: column for column in columns}
    taken = {folded(column): join.name for join in joins for column in join.columns}
    for name, table in _derived(top):
        if folded(name) in taken:
            top.problems.add(table.path, f"join.{taken[folded(name)]} brings this column", "each column from one place")
        if name not in known:
            top.problems.add(table.path, "has no rules", f"a table [columns.NAME] for it: add {name}")
        if (events := tables.get(table.text("events", SOME_TEXT))) is None:
            accepted = listed(tables) or "a table [events.NAME] (there is none)"
            table.fail("events", "is not a table of events", accepted)
            continue
        column = _column(table, name, known.get(name))
        if column.needs_time and not events.time:
            top.problems.add(("events", events.name, "time"), "is missing", f"a column with dates, for derive.{name}")
        tables[events.name] = replace(events, derived=(*events.derived, column))
    _check_tables(top, tables)
    return tuple(tables.values())


def without_last_day(policy: Policy) -> tuple[str, ...]:
    """What to do, in words, where events that arrived since the last version have changed sensitive values."""
    growing = [
        column.name
        for events in policy.events
        for column in events.derived
        if events.time and not column.until and policy.column(column.name).role == "sensitive"
    ]
    if not growing:
        return ()
    named = growing[0] if len(growing) == 1 else f"{growing[0]} and {len(growing) - 1} more"
    return (
        f'leave later events out: a last day such as until = "2024-12-31", before they began, in each [derive.*] '
        f"without one ({named}). New events then change nobody's values until you move the day",
    )


def _derived(top: TomlTable) -> Iterable[tuple[str, TomlTable]]:
    """The tables [derive.NAME]; NAME is any column name."""
    raw = top.raw.get("derive", {})
    if not isinstance(raw, dict):
        top.fail("derive", "must be a table", "one table [derive.NAME] per column")
        return []
    return [(name, TomlTable(body, ("derive", name), "derive.*", top.problems)) for name, body in raw.items()]


def _check_tables(top: TomlTable, tables: dict[str, EventsPolicy]) -> None:
    for name, events in tables.items():
        if not events.derived:
            top.problems.add(
                ("events", name), "nothing is derived from it", f'a table [derive.NAME] with events = "{name}"'
            )
    if len(own := [name for name, events in tables.items() if not events.source]) > 1:
        top.problems.add(("events", own[1], "source"), "is missing", "one table of events is the source itself")


def _column(table: TomlTable, name: str, rules: ColumnPolicy | None) -> DerivedColumn:
    take = cast(Take, table.choice("take") or "count")
    if "column" not in table and take not in EVENTS_ALONE:
        table.fail("column", "is missing", "the name of a column of the events")
    if rules is not None and rules.type is not None and str(rules.type) not in TYPES[take]:
        what = f"cannot be of type {rules.type} (columns.{name}.type)"
        table.fail("take", what, f"type {' or '.join(TYPES[take])} for {take}")
    since, until = _between(table)
    around, days = _window(table)
    column = table.text("column", SOME_TEXT) if "column" in table else ""
    absent, censored = ((), "") if rules is None else (rules.absent, rules.censored)
    if censored and "number" not in TYPES[take]:  # a count of events has no limits of its own
        what, accepted = f"does not apply to take {take}", "for take first, last, min, max, mean or sum"
        table.problems.add(("columns", name, "censored"), what, accepted)
    where, names = _where(table), _names(table)
    return DerivedColumn(name, take, column, where, since, until, around, days, names, absent, censored)


def _where(table: TomlTable) -> tuple[EventCondition, ...]:
    raw = table.raw.get("where", {})
    if not isinstance(raw, dict):
        table.fail("where", "must be a table", f"columns of the events, each with {_CONDITION}")
        return ()
    found = []
    for column, test in raw.items():
        condition = _condition(column, test)
        if condition is None:
            table.problems.add((*table.path, "where", column), "is not a condition", _CONDITION)
        else:
            found.append(condition)
    return tuple(found)


def _condition(column: str, raw: object) -> EventCondition | None:
    if isinstance(raw, dict):
        begins, ends = _texts(raw.get("begins", [])), {key: raw[key] for key in ("least", "most") if key in raw}
        numbers = {key: read_value("number", value) for key, value in ends.items()}
        is_told = bool(raw) and set(raw) <= {"begins", "least", "most"} and None not in numbers.values()
        if not is_told or begins is None or ("begins" in raw and not begins):
            return None
        return EventCondition(column, begins=begins, least=numbers.get("least"), most=numbers.get("most"))
    texts = _texts(raw)
    return EventCondition(column, texts) if texts else None


def _texts(raw: object) -> tuple[str, ...] | None:
    """A text or a whole number, or a list of them, as in the events; None for anything else."""
    listed_raw = raw if isinstance(raw, list) else [raw]
    good = all(isinstance(one, str | int) and not isinstance(one, bool) for one in listed_raw)
    return tuple(sorted({str(one).strip() for one in listed_raw})) if good else None


def _between(table: TomlTable) -> tuple[str, str]:
    """The first and the last day, either of which may be open."""
    found = []
    for key in ("since", "until"):
        day = read_value("date", table.raw[key]) if key in table else None
        if key in table and day is None:
            table.fail(key, "is not a date", "a date such as 2019-12-31")
        found.append("" if day is None else day_text(int(day)))
    if all(found) and found[0] > found[1]:
        table.fail("until", "comes before `since`", "a later date")
    return found[0], found[1]


def _window(table: TomlTable) -> tuple[str, tuple[int, int]]:
    """The reference date of a window, and its days; both or neither."""
    if not {"around", "days"} & table.raw.keys():
        return "", (0, 0)
    around = table.text("around", SOME_TEXT)
    raw = table.raw.get("days")
    if (
        not isinstance(raw, list)
        or len(raw) != 2
        or any(isinstance(day, bool) or not isinstance(day, int) or abs(day) > _LONGEST_DAYS for day in raw)
        or raw[0] > raw[1]
    ):
        table.fail("days", "is not a window" if "days" in table else "is missing", _DAYS)
        return around, (0, 0)
    return around, (raw[0], raw[1])


def _names(table: TomlTable) -> tuple[tuple[str, str], ...]:
    raw = table.raw.get("names", {})
    good = isinstance(raw, dict) and all(isinstance(name, str) and re.search(r"\S", name) for name in raw.values())
    if not good or ("names" in table and not raw):
        table.fail("names", "are not names", _NAMES)
        return ()
    return tuple(sorted((code.strip(), name.strip()) for code, name in raw.items()))
