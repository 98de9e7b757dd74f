"""Statistics as a researcher would be answered, beside the truth that only the custodian may see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from querygate.core.types import IN_SQL, Column, Group
from querygate.custody.policy import StatisticPolicy
from querygate.custody.publish.expected_widths import statistics_of
from querygate.custody.publish_report.report_case import ReportCase, scale_of
from querygate.custody.workload.trial_answers import ask_version
from querygate.sql.name_text import name_text

MOST_VALUES = 25
"""Categories with more values are not counted value by value, since nobody would read that."""

ROOM = 1e-9
"""For rounding in the truth, which the database computes."""


@dataclass(frozen=True, slots=True)
class StatisticAnswer:
    """The range that is served, and the truth; `domain` is that of the column where the statistic lies in it."""

    statistic: str
    low: float | None
    high: float | None
    width: float | None
    truth: float | None
    holds: bool
    domain: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class CountAnswer:
    column: str
    value: str | None
    low: float | None
    high: float | None
    truth: int


def statistics(case: ReportCase) -> tuple[StatisticAnswer, ...]:
    """Range and truth of the statistics that the policy names, or of the mean of every number. A refused one has no
    range."""
    return tuple(_answer(case, statistic) for statistic in statistics_of(case.policy) if statistic.kind != "count")


def _answer(case: ReportCase, statistic: StatisticPolicy) -> StatisticAnswer:
    columns = [column for name in statistic.columns if (column := case.catalog.column(name)) is not None]
    scale = 1.0
    for column in columns:  # a variance is in squares; a median of days is in days
        scale *= scale_of(column) if statistic.kind != "corr" else 1.0
    scale = scale**2 if statistic.kind == "var" else scale
    truth = case.rows.truth(statistic.kind, statistic.columns)
    low, high = _asked(case, statistic, columns)
    known = None if truth is None else truth / scale
    return StatisticAnswer(
        statistic=str(statistic),
        low=low,
        high=high,
        width=None if low is None or high is None else high - low,
        truth=known,
        holds=low is None or high is None or known is None or _within(low, known, high),
        domain=_domain(columns[0]) if statistic.kind in ("mean", "median") else None,
    )


def _domain(column: Column) -> tuple[float, float] | None:
    if column.low is None or column.high is None:
        return None
    return float(column.low) / scale_of(column), float(column.high) / scale_of(column)


def _within(low: float, truth: float, high: float) -> bool:
    room = ROOM * max(abs(low), abs(high), abs(truth))
    return low - room <= truth <= high + room


def _asked(case: ReportCase, statistic: StatisticPolicy, columns: list[Column]) -> tuple[float | None, float | None]:
    function = IN_SQL[statistic.kind].upper()
    groups = _answered(case, f"{function}({', '.join(map(_number, columns))})")
    if not groups:
        return None, None
    found = groups[0].ranges[0]
    return (None if found.low is None else float(found.low)), (None if found.high is None else float(found.high))


def _number(column: Column) -> str:
    """A column as a number: dates as days since 1970."""
    name = name_text(column.name)
    return f"DATE_DIFF('day', DATE '1970-01-01', {name})" if column.type in ("date", "timestamp") else name


def counts(case: ReportCase) -> Iterator[CountAnswer]:
    """Counts by value of every category of few values."""
    for column in case.catalog.columns:
        if column.is_numeric or column.is_codes or not 0 < len(column.values) <= MOST_VALUES:
            continue
        name = name_text(column.name)
        groups = _answered(case, f"{name}, COUNT(*)", f"GROUP BY {name}")
        truth = case.rows.counts(column.name)
        for group in groups:
            key = None if group.keys[0] is None else str(group.keys[0])
            key = key.lower() if key is not None and column.type == "boolean" else key
            yield CountAnswer(column.name, key, group.ranges[0].low, group.ranges[0].high, truth.get(key, 0))


def _answered(case: ReportCase, wanted: str, grouped: str = "") -> list[Group]:
    """Nothing where it is refused."""
    sql = " ".join(["SELECT", wanted, "FROM", name_text(case.catalog.dataset), grouped])
    return ask_version(sql, case.release, case.native) or []
