"""Chooses the column that identifies people for a proposed policy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.column_profile import ColumnFigures
from querygate.core.types import Floats
from querygate.custody.policy.drafts.column_proposal import OTHER, RARE, Proposal
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_list, toml_text
from querygate.custody.policy.identifier_signs import KeyName, key_name

LISTS = (
    "People have several rows, and code lists are protected by counting records: make one row per person, with "
    "[events] and [derive] in the policy."
)


OF_ALL = (
    "Left out: {share:.0%} of the people have the same value in some row. If the column tells rows of one person "
    "apart, such as visits, publish one row per person."
)
NEARLY_ALL = 0.97
"""Of the people: no class could be made in which others do not have the value."""

_ORDER = (KeyName.PERSON, KeyName.ANY, None)


@dataclass(frozen=True, slots=True)
class PersonProposal:
    """The column and the number of people it identifies; no column if none has a value in every row."""

    column: str
    people: int


def propose_person(figures: Sequence[ColumnFigures], proposals: Sequence[Proposal]) -> PersonProposal:
    """First a key named after people, then any other key, then a column with a different value in every row."""
    rows = figures[0].rows if figures else 0
    roles = {proposal.name: proposal.role for proposal in proposals}
    found = [
        c
        for c in figures
        if roles[c.name] == "identifier" and not c.missing and (key_name(c.name) is not None or c.distinct == rows)
    ]
    best = min(found, key=lambda c: (_ORDER.index(key_name(c.name)), -c.distinct), default=None)
    return PersonProposal("", rows) if best is None else PersonProposal(best.name, best.distinct)


def for_several_rows(
    proposals: Sequence[Proposal], figures: Mapping[str, ColumnFigures], person: str, k: int
) -> Iterator[Proposal]:
    """What can be published if people have several rows: k records, or a value, may belong to one person."""
    for p in proposals:
        if p.role == "sensitive" and p.type in ("category", "boolean"):
            share = _holders(figures[p.name].sample, figures[person].sample)
            p = p.left_out(OF_ALL.format(share=share)) if share > NEARLY_ALL else p
        if "values" in p.keys:
            p = _of_people(p, figures[p.name], figures[person].sample, k)
        yield replace(p, role="withheld", offer=p.role, why=(*p.why, LISTS)) if p.role == "codes" else p


def _of_people(p: Proposal, c: ColumnFigures, people: Floats, k: int) -> Proposal:
    """The values that k people have are told by name, as far as a sample shows that; otherwise publishing decides."""
    named: list[str] = json.loads(p.keys["values"])
    found = _people_by_value(c, people)
    kept = [value for value in named if found.get(value, 0) >= k]
    keys = {key: value for key, value in p.keys.items() if key not in ("values", "ordered")}
    if kept:
        return replace(p, keys={"rare": toml_text(OTHER), **keys, "values": toml_list(map(toml_text, kept))})
    return replace(p, keys={"rare": toml_text(OTHER), **keys}, notes={**p.notes, "rare": RARE.format(k=k)})


def _people_by_value(c: ColumnFigures, people: Floats) -> dict[str, int]:
    """How many people of the sample have each value; nothing where the sample has not all values, which it numbers."""
    texts = sorted(value for value, _ in c.values)
    known = ~np.isnan(c.sample)
    if c.all_are("number") or people.size != c.sample.size or np.unique(c.sample[known]).size != len(texts):
        return {}
    pairs = np.unique(np.stack([c.sample[known], people[known]]), axis=1)
    return dict(zip(texts, np.unique(pairs[0], return_counts=True)[1].tolist(), strict=True))


def _holders(values: Floats, people: Floats) -> float:
    """Of the sampled people, the share that has the value which most people have in some row.

    >>> _holders(np.array([1.0, 2.0, 1.0, 2.0, 1.0]), np.array([7.0, 7.0, 8.0, 8.0, 9.0]))
    1.0
    """
    if values.size != people.size or not values.size:
        return 0.0
    pairs = np.unique(np.stack([values, people])[:, ~np.isnan(values)], axis=1)
    return float(np.unique(pairs[0], return_counts=True)[1].max(initial=0) / np.unique(people).size)


def person_lines(person: PersonProposal, rows: int) -> Iterator[str]:
    """The lines about people, above the file's first table."""
    if not person.column:
        yield '# person = "..."  # the column that identifies people, with role identifier, so that k counts people'
        yield '# k_counts = "rows"  # if no column does, and each row is another person'
        return
    told = f"{rows:,} rows of {person.people:,} people" if person.people < rows else "one row per person"
    yield f"# Identifies people ({told}), so k counts people. Name another column if this is wrong."
    yield f"person = {toml_text(person.column)}"
    if person.people == rows:
        yield 'unit = "person"'
