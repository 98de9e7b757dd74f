"""Functions of a timestamp column that step with the calendar: DATE_TRUNC, EXTRACT, YEAR, CAST(... AS DATE).

Within an hour, a day or a month they do not change, so the database is asked once for each, and the table of its
answers is exact. What else is done with a moment has as many values as there are microseconds, and is not available.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import takewhile

import numpy as np
from sqlglot import exp

from querygate.core.dates import datetime_of, moment_of
from querygate.core.expression import Lookup
from querygate.core.ports import Native
from querygate.core.types import Column
from querygate.sql.restatement import wording_over_x

MOST_PIECES = 100_000

_STEP_OF = {
    **dict.fromkeys(("year", "decade", "century", "millennium"), "year"),
    **dict.fromkeys(("quarter", "month"), "month"),
    **dict.fromkeys(("day", "week", "dow", "isodow", "doy", "dayofweek", "dayofyear", "isoyear", "weekday"), "day"),
    "hour": "hour",
    "minute": "minute",
}
"""What a part or a unit of time steps with."""
_FINENESS = ("year", "month", "day", "hour", "minute")
_NAMED: dict[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "month",
    exp.Month: "month",
    exp.Monthname: "month",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfWeek: "day",
    exp.DayOfYear: "day",
    exp.Dayname: "day",
    exp.DayOfWeekIso: "day",
    exp.Week: "day",
    exp.WeekOfYear: "day",
    exp.Date: "day",
    exp.LastDay: "month",
    exp.Hour: "hour",
    exp.Minute: "minute",
}


def by_calendar(node: exp.Expr, column: Column, native: Native) -> Lookup | None:
    """The table of an expression in which the column stands inside functions of the calendar alone."""
    if column.type != "timestamp" or column.low is None or column.high is None:
        return None
    steps = [_step(found.parent) for found in node.find_all(exp.Column)]
    if not steps or None in steps:
        return None
    finest = max((step for step in steps if step), key=_FINENESS.index)
    first, last = datetime_of(int(column.low)), datetime_of(int(column.high))
    starts = [first]
    for start in takewhile(lambda moment: moment <= last, _after(first, finest)):
        starts.append(start)
        if len(starts) > MOST_PIECES:
            return None
    found = native.tabulate(wording_over_x(node), "timestamp", [*starts, None])
    if found.type == "other":
        return None
    numbers = np.array([moment_of(start) for start in starts], dtype=np.int64)
    return Lookup.over_pieces(column.name, found.type, numbers, found.results)


def _step(node: exp.Expr | None) -> str | None:
    """How often a function of a moment changes; None for any other."""
    if isinstance(node, exp.Paren):
        return _step(node.parent)
    if isinstance(node, exp.TimestampTrunc):
        unit = node.args.get("unit")
        return _unit(unit.name if unit is not None else "")
    if isinstance(node, exp.Extract):
        return _unit(node.this.name)
    if isinstance(node, exp.Cast):
        return "day" if node.to.this == exp.DType.DATE else None
    return _NAMED.get(type(node)) if node is not None else None


def _unit(name: str) -> str | None:
    return _STEP_OF.get(name.lower())


def _after(moment: dt.datetime, step: str) -> Iterator[dt.datetime]:
    """Where the step begins anew after a moment, up to the end of the calendar."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if step in ("year", "month"):
        months = 12 if step == "year" else 1
        number = (day.year * 12 + day.month - 1) // months * months + months
        while number < 10_000 * 12:
            yield dt.datetime(number // 12, number % 12 + 1, 1)
            number += months
        return
    width = dt.timedelta(**{f"{step}s": 1})
    start = day + (moment - day) // width * width
    while start < dt.datetime.max - width:
        start += width
        yield start
