"""Steps along a timestamp column: seconds, or a number with its unit. They are kept in microseconds.

>>> Duration(above=0).read("15m"), Duration(above=0).read(0.5), Duration(above=0).read("soon")
(900000000, 500000, None)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from querygate.core.dates import SECOND_US
from querygate.custody.policy.column_policy import Number
from querygate.custody.policy.interval_edges import exact
from querygate.custody.policy.toml_reader import Bound

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}
ROUND = ("1s", "5s", "15s", "1m", "5m", "15m", "1h", "6h", "1d", "1w", "30d", "90d", "365d", "3650d")
LONGEST_US = 2**62


@dataclass(frozen=True, slots=True)
class Duration(Bound):
    """The durations that a setting accepts."""

    @property
    def phrase(self) -> str:
        least = "0 or more seconds" if self.least == 0 else "a number of seconds above 0"
        return f'{least}, or a text such as "15m", "1h" or "30d"'

    def read(self, raw: object) -> Number | None:
        seconds = _seconds(raw)
        if seconds is None:
            return None
        whole = seconds * SECOND_US
        inside = whole.denominator == 1 and (whole > 0 or (whole == 0 and self.least == 0)) and whole < LONGEST_US
        return int(whole) if inside else None


def _seconds(raw: object) -> Fraction | None:
    if isinstance(raw, str):
        found = re.fullmatch(r"([0-9]{1,9})\s*([smhdw])", raw)
        return Fraction(int(found[1]) * UNITS[found[2]]) if found else None
    number = Bound().read(raw)
    return None if number is None else exact(number)


def round_duration(low: Number, high: Number) -> int:
    """The usual step nearest to a fiftieth of the domain, in microseconds.

    >>> round_duration(0, 5 * 365 * 86_400 * 1_000_000) // 86_400_000_000
    30
    """
    target = max(1.0, (high - low) / 50)
    steps = [int((_seconds(text) or 0) * SECOND_US) for text in ROUND]
    best = min(steps, key=lambda step: max(step / target, target / step))
    return best if best <= high - low else max(1, int(target))


def show_duration(step: Number) -> str:
    """In seconds, for the reader of an error."""
    return f"{step / SECOND_US:g} seconds"
