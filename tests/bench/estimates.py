"""How near estimates are: their errors on the standing workload of four studies, beside sampling errors and ranges.

The studies are those of the benchmark of views, at k = 10: with the policy that `policy draft` proposes, untouched, and
by classes as somebody wrote them. A figure's sampling error is what chance would do to it if the study were drawn
again: of a count as one of a binomial, of a mean, a median and a deviation by the spread of its column, of a
correlation by Fisher. Shares of 0 and 1 are taken a little inside (Agresti and Coull), as they would otherwise have
none.

The targets are of what papers print and one of the spanning views has together. Where no view has the columns of a
question together, no estimate from the store can know how they meet: its error is that of a guess that they do so as in
the views, and not small beside a sampling error.
"""

from __future__ import annotations

import math
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from querygate.core.errors import Refusal
from querygate.core.types import Group, Scalar
from querygate.custody.use_cases.policy_draft import draft_from
from querygate.custody.use_cases.trial_version import TrialVersion, published_on_trial
from querygate.custody.workload import Question
from querygate.custody.workload.trial_answers import LIMITS
from querygate.custody.workload.usable_share import KINDS, PAPER
from querygate.custody.workload.workload_sample import drawn
from querygate.gate.answer_rows import answer_groups
from querygate.gate.likely_tables import LikelyTables
from querygate.gate.likely_values import with_estimates
from querygate.gate.plan_cells import fetch_sheets
from querygate.sql import understand
from querygate_adapters.sources.open_source import open_source
from tests.bench.views import EVERYTHING, OTHER_QUESTIONS, PAPER_QUESTIONS, plain_file, studies
from tests.policies import PolicyText
from tests.report import row

K = 10
WITHIN, COUNTS = 0.98, 0.1
"""The share of errors below one sampling error, and the median error of counts in sampling errors."""

MOST_COUNTS = 400

SAMPLED: Mapping[str, Callable[[float, float, float, float], float]] = {
    "count": lambda value, n, rows, sd: math.sqrt(_inside(value, rows) * (1 - _inside(value, rows)) * rows),
    "prevalence": lambda value, n, rows, sd: math.sqrt(_inside(value * n, n) * (1 - _inside(value * n, n)) / n),
    "mean": lambda value, n, rows, sd: sd / math.sqrt(n),
    "median": lambda value, n, rows, sd: sd * math.sqrt(math.pi / 2 / n),
    "sd": lambda value, n, rows, sd: sd / math.sqrt(2 * max(1, n - 1)),
    "correlation": lambda value, n, rows, sd: 1 / math.sqrt(max(1, n - 3)),
}
"""The sampling error by kind, from the value, its records, all records and the deviation of its column."""


def _inside(having: float, of: float) -> float:
    return (having + 2) / (of + 4)


@dataclass(frozen=True)
class Error:
    """Of one figure: how far the estimate is from the truth, the sampling error, and half the width of the range."""

    question: Question
    error: float
    sampling: float
    half: float

    @property
    def relative(self) -> float:
        return self.error / self.sampling if self.sampling else math.inf if self.error else 0.0


def run() -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for study in studies():
            path = str(plain_file(study, Path(folder)))
            drafted = PolicyText(tomllib.loads(draft_from(path).text)).but(k=K).parsed()
            by_classes = study.policy.but(k=K, anonymise={"class_moments": "rounded"}).parsed()
            for name, policy in (("drafted policy", drafted), ("classes", by_classes)):
                spanning = [frozenset(view) for view in policy.views.spanning] if policy.views else []
                with published_on_trial(policy, open_source(path)) as trial:
                    found = list(errors(trial, asked_of(trial.questions(EVERYTHING))))
                rows += report(f"{study.name}, {name}", found, spanning, aim=policy is drafted)
    return rows


def asked_of(questions: Sequence[Question]) -> list[Question]:
    """A part of the workload, drawn by a fixed rule, and of counts all: few are drawn, and a median of few is luck."""
    counts = [question for question in questions if question.kind == "count"][:MOST_COUNTS]
    others = [question for question in drawn(questions, PAPER_QUESTIONS, OTHER_QUESTIONS) if question.kind != "count"]
    return [*counts, *others]


def report(
    name: str, found: Sequence[Error], spanning: Sequence[frozenset[str]], *, aim: bool = False
) -> list[dict[str, Any]]:
    paper = [one for one in found if one.question.kind in PAPER]
    together = [one for one in paper if any(one.question.quasi <= view for view in spanning)]
    rows = [
        *_near(f"{name}: counts, prevalences, means of one view", together, WITHIN if aim else None),
        *_near(f"{name}: counts, prevalences, means", paper),
        *_near(f"{name}: all", found),
        *_middle(f"{name}: counts of one view", [one for one in together if one.question.kind == "count"],
                 COUNTS if aim else None),
    ]  # fmt: skip
    for kind in KINDS:
        rows += _middle(f"{name}: {kind}", [one for one in found if one.question.kind == kind])
    return rows


def _near(name: str, found: Sequence[Error], target: float | None = None) -> list[dict[str, Any]]:
    """The share of errors below one sampling error."""
    if not found:
        return []
    share = sum(one.relative < 1 for one in found) / len(found)
    met = None if target is None else share >= target
    return [row(f"{name}, below one sampling error", share, f"of {len(found)}", target=target, met=met)]


def _middle(name: str, found: Sequence[Error], target: float | None = None) -> list[dict[str, Any]]:
    """The median error, beside sampling errors and half-widths."""
    if not found:
        return []
    middle = median(one.relative for one in found)
    wide = [one.error / one.half for one in found if one.half and math.isfinite(one.half)]
    share = f"{median(wide):.2f} of the half-width" if wide else "all exact"
    met = None if target is None else middle < target
    return [row(f"{name}, median error", middle, "sampling errors", share, target=target, met=met)]


def errors(trial: TrialVersion, questions: Sequence[Question]) -> Iterator[Error]:
    """One for each group of each question that is answered and holds somebody in truth."""
    tables, dataset = LikelyTables(), trial.policy.dataset
    for question in questions:
        groups = _asked(question, trial, tables)
        if groups is None or question.kind not in SAMPLED:
            continue
        truths, sizes = (trial.rows.by_group(dataset, sql) for sql in (question.sql, question.records))
        spread = trial.rows.truth("sd", [question.columns[0]]) if question.kind in ("mean", "median", "sd") else None
        for keys, value in truths.items():
            error = _error(question, groups.get(keys), value, sizes.get(keys), trial.rows.rows, spread)
            if error is not None:
                yield error


def _error(
    question: Question, group: Group | None, value: float | None, n: float | None, rows: int, spread: float | None
) -> Error | None:
    if group is None or value is None or not n or not math.isfinite(value):
        return None
    told, estimate = group.ranges[0], group.estimates[0].value
    if estimate is None or told.low is None or told.high is None:
        return None
    sampling = SAMPLED[question.kind](float(value), float(n), rows, spread or 0.0)
    return Error(question, abs(float(value) - estimate), sampling, told.high / 2 - told.low / 2)


def _asked(question: Question, trial: TrialVersion, tables: LikelyTables) -> dict[tuple[Scalar, ...], Group] | None:
    """The groups of an answer with their estimates; None where it is refused."""
    try:
        plan = understand(question.sql, trial.release.catalog, trial.native, LIMITS)
        groups = answer_groups(plan, fetch_sheets(plan, trial.release, LIMITS), lambda: None)
    except Refusal:
        return None
    return {g.keys: g for g in with_estimates(plan, groups, tables, trial.release, LIMITS, lambda: None)}
