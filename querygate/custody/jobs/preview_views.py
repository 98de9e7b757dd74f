"""The custodian's root for comparing policies: publishes into a folder that is gone afterwards, and asks."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.core.ports import Native, PublishedVersion
from querygate.core.progress import Progress, no_progress
from querygate.core.vault_ports import Source
from querygate.custody.jobs.publish_version import open_version_writer, publish_to
from querygate.custody.policy import Policy
from querygate.custody.policy.model import AuditOptions
from querygate.custody.policy.policy_file import PolicyFile
from querygate.custody.publish.view_risk import UnitRisk
from querygate.custody.verify.verify import Written
from querygate.custody.workload import Figure, Question, public_cuts, standing_workload
from querygate.custody.workload.asked_figures import asked_figures, ranges_of
from querygate.custody.workload.drawn_questions import drawn
from querygate.custody.workload.policy_cost import CANNOT, QUESTIONS, PolicyCost, Standing, measure_cost, standing
from querygate.custody.workload.standing_workload import MOST_QUESTIONS
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.sources.sampled_source import SampledSource
from querygate_adapters.store.duckdb_store import DuckDBRelease
from querygate_adapters.vault.report_rows import ReportRows
from querygate_adapters.vault.version_writer import WrittenStore

RECORDS = 3_000
"""So many records at most are published for each change of the policy."""

MOST_WHOLE = 20_000
"""Up to so many records, the policy as it is is published of all of them too."""


@dataclass(frozen=True, slots=True)
class PolicyPreview:
    """What a policy costs, measured on `used` of the records. `whole` is the policy on all of them, where they are more
    and not too many.
    """

    dataset: str
    k: int
    records: int
    used: int
    whole: Standing | None
    cost: PolicyCost


def preview(
    file: PolicyFile,
    source: str | Source,
    *,
    records: int = RECORDS,
    questions: int = QUESTIONS,
    progress: Progress = no_progress,
) -> PolicyPreview:
    """Nothing is kept. A large table is sampled by whole persons, where the source itself says who they are."""
    opened = open_source(source) if isinstance(source, str) else source
    policy = file.policy
    progress("reading the source")
    most = records if not policy.person or policy.person in opened.columns() else sys.maxsize
    sample = SampledSource(opened, most, policy.person if most == records else "")
    whole = None
    if sample.used < sample.records <= MOST_WHOLE:
        progress("publishing all records on trial")
        whole = _of_all(policy, opened, file.folder, questions)
    cost = measure_cost(
        file.raw,
        lambda changed: published_on_trial(changed, sample, file.folder),
        folder=file.folder,
        records=sample.records,
        questions=questions,
        progress=progress,
    )
    return PolicyPreview(policy.dataset, policy.k, sample.records, sample.used, whole, cost)


def _of_all(policy: Policy, source: Source, folder: Path, questions: int) -> Standing:
    try:
        with published_on_trial(policy, source, folder) as trial:
            return standing(trial.figures(drawn(trial.questions(MOST_QUESTIONS), questions)))
    except ConfigError as problem:
        if problem.code != CANNOT:
            raise
        return Standing(problem=problem.detail)


@dataclass(frozen=True, slots=True)
class TrialVersion:
    """A version that nobody is served, beside its raw rows."""

    policy: Policy
    release: PublishedVersion
    native: Native
    rows: ReportRows
    written: Written
    risk: tuple[UnitRisk, ...]

    def questions(self, number: int) -> tuple[Question, ...]:
        return standing_workload(self.release.catalog, public_cuts(self.policy), most=number)

    def figures(self, questions: Iterable[Question]) -> list[Figure]:
        answer = partial(ranges_of, release=self.release, native=self.native)
        return list(asked_figures(questions, self.policy.dataset, answer, self.rows))


@contextmanager
def published_on_trial(policy: Policy, source: Source, base_dir: Path = Path()) -> Iterator[TrialVersion]:
    """A publication as any other, and verified as any other, into a folder that is gone afterwards. Nobody queries it,
    so what the policy says about queries needs no auditor.
    """
    policy = replace(policy, audit=AuditOptions())
    with tempfile.TemporaryDirectory() as folder:
        opened = open_gate(init_site(Path(folder) / "site"))
        published = publish_to(opened, policy, source, user="trial", base_dir=base_dir)
        store, vault = open_version_writer(opened).files(policy.dataset, published.version)
        risk = published.views.risk if published.views else ()
        with closing(ReportRows(vault)) as rows:
            yield TrialVersion(policy, DuckDBRelease(store), opened.gate.native, rows, WrittenStore(store), risk)
