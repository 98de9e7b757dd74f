"""The path of a draft: profile a source, propose a role and a domain for each column, and how to publish them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass

from querygate.core.column_profile import ColumnFigures, Surveyor
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import AgeAt, Source
from querygate.custody.policy.drafts.column_proposal import Proposal, choose_k
from querygate.custody.policy.drafts.draft_birth_date import Amend, with_dates, with_proposed_age
from querygate.custody.policy.drafts.draft_blanks import Reading, as_meant, with_readings
from querygate.custody.policy.drafts.draft_code_system import with_fitting_systems
from querygate.custody.policy.drafts.draft_codes import propose_groups
from querygate.custody.policy.drafts.draft_dates import DateOrder, with_date_order, with_written
from querygate.custody.policy.drafts.draft_file import dataset_name, write_policy
from querygate.custody.policy.drafts.draft_person import for_several_rows, propose_person
from querygate.custody.policy.drafts.draft_table import NOTHING, USUAL, QuasiRoom, propose
from querygate.custody.policy.drafts.draft_views_or_classes import choose_form
from querygate.custody.policy.identifier_signs import PATTERNS


@dataclass(frozen=True, slots=True)
class DraftedPolicy:
    """A policy file to be edited, and the proposal for each column."""

    text: str
    dataset: str
    k: int
    rows: int
    columns: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True)
class LookedOver:
    """A source with its amendments, and the figures of its columns; `name` is the source's name."""

    name: str
    source: Source
    figures: tuple[ColumnFigures, ...]
    readings: Mapping[str, Reading]
    written: Mapping[str, DateOrder]
    age: AgeAt | None
    survey: Surveyor


def look_over(source: Source, name: str, survey: Surveyor, amend: Amend, today: datetime.date) -> LookedOver:
    """The basis of a proposal. Raises ConfigError QG802 if the source has too few rows."""
    source, figures, readings = as_meant(source, survey(source, PATTERNS), survey, amend)
    source, figures, written = with_date_order(source, figures, survey, amend)
    source, figures, age = with_proposed_age(source, figures, survey, amend, today)
    rows = figures[0].rows if figures else 0
    if rows < 2:
        raise ConfigError(
            "QG802",
            f"The source has {'one row' if rows else 'no rows'}: too few to propose a policy from.",
            "Name a source that contains data of several people.",
        )
    return LookedOver(name, source, figures, readings, written, age, survey)


def draft_policy(looked: LookedOver, left_out: Mapping[str, str] = NOTHING, room: QuasiRoom = USUAL) -> DraftedPolicy:
    """Propose a policy for a source; the dataset is named after it. Columns in `left_out` are not quasi-identifiers,
    for the given reason; of the others as many as there is `room` for.
    """
    source, figures, rows = looked.source, looked.figures, looked.figures[0].rows
    person = propose_person(figures, propose(figures, choose_k(rows)))
    k = choose_k(person.people)
    columns = propose(figures, k, left_out, room)
    if person.people < rows:
        columns = tuple(for_several_rows(columns, {c.name: c for c in figures}, person.column, k))
    columns = with_dates(with_fitting_systems(source, columns), looked.age)
    columns = with_readings(with_written(columns, looked.written), looked.readings)
    several_rows = person.people < rows
    groups = {} if several_rows else propose_groups(source, looked.survey, columns, k)
    form = choose_form(columns, {c.name: c for c in figures}, k, several_rows=several_rows, groups=groups)
    dataset = dataset_name(looked.name)
    return DraftedPolicy(write_policy(dataset, rows, form, k, person), dataset, k, rows, form.columns)
