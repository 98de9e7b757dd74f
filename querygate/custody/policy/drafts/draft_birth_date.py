"""Derives an age from a date of birth if the source has no age: papers use age bands, and dates of birth identify
people.

It is the age at the main date of the records (of admission, of the visit), or else on the first day of the year after
the last date in the data.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from querygate.core.column_profile import ColumnFigures, Surveyor, with_changed
from querygate.core.dates import DAY_US, date_of
from querygate.core.publications.vault_ports import AgeAt, ReadAs, Source
from querygate.core.types import folded
from querygate.custody.policy import column_names
from querygate.custody.policy.drafts.column_proposal import Proposal
from querygate.custody.policy.drafts.draft_domains_and_cuts import day_of, toml_text
from querygate.custody.policy.identifier_signs import PATTERNS, words_of

Amend = Callable[[Source, ReadAs], Source]
"""The source with its amendments."""

INDEX = (
    r"\b(admi\w*|adm|visit|encounter|index|enrol\w*|inclusion|baseline|entry|diagnos\w*|dx|exam\w*|interview|survey"
    r"|aufnahme\w*|einschluss\w*|untersuchungs\w*|besuchs\w*|consult\w*|registration|recruit\w*|sample|collection|randomi[sz]\w*|surgery|operation|treatment)\b"
)
"""Names of the main date of records."""

SELDOM = 0.05
"""Share of the records in which that date may be missing."""

WHY = "Worked out from {born} {at}, in whole years; the date of birth itself stays in the vault."


def propose_age(figures: Sequence[ColumnFigures], today: datetime.date) -> AgeAt | None:
    """The age to derive; None if there is an age already, or no date of birth."""
    kinds = {c.name: column_names.kind_of(c.name) for c in figures}
    if any(kind is not None and kind.name == "age" for kind in kinds.values()):
        return None
    named = {name: kind.name for name, kind in kinds.items() if kind is not None}
    born = next((c for c in figures if named.get(c.name) == "birth" and _days(c) is not None), None)
    if born is None or born.missing > born.rows / 2 or any(folded(c.name) == "age" for c in figures):
        return None
    others = [c for c in figures if _days(c) is not None and named.get(c.name) != "birth"]
    dates = [c for c in others if c.missing <= SELDOM * c.rows and _is_index(c, named.get(c.name, ""))]
    if dates:
        return AgeAt("age", born.name, min(dates, key=lambda c: c.missing).name)
    if any(named.get(c.name) == "birth" and _days(c) is None for c in figures):
        return None  # a year of birth needs no reference day
    return AgeAt("age", born.name, day=_day_after([*others, born], today if not others else None).isoformat())


def _is_index(c: ColumnFigures, kind: str) -> bool:
    return kind not in ("outcome", "cause_of_death") and re.search(INDEX, words_of(c.name)) is not None


def _days(c: ColumnFigures) -> tuple[int, int] | None:
    """The first and last day of a column of dates, as days since 1970-01-01; None for other columns."""
    if c.low is None or c.high is None or c.distinct < 2:
        return None
    if c.matches.get("compact date", 0) >= 0.99:
        low, high = day_of(c.low), day_of(c.high)
        return None if low is None or high is None else (low, high)
    unit = next((unit for kind, unit in (("date", 1), ("timestamp", DAY_US)) if c.all_are(kind)), None)
    return None if unit is None else (int(c.low) // unit, int(c.high) // unit)


def _day_after(columns: Iterable[ColumnFigures], today: datetime.date | None) -> datetime.date:
    """The first day of the year after the last date in the data; or of this year, if births are the only dates."""
    last = max(days[1] for c in columns if (days := _days(c)) is not None)
    after = datetime.date(min(9999, date_of(last).year + 1), 1, 1)
    return after if today is None else max(after, datetime.date(today.year, 1, 1))


def with_proposed_age(
    source: Source, figures: tuple[ColumnFigures, ...], survey: Surveyor, amend: Amend, today: datetime.date
) -> tuple[Source, tuple[ColumnFigures, ...], AgeAt | None]:
    """The source and its figures, with a derived age if it can be derived for everybody."""
    age = propose_age(figures, today)
    if age is None:
        return source, figures, None
    aged = amend(source, ReadAs(ages=(age,)))
    [own] = survey(aged, PATTERNS, [age.name])
    if not own.all_are("integer") or own.distinct < 2:
        return source, figures, None
    return aged, with_changed(figures, [own]), age


def with_dates(proposals: Iterable[Proposal], age: AgeAt | None) -> tuple[Proposal, ...]:
    """The proposals, where that of the age names its dates."""
    return tuple(_dated(p, age) if age is not None and p.name == age.name else p for p in proposals)


def _dated(p: Proposal, age: AgeAt) -> Proposal:
    keys = {"from": toml_text(age.born), "at": toml_text(age.at) if age.at else age.day}
    at = f"at {age.at}" if age.at else f"on {age.day}"
    return replace(p, keys=keys | p.keys, why=(*p.why, WHY.format(born=age.born, at=at)))
