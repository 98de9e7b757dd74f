"""The custodian's root for proposed policies: surveys a source, and tries its proposals. Needs no site.

A table's figures show only roughly how many quasi-identifiers it has room for, so the draft is published on trial and
queried. Four with few values each are tried first; if too few of their figures can be printed, three in full, three
with few values each, these in the frame of a category with rare values, and then two.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.progress import Progress, no_progress
from querygate.core.publications.vault_ports import Source
from querygate.custody.policy import parse_policy
from querygate.custody.policy.drafts.column_proposal import named_from
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_list, toml_text
from querygate.custody.policy.drafts.draft_file import WIDTH
from querygate.custody.policy.drafts.draft_steps import DraftedPolicy, LookedOver, draft_policy, look_over
from querygate.custody.policy.drafts.draft_table import COARSE, FOUR, USUAL
from querygate.custody.use_cases.trial_version import published_on_trial
from querygate.custody.workload.policy_part import part_about
from querygate.custody.workload.usable_share import standing
from querygate.custody.workload.workload_sample import asked_columns, drawn
from querygate_adapters.sources.amended_source import amended
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.sources.sampled_source import SampledSource
from querygate_adapters.sources.source_profile import survey

RECORDS, QUESTIONS, MANY = 20_000, 100, 1_000_000
"""The number of records published on trial, of questions asked, and of questions they are drawn from."""

COLUMNS = 8
"""Sensitive columns that are published on trial: in views the others change nothing about them."""

FIRST, FAR = 30, 0.15
"""So many questions are asked first, and no others where so much less than enough can be printed."""

FEWEST = 1_000
"""With fewer records nothing is tried: whatever is left out, few figures could be printed."""

ENOUGH, BETTER = 0.8, 0.05
"""The share of figures that can be printed from which on nothing else is tried, and how much more is worth a column
that can no longer be asked about."""

FRAMED_ENOUGH = 0.7
"""The same of views in the frame of a category: no column is lost by it."""

TRIALS = 6
"""About so many parts of the work there are, where all have to be tried."""

OF_ALL = 0.75
"""From this share of all figures on, including those about fewer than k people, nothing else is tried."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A draft, and what can be printed of it: of figures about k people or more, which is what a policy can do
    something about, and of all figures, which is what those who ask will find.
    """

    drafted: DraftedPolicy
    share: float
    of_all: float

    def tells(self, enough: float) -> bool:
        return self.share >= enough and self.of_all >= OF_ALL


SHARE_MISSING = 0.05
"""Of the records, so few may be without a value of a category for that to be a rare value."""

FRAMED = (
    "A few people have rare values of {name}, or none. In classes with others they make answers about it wider. "
    "With this column as the frame, tried on this table, {after:.0%} of counts, prevalences and means about k "
    "people or more can be printed, instead of {before:.0%} with the usual frame."
)
WITHOUT = (
    "Left out for now: tried on this table, {before:.0%} of counts, prevalences and means about k people or "
    "more can be printed with it, and {after:.0%} without. `querygate policy preview` shows more."
)


def draft_from(source: str, progress: Progress = no_progress) -> DraftedPolicy:
    """A proposed policy for a custodian's source."""
    return tried_draft(open_source(source), source, progress)


def tried_draft(source: Source, title: str, progress: Progress = no_progress) -> DraftedPolicy:
    """A proposed policy whose quasi-identifiers were tried: four with few values each, or three, or fewer."""
    progress("looking over the source")
    looked = look_over(source, title, survey, amended, datetime.date.today())
    first = draft_policy(looked)
    if first.rows < FEWEST or not _quasi(first) or parse_policy(first.text).views is None:
        return first
    return _Trials(looked, first, SampledSource(source, RECORDS), progress).best()


@dataclass(slots=True)
class _Trials:
    """Drafts of one table, each published on trial and queried until one answers enough."""

    looked: LookedOver
    first: DraftedPolicy
    sample: Source
    progress: Progress
    done: int = 0

    def best(self) -> DraftedPolicy:
        tried: list[Tried] = []
        for room in (FOUR, USUAL, COARSE):
            drafted = draft_policy(self.looked, room=room)
            if drafted.text in [one.drafted.text for one in tried]:
                continue
            named = counted(len(_quasi(drafted)), "quasi-identifier")
            tried.append(self._try(drafted, f"a draft with {named}"))
            if tried[-1].tells(ENOUGH):
                return self._without_blur(tried[-1])
        before = next(one.share for one in tried if one.drafted.text == self.first.text)
        return self._in_a_frame(tried, before) or self._without_a_column(before)

    def _without_blur(self, own: Tried) -> DraftedPolicy:
        """The draft in the frame of a column that a few people have a rare value of, if that tells as much: answers
        about everybody else are then free of them.
        """
        figures = {c.name: c for c in self.looked.figures}
        for name in _with_rare_values(self.looked, own.drafted):
            c = figures[name]
            if not c.missing and not any(n < named_from(c.rows, own.drafted.k) for _, n in c.values):
                continue  # all of its values that are merged are common ones
            now = self._try(in_frame(own.drafted, name), f"a frame of {name}")
            if now.drafted.text != own.drafted.text and now.share >= own.share and now.of_all >= own.of_all:
                return in_frame(own.drafted, name, FRAMED.format(name=name, before=own.share, after=now.share))
        return own.drafted

    def _in_a_frame(self, tried: Sequence[Tried], before: float) -> DraftedPolicy | None:
        """The draft in the frame of a column with rare values, so that these are published only in total and blur no
        other answer; None where that does not help enough.
        """
        enough = max(FRAMED_ENOUGH, before + BETTER)
        for name in _with_rare_values(self.looked, self.first):
            found: list[tuple[Tried, DraftedPolicy]] = []
            for own in tried:
                now = self._try(in_frame(own.drafted, name), f"a frame of {name}")
                why = FRAMED.format(name=name, before=own.share, after=now.share)
                found.append((now, in_frame(own.drafted, name, why)))
                if now.tells(enough):
                    break
            now, drafted = max(found, key=lambda one: (one[0].tells(enough), one[0].of_all))
            if now.share >= enough:
                return drafted
        return None

    def _without_a_column(self, before: float) -> DraftedPolicy:
        """Leaves out first what papers ask for least, and nothing if that does not help."""
        after: dict[str, float] = {}
        for name in reversed(_quasi(self.first)[1:]):
            after[name] = self._try(draft_policy(self.looked, {name: ""}), f"a draft without {name}").share
            if after[name] >= ENOUGH:
                break
        name = max(after, key=lambda one: after[one], default="")
        if after.get(name, 0.0) < before + BETTER:
            return self.first
        return draft_policy(self.looked, {name: WITHOUT.format(before=before, after=after[name])})

    def _try(self, drafted: DraftedPolicy, what: str) -> Tried:
        """The draft, published on trial and queried; nothing can be printed if it cannot be published."""
        self.progress(f"trying {what}", min(1.0, self.done / TRIALS))
        self.done += 1
        policy = parse_policy(drafted.text)
        part = part_about(policy, asked_columns(policy, COLUMNS))
        try:
            with published_on_trial(part, self.sample) as trial:
                asked = drawn(trial.questions(MANY), QUESTIONS)
                figures = trial.figures(asked[:FIRST])
                if (standing(figures).share or 0.0) >= ENOUGH - FAR:
                    figures += trial.figures(asked[FIRST:])
        except ConfigError:
            return Tried(drafted, 0.0, 0.0)
        large = [figure for figure in figures if figure.records >= drafted.k]
        return Tried(drafted, standing(large).share or 0.0, standing(figures).share or 0.0)


def _with_rare_values(looked: LookedOver, drafted: DraftedPolicy) -> list[str]:
    """Categories among the quasi-identifiers of which some people have a rare value, or none."""
    missing = {c.name for c in looked.figures if 0 < c.missing < SHARE_MISSING * c.rows}
    return [
        p.name
        for p in drafted.columns
        if p.role == "quasi-identifier" and p.type == "category" and ("rare" in p.keys or p.name in missing)
    ]


def in_frame(drafted: DraftedPolicy, name: str, why: str = "") -> DraftedPolicy:
    """The same views in the frame of a category; unchanged if they already have a frame."""
    [mode] = [line for line in drafted.text.splitlines() if line.startswith("mode = ")]
    if "\nframe = " in drafted.text:
        return drafted
    lines = [*(f"# {line}" for line in wrap(why, WIDTH)), mode, f"frame = {toml_list([toml_text(name)])}"]
    return replace(drafted, text=drafted.text.replace(mode, "\n".join(lines)))


def _quasi(drafted: DraftedPolicy) -> list[str]:
    return [p.name for p in drafted.columns if p.role == "quasi-identifier"]
