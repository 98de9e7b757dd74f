"""How much of what an ordinary paper would ask can be printed from the version, and which edits of its policy would
make it more. `querygate policy preview` measures this and more before anything is published.

Edits are tried on small tables, and where the file of the policy is at hand: its lines are what is to be edited.
"""

from __future__ import annotations

from dataclasses import dataclass

from querygate.core.errors import ConfigError
from querygate.core.progress import Progress, no_progress
from querygate.custody.publish_report.report_case import ReportCase
from querygate.custody.workload import public_cuts, standing_workload
from querygate.custody.workload.policy_cost import MeasuredEdit, measure_advice
from querygate.custody.workload.usable_share import Standing, standing
from querygate.custody.workload.workload_sample import drawn

QUESTIONS = 24
MOST_RECORDS = 50_000
"""With more, nothing is asked."""

MOST_TRIED = 2_000
"""With more, no edit is tried."""


@dataclass(frozen=True, slots=True)
class UsableFigures:
    """None where the table is large. `edits` are those that help most; `why_none` says why none was tried."""

    standing: Standing | None
    edits: tuple[MeasuredEdit, ...] = ()
    why_none: str = ""


def usable_figures(case: ReportCase, progress: Progress = no_progress) -> UsableFigures:
    if case.rows.rows > MOST_RECORDS:
        return UsableFigures(None, why_none=f"This is measured for at most {MOST_RECORDS:,} records.")
    progress("asking the usual questions of analysts")
    asked = drawn(standing_workload(case.catalog, public_cuts(case.policy)), QUESTIONS)
    figures = case.figures(asked)
    own = standing(figures)
    on_trial = case.on_trial
    if case.tables is None or on_trial is None:
        return UsableFigures(own, why_none="The policy file is not available, so no edits to it were tried.")
    if case.rows.rows > MOST_TRIED:
        return UsableFigures(own, why_none=f"Edits are tried for at most {MOST_TRIED:,} records.")
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
        return UsableFigures(own, why_none=f"Edits could not be tried: {problem.detail}")
    return UsableFigures(own, edits)
