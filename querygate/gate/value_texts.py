"""Values of published columns as people write them: a date is a day, a timestamp a moment."""

from __future__ import annotations

from querygate.core.dates import day_text, moment_text


def value_text(value: int | float, column_type: str) -> str:
    """
    >>> value_text(22.5, "number"), value_text(18262, "date")
    ('22.5', '2020-01-01')
    """
    if column_type == "timestamp":
        return moment_text(int(value))
    if column_type == "date":
        return day_text(int(value))
    return f"{value:g}" if isinstance(value, float) else str(value)
