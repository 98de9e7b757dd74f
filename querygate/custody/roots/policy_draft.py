"""The custodian's root for proposals: looks over a source, and tries what it proposes. No site is needed.

Which quasi-identifiers a table has room for follows from its figures only roughly: the draft is published on trial and
asked. Four with few values each are tried first; where too little of what they tell can be printed, three in full,
three with few values each, these in the frame of a category with rare values, and then two.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from textwrap import wrap
from typing import TypeAlias

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.progress import Progress, no_progress
from querygate.core.vault_ports import Source
from querygate.custody.policy import parse_policy
from querygate.custody.policy.drafts.draft_domains import toml_list, toml_text
from querygate.custody.policy.drafts.draft_file import WIDTH
from querygate.custody.policy.drafts.draft_path import DraftedPolicy, LookedOver, draft_policy, look_over
from querygate.custody.policy.drafts.draft_table import ALWAYS, COARSE, FOUR, USUAL
from querygate.custody.roots.trial_version import published_on_trial
from querygate.custody.workload.usable_share import standing
from querygate.custody.workload.workload_sample import drawn
from querygate_adapters.sources.amended_source import amended
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

FRAMED_ENOUGH = 0.7
"""The same of views in the frame of a category: no column is lost by it."""

TRIALS = 6
"""About so many parts of the work there are, where all have to be tried."""

Tried: TypeAlias = "tuple[DraftedPolicy, float]"
"""A draft, and the share of figures about k people or more that can be printed of it."""

SHARE_MISSING = 0.05
"""Of the records, so few may be without a value of a category for that to be a rare value."""

FRAMED = (
    "A few people have rare values of {name}, or none. In classes with others they make most answers about it too "
    "wide. With this column as the frame, tried on this table, {after:.0%} of counts, prevalences and means about k "
    "people or more can be printed, instead of {before:.0%} with the usual frame."
)
WITHOUT = (
    "Left out for now: tried on this table, {before:.0%} of counts, prevalences and means about k people or "
    "more can be printed with it, and {after:.0%} without. `querygate policy preview` shows more."
)


def draft_from(source: str, progress: Progress = no_progress) -> DraftedPolicy:
    """A proposed policy for the source that a custodian named."""
    return tried_draft(open_source(source), source, progress)


def tried_draft(source: Source, title: str, progress: Progress = no_progress) -> DraftedPolicy:
    """A proposed policy whose quasi-identifiers were tried: four with few values each, or three, or fewer."""
    progress("looking over the source")
    looked = look_over(source, title, survey, amended, datetime.date.today())
    first = draft_policy(looked)
    quasi = _quasi(first)
    if first.rows < FEWEST or len(quasi) <= ALWAYS or parse_policy(first.text).views is None:
        return first
    sample = SampledSource(source, RECORDS)
    tried: list[Tried] = []
    for room, enough in ((FOUR, ENOUGH_OF_FOUR), (USUAL, ENOUGH), (COARSE, ENOUGH)):
        drafted = draft_policy(looked, room=room)
        if (room is FOUR and len(_quasi(drafted)) == len(quasi)) or drafted.text in [one.text for one, _ in tried]:
            continue
        progress(f"trying a draft with {counted(len(_quasi(drafted)), 'quasi-identifier')}", len(tried) / TRIALS)
        tried.append((drafted, _share(drafted, sample)))
        if tried[-1][1] >= enough:
            return drafted
    before = next(share for one, share in tried if one.text == first.text)
    for name in _with_rare_values(looked, first):
        progress(f"trying a frame of {name}", len(tried) / TRIALS)
        best, share = max((_framed(*one, name, sample) for one in tried), key=lambda one: one[1])
        if share >= max(FRAMED_ENOUGH, before + BETTER):
            return best
    after: dict[str, float] = {}
    for name in reversed(quasi[1:]):  # what papers ask for least is left out first
        progress(f"trying a draft without {name}", len(tried) / TRIALS)
        after[name] = _share(draft_policy(looked, {name: ""}), sample)
        if after[name] >= ENOUGH:
            break
    name = max(after, key=lambda one: after[one])
    if after[name] < before + BETTER:
        return first
    return draft_policy(looked, {name: WITHOUT.format(before=before, after=after[name])})


def _with_rare_values(looked: LookedOver, drafted: DraftedPolicy) -> list[str]:
    """Categories among the quasi-identifiers of which some people have a rare value, or none."""
    missing = {c.name for c in looked.figures if 0 < c.missing < SHARE_MISSING * c.rows}
    return [
        p.name
        for p in drafted.columns
        if p.role == "quasi-identifier" and p.type == "category" and ("rare" in p.keys or p.name in missing)
    ]


def _framed(drafted: DraftedPolicy, before: float, name: str, source: Source) -> Tried:
    """The draft in the frame of a column with rare values, so that these are told in total and blur no other answer."""
    share = _share(in_frame(drafted, name), source)
    return in_frame(drafted, name, FRAMED.format(name=name, before=before, after=share)), share


def in_frame(drafted: DraftedPolicy, name: str, why: str = "") -> DraftedPolicy:
    """The same views in the frame of a category; as they are where they have a frame of their own."""
    [mode] = [line for line in drafted.text.splitlines() if line.startswith("mode = ")]
    if "\nframe = " in drafted.text:
        return drafted
    lines = [*(f"# {line}" for line in wrap(why, WIDTH)), mode, f"frame = {toml_list([toml_text(name)])}"]
    return replace(drafted, text=drafted.text.replace(mode, "\n".join(lines)))


def _quasi(drafted: DraftedPolicy) -> list[str]:
    return [p.name for p in drafted.columns if p.role == "quasi-identifier"]


def _share(drafted: DraftedPolicy, source: Source) -> float:
    """Of counts, prevalences and means about k people or more, what can be printed; 0 where nothing can be published.
    Nobody can print what is about fewer: a rare value is no reason to leave out a column.
    """
    try:
        with published_on_trial(parse_policy(drafted.text), source) as trial:
            figures = trial.figures(drawn(trial.questions(MANY), QUESTIONS))
    except ConfigError:
        return 0.0
    return standing([figure for figure in figures if figure.records >= drafted.k]).share or 0.0
