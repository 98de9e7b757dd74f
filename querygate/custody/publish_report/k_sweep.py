"""The map of risk and utility: the same records divided again for other k, by the published method.

Duncan, Keller-McNulty, Stokes, "Disclosure risk vs. data utility: the R-U confidentiality map", 2001. Every point keeps
all guarantees of the policy. None of this is written or served.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.errors import ConfigError
from querygate.core.progress import Progress
from querygate.custody.policy import Policy
from querygate.custody.publish.coded_rows import code, load
from querygate.custody.publish.expected_widths import ExpectedWidths, statistics_of
from querygate.custody.publish.method_choice import again
from querygate.custody.publish.partition import partition, quasi_identifiers
from querygate.custody.publish.step_state import PublicationState, StepProgress
from querygate.custody.publish_report.report_case import ReportCase
from querygate.methods.anonymise import Infeasible, ncp
from querygate.methods.risk import attack

FACTORS = (0.5, 1, 2, 5, 10)
LEAST = 2
"""The smallest k that is tried."""

MOST_RECORDS = 50_000
"""With more, a sample of so many is divided."""

SLOW = ("snake-polished", "top-down", "bottom-up", "top-down-greedy", "r-tree", "gather")
MOST_SLOW = 10_000


@dataclass(frozen=True, slots=True)
class SweepPoint:
    k: int
    classes: int
    ncp: float
    greatest: float
    average: float
    widths: Mapping[str, float | None]  # by statistic; None where it is not bounded


@dataclass(frozen=True, slots=True)
class Sweep:
    method: str
    records: int
    is_sample: bool
    k: int
    points: tuple[SweepPoint, ...]


def sweep(case: ReportCase, progress: Progress) -> Sweep:
    """Points of the map. On a sample all classes are wider than on all records: compare points only with each other."""
    name, k = published_method(case)
    most = most_records(name)
    if not quasi_identifiers(case.policy):
        return Sweep(name, case.rows.rows, is_sample=False, k=k, points=())  # everybody is one class, whatever k is
    staging = case.rows.staging()
    try:
        points = _points(case, PublicationState(_divided_for(case, LEAST), staging, StepProgress()), progress)
    finally:
        staging.close()
    return Sweep(name, min(case.rows.rows, most), case.rows.rows > most, k, tuple(points))


def _points(case: ReportCase, state: PublicationState, progress: Progress) -> list[SweepPoint]:
    """All points, of rows that are read once."""
    name, k = published_method(case)
    try:
        state = load(state, case.rows.source(most_records(name)))
    except ConfigError:
        return []
    points: list[SweepPoint] = []
    for wanted in dict.fromkeys(max(LEAST, round(k * factor)) for factor in FACTORS):
        if wanted <= state.persons:
            progress(f"dividing for k = {wanted:,}")
            points += _point(case, replace(state, policy=_divided_for(case, wanted)), name)
            state.staging.forget_classes()
    return points


def published_method(case: ReportCase) -> tuple[str, int]:
    """The method that made the published classes, and its k."""
    if case.published.comparison:
        return case.published.comparison[0].method, case.published.comparison[0].k
    method = case.policy.anonymise.method
    return "mondrian" if method == "auto" else method, case.policy.k


def most_records(method: str) -> int:
    """How many records are divided again."""
    return MOST_SLOW if method in SLOW else MOST_RECORDS


def _point(case: ReportCase, state: PublicationState, name: str) -> list[SweepPoint]:
    """One point; None if the guarantees cannot be kept with this k."""
    try:
        state = code(state)
        state = partition(state, again(state, name), case.population, case.clock_s)
        if state.table is None:
            return []
        widths = ExpectedWidths(state, statistics_of(state.policy)).widths(state.table, state.labels)
        loss = ncp(state.table, state.labels)
    except (ConfigError, Infeasible):
        return []
    found = attack(np.bincount(state.labels, state.table.counts).astype(np.int64)).prosecutor
    finite = {statistic: width if np.isfinite(width) else None for statistic, width in widths.items()}
    return [SweepPoint(state.policy.k, int(state.labels.max()) + 1, loss, found.greatest, found.average, finite)]


def _divided_for(case: ReportCase, k: int) -> Policy:
    return divided_alone(replace(case.policy, k=k))


def divided_alone(policy: Policy) -> Policy:
    """The policy without steps that are already done: tables are joined."""
    beside = policy.wishes | {policy.person}
    kept = tuple(c for c in policy.columns if (c.is_published and not c.codes) or c.name in beside)
    return replace(policy.of_one_table(), columns=kept)
