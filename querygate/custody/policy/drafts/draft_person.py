"""The column that a proposed policy takes for what identifies people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from querygate.core.column_profile import ColumnFigures
from querygate.custody.policy.drafts.column_proposal import OTHER, RARE, Proposal
from querygate.custody.policy.drafts.draft_domains import toml_text
from querygate.custody.policy.identifier_signs import KeyName, key_name

LISTS = (
    "People have several rows, and code lists are protected by counting records: make one row per person, with "
    "[events] and [derive] in the policy."
)


_ORDER = (KeyName.PERSON, KeyName.ANY, None)


@dataclass(frozen=True, slots=True)
class PersonProposal:
    """The column and how many people it tells apart; no column where none has a value in every row."""

    column: str
    people: int


def propose_person(figures: Sequence[ColumnFigures], proposals: Sequence[Proposal]) -> PersonProposal:
    """A key whose name speaks of people comes first, then any other key, then what has another value in every row."""
    rows = figures[0].rows if figures else 0
    roles = {proposal.name: proposal.role for proposal in proposals}
    found = [
        c
        for c in figures
        if roles[c.name] == "identifier" and not c.missing and (key_name(c.name) is not None or c.distinct == rows)
    ]
    best = min(found, key=lambda c: (_ORDER.index(key_name(c.name)), -c.distinct), default=None)
    return PersonProposal("", rows) if best is None else PersonProposal(best.name, best.distinct)


def for_several_rows(proposals: Sequence[Proposal], k: int) -> Iterator[Proposal]:
    """What can be published where people have several rows: k records may be one person's, and so may a value."""
    for p in proposals:
        if "values" in p.keys:
            keys = {key: value for key, value in p.keys.items() if key not in ("values", "ordered")}
            p = replace(p, keys={"rare": toml_text(OTHER), **keys}, notes={**p.notes, "rare": RARE.format(k=k)})
        yield replace(p, role="withheld", offer=p.role, why=(*p.why, LISTS)) if p.role == "codes" else p


def person_lines(person: PersonProposal, rows: int) -> Iterator[str]:
    """What the file says of people, above its first table."""
    if not person.column:
        yield '# person = "..."  # the column that identifies people, with role identifier, so that k counts people'
        yield '# k_counts = "rows"  # if no column does, and each row is another person'
        return
    told = f"{rows:,} rows of {person.people:,} people" if person.people < rows else "one row per person"
    yield f"# Identifies people ({told}), so k counts people. Name another column if this is wrong."
    yield f"person = {toml_text(person.column)}"
    if person.people == rows:
        yield 'unit = "person"'
