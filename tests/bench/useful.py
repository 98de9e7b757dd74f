"""How much of the standing workload can be printed with the policy that `policy draft` proposes, left untouched.

Four studies at k = 10, each published as any version from the drafted file and asked as researchers ask. Beside it the
same file with classes in place of views; and what others tell at each statement, from the truth: Laplace noise with
epsilon 0.1 a figure (95 % intervals), and counts below 10 suppressed and all others rounded to 10. Counts, prevalences
and means, a part of the workload that is drawn by a fixed rule.
"""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from querygate.core.types import Range
from querygate.core.vault_ports import Source
from querygate.custody.jobs.policy_proposal import draft_from
from querygate.custody.jobs.trial_version import published_on_trial
from querygate.custody.workload import Figure, Question
from querygate.custody.workload.drawn_questions import drawn
from querygate.custody.workload.usable_share import PARTS
from querygate_adapters.sources.open_source import open_source
from tests.bench.views import EVERYTHING, STEP, Truth, laplace, plain_file, rounded, share_of, studies, told_from_truth
from tests.policies import PolicyText
from tests.report import row

K = 10
QUESTIONS = 100
TARGET = 0.70
EPSILON = 0.1


def run() -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for study in studies():
            path = str(plain_file(study, Path(folder)))
            policy = PolicyText(tomllib.loads(draft_from(path).text)).but(k=K)
            rows += _measured(study.name, policy, open_source(path))
    return rows


def _measured(name: str, policy: PolicyText, source: Source) -> list[dict[str, Any]]:
    with published_on_trial(policy.parsed(), source) as trial:
        asked = drawn(trial.questions(EVERYTHING), QUESTIONS)
        draft = trial.figures(asked)
        noisy = told_from_truth(trial, asked, partial(laplace, epsilon=EPSILON))
        coarse = told_from_truth(trial, asked, suppressed)
    classes = draft if trial.policy.views is None else _as_classes(policy, source, asked)
    way = "classes" if trial.policy.views is None else "views"
    rows = [_row(f"{name}: drafted policy ({way})", draft, classes, is_aim=True)]
    for part, belongs in PARTS[1:]:
        rows.append(
            _row(f"{name}: drafted policy ({way}), {part}", *(list(filter(belongs, f)) for f in (draft, classes)))
        )
    rows.append(_row(f"{name}: Laplace, epsilon {EPSILON:g} a figure", noisy))
    rows.append(_row(f"{name}: suppression below {STEP}, rounding to {STEP}", coarse))
    return rows


def _as_classes(policy: PolicyText, source: Source, asked: Sequence[Question]) -> list[Figure]:
    with published_on_trial(policy.but(views=None).parsed(), source) as trial:
        return trial.figures(asked)


def suppressed(kind: str, truth: Truth) -> Range | None:
    """A count below the step is not told, nor what is a share or a mean of so few."""
    return rounded(kind, truth) if truth.records >= STEP else None


def _row(
    name: str, figures: Sequence[Figure], classes: Sequence[Figure] = (), *, is_aim: bool = False
) -> dict[str, Any]:
    share = share_of(figures)
    against = f"base classes {share_of(classes):.2f}" if classes else ""
    target = TARGET if is_aim else None
    return row(name, share, "usable share", against, target=target, met=share >= TARGET if is_aim else None)
