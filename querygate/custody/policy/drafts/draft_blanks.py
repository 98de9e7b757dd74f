"""Texts that stand for no value in a source: NA and the like, as programs write them, and codes of numbers.

Left alone, one NA among ten thousand ages would make the column a text, and one 999 would hide what it measures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.column_profile import ColumnFigures, Surveyor
from querygate.core.count_text import counted
from querygate.core.types import Floats
from querygate.core.vault_ports import ReadAs, Source
from querygate.custody.policy import column_names
from querygate.custody.policy.clinical_measures import measure_named
from querygate.custody.policy.drafts.column_proposal import YEARS, Proposal
from querygate.custody.policy.drafts.draft_age import Amend
from querygate.custody.policy.drafts.draft_domains import toml_list, toml_text
from querygate.custody.policy.identifier_signs import PATTERNS

LIMITS = {"age": (0, 120), "birth": YEARS}
"""What ages and years of birth lie between."""

CODE = re.compile(r"-([1-9])\1*|([789])\2*(\.\2+)?")
"""What is written in place of a number that is missing: -1 and -9, 99 and 777, 99.9."""

FAR_CODE = re.compile(r"-?(7{2,}|8{2,}|9{2,})(\.[789]+)?")
"""The same of columns whose names do not say what they can be: one digit may be a value."""

SEVERAL, OFTEN, FAR = 3, 0.002, 2.0
"""Records that have a code at least, as a number and as a share; and how far from all others it is, in their standard
deviations."""

NEAR, MORE = 0.25, 3
"""A code is also farther from the others than they are from each other; or it has so many times more records than the
last stretch before the gap, which is this share of the gap wide: 99 above ejection fractions that end at 75."""

MOST_CODES = 5


@dataclass(frozen=True, slots=True)
class StandIns:
    """Texts that stand for no value in a column, and the records that have one of them."""

    texts: tuple[str, ...] = ()
    records: int = 0


def without_blanks(
    source: Source, figures: tuple[ColumnFigures, ...], survey: Surveyor, amend: Amend
) -> tuple[Source, tuple[ColumnFigures, ...], dict[str, StandIns]]:
    """The source and its figures without what stands for no value, and what that is by column. Texts come first: only
    numbers have codes beyond their range.
    """
    absent: dict[str, StandIns] = {}
    for texts_in in (_blanks, _codes):
        texts = {c.name: found for c in figures if (found := texts_in(c)) and len(found) < c.distinct}
        if not texts:
            continue
        source = amend(source, ReadAs(texts))
        missing = {c.name: c.missing for c in figures}
        figures = survey(source, PATTERNS)
        for c in figures:
            if c.name in texts:
                before = absent.get(c.name, StandIns())
                records = before.records + c.missing - missing[c.name]
                absent[c.name] = StandIns((*before.texts, *texts[c.name]), records)
    return source, figures, absent


def _blanks(c: ColumnFigures) -> tuple[str, ...]:
    return c.blanks


def _codes(c: ColumnFigures) -> tuple[str, ...]:
    """Codes beyond what a column can be by its name, where all beyond are codes; and those far beyond all others."""
    low, high = _limits(c)
    texts = dict.fromkeys(re.sub(r"\.0+$", "", text) for text in c.outermost)
    number = {text: float(text.replace(",", ".")) for text in texts}
    beyond = tuple(text for text in texts if not low <= number[text] <= high)
    if beyond and (len(beyond) > MOST_CODES or not all(map(CODE.fullmatch, beyond))):
        return ()
    spikes = [text for text in texts if FAR_CODE.fullmatch(text) and text not in beyond]
    others = c.sample[~np.isin(c.sample, [number[text] for text in (*beyond, *spikes)]) & ~np.isnan(c.sample)]
    return (*beyond, *(text for text in spikes if _is_far_out(number[text], c.sample, others)))


def _is_far_out(code: float, sample: Floats, others: Floats) -> bool:
    """Do several records have the code, and nobody anything near it?"""
    held = int((sample == code).sum())
    if held < max(SEVERAL, OFTEN * sample.size) or others.size < SEVERAL:
        return False
    low, high = float(others.min()), float(others.max())
    away = code - high if code > 0 else low - code
    last = others > high - NEAR * away if code > 0 else others < low + NEAR * away
    is_apart = away > high - low or held > MORE * int(last.sum())
    return away > FAR * float(others.std()) and is_apart and (code > 0 or low >= 0)


def _limits(c: ColumnFigures) -> tuple[float, float]:
    """Between which numbers the column lies, by its name; everywhere where that says nothing."""
    kind = column_names.kind_of(c.name)
    if kind is not None and kind.name in LIMITS:
        return LIMITS[kind.name]
    fits = c.middle is not None and (kind is None or kind.role == "sensitive")
    found = measure_named(c.name, c.middle or 0.0) if fits else None
    return found.unit.domain if found else (-math.inf, math.inf)


def with_absent(proposals: Iterable[Proposal], absent: Mapping[str, StandIns]) -> tuple[Proposal, ...]:
    return tuple(_told(p, absent[p.name]) if p.name in absent else p for p in proposals)


def _told(p: Proposal, found: StandIns) -> Proposal:
    keys = {"absent": toml_list(map(toml_text, found.texts))}
    note = f"read as missing in {counted(found.records, 'record')}; remove real values from this list"
    note += ", such as 88 for none" if any(text.strip("-")[:2] == "88" for text in found.texts) else ""
    return replace(p, keys=keys | p.keys, notes={"absent": note, **p.notes})
