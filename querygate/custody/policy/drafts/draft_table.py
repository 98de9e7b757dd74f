"""Chooses which columns of a table are published: no more than can be published well, and nothing twice.

Columns that papers use most come first. An omitted column says why, and is one edit away.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from querygate.core.column_profile import ColumnFigures
from querygate.core.count_text import counted
from querygate.core.types import Role, folded
from querygate.custody.policy.drafts.column_proposal import NUMBERS, OTHER, UNSURE, Proposal, propose_columns
from querygate.custody.policy.drafts.column_relations import follows, rank_correlation
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_list, toml_text

MOST_QUASI, MOST_NUMBERS, MOST_CATEGORIES = 3, 8, 8
"""Quasi-identifiers, and sensitive numbers and categories, that are published. Three quasi-identifiers are one view,
which has every question; a fourth makes two views, and most questions about two categories are told by neither. On the
demo study 92 % of what a paper would ask of three can be printed, and 26 % of what it would ask of four: other
questions, since those about the fourth are no longer asked.
"""

NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class QuasiRoom:
    """So many quasi-identifiers, and of each category so many values by name, all others together; None: as many as
    enough people have.
    """

    most: int = MOST_QUASI
    values: int | None = None


USUAL, COARSE, FOUR = QuasiRoom(), QuasiRoom(values=3), QuasiRoom(MOST_QUASI + 1, 3)
"""With three values of each category, four quasi-identifiers have people enough in each combination: of the demo study
as much can be printed as of three in full, and education can be asked about.
"""

ALWAYS, THIN, STEPS = 2, 2, 12
"""Quasi-identifiers that are published however small the table is. One more is published if each combination of their
values has this many times k records on average; a number or a date counts as at most this many values.
"""

COPY, CODED, READING, TELLING = 0.95, 0.9, 0.8, 0.9
"""The rank correlations from which a number repeats another, codes are groups of a number, and a number is another
reading of the same measure; and the share of avoided wrong guesses from which one column reveals another.
"""

AGAIN = "Another column already gives the {once}, and the two together would reveal more."
OVER = f"Left out: {MOST_NUMBERS} sensitive numbers and {MOST_CATEGORIES} sensitive categories are enough for a start."
OVER_QUASI = (
    "Left out for now: with more than {most} quasi-identifiers, most answers by two of them at once are too wide to "
    "print. With this column, each combination of their values would have about {left} on average. `querygate policy "
    "preview` shows what it would cost."
)
CROWDED = (
    "Left out for now: with this column, each combination of the quasi-identifiers' values would have about {left} on "
    "average, and every answer would be wider. `querygate policy preview` shows what it would cost."
)
FEW_VALUES = (
    "{number} values grouped: with fewer named values, more quasi-identifiers can be published. Change `values` to "
    "name others"
)
SAME_NAME = "Left out: another column has the same name, ignoring case."


def propose(
    columns: Iterable[ColumnFigures], k: int, left_out: Mapping[str, str] = NOTHING, room: QuasiRoom = USUAL
) -> tuple[Proposal, ...]:
    """A proposal for each column, in the order of the source. `left_out` are quasi-identifiers that are not published,
    with the reason; no others replace them.
    """
    figures = {c.name: c for c in columns}
    found = _unrepeated(_once(_some_quasi(propose_columns(figures.values(), k))), figures, room)
    if room.values is not None:
        found = [_of_few_values(p, figures[p.name], room.values) for p in found]
    kept = _limited(found, figures, k, room)
    return _told_apart([p.left_out(left_out[p.name]) if p.name in left_out else p for p in kept])


def _some_quasi(proposals: list[Proposal]) -> list[Proposal]:
    """If no name suggests a quasi-identifier, use columns that are not known to be sensitive."""
    if any(p.role == "quasi-identifier" for p in proposals):
        return proposals
    return [
        replace(p, role="quasi-identifier")
        if p.role == "sensitive" and p.rank[0] == UNSURE and p.type in ("category", "boolean")
        else p
        for p in proposals
    ]


def _of_few_values(p: Proposal, c: ColumnFigures, most: int) -> Proposal:
    """A quasi-identifier that keeps its most common values and merges the others."""
    named = json.loads(p.keys.get("values", "[]"))
    if p.role != "quasi-identifier" or p.type != "category" or len(named) + ("rare" in p.keys) <= most:
        return p
    count = dict(c.values)
    common = sorted(named, key=lambda value: -count.get(value, 0))[: most - 1]
    other = json.loads(p.keys.get("rare", toml_text(OTHER)))
    keys = {"values": toml_list(toml_text(value) for value in named if value in common), "rare": toml_text(other)}
    note = FEW_VALUES.format(number=c.distinct - len(common))
    return replace(p, keys={k: v for k, v in p.keys.items() if k != "ordered"} | keys, notes={**p.notes, "rare": note})


def _told_apart(proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """Adds the column's name to a title that several published columns share."""
    times = Counter(p.keys.get("title") for p in proposals if p.is_published)
    return tuple(
        replace(p, keys=p.keys | {"title": toml_text(f"{json.loads(p.keys['title'])} ({p.name})")})
        if p.is_published and times[p.keys.get("title")] > 1 and "title" in p.keys
        else p
        for p in proposals
    )


def _ranked(proposals: Iterable[Proposal]) -> list[Proposal]:
    return sorted(proposals, key=lambda p: p.rank)


def _once(proposals: list[Proposal]) -> list[Proposal]:
    """Publishes age once, and a date of birth only if there is no age."""
    first: dict[str, str] = {}
    for p in _ranked(proposals):
        if p.is_published:
            first.setdefault(p.once, p.name)
    return [
        p.left_out(AGAIN.format(once=p.once)) if p.is_published and p.once and p.name != first[p.once] else p
        for p in proposals
    ]


# -- copies ----------------------------------------------------------------------------------------------------------


def _unrepeated(proposals: list[Proposal], figures: Mapping[str, ColumnFigures], room: QuasiRoom) -> list[Proposal]:
    """Of columns with nearly the same content, the first by rank."""
    kept: list[Proposal] = []
    told: dict[str, str] = {}
    for p in _ranked(proposals):
        if not p.is_published:
            continue
        why = next(filter(None, (_repeated(p, other, figures) for other in kept)), "")
        if why:
            told[p.name] = why
        elif _room(p, kept, room):
            kept.append(p)
    return [p.left_out(told[p.name]) if p.name in told else p for p in proposals]


def _repeated(p: Proposal, other: Proposal, figures: Mapping[str, ColumnFigures]) -> str:
    """Why a column repeats another; empty if it does not."""
    ours, theirs = figures[p.name].sample, figures[other.name].sample
    if ours.size != theirs.size:
        return ""
    if other.type in NUMBERS and (p.type in NUMBERS or figures[p.name].all_are("integer")):
        found = abs(rank_correlation(ours, theirs))
        what, least = (
            (f"Another reading of what {other.name} measures", READING)
            if p.measure and p.measure == other.measure
            else (f"Nearly a copy of {other.name}", COPY)
            if p.type in NUMBERS
            else (f"Groups of {other.name}", CODED)
        )
        if found >= least:
            return f"{what} (rank correlation {found:.2f}): published once."
    if p.type in NUMBERS:
        return ""
    if p.role == other.role == "quasi-identifier" and (found := follows(ours, theirs)) >= TELLING:
        return f"Tells {other.name} (it avoids {found:.0%} of wrong guesses): published once."
    found = follows(theirs, ours)
    return (
        f"Follows from {other.name} (which avoids {found:.0%} of wrong guesses): published once."
        if found >= TELLING
        else ""
    )


# -- how many --------------------------------------------------------------------------------------------------------


def _limited(
    proposals: Sequence[Proposal], figures: Mapping[str, ColumnFigures], k: int, room: QuasiRoom
) -> tuple[Proposal, ...]:
    kept: list[Proposal] = []
    why: dict[str, str] = {}
    for p in _ranked(proposals):
        if not p.is_published:
            continue
        told = _not_kept(p, kept, figures, k, room)
        if told:
            why[p.name] = told
        else:
            kept.append(p)
    return tuple(p.left_out(why[p.name]) if p.name in why else p for p in proposals)


def _not_kept(
    p: Proposal, kept: Sequence[Proposal], figures: Mapping[str, ColumnFigures], k: int, room: QuasiRoom
) -> str:
    """Why a column is not published with those before it; empty if it is."""
    if _is_taken(p, kept):
        return SAME_NAME
    if not _is_quasi(p.role):
        return "" if _room(p, kept, room) else OVER
    quasi = [one for one in kept if _is_quasi(one.role)]
    left = figures[p.name].rows / math.prod(_values(one, figures[one.name]) for one in [*quasi, p])
    told = counted(round(left), "record")
    if not _room(p, kept, room):
        return OVER_QUASI.format(most=room.most, left=told)
    return CROWDED.format(left=told) if len(quasi) >= ALWAYS and left < THIN * k else ""


def _values(p: Proposal, c: ColumnFigures) -> int:
    """The number of values, or bands, that answers distinguish; rare values of a category count as one."""
    named = p.keys.get("values", "")
    told = len(json.loads(named)) + ("rare" in p.keys) if named else c.distinct
    return max(1, min(told, STEPS) if not _is_category(p) else told)


def _room(p: Proposal, kept: Sequence[Proposal], room: QuasiRoom) -> bool:
    """Whether one more column of its role and kind can be published well."""
    most = room.most if p.role == "quasi-identifier" else MOST_NUMBERS if _is_number(p) else MOST_CATEGORIES
    alike = [one for one in kept if one.role == p.role and (_is_number(one) == _is_number(p) or _is_quasi(p.role))]
    return len(alike) < most


def _is_taken(p: Proposal, kept: Sequence[Proposal]) -> bool:
    return any(folded(one.name) == folded(p.name) for one in kept)


def _is_number(p: Proposal) -> bool:
    return not _is_category(p)


def _is_category(p: Proposal) -> bool:
    return p.type in ("category", "boolean")


def _is_quasi(role: Role) -> bool:
    return role == "quasi-identifier"
