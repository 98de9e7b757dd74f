"""A moved day in the form in which the first was written, so that a text still reads as it did."""

from __future__ import annotations

import datetime as dt
import re

from querygate.methods.notes.note_text import listed

MONTHS = listed("january february march april may june july august september october november december")
WEEKDAYS = listed("monday tuesday wednesday thursday friday saturday sunday")
_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_ANY_YEAR = 2001  # of days without one: no leap year
THAT_DAY, THAT_MONTH, THE_HOLIDAY, LONG_AGO = "that day", "that month", "the holiday", "long ago"


def moved_day(found: str, value: str, days: int) -> str | None:
    """A whole date, moved back; None where its form is not known.

    >>> [moved_day(text, "2098-03-12", 20) for text in ("03/12/2098", "12 March 2098", "Mar. 12th, 98", "20980312")]
    ['02/20/2098', '20 February 2098', 'Feb. 20th, 98', '20980220']
    """
    try:
        day = dt.date.fromisoformat(value)
        moved = day - dt.timedelta(days=days)
    except (ValueError, OverflowError):
        return None
    if re.fullmatch(r"\d{8}", found):
        return moved.strftime("%Y%m%d") if found == day.strftime("%Y%m%d") else None
    return _rewritten(found, day, moved)


def moved_part(found: str, value: str, rule: str, days: int) -> str | None:
    """What is less than a date: a day of the week, a day without its year, a month. None where that cannot be."""
    if rule == "weekday":
        name = found.lower().removesuffix("s")
        if name not in WEEKDAYS:
            return None
        return _like(found, WEEKDAYS[(WEEKDAYS.index(name) - days) % 7] + found.lower().removeprefix(name))
    day = _middle(found, value)
    return None if day is None else _rewritten(found, day, day - dt.timedelta(days=days))


def _middle(found: str, value: str) -> dt.date | None:
    """A day that stands for what is written: the middle of a month where no day is named."""
    tokens = [token.lower() for token in _TOKEN.findall(found)]
    month = next((at for at, name in enumerate(MONTHS, 1) for t in tokens if len(t) > 2 and name.startswith(t)), 0)
    numbers = [int(token) for token in tokens if token.isdigit()]
    try:
        if re.fullmatch(r"\d{4}-\d\d", value):
            return dt.date(int(value[:4]), int(value[5:]), 15)
        if month:
            return dt.date(_ANY_YEAR, month, numbers[0] if numbers else 15)
        if len(numbers) == 2:
            a, b = numbers
            return dt.date(_ANY_YEAR, *((a, b) if a <= 12 else (b, a)))
    except ValueError:
        return None
    return None


def _rewritten(found: str, day: dt.date, moved: dt.date) -> str | None:
    """Each number and name of a month in its place; None unless month and day, or month and year, were all found."""
    wanted, pads = _order(found, day), _pads(found)
    made, at, done = [], 0, set()
    for token in _TOKEN.finditer(found):
        text, new = token.group(), None
        if text.isdigit():
            part = next((one for one in wanted if one not in done and _says(text, one, day)), "")
            new = _number(text, part, moved, pads) if part else None
            done |= {part} if part else set()
        elif len(text) > 2 and MONTHS[day.month - 1].startswith(text.lower()):
            long = MONTHS[moved.month - 1]
            full = text.lower() == MONTHS[day.month - 1] and (len(text) > 3 or "-" not in found)
            new = _like(text, long if full else long[:3])
            done.add("month")
        elif text.lower() in ("st", "nd", "rd", "th") and "day" in done:
            new = _ordinal(moved.day)
        made += [found[at : token.start()], text if new is None else new]
        at = token.end()
    return "".join((*made, found[at:])) if "month" in done and (len(done) > 1 or not re.search(r"\d", found)) else None


def _order(found: str, day: dt.date) -> tuple[str, ...]:
    """In which order the numbers are tried: a year of four digits first says year, month, day; dots say day, month."""
    numbers = re.findall(r"\d+", found)
    if numbers and len(numbers[0]) == 4:
        return ("year", "month", "day")
    if any(c.isalpha() and c.lower() not in "stndrh" for c in found) and not re.search(r"\d[/.]\d", found):
        return ("day", "year")
    if re.search(r"\d\.\d", found) or (len(numbers) > 1 and (int(numbers[0]), int(numbers[1])) != (day.month, day.day)):
        return ("day", "month", "year") if numbers and int(numbers[0]) == day.day else ("month", "day", "year")
    return ("month", "day", "year")


def _says(text: str, part: str, day: dt.date) -> bool:
    if part == "year":
        return int(text) == (day.year if len(text) == 4 else day.year % 100)
    return len(text) <= 2 and int(text) == (day.month if part == "month" else day.day)


def _number(text: str, part: str, moved: dt.date, pads: bool) -> str:
    if part == "year":
        return f"{moved.year:04}" if len(text) == 4 else f"{moved.year % 100:02}"
    number = moved.month if part == "month" else moved.day
    return f"{number:02}" if pads else str(number)


def _pads(found: str) -> bool:
    """Are numbers below ten written with two digits?"""
    numbers = re.findall(r"\d+", found)
    if any(len(number) == 1 for number in numbers):
        return False
    return any(number[0] == "0" for number in numbers) or (bool(numbers) and len(numbers[0]) == 4)


def _ordinal(day: int) -> str:
    return "th" if 10 < day % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _like(written: str, word: str) -> str:
    if written.islower():
        return word
    return word.upper() if written.isupper() else word.title()
