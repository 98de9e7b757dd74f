"""The custodian's root for the map of risk and utility: the versions of a dataset, and the one that is served with
another k, all asked the same questions.

Duncan, Keller-McNulty, Stokes, "Disclosure risk vs. data utility: the R-U confidentiality map", 2001. The risk is the
largest that a version allows, one in k: it means the same for classes and for views.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.core.progress import Progress, no_progress
from querygate.custody.policy import Policy
from querygate.custody.use_cases.kept_policy import read_kept_policy
from querygate.custody.use_cases.policy_preview import MOST_WHOLE
from querygate.custody.use_cases.publish_version import open_version_writer
from querygate.custody.use_cases.trial_version import TrialVersion, published_on_trial
from querygate.custody.workload.helpful_edits import KS
from querygate.custody.workload.preview_figures import CANNOT, QUESTIONS
from querygate.custody.workload.standing_workload import MOST_QUESTIONS, Question
from querygate.custody.workload.usable_share import Standing, standing
from querygate.custody.workload.workload_sample import drawn
from querygate.site.open_gate import OpenSite
from querygate_adapters.sources.sampled_source import SampledSource
from querygate_adapters.store.duckdb_store import DuckDBRelease
from querygate_adapters.vault.report_rows import ReportRows
from querygate_adapters.vault.written_store import WrittenStore

MOST_VERSIONS = 6
"""The number of newest versions on the map."""


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A version, or, if `version` is None, an alternative that is not served."""

    name: str
    version: int | None
    is_served: bool
    k: int
    standing: Standing


@dataclass(frozen=True, slots=True)
class RiskMap:
    """Each point was asked `questions`; alternatives were made from `used` of the records."""

    dataset: str
    points: tuple[MapPoint, ...]
    questions: int
    records: int
    used: int


@dataclass(frozen=True, slots=True)
class _KeptVersion:
    number: int
    trial: TrialVersion
    beside: Path


def measure_risk_map(opened: OpenSite, dataset: str, progress: Progress = no_progress) -> RiskMap:
    """The whole map; ConfigError if no version has kept what is needed."""
    writer = open_version_writer(opened)
    served = writer.served(dataset)
    numbers = sorted(writer.readable(dataset), reverse=True)[:MOST_VERSIONS]
    with ExitStack() as stack:
        kept = [one for number in numbers if (one := _open(opened, dataset, number, stack)) is not None]
        base = next((one for one in kept if one.number == served), next(iter(kept), None))
        if base is None:
            raise ConfigError(
                "QG804",
                f"No version of {dataset} has kept its raw rows and its policy.",
                "Publish it again: versions keep both since then.",
            )
        asked = drawn(base.trial.questions(MOST_QUESTIONS), QUESTIONS)
        figures = Counter(figure.question for figure in base.trial.figures(asked))
        points = []
        for place, one in enumerate(kept):
            progress(f"asking version {one.number}", place / (len(kept) + len(KS)))
            points.append(_point(one, figures, is_served=one.number == served))
        source, used = _source(base)
        for place, k in enumerate(_other_ks(base.trial.policy, is_sample=used < base.trial.rows.rows)):
            progress(f"making a trial version with k = {k}", (len(kept) + place) / (len(kept) + len(KS)))
            points.append(_alternative(base, k, source, asked))
        return RiskMap(dataset, tuple(points), len(asked), base.trial.rows.rows, used)


def _open(opened: OpenSite, dataset: str, number: int, stack: ExitStack) -> _KeptVersion | None:
    """A version with its raw rows; None if they were erased, or its policy was not kept."""
    store, vault = open_version_writer(opened).files(dataset, number)
    if not vault.exists():
        return None
    rows = stack.enter_context(closing(ReportRows(vault)))
    kept = read_kept_policy(rows.policy())
    if kept is None:
        return None
    policy, beside = kept
    trial = TrialVersion(policy, DuckDBRelease(store), opened.gate.native, rows, WrittenStore(store), ())
    return _KeptVersion(number, trial, beside)


def _point(one: _KeptVersion, asked: Mapping[Question, int], *, is_served: bool) -> MapPoint:
    """So many figures are asked for with each question. Those about columns that the version does not have are lost."""
    policy = one.trial.policy
    told = {column.name for column in policy.published}
    can = [question for question in asked if {*question.columns, *question.quasi} <= told]
    found = standing(one.trial.figures(can), lost=sum(asked.values()) - sum(asked[question] for question in can))
    return MapPoint(f"version {one.number}", one.number, is_served, policy.k, found)


def _source(base: _KeptVersion) -> tuple[SampledSource, int]:
    """The rows of a version as they were read. Tables are already joined; withheld columns are missing."""
    rows, person = base.trial.rows, base.trial.policy.person or ""
    source = rows.source(rows.rows)
    sample = SampledSource(source, MOST_WHOLE, person if person in source.columns() else "")
    return sample, sample.used


def _other_ks(policy: Policy, *, is_sample: bool) -> Iterator[int]:
    """For a sample, the version's own k as well: fewer records give fewer usable figures, so samples compare only with
    samples."""
    yield from (k for k in sorted({*KS, policy.k}) if k != policy.k or is_sample)


def _alternative(base: _KeptVersion, k: int, source: SampledSource, asked: Sequence[Question]) -> MapPoint:
    policy, there = base.trial.policy, set(source.columns())
    columns = tuple(column for column in policy.columns if column.name in there)
    changed = replace(policy.of_one_table(), k=k, columns=columns)
    try:
        with published_on_trial(changed, source, base.beside) as trial:
            found = standing(trial.figures(asked))
    except ConfigError as problem:
        if problem.code != CANNOT:
            raise
        found = Standing(problem=problem.detail)
    return MapPoint(f"k = {k}", None, False, k, found)
