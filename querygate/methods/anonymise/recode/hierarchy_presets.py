"""Hierarchies by rule: the ancestors of a value follow from how it is written.

>>> preset_rows("ages", ["34", "7"])
[('34', '30-34', '30-39', '20-39', '*'), ('7', '5-9', '0-9', '0-19', '*')]
>>> preset_rows("digits", ["37203", "381"])
[('37203', '3720', '372', '37', '3', '*'), ('381', '381', '381', '38', '3', '*')]
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence

from querygate.core.code_systems.icd9cm import icd9_path
from querygate.core.code_systems.icd10 import icd10_path
from querygate.core.code_systems.icd10cm import icd10cm_path

ROOT = "*"
LONGEST = 40
"""Characters of a value that the rule of digits takes one by one; the rest goes at once."""


class UnreadableValues(ValueError):
    """Values that a rule cannot read. Says how many."""

    def __init__(self, count: int) -> None:
        super().__init__(f"{count:,} values cannot be read")
        self.count = count


def preset_rows(name: str, values: Sequence[str]) -> list[tuple[str, ...]]:
    """One row per value: the value, its ancestors and the root. Unreadable if the rule does not know some."""
    rule = PRESETS[name]
    if name == "digits":
        longest = min(max(map(len, values), default=1), LONGEST)
        return [(value, *(value[:length] for length in range(longest - 1, 0, -1)), ROOT) for value in values]
    paths = [rule(value) for value in values]
    known = [(*path, ROOT) for path in paths if path is not None]
    if len(known) < len(paths):
        raise UnreadableValues(len(paths) - len(known))
    return known


def _date_path(text: str) -> tuple[str, ...] | None:
    """A day: month, quarter, year, decade."""
    try:
        day = datetime.date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None
    quarter = f"{day.year}-Q{(day.month + 2) // 3}"
    return (text, f"{day:%Y-%m}", quarter, str(day.year), f"{day.year // 10}0s")


def _age_path(text: str) -> tuple[str, ...] | None:
    """An age in years, or the age from which a class is open (90+): bands of 5, 10 and 20 years."""
    found = re.fullmatch(r"([0-9]{1,3})\+?", text.strip())
    if found is None:
        return None
    starts = [(int(found[1]) // width * width, width) for width in (5, 10, 20)]
    return (text, *(f"{start}-{start + width - 1}" for start, width in starts))


def _text(text: str) -> tuple[str, ...] | None:
    return (text,)


PRESETS: dict[str, Callable[[str], tuple[str, ...] | None]] = {
    "digits": _text,
    "icd9cm": icd9_path,
    "icd10cm": icd10cm_path,
    "icd10": icd10_path,
    "dates": _date_path,
    "ages": _age_path,
}
"""What comes before the root, by the name of the rule; how far digits go depends on the longest value."""
