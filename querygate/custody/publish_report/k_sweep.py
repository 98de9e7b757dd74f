"""The map of risk and utility: the same records divided once more for other k, by the method that was published.

Duncan, Keller-McNulty, Stokes, "Disclosure risk vs. data utility: the R-U confidentiality map", 2001. Every point keeps
all guarantees of the policy. Nothing of it is written or served.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.errors import ConfigError
from querygate.core.progress import Progress, no_progress
from querygate.custody.policy import Policy
from querygate.custody.publish.expected_widths import ExpectedWidths, statistics_of
from querygate.custody.publish.method_choice import again
from querygate.custody.publish.partition import partition
from querygate.custody.publish.publication_state import PublicationState
from querygate.custody.publish.publish import code, load
from querygate.custody.publish_report.report_case import ReportCase
from querygate.methods.anonymise import Infeasible, ncp
from querygate.methods.risk import attack

FACTORS = (0.5, 1, 2, 5, 10)
MOST_RECORDS = 50_000
"""With more, a sample of so many is divided."""

SLOW = ("snake-polished", "top-down", "bottom-up")
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
    """Points of the map. On a sample all classes are wider than they would be: compare points with each other only."""
    published = case.published.comparison[0] if case.published.comparison else None
    name = published.method if published else _plain(case.policy)
    k = published.k if published else case.policy.k
    most = MOST_SLOW if name in SLOW else MOST_RECORDS
    points: list[SweepPoint] = []
    for factor in FACTORS:
        wanted = max(2, round(k * factor))
        if wanted <= min(case.rows.rows, most) and wanted not in [point.k for point in points]:
            progress(f"dividing for k = {wanted:,}")
            points += _point(case, name, wanted, most)
    return Sweep(name, min(case.rows.rows, most), case.rows.rows > most, k, tuple(points))


def _plain(policy: Policy) -> str:
    return "mondrian" if policy.anonymise.method == "auto" else policy.anonymise.method


def _point(case: ReportCase, name: str, k: int, most: int) -> list[SweepPoint]:
    """One point; none where the guarantees cannot be kept with this k."""
    policy = _divided_alone(replace(case.policy, k=k))
    draft = PublicationState(policy, case.rows.workshop(), no_progress)
    try:
        load(draft, case.rows.source(most), ())
        code(draft)
        partition(draft, again(draft, name), case.population, case.clock_s)
        if draft.table is None:
            return []
        widths = ExpectedWidths(draft, statistics_of(policy)).widths(draft.table, draft.labels)
        loss = ncp(draft.table, draft.labels)
    except (ConfigError, Infeasible):
        return []
    finally:
        draft.workshop.close()
    found = attack(np.bincount(draft.labels, draft.table.counts).astype(np.int64)).prosecutor
    finite = {statistic: width if np.isfinite(width) else None for statistic, width in widths.items()}
    return [SweepPoint(k, int(draft.labels.max()) + 1, loss, found.greatest, found.average, finite)]


def _divided_alone(policy: Policy) -> Policy:
    """Without what has been done before: tables are joined already, and nobody is told apart."""
    kept = tuple(c for c in policy.columns if (c.is_published and not c.codes) or c.name in policy.wishes)
    return replace(policy, columns=kept, joins=(), references=(), person="")
