"""Proposes public domains, bins, guards and cuts, as written in a policy file.

The smallest and largest value of a column belong to people, so a domain never follows them closely: it is the possible
range of a measure, or ends on round numbers well outside. Bins and guards follow the spread of the column, which no
single person determines.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from querygate.core import dates
from querygate.core.column_profile import ColumnFigures
from querygate.core.dates import DAY_US, date_of
from querygate.custody.policy.clinical_measures import FoundMeasure
from querygate.custody.policy.interval_edges import exact, round_step

BINS_IN_DEVIATION, GUARDS_IN_DEVIATION = 20, 4
"""A median is known to a bin, and a class mean to a few guards over its people: both must be less than a fifth of the
standard deviation for a paper to print them. Twenty bins instead of ten let more medians and deviations be printed.
"""

MOST_BINS = 20_000
"""The most bins, for a domain far wider than the spread."""

UNITS = 2**34
"""Sums are counted in whole units, of which a domain has this many; no guard is narrower than one unit."""

ROUND = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
"""Leading digits of a round number."""

AGE_CUTS = (18, 25, 35, 45, 55, 65, 75, 85)
"""Cuts of age: adulthood, and the bands of most papers."""

Domain = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of a column as written in the file, with comments on some of them."""

    keys: dict[str, str]
    notes: Mapping[str, str] = field(default_factory=dict)


def toml_text(value: str) -> str:
    """A text as TOML writes it. JSON leaves DEL as it is, TOML does not.

    >>> toml_text('a "b"')
    '"a \\\\"b\\\\""'
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


# -- numbers -------------------------------------------------------------------------------------------------------


def round_domain(low: float, high: float) -> Domain:
    """Round ends well outside the values. Starts at 0 if there are no negative values, unless all values are far from
    it.

    >>> round_domain(3, 971), round_domain(-40.5, 3.25), round_domain(1995, 2003), round_domain(0.31, 0.92)
    ((0, 1000), (-50, 4), (1990, 2010), (0, 1))
    """
    if high > 0 and low > high / 2 and high - low < high / 4:
        step = exact(round_step(0, max((high - low) * 0.75, high / 200), whole=False, parts=1))
        first, last = math.ceil(exact(low) / step) - 1, math.floor(exact(high) / step) + 1
        return _plain(float(first * step)), _plain(float(last * step))
    if high < 0 and high < low / 2:
        least, most = round_domain(-high, -low)
        return -most, -least
    return (-_above(-low) if low < 0 else 0), (_above(high) if high > 0 else 0 if low < 0 else 1)


def _above(value: float) -> float:
    """The next round number."""
    power = exact(float(f"1e{math.floor(math.log10(value))}"))
    return next(_plain(float(exact(lead) * power)) for lead in (*ROUND, 15, 20) if exact(lead) * power > exact(value))


def _plain(value: float) -> float:
    return int(value) if value == int(value) and abs(value) < 1e15 else value


def number_keys(c: ColumnFigures, found: FoundMeasure | None, *, whole: bool) -> Keys:
    """Domain, bins and guard of a sensitive number, fitted to its spread and its resolution."""
    low, high = c.low or 0.0, c.high or 0.0
    domain = found.unit.domain if found else round_domain(low, high)
    deviation = c.spread or (high - low) / 6 or (domain[1] - domain[0]) / 10
    finest = max(c.step, (domain[1] - domain[0]) / MOST_BINS, 1.0 if whole else 0.0)
    cuts = found.unit.cuts if found else ()
    bins = _fitting(round_step(0.0, deviation, whole=whole, parts=BINS_IN_DEVIATION), domain[0], cuts, finest)
    guard = float(round_step(0.0, deviation, whole=whole, parts=GUARDS_IN_DEVIATION))
    twice = 2 * c.step if 2 * c.step <= deviation / 2 else c.step
    guard = max(guard, twice, bins, max(map(abs, domain)) / UNITS)
    notes = {
        "bins": f"{bins / deviation:.2g} standard deviations" + (_told_cuts(bins, domain[0], cuts) if cuts else ""),
        "guard": f"{guard / deviation:.2g} standard deviations"
        + (f", {guard / c.step:,.3g} times the resolution" if c.step and guard > c.step else ""),
    }
    if found:
        notes["domain"] = f"what {_lowered(found.measure.title)} can be, in {found.unit.unit}"
    keys = {
        "domain": toml_list(_shown(end, whole=whole) for end in domain),
        "bins": _shown(bins, whole=whole),
        "guard": _shown(guard, whole=whole),
    }
    title = {"title": toml_text(f"{found.measure.title}, {found.unit.unit}")} if found else {}
    return Keys(title | keys, notes)


def _fitting(width: float, low: float, cuts: tuple[float, ...], finest: float) -> float:
    """The width, or the next finer one whose steps include all cuts; not finer than the resolution of values."""
    power = math.floor(math.log10(width))
    finer = [m * 10.0**n for n in (power, power - 1, power - 2) for m in (5, 2, 1)]
    for one in (width, *(one for one in finer if one < width)):
        if one >= finest and not any(
            (exact(float(cut)) - exact(float(low))) % exact(float(f"{one:.12g}")) for cut in cuts
        ):
            return float(f"{one:.12g}")
    return float(f"{max(width, finest):.12g}")


def _told_cuts(bins: float, low: float, cuts: tuple[float, ...]) -> str:
    told = [cut for cut in cuts if not (exact(float(cut)) - exact(float(low))) % exact(bins)]
    return f"; bins of this width already have edges at {', '.join(f'{cut:g}' for cut in told)}" if told else ""


def _lowered(title: str) -> str:
    """The title inside a sentence; names such as NIH Stroke Scale stay as they are."""
    return title if any(letter.isupper() for letter in title[1:]) else title[0].lower() + title[1:]


def _shown(value: float, *, whole: bool) -> str:
    return str(math.ceil(value)) if whole else repr(float(f"{value:.12g}"))


def age_keys(*, whole: bool) -> Keys:
    keys = {"domain": "[0, 120]", "grid": "1", "cuts": toml_list(map(str, AGE_CUTS))}
    if not whole:
        keys = {"domain": "[0.0, 120.0]", "grid": "1.0", "cuts": toml_list(f"{cut}.0" for cut in AGE_CUTS)}
    return Keys(keys, {"domain": "what an age can be", "cuts": "legal adulthood, and the age bands of most papers"})


def year_keys(low: int, high: int, every: int = 10) -> Keys:
    """Domain, grid and cuts of a calendar year: whole decades, or single years."""
    first, last = (low - 1) // 10 * 10, -(-(high + 1) // 10) * 10
    every = every if last - first <= 20 else 10
    cuts = list(range(first + every, last, every))
    keys = {"domain": toml_list((str(first), str(last))), "grid": "1"}
    return Keys(keys | ({"cuts": toml_list(map(str, cuts))} if cuts else {}), {"domain": "whole decades"})


# -- dates ---------------------------------------------------------------------------------------------------------


def date_keys(kind: str, low: int, high: int, *, yearly: bool) -> dict[str, str]:
    """Domain, grid and cuts of a date or a timestamp column: whole years, with a year to spare on both sides.

    >>> date_keys("date", 14_000, 14_400, yearly=False)
    {'domain': '[2007-01-01, 2011-01-01]', 'grid': '"month"', 'cuts': '[2008-01-01, 2009-01-01, 2010-01-01]'}
    """
    unit = 1 if kind == "date" else DAY_US
    first, last = (date_of(end // unit).year for end in (low, high))
    first, last = max(1, first - 1), min(9998, last + 2)
    every = 1
    if last - first > 10:
        every = 10
        first, last = first // 10 * 10 or 1, min(9999, -(-last // 10) * 10)
    step = "year" if yearly or every == 10 else "month"
    cuts = [year for year in range(first + 1, last) if year % every == 0]
    return {"domain": toml_list(_start(kind, y) for y in (first, last)), "grid": toml_text(step)} | (
        {"cuts": toml_list(_start(kind, y) for y in cuts)} if cuts else {}
    )


def sensitive_date_keys(kind: str, low: int, high: int) -> dict[str, str]:
    """The same for a sensitive date: bins of a month, and a guard of a season."""
    keys = date_keys(kind, low, high, yearly=False)
    return {"domain": keys["domain"], "bins": _days(kind, 30), "guard": _days(kind, 90)}


def day_of(digits: float) -> int | None:
    """The day written as eight digits, in days since 1970-01-01.

    >>> day_of(20240131), day_of(20240231)
    (19753, None)
    """
    try:
        return dates.day_of(datetime.datetime.strptime(f"{int(digits):08d}", "%Y%m%d"))
    except ValueError:
        return None


def _days(kind: str, days: int) -> str:
    return str(days) if kind == "date" else f'"{days}d"'


def _start(kind: str, year: int) -> str:
    return f"{year:04d}-01-01" + ("T00:00:00" if kind == "timestamp" else "")
