"""Writes a proposed policy as a valid TOML file, with the reason beside every choice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from textwrap import wrap

from querygate.core.count_text import counted
from querygate.custody.policy.drafts.column_proposal import Proposal
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_text
from querygate.custody.policy.drafts.draft_person import PersonProposal, person_lines
from querygate.custody.policy.drafts.draft_views_or_classes import Form
from querygate.custody.policy.toml_reader import dotted

WIDTH = 110


def dataset_name(source: str) -> str:
    """A name for the dataset, from that of its source.

    >>> dataset_name("exports/Blood-Pressure 2024.csv.gz"), dataset_name("duckdb:hospital.duckdb#visits")
    ('blood_pressure_2024', 'visits')
    >>> dataset_name("Größe, Süd.csv")
    'grosse_sud'
    """
    source = unicodedata.normalize("NFKD", source.replace("ß", "ss"))
    source = "".join(letter for letter in source if not unicodedata.combining(letter))
    last = re.split(r"[/\\#]", source.rstrip("/\\#"))[-1]
    words = re.sub(r"[^a-z0-9]+", "_", last.rpartition(".")[2].lower() if "#" in source else last.split(".")[0].lower())
    return re.sub(r"^[^a-z]+", "", words).strip("_")[:63] or "dataset"


def write_policy(dataset: str, rows: int, form: Form, k: int, person: PersonProposal) -> str:
    """The text of the file."""
    lines = [
        *_head(rows, form.columns, person),
        f"dataset = {toml_text(dataset)}",
        f"k = {k}",
        *person_lines(person, rows),
    ]
    for proposal in form.columns:
        lines += ["", *_column(proposal)]
    for comment, table in form.tables:
        lines += [*([""] if not table or table[0].startswith("[") else []), *_comment(comment), *table]
    return "\n".join(lines) + "\n"


SEVERAL_ROWS = (
    "People have several rows ({rows:,} of {people:,} people by {column}), so this draft has classes and no views: "
    "answers are much wider. For views, provide a table with one row per person, such as the first or last visit, and "
    "draft again."
)


def _head(rows: int, proposals: Sequence[Proposal], person: PersonProposal) -> Iterator[str]:
    by_role = {role: [p for p in proposals if p.role == role] for role in ROLES}
    counts = ", ".join(f"{len(found)} {role}" for role, found in by_role.items() if found)
    yield f"# Proposed from {counted(rows, 'record')} and {counted(len(proposals), 'column')}: {counts}."
    yield from _comment(
        "Check every column before publishing. The figures next to the columns come from the raw data: keep this file "
        "private until you remove them."
    )
    if person.people < rows:
        yield from _comment(SEVERAL_ROWS.format(rows=rows, people=person.people, column=person.column))
    for p in proposals:
        if p.warning:
            yield f"# Found: {dotted([p.name])} is likely {p.warning}."
    if not by_role["quasi-identifier"]:
        yield from _comment(
            "No column looks like something that others know about people; a policy needs a quasi-identifier, codes "
            "or a sequence."
        )
    yield ""


ROLES = ("identifier", "quasi-identifier", "sensitive", "codes", "withheld")


READING = ("absent", "spelled", "censored", "written")
"""Keys that say how values are read, of columns that are not published too: an age may be worked out from them."""


def _column(proposal: Proposal) -> Iterator[str]:
    for reason in proposal.why:
        yield from _comment(reason)
    yield f"[columns.{dotted([proposal.name])}]"
    yield f"role = {toml_text(proposal.role)}"
    published = proposal.role in ("quasi-identifier", "sensitive", "codes")
    offered = {"role": toml_text(proposal.offer)} if proposal.offer else {}
    offered |= {"type": toml_text(proposal.type)} if proposal.type else {}
    for key, value in (offered | proposal.keys).items():
        beside = f"  # {proposal.notes[key]}" if key in proposal.notes else ""
        yield f"{'' if published or key in READING else '# '}{key} = {value}{beside}"


def _comment(text: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ")
