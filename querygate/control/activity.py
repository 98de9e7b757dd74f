"""How much was asked, day by day: questions and how they ended, users, codes, alerts, and what was spent.

Entries of the log stand in the order of time, so the first of a day is found by halving; what is counted of a day that
is over never changes, and is counted once. Days whose entries were archived are not counted any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from querygate.control.log.log_search import first_at
from querygate.control.ports import ControlDatabase
from querygate.core.budget_types import EPSILON_PLACES

# JSON keeps quotes within texts behind backslashes, so these marks stand where the entry itself says it, and first.
_QUERIES = """SELECT user, dataset,
    substr(body, instr(body, '"outcome":"') + 11, 8) AS outcome,
    CASE WHEN instr(body, '"code":"') > 0 THEN substr(body, instr(body, '"code":"') + 8, 5) END AS code,
    count(*) AS number
  FROM log WHERE seq >= ? AND seq < ? AND kind = 'query.outcome' GROUP BY 1, 2, 3, 4"""
_SPENT = """SELECT dataset, json_extract(body, '$.cost.epsilon') AS epsilon FROM log
  WHERE kind = 'budget.charge' AND kind NOT IN ('query.intent', 'query.outcome') AND seq >= ? AND seq < ?"""
_ALERTS = """SELECT count(*) FROM log
  WHERE kind = 'audit.alert' AND kind NOT IN ('query.intent', 'query.outcome') AND seq >= ? AND seq < ?"""

ANSWERED, REFUSED = "answered", "refused"
MOST_KEPT = 400
"""Days that are remembered."""


@dataclass(frozen=True, slots=True)
class DayActivity:
    """What happened on one day (UTC). `spent` is epsilon by dataset."""

    day: date
    outcomes: Mapping[str, int] = field(default_factory=dict)
    users: frozenset[str] = frozenset()
    codes: Mapping[str, int] = field(default_factory=dict)
    datasets: Mapping[str, int] = field(default_factory=dict)
    spent: Mapping[str, float] = field(default_factory=dict)
    alerts: int = 0

    @property
    def questions(self) -> int:
        return sum(self.outcomes.values())

    @property
    def refused(self) -> int:
        return self.outcomes.get(REFUSED, 0)

    def plus(self, later: DayActivity) -> DayActivity:
        """With what came later on the same day."""
        return DayActivity(
            self.day,
            Counter(self.outcomes) + Counter(later.outcomes),
            self.users | later.users,
            Counter(self.codes) + Counter(later.codes),
            Counter(self.datasets) + Counter(later.datasets),
            {name: self.spent.get(name, 0) + later.spent.get(name, 0) for name in (*self.spent, *later.spent)},
            self.alerts + later.alerts,
        )

    @property
    def epsilon(self) -> float:
        return sum(self.spent.values())


class Activity:
    """Safe to share between threads: at worst a day is counted twice."""

    def __init__(self, database: ControlDatabase) -> None:
        self._database = database
        self._over: dict[date, DayActivity] = {}
        self._today: tuple[DayActivity, int] = DayActivity(date.min), 0  # and the first entry that is not in it

    def days(self, last: date, number: int) -> list[DayActivity]:
        """So many days up to this one, which is today: all but the last of them are over. Of today only what is new is
        counted."""
        wanted = [last - timedelta(days=back) for back in range(number - 1, -1, -1)]
        for day in wanted[:-1]:
            if day not in self._over:
                self._over[day] = self._count(day, *self._ends(day))
        while len(self._over) > MOST_KEPT:
            self._over.pop(min(self._over))
        return [*(self._over[day] for day in wanted[:-1]), self._count_on(last)]

    def _count_on(self, today: date) -> DayActivity:
        """Entries come at the end: what was counted stays, and the rest is added to it."""
        first, after = self._ends(today)
        counted, before = self._today
        if counted.day != today or before < first:
            counted, before = DayActivity(today), first
        now = counted.plus(self._count(today, before, after))
        self._today = now, max(before, after)
        return now

    def _ends(self, day: date) -> tuple[int, int]:
        """The first entry of a day, and the first after it."""
        following = (day + timedelta(days=1)).isoformat()
        return first_at(self._database, day.isoformat()), first_at(self._database, following)

    def _count(self, day: date, first: int, after: int) -> DayActivity:
        if first >= after:
            return DayActivity(day)
        outcomes, codes, datasets, users = Counter[str](), Counter[str](), Counter[str](), set()
        for row in self._database.rows(_QUERIES, (first, after)):
            outcomes[row["outcome"].rstrip('",')] += row["number"]
            users.add(str(row["user"]))
            if row["code"]:
                codes[row["code"]] += row["number"]
            if row["dataset"]:
                datasets[row["dataset"]] += row["number"]
        units = Counter[str]()
        for dataset, epsilon in self._database.rows(_SPENT, (first, after)):
            units[str(dataset)] += int(epsilon)
        spent = {dataset: number / 10**EPSILON_PLACES for dataset, number in units.items()}
        alerts = int(self._database.rows(_ALERTS, (first, after))[0][0])
        return DayActivity(day, outcomes, frozenset(users), codes, datasets, spent, alerts)
