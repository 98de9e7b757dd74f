"""Texts that stand for no value in a source: NA and the like, as programs write them, and codes of ages and years.

Left alone, one NA among ten thousand ages would make the column a text, and an age of 999 would stretch its domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from querygate.core.column_profile import ColumnFigures, Surveyor
from querygate.core.vault_ports import ReadAs, Source
from querygate.custody.policy import column_names
from querygate.custody.policy.drafts.column_proposal import YEARS, Proposal
from querygate.custody.policy.drafts.draft_age import Amend
from querygate.custody.policy.drafts.draft_domains import toml_list, toml_text
from querygate.custody.policy.identifier_signs import PATTERNS

LIMITS = {"age": (0, 120), "birth": YEARS}
"""What ages and years of birth lie between; sevens, eights and nines beyond say why there is none."""

NOTE = "read as missing; remove what is a value"


def without_blanks(
    source: Source, figures: tuple[ColumnFigures, ...], survey: Surveyor, amend: Amend
) -> tuple[Source, tuple[ColumnFigures, ...], dict[str, tuple[str, ...]]]:
    """The source and its figures without texts that stand for no value, and which these are by column."""
    absent = {c.name: found for c in figures if (found := absent_in(c))}
    if not absent:
        return source, figures, {}
    source = amend(source, ReadAs(absent))
    return source, survey(source, PATTERNS), absent


def absent_in(c: ColumnFigures) -> tuple[str, ...]:
    """What stands for no value in a column; nothing where that is all it has."""
    found = (*c.blanks, *_codes(c))
    return found if len(found) < c.distinct else ()


def _codes(c: ColumnFigures) -> tuple[str, ...]:
    kind = column_names.kind_of(c.name)
    limits = LIMITS.get(kind.name) if kind is not None else None
    if limits is None or not all(text.isdigit() or text in c.blanks for text, _ in c.values):
        return ()
    numbers = [text for text, _ in c.values if text.isdigit()]
    beyond = tuple(text for text in numbers if not limits[0] <= int(text) <= limits[1])
    return beyond if all(text[0] in "789" and set(text) == {text[0]} for text in beyond) else ()


def with_absent(proposals: Iterable[Proposal], absent: Mapping[str, tuple[str, ...]]) -> tuple[Proposal, ...]:
    return tuple(_told(p, absent[p.name]) if p.name in absent else p for p in proposals)


def _told(p: Proposal, texts: tuple[str, ...]) -> Proposal:
    keys = {"absent": toml_list(map(toml_text, texts))}
    return replace(p, keys=keys | p.keys, notes={"absent": NOTE, **p.notes})
