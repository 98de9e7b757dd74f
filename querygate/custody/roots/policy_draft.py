"""The custodian's root for proposals: looks over a source, and tries what it proposes. No site is needed.

Which quasi-identifiers a table has room for follows from its figures only roughly: the draft is published on trial and
asked. Four with few values each are tried first; where too little of what they tell can be printed, three in full,
three with few values each, and then two.
"""

from __future__ import annotations

import datetime

from querygate.core.errors import ConfigError
from querygate.core.vault_ports import Source
from querygate.custody.policy import parse_policy
from querygate.custody.policy.drafts.draft_path import DraftedPolicy, draft_policy, look_over
from querygate.custody.policy.drafts.draft_table import ALWAYS, COARSE, FOUR
from querygate.custody.roots.trial_version import published_on_trial
from querygate.custody.workload.usable_share import standing
from querygate.custody.workload.workload_sample import drawn
from querygate_adapters.sources.blanked_source import amended
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.sources.sampled_source import SampledSource
from querygate_adapters.sources.source_profile import survey

RECORDS, QUESTIONS, MANY = 20_000, 100, 1_000_000
"""Records that are published on trial, questions that are asked, and those that they are drawn from."""

FEWEST = 1_000
"""Records below which nothing is tried: whatever is left out, few figures could be printed."""

ENOUGH, ENOUGH_OF_FOUR, BETTER = 0.8, 0.75, 0.05
"""The share of figures that can be printed from which on nothing else is tried; somewhat less of four columns, since
more can be asked of them; and how much more is worth a column that can no longer be asked about."""

WITHOUT = (
    "Left out to start with: tried on this table, {before:.0%} of counts, prevalences and means can be printed with "
    "it, and {after:.0%} without. `querygate policy preview` tells more."
)


def draft_from(source: str) -> DraftedPolicy:
    """A proposed policy for the source that a custodian named."""
    return tried_draft(open_source(source), source)


def tried_draft(source: Source, title: str) -> DraftedPolicy:
    """A proposed policy whose quasi-identifiers were tried: four with few values each, or three, or fewer."""
    looked = look_over(source, title, survey, amended, datetime.date.today())
    first = draft_policy(looked)
    quasi = _quasi(first)
    if first.rows < FEWEST or len(quasi) <= ALWAYS or parse_policy(first.text).views is None:
        return first
    sample = SampledSource(source, RECORDS)
    four = draft_policy(looked, room=FOUR)
    if len(_quasi(four)) > len(quasi) and _share(four, sample) >= ENOUGH_OF_FOUR:
        return four
    before = _share(first, sample)
    if before >= ENOUGH:
        return first
    coarse = draft_policy(looked, room=COARSE)
    if coarse.text != first.text and _share(coarse, sample) >= ENOUGH:
        return coarse
    after: dict[str, float] = {}
    for name in reversed(quasi[1:]):  # what papers ask for least is left out first
        after[name] = _share(draft_policy(looked, {name: ""}), sample)
        if after[name] >= ENOUGH:
            break
    name = max(after, key=lambda one: after[one])
    if after[name] < before + BETTER:
        return first
    return draft_policy(looked, {name: WITHOUT.format(before=before, after=after[name])})


def _quasi(drafted: DraftedPolicy) -> list[str]:
    return [p.name for p in drafted.columns if p.role == "quasi-identifier"]


def _share(drafted: DraftedPolicy, source: Source) -> float:
    """Of counts, prevalences and means, what can be printed; 0 where nothing can be published."""
    try:
        with published_on_trial(parse_policy(drafted.text), source) as trial:
            found = standing(trial.figures(drawn(trial.questions(MANY), QUESTIONS)))
    except ConfigError:
        return 0.0
    return found.share or 0.0
