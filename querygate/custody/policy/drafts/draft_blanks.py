"""Texts that stand for no value in a source: NA and the like, as programs write them, and codes of numbers; numbers
beyond a limit of detection; and spellings of one value.

Left alone, one NA or one < 0.5 among ten thousand numbers would make the column a text, one 999 would hide what it
measures, and each spelling would be a value of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from querygate.core.column_profile import ColumnFigures, Surveyor, with_changed
from querygate.core.count_text import counted
from querygate.core.publications.vault_ports import ReadAs, Source
from querygate.core.types import Floats
from querygate.custody.policy import column_names
from querygate.custody.policy.clinical_measures import measure_named
from querygate.custody.policy.drafts.column_proposal import CODED, YEARS, Proposal, choose_k
from querygate.custody.policy.drafts.draft_birth_date import Amend
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_list, toml_text
from querygate.custody.policy.drafts.draft_spellings import SPELLED, Spellings, spelled_key, spellings_in
from querygate.custody.policy.identifier_signs import MOSTLY, PATTERNS

LIMITS = {"age": (0, 120), "birth": YEARS}
"""The range of ages and years of birth."""

CODE = re.compile(r"-([1-9])\1*|([789])\2*(\.\2+)?")
"""Numbers that are written for missing ones: -1 and -9, 99 and 777, 99.9."""

FAR_CODE = re.compile(r"-?(7{2,}|8{2,}|9{2,})(\.[789]+)?")
"""The same for columns whose range is not known from their names: a single digit may be a value."""

BELOW_ZERO = re.compile(r"-[789]")
"""The same where nothing else is below zero: wages of -9."""

SEVERAL, OFTEN, FAR = 3, 0.002, 2.0
"""The least records with a code, as a number and as a share; and its distance from all other values, in their standard
deviations."""

NEAR, MORE = 0.25, 3
"""A code is also farther from the others than they are from each other; or it has so many times more records than the
last stretch before the gap, which is this share of the gap wide: 99 above ejection fractions that end at 75."""

MOST_CODES = 5


LIMIT = "{records} written as < or > a limit: read as the limit, so means are not quite right"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a column is read: texts that stand for no value, and the records that have one of them; records that are
    beyond a limit of detection; spellings of values.
    """

    texts: tuple[str, ...] = ()
    records: int = 0
    censored: int = 0
    spelled: Spellings = field(default_factory=dict)


def as_meant(
    source: Source, figures: tuple[ColumnFigures, ...], survey: Surveyor, amend: Amend
) -> tuple[Source, tuple[ColumnFigures, ...], dict[str, Reading]]:
    """The source and its figures as its values are meant, and how each column is read. Texts come first: only numbers
    have codes beyond their range.
    """
    found: dict[str, Reading] = {}
    for read in (_texts, _codes):
        own = {c.name: reading for c in figures if (reading := read(c))}
        if not own:
            continue
        source = amend(
            source,
            ReadAs(
                {name: one.texts for name, one in own.items() if one.texts},
                spelled={name: one.spelled for name, one in own.items() if one.spelled},
                censored={name: "limit" for name, one in own.items() if one.censored},
            ),
        )
        missing = {c.name: c.missing for c in figures}
        figures = with_changed(figures, survey(source, PATTERNS, own))
        for c in figures:
            if c.name in own:
                before, now = found.get(c.name, Reading()), own[c.name]
                records = before.records + c.missing - missing[c.name]
                censored = before.censored + now.censored
                found[c.name] = Reading((*before.texts, *now.texts), records, censored, now.spelled or before.spelled)
    return source, figures, found


def _texts(c: ColumnFigures) -> Reading | None:
    """What is written in place of a number, or of any value; and spellings of the same."""
    if c.distinct > CODED and c.readable.get("number", 0) >= MOSTLY * c.known and (c.unmeasured or c.censored):
        return Reading(c.unmeasured, censored=c.censored)
    texts = c.blanks if len(c.blanks) < c.distinct else ()
    spelled = {value: others for value, others in spellings_in(c, choose_k(c.rows)).items() if value not in texts}
    return Reading(texts, spelled=spelled) if texts or spelled else None


def _codes(c: ColumnFigures) -> Reading | None:
    texts = _code_texts(c)
    return Reading(texts) if texts and len(texts) < c.distinct else None


def _code_texts(c: ColumnFigures) -> tuple[str, ...]:
    """Codes outside the range that a column's name implies, if all values outside are codes; and codes far from all
    other values."""
    low, high = _limits(c)
    texts = dict.fromkeys(re.sub(r"\.0+$", "", text) for text in c.outermost)
    number = {text: float(text.replace(",", ".")) for text in texts}
    beyond = tuple(text for text in texts if not low <= number[text] <= high)
    if beyond and (len(beyond) > MOST_CODES or not all(map(CODE.fullmatch, beyond))):
        return ()
    spikes = [text for text in texts if text not in beyond and (FAR_CODE.fullmatch(text) or BELOW_ZERO.fullmatch(text))]
    others = c.sample[~np.isin(c.sample, [number[text] for text in (*beyond, *spikes)]) & ~np.isnan(c.sample)]
    return (*beyond, *(text for text in spikes if _is_far_out(number[text], c.sample, others)))


def _is_far_out(code: float, sample: Floats, others: Floats) -> bool:
    """Do several records have the code, and none a value near it? Of small ones below zero: and none such a value?"""
    held = int((sample == code).sum())
    if held < max(SEVERAL, OFTEN * sample.size) or others.size < SEVERAL:
        return False
    low, high = float(others.min()), float(others.max())
    away = code - high if code > 0 else low - code
    last = others > high - NEAR * away if code > 0 else others < low + NEAR * away
    is_apart = away > high - low or held > MORE * int(last.sum())
    if -10 < code < 0:
        return low >= 0 and np.unique(others).size > CODED
    return away > FAR * float(others.std()) and is_apart and (code > 0 or low >= 0)


def _limits(c: ColumnFigures) -> tuple[float, float]:
    """The range that the column's name implies; infinite if it implies none."""
    kind = column_names.kind_of(c.name)
    if kind is not None and kind.name in LIMITS:
        return LIMITS[kind.name]
    fits = c.middle is not None and (kind is None or kind.role == "sensitive")
    found = measure_named(c.name, c.middle or 0.0) if fits else None
    return found.unit.domain if found else (-math.inf, math.inf)


def with_readings(proposals: Iterable[Proposal], found: Mapping[str, Reading]) -> tuple[Proposal, ...]:
    return tuple(_told(p, found[p.name]) if p.name in found else p for p in proposals)


def _told(p: Proposal, found: Reading) -> Proposal:
    keys, notes = {}, {}
    if found.texts:
        keys["absent"] = toml_list(map(toml_text, found.texts))
        notes["absent"] = f"read as missing in {counted(found.records, 'record')}; remove real values from this list"
        notes["absent"] += ", such as 88 for none" if any(text.strip("-")[:2] == "88" for text in found.texts) else ""
    if found.spelled and p.type in ("", "category") and p.role in SPELLED:
        keys["spelled"], notes["spelled"] = spelled_key(found.spelled)
    if found.censored and p.type in ("", "integer", "number"):
        keys["censored"] = toml_text("limit")
        notes["censored"] = LIMIT.format(records=counted(found.censored, "record is", "records are"))
    return replace(p, keys=keys | p.keys, notes={**notes, **p.notes})
