"""The custodian's root for comparing policies: publishes on trial, and queries the result."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from querygate.core.ports import PublishedVersion
from querygate.core.progress import Progress, no_progress
from querygate.core.publications.vault_ports import Source
from querygate.custody.policy import Policy
from querygate.custody.policy.policy_file import PolicyFile
from querygate.custody.use_cases.trial_version import published_on_trial
from querygate.custody.workload.preview_figures import (
    COLUMNS,
    FEWER_COLUMNS,
    FEWER_QUESTIONS,
    QUESTIONS,
    CostTrials,
    OwnCost,
    PolicyCost,
    Trial,
    one_by_one,
)
from querygate.custody.workload.usable_share import Standing, standing
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.sources.sampled_source import SampledSource

RECORDS, RECORDS_OF_CLASSES, FEWER_RECORDS = 6_000, 3_000, 2_000
"""So many records at most are published for each change of the policy; of classes half of them, and fewer where two
views have to be certified together."""

MOST_WHOLE = 20_000
"""Up to this many records, the unchanged policy is also published from all of them."""

NEARLY_ALL = 0.95
"""The size of a sample that shows what all records would."""


@dataclass(frozen=True, slots=True)
class PreviewScale:
    """How much is measured: records, questions, and the sensitive columns they are about."""

    records: int = RECORDS
    questions: int = QUESTIONS
    columns: int = COLUMNS

    @classmethod
    def of(
        cls, policy: Policy, records: int | None = None, questions: int | None = None, columns: int | None = None
    ) -> PreviewScale:
        """What is asked for, and as much of the rest as takes a few seconds."""
        views = policy.views
        usual = cls() if views is not None else cls(RECORDS_OF_CLASSES)
        if views is not None and len(views.spanning) + len(views.extra) > 1:
            usual = cls(FEWER_RECORDS, FEWER_QUESTIONS, FEWER_COLUMNS)
        return cls(records or usual.records, questions or usual.questions, columns or usual.columns)


@dataclass(frozen=True, slots=True)
class PolicyPreview:
    """What a policy costs, measured on `used` of the records. `whole` is the policy on all of them, where they are more
    and not too many.
    """

    dataset: str
    k: int
    records: int
    used: int
    own: OwnCost
    whole: Standing | None
    cost: PolicyCost


class Preview:
    """A preview in two parts: first the unchanged policy, which is quick, and then its changes."""

    def __init__(self, file: PolicyFile, source: Source, sample: SampledSource, scale: PreviewScale) -> None:
        self._source, self._folder = source, file.folder
        self.policy, self.sample = file.policy, sample
        on_trial = partial(published_on_trial, source=sample, base_dir=file.folder)
        self._trials = CostTrials(
            file.raw,
            on_trial,
            one_by_one(on_trial),
            folder=file.folder,
            questions=scale.questions,
            columns=scale.columns,
            inserted=False,
        )

    def of_policy(self, progress: Progress = no_progress) -> OwnCost:
        progress("making a trial version of the policy")
        return self._trials.ask_own()

    def of_changes(self, own: OwnCost, progress: Progress = no_progress) -> PolicyPreview:
        whole = None
        is_part = self.sample.used < NEARLY_ALL * self.sample.records
        if is_part and self.sample.records <= MOST_WHOLE and self._trials.asked:
            progress("making a trial version from all records")
            whole = self._of_all()
        cost = self._trials.ask_changes(self.sample.records, progress)
        sample = self.sample
        return PolicyPreview(self.policy.dataset, self.policy.k, sample.records, sample.used, own, whole, cost)

    def _of_all(self) -> Standing:
        """The same questions to a version of all records."""
        trial = Trial(self._trials.own_part, self._trials.asked)
        found = trial.answered(partial(published_on_trial, source=self._source, base_dir=self._folder))
        return Standing(problem=found) if isinstance(found, str) else standing(found)


def begin_preview(
    file: PolicyFile, source: str | Source, scale: PreviewScale = PreviewScale(), progress: Progress = no_progress
) -> Preview:
    """Nothing is kept. A large table is sampled by whole persons, if the source itself says who they are."""
    opened = open_source(source) if isinstance(source, str) else source
    person = file.policy.person
    progress("reading the source")
    most = scale.records if not person or person in opened.columns() else sys.maxsize
    sample = SampledSource(opened, most, person if most == scale.records else "")
    return Preview(file, opened, sample, scale)


def preview(
    file: PolicyFile, source: str | Source, scale: PreviewScale = PreviewScale(), *, progress: Progress = no_progress
) -> PolicyPreview:
    begun = begin_preview(file, source, scale, progress)
    return begun.of_changes(begun.of_policy(progress), progress)


@contextmanager
def policy_on_trial(
    file: PolicyFile, source: str, progress: Progress = no_progress
) -> Iterator[tuple[PublishedVersion, bool]]:
    """What a policy would publish from a source, and whether it is from a sample only."""
    progress("making a trial version of the policy")
    opened, person = open_source(source), file.policy.person
    sample = SampledSource(opened, MOST_WHOLE, person if person in opened.columns() else "")
    with published_on_trial(file.policy, sample, file.folder) as trial:
        yield trial.release, sample.used < sample.records
