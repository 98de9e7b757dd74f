"""Values of published columns as people write them: a date is a day, a timestamp a moment."""

from __future__ import annotations

import datetime as dt

from querygate.core.timestamps import moment_text

_EPOCH = dt.date(1970, 1, 1).toordinal()


def value_text(value: int | float, column_type: str) -> str:
    """
    >>> value_text(22.5, "number"), value_text(18262, "date")
    ('22.5', '2020-01-01')
    """
    if column_type == "timestamp":
        return moment_text(int(value))
    if column_type == "date":
        return dt.date.fromordinal(int(value) + _EPOCH).isoformat()
    return f"{value:g}" if isinstance(value, float) else str(value)
