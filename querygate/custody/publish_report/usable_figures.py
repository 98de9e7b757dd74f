"""How much of what an ordinary paper needs can be printed from the version, and which edits of its policy would
increase that. `querygate policy preview` measures this and more before anything is published.

Edits are tried on small tables, and if the policy file is at hand, since its lines are what is edited.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from querygate.core.errors import ConfigError
from querygate.core.progress import Progress, no_progress
from querygate.custody.publish_report.report_case import ReportCase
from querygate.custody.publish_report.widened_ranges import (
    MedianWidth,
    lost_sharpness,
    median_widths,
    sharper,
)
from querygate.custody.workload import Figure, Question, public_cuts, standing_workload
from querygate.custody.workload.preview_figures import MeasuredEdit, measure_advice
from querygate.custody.workload.standing_workload import mean_questions
from querygate.custody.workload.usable_share import Standing, standing
from querygate.custody.workload.workload_sample import drawn

QUESTIONS = 24
MOST_RECORDS = 50_000
"""With more, nothing is asked."""

MOST_TRIED = 2_000
"""With more, no edit is tried."""


@dataclass(frozen=True, slots=True)
class UsableFigures:
    """None if the table is large. `edits` are those that help most; `why_none` says why none was tried. `lost` says
    what is clearly wider than in the previous version, and `remedy` what to do about that.
    """

    standing: Standing | None
    edits: tuple[MeasuredEdit, ...] = ()
    why_none: str = ""
    widths: tuple[MedianWidth, ...] = ()
    lost: tuple[str, ...] = ()
    remedy: str = ""


def usable_figures(case: ReportCase, progress: Progress = no_progress) -> UsableFigures:
    if case.rows.rows > MOST_RECORDS:
        return UsableFigures(None, why_none=f"This is measured for at most {MOST_RECORDS:,} records.")
    progress("asking the usual questions of analysts")
    asked = drawn(standing_workload(case.catalog, public_cuts(case.policy)), QUESTIONS)
    figures = case.figures(asked)
    own = standing(figures)
    widths = median_widths(figures, case.figures(mean_questions(case.catalog)))
    lost = () if case.before is None else tuple(lost_sharpness(case.before, own, widths))
    edits, why_none = _edits(case, asked, figures, progress)
    return UsableFigures(own, edits, why_none, widths, lost, _remedy(case) if lost else "")


def _remedy(case: ReportCase) -> str:
    earlier = case.published.versions
    fitted = earlier is not None and bool(earlier.by_version or earlier.certified)
    return sharper(case.before, json.loads(case.policy.canonical()), fitted=fitted) if case.before else ""


def _edits(
    case: ReportCase, asked: Sequence[Question], figures: Sequence[Figure], progress: Progress
) -> tuple[tuple[MeasuredEdit, ...], str]:
    """Those that help most, or why none was tried."""
    on_trial = case.on_trial
    if case.tables is None or on_trial is None:
        return (), "The policy file is not available, so no edits to it were tried."
    if case.rows.rows > MOST_TRIED:
        return (), f"Edits are tried for at most {MOST_TRIED:,} records."
    try:
        edits = measure_advice(
            case.tables,
            lambda policy: case.tried(policy, on_trial),
            asked,
            figures,
            folder=case.folder,
            records=case.rows.rows,
            progress=progress,
        )
    except ConfigError as problem:
        return (), f"Edits could not be tried: {problem.detail}"
    return edits, ""
