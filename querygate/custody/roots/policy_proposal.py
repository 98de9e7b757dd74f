"""The custodian's root for proposals: opens a source and looks over it. No site is needed."""

from __future__ import annotations

import datetime

from querygate.custody.policy.proposals.proposal_path import DraftedPolicy, draft_policy
from querygate_adapters.sources.aged_source import with_ages
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.sources.source_profile import survey


def draft_from(source: str) -> DraftedPolicy:
    """A proposed policy for the source that a custodian named."""
    return draft_policy(open_source(source), source, survey, with_ages, datetime.date.today())
