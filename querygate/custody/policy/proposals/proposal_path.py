"""The path of a proposal: look over a source, propose a role and a domain for each column, and how to publish them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from querygate.core.column_figures import Surveyor
from querygate.core.errors import ConfigError
from querygate.core.vault_ports import Source
from querygate.custody.policy.identifier_signs import PATTERNS
from querygate.custody.policy.proposals.proposal import Proposal, choose_k
from querygate.custody.policy.proposals.proposal_age import WithAges, with_dates, with_proposed_age
from querygate.custody.policy.proposals.proposal_code_system import with_fitting_systems
from querygate.custody.policy.proposals.proposal_codes import propose_groups
from querygate.custody.policy.proposals.proposal_file import dataset_name, write_policy
from querygate.custody.policy.proposals.proposal_form import choose_form
from querygate.custody.policy.proposals.proposal_person import for_several_rows, propose_person
from querygate.custody.policy.proposals.proposal_table import propose


@dataclass(frozen=True, slots=True)
class DraftedPolicy:
    """A policy file to be edited, and what it says of each column."""

    text: str
    dataset: str
    k: int
    rows: int
    columns: tuple[Proposal, ...]


def draft_policy(
    source: Source, name: str, survey: Surveyor, with_ages: WithAges, today: datetime.date
) -> DraftedPolicy:
    """Propose a policy for a source. `name` is what the source is called; the dataset is named after it."""
    source, figures, age = with_proposed_age(source, survey(source, PATTERNS), survey, with_ages, today)
    rows = figures[0].rows if figures else 0
    if rows < 2:
        raise ConfigError(
            "QG802",
            f"The source has {'one row' if rows else 'no rows'}: too few to propose a policy from.",
            "Name a source that contains data of several people.",
        )
    person = propose_person(figures, propose(figures, choose_k(rows)))
    k = choose_k(person.people)
    columns = propose(figures, k)
    if person.people < rows:
        columns = tuple(for_several_rows(columns, k))
    columns = with_dates(with_fitting_systems(source, columns), age)
    several_rows = person.people < rows
    groups = {} if several_rows else propose_groups(source, survey, columns, k)
    form = choose_form(columns, {c.name: c for c in figures}, k, several_rows=several_rows, groups=groups)
    dataset = dataset_name(name)
    return DraftedPolicy(write_policy(dataset, rows, form, k, person), dataset, k, rows, form.columns)
