"""Days and moments as whole numbers, and as texts: days, and microseconds without a time zone, since 1970-01-01.

>>> moment_of(dt.datetime(1970, 1, 2, 3, 0)), moment_text(97_200_000_000)
(97200000000, '1970-01-02 03:00:00')
>>> day_of(dt.date(2020, 1, 1)), day_text(18262)
(18262, '2020-01-01')
"""

from __future__ import annotations

import datetime as dt
import re

EPOCH = dt.datetime(1970, 1, 1)
_DAY_ZERO = EPOCH.toordinal()
MICROSECOND = dt.timedelta(microseconds=1)
SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?")


def day_of(date: dt.date) -> int:
    return date.toordinal() - _DAY_ZERO


def date_of(day: int) -> dt.date:
    return dt.date.fromordinal(day + _DAY_ZERO)


def day_text(day: int) -> str:
    """In ISO form."""
    return date_of(day).isoformat()


def moment_of(value: dt.datetime) -> int:
    """The number of a moment; one with a time zone is taken in UTC."""
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return (value - EPOCH) // MICROSECOND


def datetime_of(moment: int) -> dt.datetime:
    return EPOCH + dt.timedelta(microseconds=moment)


def moment_text(moment: int) -> str:
    """In ISO form, as the database writes it."""
    return datetime_of(moment).isoformat(sep=" ")


def read_moment(text: str) -> int | None:
    """A day or a moment in ISO form, None where it is none.

    >>> read_moment("1970-01-02"), read_moment("1970-01-01 00:00:01.5"), read_moment("yesterday")
    (86400000000, 1500000, None)
    """
    if not _ISO.fullmatch(text):
        return None
    whole, _, fraction = text.partition(".")
    try:
        return moment_of(dt.datetime.fromisoformat(whole)) + int(fraction.ljust(6, "0") or 0)
    except ValueError:
        return None
