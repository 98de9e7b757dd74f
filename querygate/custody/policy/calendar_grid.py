"""Date grids that follow the calendar: months, quarters and years begin on their first day. A grid of 365 days would
drift away from the years that people ask for.
"""

from __future__ import annotations

import datetime
from dataclasses import replace

from querygate.core.dates import DAY_US, date_of, day_of
from querygate.custody.policy.column_policy import ColumnPolicy, Number
from querygate.custody.policy.interval_edges import MAX_EDGES
from querygate.custody.policy.toml_reader import TomlTable

MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""The steps by name."""

KINDS = ("date", "timestamp")


def is_calendar_grid(table: TomlTable, column: ColumnPolicy) -> bool:
    named = isinstance(table.raw.get("grid"), str) and table.raw["grid"] in MONTHS
    return named and column.type in KINDS and column.role == "quasi-identifier"


def read_calendar_grid(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """The column with an edge at the first day of each step within its domain."""
    if column.low is None or column.high is None:
        return column
    edges = calendar_edges(column.low, column.high, MONTHS[table.raw["grid"]], 1 if column.type == "date" else DAY_US)
    if len(edges) > MAX_EDGES:
        table.fail("grid", f"makes more than {MAX_EDGES:,} edges", "a wider step")
    return replace(column, edges=edges)


def calendar_edges(low: Number, high: Number, months: int, unit: int) -> tuple[Number, ...]:
    """Both ends and every first day of a step between them; `unit` is a day in the unit of the ends.

    >>> [day_text(int(day)) for day in calendar_edges(19_800, 20_200, 12, 1)]
    ['2024-03-18', '2025-01-01', '2025-04-22']
    """
    first, last = (date_of(int(end // unit)).year for end in (low, high))
    starts = (
        day_of(datetime.date(year, month, 1)) * unit
        for year in range(first, last + 1)
        for month in range(1, 13, months)
    )
    return tuple(sorted({low, *(start for start in starts if low < start < high), high}))
