"""Default titles of derived columns, for descriptions and reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from querygate.core.count_text import counted
from querygate.core.derived_columns import DerivedColumn, EventCondition, Take
from querygate.custody.policy.column_policy import ColumnPolicy
from querygate.custody.policy.policy_types import EventsPolicy

_TAKEN: dict[Take, str] = {
    "first": "first {}",
    "last": "last {}",
    "min": "smallest {}",
    "max": "largest {}",
    "mean": "mean {}",
    "sum": "total {}",
    "count": "number of rows with {}",
    "distinct": "number of different {}",
    "any": "whether there is {}",
    "list": "every {}",
}
_EVENTS: dict[Take, str] = {"count": "number of rows", "any": "whether there is a row"}


def with_titles(columns: Sequence[ColumnPolicy], tables: Sequence[EventsPolicy]) -> tuple[ColumnPolicy, ...]:
    """The columns, each with a title if it is derived."""
    told = {column.name: explain_derived(table.name, column) for table in tables for column in table.derived}
    return tuple(replace(column, title=column.title or told.get(column.name, "")) for column in columns)


def explain_derived(events: str, column: DerivedColumn) -> str:
    """
    >>> glucose = EventCondition("test", ("glu", "gluc"))
    >>> explain_derived("laboratory", DerivedColumn("glucose", "last", "value", (glucose,)))
    'last value in laboratory, test: glu or gluc'
    >>> high = EventCondition("value", least=7.0)
    >>> explain_derived("laboratory", DerivedColumn("high", "any", "", (high,), around="diagnosed", days=(-30, 0)))
    'whether there is a row in laboratory, value: at least 7, from 30 days before to 0 days after diagnosed'
    """
    taken = _TAKEN[column.take].format(column.column) if column.column else _EVENTS.get(column.take, column.take)
    return ", ".join([f"{taken} in {events}", *map(_condition, column.where), *_times(column)])


def _condition(test: EventCondition) -> str:
    words = [*test.texts, *(f"{begin}..." for begin in test.begins)]
    ends = [f"at least {test.least:g}"] if test.least is not None else []
    ends += [f"at most {test.most:g}"] if test.most is not None else []
    return f"{test.column}: " + ", ".join([" or ".join(words)] * bool(words) + [" and ".join(ends)] * bool(ends))


def _times(column: DerivedColumn) -> Iterator[str]:
    if column.since or column.until:
        yield " ".join(f"{word} {day}" for word, day in (("from", column.since), ("to", column.until)) if day)
    if column.around:
        first, last = (counted(abs(day), "day") + (" before" if day < 0 else " after") for day in column.days)
        yield f"from {first} to {last} {column.around}"
