"""How much of the standing workload can be printed with the policy that `policy draft` proposes, left untouched.

Four studies at k = 10, each published as any version from the drafted file and asked as researchers ask. Beside it the
same file with classes in place of views; and what others tell at each statement, from the truth: Laplace noise with
epsilon 0.1 a figure (95 % intervals), and counts below 10 suppressed and all others rounded to 10. Counts, prevalences
and means, a part of the workload that is drawn by a fixed rule: all of it, what one spanning view has, by how
conditions end, and by kind; of medians and standard deviations the drafted policy and classes alone.

A draft that leaves a column out is asked nothing about it. So there is a second share, without a target, of what a
paper would ask about all columns that the draft names as known to others: a question about one that it left out is
lost, and one by a column with grouped values counts as far as values that K records have are told by name.
"""

from __future__ import annotations

import json
import math
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from querygate.core.publications.vault_ports import Source
from querygate.core.types import Column, Range
from querygate.custody.policy.drafts.column_proposal import Proposal
from querygate.custody.use_cases.policy_draft import draft_from
from querygate.custody.use_cases.trial_version import published_on_trial
from querygate.custody.workload import Figure, Question, public_cuts, standing_workload
from querygate.custody.workload.usable_share import PAPER
from querygate.custody.workload.workload_sample import drawn
from querygate_adapters.sources.open_source import open_source
from tests.bench.views import EVERYTHING, STEP, Truth, laplace, plain_file, rounded, share_of, studies, told_from_truth
from tests.policies import PolicyText
from tests.report import row

K = 10
QUESTIONS, OTHERS = 100, 20
TARGET = 0.70
EPSILON = 0.1


def run() -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for study in studies():
            path = str(plain_file(study, Path(folder)))
            drafted = draft_from(path)
            policy = PolicyText(tomllib.loads(drafted.text)).but(k=K)
            rows += _measured(study.name, policy, open_source(path))
            rows.append(_of_paper(study.name, drafted.columns, policy, open_source(path)))
    return rows


def _of_paper(name: str, columns: Sequence[Proposal], policy: PolicyText, source: Source) -> dict[str, Any]:
    known = [_known(p, source) for p in columns if "quasi-identifier" in (p.role, p.offer) and p.type in KNOWN]
    with published_on_trial(policy.parsed(), source) as trial:
        told = {column.name: column for column in trial.release.catalog.columns}
        sensitive = (column for column in told.values() if column.role == "sensitive")
        schema = replace(trial.release.catalog, columns=(*known, *sensitive))
        workload = standing_workload(schema, public_cuts(trial.policy), most=EVERYTHING)
        shares = []
        for question in drawn(workload, QUESTIONS):
            figures = trial.figures([question]) if question.quasi <= set(told) else []
            keys = [one for one in known if one.name in question.keys]
            named = (len(set(one.values) & set(told[one.name].values)) / len(one.values) for one in keys)
            shares.append(share_of(figures) * math.prod(named) if figures else 0.0)
    lost = ", ".join(one.name for one in known if one.name not in told) or "none"
    against = f"of {len(known)} columns that others know, left out: {lost}"
    return row(
        f"{name}: drafted policy, of a paper about all columns", sum(shares) / len(shares), "usable share", against
    )


KNOWN = ("integer", "number", "category", "boolean")


def _known(p: Proposal, source: Source) -> Column:
    """A column that others know, with every value that K records have."""
    if p.type in ("integer", "number"):
        low, high = json.loads(p.keys["domain"])
        return Column(p.name, 0, "quasi-identifier", p.type, True, low, high)
    with source.reading():
        counts = Counter(str(value) for batch in source.batches([p.name]) for value in batch.column(0).to_pylist())
    absent = {"None", *json.loads(p.keys.get("absent", "[]"))}
    values = tuple(sorted(value for value, n in counts.items() if n >= K and value not in absent))
    return Column(p.name, 0, "quasi-identifier", "category", True, values=values)


def _measured(name: str, policy: PolicyText, source: Source) -> list[dict[str, Any]]:
    with published_on_trial(policy.parsed(), source) as trial:
        asked = drawn(trial.questions(EVERYTHING), QUESTIONS, OTHERS)
        draft = trial.figures(asked)
        told = [question for question in asked if question.kind in PAPER]
        noisy = told_from_truth(trial, told, partial(laplace, epsilon=EPSILON))
        coarse = told_from_truth(trial, told, suppressed)
    views = trial.policy.views
    classes = draft if views is None else _as_classes(policy, source, asked)
    spanning = [frozenset(view) for view in views.spanning] if views else []
    way = "views" if views else "classes"
    rows = []
    for part, belongs in _parts(spanning).items():
        own, *others = (list(filter(belongs, figures)) for figures in (draft, classes, noisy, coarse))
        if own:
            rows.append(_row(f"{name}: drafted policy ({way}){part}", own, others, is_aim=part in AIMED))
    return rows


AIMED = ("", ", of one view")


def _parts(spanning: Sequence[frozenset[str]]) -> dict[str, Callable[[Figure], bool]]:
    def paper(figure: Figure) -> bool:
        return figure.kind in PAPER

    def one_view(figure: Figure) -> bool:
        return paper(figure) and any(figure.question.quasi <= view for view in spanning)

    def of_kind(kind: str) -> Callable[[Figure], bool]:
        return lambda figure: figure.kind == kind

    return {
        AIMED[0]: paper,
        ", aligned": lambda figure: paper(figure) and not figure.is_free,
        ", free": lambda figure: paper(figure) and figure.is_free,
        AIMED[1]: one_view,
        ", of one view, aligned": lambda figure: one_view(figure) and not figure.is_free,
        ", of one view, free": lambda figure: one_view(figure) and figure.is_free,
        **{f", {kind}": of_kind(kind) for kind in ("count", "prevalence", "mean", "median", "sd")},
    }


def _as_classes(policy: PolicyText, source: Source, asked: Sequence[Question]) -> list[Figure]:
    """The same file by classes, whose bins are no narrower than a guard; what classes cannot tell is not usable."""
    drafted = policy.parsed()
    bins = {
        name: table | {"bins": table["guard"]}
        for name, table in policy.tables["columns"].items()
        if table["role"] == "sensitive" and "guard" in table
    }
    plain = policy.but(views=None, columns=bins).parsed()
    with published_on_trial(replace(plain, dataset=drafted.dataset), source) as trial:
        return trial.figures(asked)


def suppressed(kind: str, truth: Truth) -> Range | None:
    """A count below the step is not told, nor what is a share or a mean of so few."""
    return rounded(kind, truth) if truth.records >= STEP else None


def _row(
    name: str, figures: Sequence[Figure], others: Sequence[Sequence[Figure]], *, is_aim: bool = False
) -> dict[str, Any]:
    share = share_of(figures)
    beside = zip(("base classes", f"Laplace {EPSILON:g}", f"rounding to {STEP}"), others, strict=True)
    against = ", ".join(f"{way} {share_of(found):.2f}" for way, found in beside if found)
    target = TARGET if is_aim else None
    return row(name, share, "usable share", against, target=target, met=share >= TARGET if is_aim else None)
