"""Columns of a person worked out from a table of events: the last blood pressure, the number of visits, whether there
was ever a diagnosis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Censored: TypeAlias = Literal["", "limit", "missing"]
Take: TypeAlias = Literal["first", "last", "min", "max", "mean", "sum", "count", "distinct", "any", "list"]

NEEDS_TIME: frozenset[Take] = frozenset({"first", "last"})
OF_NOBODY: dict[Take, str] = {"count": "0", "distinct": "0", "any": "FALSE"}
"""What somebody without an event has, as SQL; of everything else the value is missing."""


@dataclass(frozen=True, slots=True)
class EventCondition:
    """What an event must have in a column: one of these texts, one that begins so, or a number between two ends.

    A column whose value is missing, or no number where one is asked for, does not fulfil a condition.
    """

    column: str
    texts: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class DerivedColumn:
    """One value per person, taken from those events of theirs that fulfil every condition."""

    name: str
    take: Take
    column: str = ""  # of the events; empty: the events themselves are counted
    where: tuple[EventCondition, ...] = ()
    since: str = ""  # the first day, as 2010-01-01; empty: from the beginning
    until: str = ""  # the last day
    around: str = ""  # a date of the person; empty: no window
    days: tuple[int, int] = (0, 0)  # the window, from so many days after that date to so many, both included
    names: tuple[tuple[str, str], ...] = ()  # text of the events, what it is called
    absent: tuple[str, ...] = ()  # texts of the events that stand for no value
    censored: Censored = ""  # what events beyond a limit of detection are read as

    @property
    def needs_time(self) -> bool:
        return self.take in NEEDS_TIME or bool(self.since or self.until or self.around)

    @property
    def read(self) -> tuple[str, ...]:
        """The columns of the events that it follows from, apart from their time."""
        return tuple(dict.fromkeys([*([self.column] if self.column else []), *(test.column for test in self.where)]))
