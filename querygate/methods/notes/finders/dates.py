"""Dates in numbers and in words, with or without a year. A year alone may stay.

The value of a span is the day as far as it can be read (`2098-03-12`, `2098-03`, `2098`) and empty if no year is
written: what the replacement needs. Times that belong to a date are part of it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from querygate.methods.notes.finders.pattern import preceded_by, spans_of
from querygate.methods.notes.spans import IdentifierKind, TextSpan

MONTHS = (
    r"jan(?:uary|uar|vier)?|enero|feb(?:ruary|ruar)?|f[eé]vrier|febrero|mar(?:ch|s|zo)?|"
    r"märz|apr(?:il)?|avril|abril|may|mai|"
    r"mayo|june?|juin|junio|juni|july?|juillet|julio|juli|aug(?:ust)?|août|agosto|sept?(?:ember|embre)?|septiembre|"
    r"o[ck]t(?:ober|obre|ubre)?|nov(?:ember|embre|iembre)?|de[cz](?:ember)?|d[eé]cembre|diciembre"
)
_MONTH_NUMBER = {
    "jan": 1,
    "ene": 1,
    "feb": 2,
    "fév": 2,
    "fev": 2,
    "mar": 3,
    "mär": 3,
    "apr": 4,
    "avr": 4,
    "abr": 4,
    "may": 5,
    "mai": 5,
    "jun": 6,
    "jui": 6,
    "jul": 7,
    "aug": 8,
    "aoû": 8,
    "ago": 8,
    "sep": 9,
    "oct": 10,
    "okt": 10,
    "nov": 11,
    "dec": 12,
    "dez": 12,
    "déc": 12,
    "dic": 12,
}
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_ORDINAL = rf"{_DAY}(?: ?(?:st|nd|rd|th)|\.)?"
_YEAR = r"(?:1[89]\d\d|20\d\d|21\d\d)"
_CLOCK = r"(?:[T,]? ?(?:at )?\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?(?: ?[ap]\.?m\.?)?(?:Z|[+\-]\d\d:?\d\d)?)?"
_ISO = re.compile(rf"(?<![\w.\-/])(?P<y>\d{{4}})([\-/.])(?P<m>\d{{1,2}})\2(?P<d>\d{{1,2}})(?!\d|[\-/]\d){_CLOCK}", re.I)
_NUMERIC = re.compile(
    rf"(?<![\w.\-/])(?P<a>\d{{1,2}})(?P<s>[\-/.]) ?(?P<b>\d{{1,2}})(?P=s) ?(?P<y>\d{{4}}|"
    rf"'?\d\d)(?!\d|[\-/]\d|\.\d){_CLOCK}",
    re.I,
)
_COMPACT = re.compile(r"(?<![\w.\-/])(?P<y>(?:19|20|21)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?!\w)")
_MONTH_FIRST = re.compile(
    rf"\b(?P<mon>{MONTHS})\b\.?[ \-/]{{0,2}}(?P<d>{_ORDINAL})(?!\w|:\d|/\d)(?:(?:,? ?|"
    rf"[\-/ ])(?P<y>{_YEAR}|'\d\d|(?<=-)\d\d)(?!\w))?{_CLOCK}",
    re.I,
)
_DAY_FIRST = re.compile(
    rf"(?<![\w.])(?P<d>{_ORDINAL})(?: of)?[ \-/.]{{0,2}}(?P<mon>{MONTHS})\b\.?(?:[ ,\-/.]{{0,2}}(?P<y>{_YEAR}|"
    rf"'?\d\d)(?!\w|:\d|[./]\d))?{_CLOCK}",
    re.I,
)
_GLUED = re.compile(rf"(?<!\w)(?P<d>{_DAY})(?P<mon>{MONTHS})(?P<y>\d{{4}}|\d\d)(?!\w)", re.I)
_MONTH_YEAR = re.compile(rf"\b(?P<mon>{MONTHS})\b\.?(?:,? (?:of )?|[\-/])(?P<y>{_YEAR}|'\d\d)(?!\w)", re.I)
_MONTH_SLASH_YEAR = re.compile(rf"(?<![\w./\-])(?P<m>0?[1-9]|1[0-2])[/\-](?P<y>{_YEAR})(?![\w/\-])")
_MONTH_ALONE = re.compile(
    r"\b(?:in|since|last|next|this|until|till|by|during|early|late|mid|of|from|between|"
    r"around|every|on|end of|beginning of)[ \-]"
    r"(?P<mon>January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b(?! [A-Z])"
)
_MONTH_UNMISTAKABLE = re.compile(r"\b(?:January|February|September|October|November|December)\b")
_SHORT = re.compile(
    r"(?<![\w./\-,])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\w/%]|[.\-]\d| ?(?:mg|ml|strength|vision|pain|beats|times))"
)
_RATED = re.compile(
    r"\b(?:pain|strength|score|scored|scale|grade|graded|murmur|vision|rated|rating|gcs|apgars?|motor|power|reflexes|"
    r"pulses|level|severity|acuity|out of|ratio|bp|blood pressure|visual|intensity|[ivx]+)\b[^.\n]{0,20}$",
    re.I,
)
_WEEKDAY = re.compile(
    r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|(?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)days?)\b|\b(?:MON|TUES|WEDNES|THURS|FRI|SATUR|SUN)DAY\b"
)
_HOLIDAY = re.compile(
    r"\b(?:Christmas(?: (?:Eve|Day))?|Thanksgiving(?: Day)?|Easter(?: (?:Sunday|Monday))?|"
    r"New Year'?s(?: (?:Eve|Day))?|Halloween|"
    r"Independence Day|Labor Day|Memorial Day|Veterans Day|Valentine'?s Day|Mother'?s Day|"
    r"Father'?s Day|Hanukkah|Ramadan|"
    r"Passover|Yom Kippur|Rosh Hashanah|Diwali|Boxing Day|Good Friday|St\.? Patrick'?s Day|"
    r"[4４]th of July|Fourth of July)\b",
    re.I,
)
_FESTIVE = (
    *(
        "christmas",
        "thanksgiving",
        "easter",
        "new year",
        "halloween",
        " day",
        "hanukkah",
        "ramadan",
        "passover",
        "yom kippur",
    ),
    *("rosh hashanah", "diwali", "good friday", "of july"),
)
_ERA = {
    "令和": 2018,
    "平成": 1988,
    "昭和": 1925,
    "大正": 1911,
    "明治": 1867,
    "R": 2018,
    "H": 1988,
    "S": 1925,
    "T": 1911,
}
_JAPANESE = re.compile(
    r"(?<!\d)(?:(?P<era>令和|平成|昭和|大正|明治|(?<![A-Za-z])[RHST])\.?(?P<ey>\d{1,2}|元)|(?P<y>(?:18|19|20|21)\d\d))"
    r"(?:年(?:(?P<m>\d{1,2})月(?:(?P<d>\d{1,2})日)?)?|[./](?P<m2>\d{1,2})[./](?P<d2>\d{1,2})(?!\d))"
    r"(?: ?(?:午前|午後)?\d{1,2}(?:時(?:\d{1,2}分)?|:\d\d))?"
)
_JAPANESE_DAY = re.compile(r"(?<!\d)(?<!年)\d{1,2}月\d{1,2}日(?: ?(?:午前|午後)?\d{1,2}(?:時(?:\d{1,2}分)?|:\d\d))?")


def find_dates(text: str) -> Iterator[TextSpan]:
    for match in _ISO.finditer(text):
        yield from _checked(match, int(match["y"]), int(match["m"]), int(match["d"]), "iso date")
    for match in _COMPACT.finditer(text):
        yield from _checked(match, int(match["y"]), int(match["m"]), int(match["d"]), "compact date")
    for match in _NUMERIC.finditer(text):
        yield from _numeric(match)
    for match in _MONTH_SLASH_YEAR.finditer(text):
        yield TextSpan(
            match.start(), match.end(), IdentifierKind.DATE, "month and year", f"{match['y']}-{int(match['m']):02}"
        )
    for match in _SHORT.finditer(text):
        if _month_and_day(int(match["a"]), int(match["b"])) and not preceded_by(_RATED, text, match.start()):
            yield TextSpan(match.start(), match.end(), IdentifierKind.DATE, "day and month")


_ANY_MONTH = re.compile(rf"(?<![^\W\d_])(?:{MONTHS})(?![^\W\d_])")


def find_dates_in_words(text: str) -> Iterator[TextSpan]:
    if not _ANY_MONTH.search(text.lower()):
        return
    for pattern in (_MONTH_FIRST, _DAY_FIRST, _GLUED):
        for match in pattern.finditer(text):
            day = int(re.match(r"\d+", match["d"])[0])  # type: ignore[index]
            year = _full_year(match["y"]) if match["y"] else 0
            value = f"{year:04}-{_MONTH_NUMBER[match['mon'].lower()[:3]]:02}-{day:02}" if year else ""
            yield TextSpan(match.start(), match.end(), IdentifierKind.DATE, "date in words", value)
    for match in _MONTH_YEAR.finditer(text):
        if match["mon"] not in ("may", "mar", "march") or preceded_by(_IN, text, match.start()):
            month = _MONTH_NUMBER[match["mon"].lower()[:3]]
            value = f"{_full_year(match['y']):04}-{month:02}"
            yield TextSpan(match.start(), match.end(), IdentifierKind.DATE, "month and year", value)
    yield from spans_of(_MONTH_ALONE, text, IdentifierKind.DATE, "month", "mon")
    yield from spans_of(_MONTH_UNMISTAKABLE, text, IdentifierKind.DATE, "month")


_IN = re.compile(r"\b(?:in|since|of|until|from|by|to|during)\s$", re.I)


def find_days(text: str) -> Iterator[TextSpan]:
    """Days of the week and holidays."""
    low = text.lower()
    if "day" in low:
        yield from spans_of(_WEEKDAY, text, IdentifierKind.DATE, "weekday")
    if any(word in low for word in _FESTIVE):
        yield from spans_of(_HOLIDAY, text, IdentifierKind.DATE, "holiday")


def find_japanese_dates(text: str) -> Iterator[TextSpan]:
    """Years of an era or of the common one; a year alone may stay."""
    for match in _JAPANESE.finditer(text):
        month, day = match["m"] or match["m2"], match["d"] or match["d2"]
        if not month:
            continue
        year = int(match["y"]) if match["y"] else _ERA[match["era"]] + (1 if match["ey"] == "元" else int(match["ey"]))
        value = f"{year:04}-{int(month):02}" + (f"-{int(day):02}" if day else "")
        yield TextSpan(match.start(), match.end(), IdentifierKind.DATE, "japanese date", value)
    yield from spans_of(_JAPANESE_DAY, text, IdentifierKind.DATE, "japanese date")


def _numeric(match: re.Match[str]) -> Iterator[TextSpan]:
    """Month first as in the United States, day first if it cannot be otherwise or dots divide."""
    a, b, year = int(match["a"]), int(match["b"]), _full_year(match["y"])
    first = (b, a) if match["s"] == "." else (a, b)
    for month, day in (first, first[::-1]):
        if 1 <= month <= 12 and 1 <= day <= 31:
            yield from _checked(match, year, month, day, "date in numbers")
            return
    two = _full_year(match["a"])  # year first, in two digits
    if match["y"].isdigit() and len(match["y"]) == 2:
        yield from _checked(match, two, b, int(match["y"]), "date in numbers")


def _checked(match: re.Match[str], year: int, month: int, day: int, rule: str) -> Iterator[TextSpan]:
    try:
        value = dt.date(year, month, day).isoformat()
    except ValueError:
        return
    yield TextSpan(match.start(), match.end(), IdentifierKind.DATE, rule, value)


def _month_and_day(a: int, b: int) -> bool:
    return (1 <= a <= 12 and 1 <= b <= 31) or (1 <= b <= 12 and 1 <= a <= 31)


def _full_year(text: str) -> int:
    """Two digits are of this century up to 40."""
    year = int(text.lstrip("'"))
    return year if len(text.lstrip("'")) == 4 else year + (2000 if year <= 40 else 1900)
