"""Texts that stand for no value in a source: NA and the like, as programs write them, and codes of numbers.

Left alone, one NA among ten thousand ages would make the column a text, and one 999 would hide what it measures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from querygate.core.column_profile import ColumnFigures, Surveyor
from querygate.core.count_text import counted
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
    """Codes beyond what the column can be by its name, where all that lies beyond are codes."""
    low, high = _limits(c)
    texts = dict.fromkeys(re.sub(r"\.0+$", "", text) for text in c.outermost)
    beyond = tuple(text for text in texts if not low <= float(text.replace(",", ".")) <= high)
    return beyond if len(beyond) <= MOST_CODES and all(map(CODE.fullmatch, beyond)) else ()


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
    return replace(p, keys=keys | p.keys, notes={"absent": note, **p.notes})
