"""The custodian's root for comparing views: publishes into a folder that is gone afterwards, and asks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.core.ports import Native, PublishedVersion
from querygate.core.progress import Progress, no_progress
from querygate.core.vault_ports import Source
from querygate.custody.jobs.publish_version import open_version_writer, publish_to
from querygate.custody.policy import Policy
from querygate.custody.publish.view_risk import UnitRisk
from querygate.custody.verify.verify import Written
from querygate.custody.workload import Figure, Question, UsableShare, public_cuts, standing_workload, usable_shares
from querygate.custody.workload.asked_figures import asked_figures, ranges_of
from querygate.custody.workload.standing_workload import MOST_QUESTIONS, of_each_kind
from querygate.custody.workload.usable_share import PAPER
from querygate.custody.workload.view_candidates import view_candidates
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.store.duckdb_store import DuckDBRelease
from querygate_adapters.vault.report_rows import ReportRows
from querygate_adapters.vault.version_writer import WrittenStore

QUESTIONS = 120
"""So many are asked of each candidate, of each the same. Three of four are what papers print most: the others take most
of the time.
"""

SMALL = 5_000
"""Up to so many records all of them may be one frame cell: more people in a cell take longer to certify."""

CANNOT = "QG803"
"""A candidate that cannot keep its promises is a line of the comparison, and not the end of it."""


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One way to publish, and how much of the standing workload is usable then; or why nothing can be published."""

    views: str
    shares: tuple[UsableShare, ...] = ()
    problem: str = ""


def preview(
    policy: Policy,
    source: str | Source,
    *,
    base_dir: Path = Path(),
    questions: int = QUESTIONS,
    candidates: int | None = None,
    progress: Progress = no_progress,
) -> tuple[PreviewRow, ...]:
    """The policy's own views, classes in their place, other views and other frames, or the first so many of these.
    Nothing is kept.
    """
    opened = open_source(source) if isinstance(source, str) else source
    tried = view_candidates(policy, is_small=_is_small(opened))[:candidates]
    rows = []
    for place, candidate in enumerate(tried):
        progress(f"trying {place + 1} of {len(tried)}: {candidate.name}", place / len(tried))
        try:
            with published_on_trial(candidate.policy, opened, base_dir) as trial:
                figures = trial.figures(_drawn(trial.questions(MOST_QUESTIONS), questions))
        except ConfigError as problem:
            if problem.code != CANNOT:
                raise
            rows.append(PreviewRow(candidate.name, problem=problem.detail))
        else:
            rows.append(PreviewRow(candidate.name, usable_shares(figures)))
    return tuple(rows)


def _drawn(questions: Sequence[Question], number: int) -> tuple[Question, ...]:
    paper = [question for question in questions if question.kind in PAPER]
    others = [question for question in questions if question.kind not in PAPER]
    return *of_each_kind(paper, number - number // 4), *of_each_kind(others, number // 4)


def _is_small(source: Source) -> bool:
    with source.reading():
        sizes = accumulate(batch.num_rows for batch in source.batches(source.columns()[:1]))
        return all(rows <= SMALL for rows in sizes)


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
    """A publication as any other, and verified as any other, into a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        opened = open_gate(init_site(Path(folder) / "site"))
        published = publish_to(opened, policy, source, user="trial", base_dir=base_dir)
        store, vault = open_version_writer(opened).files(policy.dataset, published.version)
        risk = published.views.risk if published.views else ()
        with closing(ReportRows(vault)) as rows:
            yield TrialVersion(policy, DuckDBRelease(store), opened.gate.native, rows, WrittenStore(store), risk)
