"""Public-looking domains, grids and cuts for a proposed policy, as they stand in its file.

The least and the greatest value of a column belong to people, so a domain never ends on them: ends are rounded outward
by at least a part of the span, to few digits. Zero is an end of its own: what cannot be negative begins there.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterable

from querygate.core.timestamps import DAY_US
from querygate.custody.policy.column_names import QUANTITIES
from querygate.custody.policy.identifier_signs import words_of
from querygate.custody.policy.public_edges import round_step
from querygate.custody.policy.toml_reader import EPOCH

MARGIN = 0.05


def toml_text(value: str) -> str:
    """A text as TOML writes it. JSON leaves DEL as it is, TOML does not.

    >>> toml_text('a "b"')
    '"a \\\\"b\\\\""'
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


def domain_of(name: str, low: float, high: float, *, whole: bool) -> tuple[tuple[float, float], bool]:
    """A domain for a number column, and whether it is the usual one of a quantity that the name speaks of."""
    for pattern, least, most in QUANTITIES:
        # A usual domain far wider than the data would make a guard that the data cannot keep.
        if (
            re.search(pattern, words_of(name))
            and (least < low or least == 0 <= low)
            and high < most
            and high - low > (most - least) / 5
        ):
            return (least, most), True
    return rounded_outward(low, high, whole=whole), False


def rounded_outward(low: float, high: float, *, whole: bool = False) -> tuple[float, float]:
    """Ends with few digits, outside the data by a part of its span.

    >>> rounded_outward(72, 226, whole=True), rounded_outward(0, 17), rounded_outward(0.31, 0.92)
    ((60, 240), (0.0, 18.0), (0.26, 0.96))
    """
    span = (high - low) or max(abs(high), 1.0)
    step = round_step(0.0, span * 2.5, whole=whole)  # near a twentieth of the span
    first = math.floor((low - MARGIN * span) / step)
    last = math.ceil((high + MARGIN * span) / step)
    if low >= 0 and first < 0:
        first = 0
    ends = [_times(first, step), _times(last, step)]
    return ends[0], ends[1]


def _times(number: int, step: float) -> float:
    """number * step, without the dust of floating point."""
    return number * step if isinstance(step, int) else float(f"{number * step:.12g}")


def number_keys(domain: tuple[float, float], *, whole: bool) -> dict[str, str]:
    ends = [int(end) if whole else float(end) for end in domain]
    return {"domain": f"[{ends[0]}, {ends[1]}]"}


def date_keys(kind: str, low: int, high: int, *, yearly: bool) -> dict[str, str]:
    """Domain, grid and cuts of a date or a timestamp column: whole years, with a year to spare on both sides.

    >>> date_keys("date", 14_000, 14_700, yearly=False)
    {'domain': '[2007-01-01, 2012-01-01]', 'grid': '30', 'cuts': '[2008-01-01, 2009-01-01, 2010-01-01, 2011-01-01]'}
    """
    unit = 1 if kind == "date" else DAY_US
    first, last = (datetime.date.fromordinal(EPOCH + end // unit).year for end in (low, high))
    first, last = max(1, first - 1), min(9998, last + 2)
    every = 1
    if last - first > 10:
        every = 10
        first, last = first // 10 * 10 or 1, min(9999, -(-last // 10) * 10)
    days = 365 if yearly or every == 10 else 30
    cuts = [year for year in range(first + 1, last) if year % every == 0]
    grid = str(days) if kind == "date" else f'"{days}d"'
    return {"domain": toml_list(_start(kind, y) for y in (first, last)), "grid": grid} | (
        {"cuts": toml_list(_start(kind, y) for y in cuts)} if cuts else {}
    )


def _start(kind: str, year: int) -> str:
    return f"{year:04d}-01-01" + ("T00:00:00" if kind == "timestamp" else "")
