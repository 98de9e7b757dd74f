"""The custodian's root that shows what a policy would answer, before anything is published with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from querygate.core.errors import ConfigError, Refusal
from querygate.core.ports import PublishedVersion
from querygate.core.progress import Progress, no_progress
from querygate.custody.evidence.replay import compute_again
from querygate.custody.policy.policy_file import PolicyFile
from querygate.custody.use_cases.policy_preview import policy_on_trial
from querygate.custody.workload.preview_figures import CANNOT
from querygate.gate import render
from querygate.gate.description import describe_version
from querygate.gate.query_state import Gate

MOST_QUESTIONS, MOST_ROWS = 6, 12


@dataclass(frozen=True, slots=True)
class PredictedAnswer:
    """A statement with its answer as people read it, or why it would be refused; `more` rows are not shown."""

    sql: str
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    more: int = 0
    code: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Prediction:
    answers: tuple[PredictedAnswer, ...]
    is_sample: bool = False


def split_statements(text: str) -> list[str]:
    """Statements that end in a semicolon at the end of a line.

    >>> split_statements("SELECT 1 FROM t;\\nSELECT ';' FROM t\\n")
    ['SELECT 1 FROM t', "SELECT ';' FROM t"]
    """
    return [part.strip() for part in re.split(r";[ \t\r]*(?:\n|$)", text) if part.strip()]


def predict(
    file: PolicyFile, source: str, statements: Sequence[str], gate: Gate, progress: Progress = no_progress
) -> Prediction:
    """The answers to statements, or to the version's own examples if there are none; nothing if the policy cannot be
    published."""
    try:
        with policy_on_trial(file, source, progress) as (release, is_sample):
            asked = statements or describe_version(release, gate.native, gate.limits, gate.clock_s)["examples"]
            return Prediction(tuple(_answer(sql, release, gate) for sql in asked[:MOST_QUESTIONS]), is_sample)
    except ConfigError as problem:
        if problem.code != CANNOT:
            raise
        return Prediction(())


def _answer(sql: str, release: PublishedVersion, gate: Gate) -> PredictedAnswer:
    try:
        headings, rows = render.readable(compute_again(sql, release, gate))
    except Refusal as refusal:
        return PredictedAnswer(sql, code=refusal.code, refusal=f"{refusal.detail} {refusal.remedy}")
    return PredictedAnswer(sql, headings, rows[:MOST_ROWS], max(len(rows) - MOST_ROWS, 0))
