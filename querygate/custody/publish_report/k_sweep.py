"""The map of risk and utility: the same records divided once more for other k, by the method that was published.

Duncan, Keller-McNulty, Stokes, "Disclosure risk vs. data utility: the R-U confidentiality map", 2001. Every point keeps
all guarantees of the policy. Nothing of it is written or served.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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


def sweep(case: ReportCase, progress: Progress) -> dict[str, Any]:
    """Points of the map. On a sample all classes are wider than they would be: compare points with each other only."""
    published = case.published.comparison[0] if case.published.comparison else None
    name = published.method if published else _plain(case.policy)
    k = published.k if published else case.policy.k
    most = MOST_SLOW if name in SLOW else MOST_RECORDS
    points: list[dict[str, Any]] = []
    for factor in FACTORS:
        wanted = max(2, round(k * factor))
        if wanted <= min(case.rows.rows, most) and wanted not in [point["k"] for point in points]:
            progress(f"dividing for k = {wanted:,}")
            points += _point(case, name, wanted, most)
    return {
        "method": name,
        "records": min(case.rows.rows, most),
        "is_sample": case.rows.rows > most,
        "k": k,
        "points": points,
    }


def _plain(policy: Policy) -> str:
    return "mondrian" if policy.anonymise.method == "auto" else policy.anonymise.method


def _point(case: ReportCase, name: str, k: int, most: int) -> list[dict[str, Any]]:
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
    return [
        {
            "k": k,
            "classes": int(draft.labels.max()) + 1,
            "ncp": loss,
            "greatest": found.greatest,
            "average": found.average,
            "widths": {statistic: _finite(width) for statistic, width in widths.items()},
        }
    ]


def _divided_alone(policy: Policy) -> Policy:
    """Without what has been done before: tables are joined already, and nobody is told apart."""
    kept = tuple(c for c in policy.columns if (c.is_published and not c.codes) or c.name in policy.wishes)
    return replace(policy, columns=kept, joins=(), references=(), person="")


def _finite(width: float) -> float | None:
    return width if np.isfinite(width) else None
