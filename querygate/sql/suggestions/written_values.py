"""Numbers and dates as people write them elsewhere: 27,5 and 31.12.2022, put as SQL has them.

These are proposals for a statement that was refused as it stands. Where day and month cannot be told apart (03/04/2022)
there is none.
"""

from __future__ import annotations

import re

REMEDY = "Write decimals with a point (27.5), and dates year first and in quotes ('2022-12-31')."

_AFTER = r"(?i:(?<=[<>=])|(?<=\bBETWEEN)|(?<=\bAND)|(?<=\bTHAN))"
_TEXT = re.compile(r"'(?:[^']|'')*'")
_NUMBER = re.compile(_AFTER + r"(\s*-?\d+),(\d+)\b")
_DATE = re.compile(
    r"(?<![\w.'-])(?:(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})|(?P<first>\d{1,2})(?P<by>[./])(?P<second>\d{1,2})(?P=by)(?P<year>\d{4}))(?![\w.'-])"
)
_MONTHS = 12


def as_sql_writes(sql: str) -> str:
    """The statement with decimal points, and with dates in quotes.

    >>> as_sql_writes("SELECT COUNT(*) FROM t WHERE bmi > 27,5 AND day >= '31.12.2022'")
    "SELECT COUNT(*) FROM t WHERE bmi > 27.5 AND day >= '2022-12-31'"
    >>> as_sql_writes("SELECT AVG(x) FROM t WHERE day < 2022-12-31 AND name IN ('1,5', 'a''1/2/2022')")
    "SELECT AVG(x) FROM t WHERE day < '2022-12-31' AND name IN (1.5, 'a''1/2/2022')"
    """
    parts, end = [], 0
    for text in _TEXT.finditer(sql):
        parts += [_outside(sql[end : text.start()]), _inside(text[0])]
        end = text.end()
    return "".join([*parts, _outside(sql[end:])])


def _outside(part: str) -> str:
    return _DATE.sub(_date, _NUMBER.sub(r"\1.\2", part))


def _inside(text: str) -> str:
    """A text that is one date or one number and nothing else."""
    written = text[1:-1]
    if re.fullmatch(r"-?\d+,\d+", written):
        return written.replace(",", ".")
    found = _DATE.fullmatch(written)
    return text if found is None else _date(found)


def _date(found: re.Match[str]) -> str:
    if found["y"]:
        year, month, day = int(found["y"]), int(found["m"]), int(found["d"])
    else:
        day, month, year = int(found["first"]), int(found["second"]), int(found["year"])
        if found["by"] == "/" and month > _MONTHS:
            day, month = month, day
        elif found["by"] == "/" and day <= _MONTHS and day != month:
            return found[0]
    return f"'{year:04}-{month:02}-{day:02}'"
