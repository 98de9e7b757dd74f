"""How much of the standing workload can be printed: certified views beside classes, no certificate, noise and rounding.

The workload is made from the schema alone (querygate/custody/workload). Four studies, k = 5, 10, 20. Published as any
version and asked as researchers ask:
- classes: over all quasi-identifiers, with rounded sums of classes;
- views: as `mode = "auto"` chooses them, certified and verified;
- limit: the same views without any certificate (never served: only here, to see what certifying costs).
What others tell at each statement, from the truth: Laplace noise (95 % intervals; the two numbers of a mean or a
prevalence share epsilon), and counts rounded to 10. These tell no medians, deviations or pairs.

"one view" are questions whose quasi-identifiers one of the spanning views has together.
"""

from __future__ import annotations

import csv
import gzip
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from querygate.core.publications.vault_ports import Source
from querygate.core.types import Range
from querygate.custody.use_cases.trial_version import TrialVersion, published_on_trial
from querygate.custody.verify.verifier_types import Measurement
from querygate.custody.workload import Figure, Question
from querygate.custody.workload.trial_answers import Ranges, asked_figures
from querygate.custody.workload.usable_share import KINDS, PAPER
from querygate.custody.workload.workload_sample import drawn
from querygate.methods.dp.accuracy import within
from querygate.methods.views import certified_views
from querygate.methods.views.column_frontiers import ColumnFrontiers
from querygate_adapters.sources.open_source import open_source
from tests.places import DATA, ROOT
from tests.policies import Column, PolicyText, make_policy, quasi, sensitive
from tests.report import row

KS = (5, 10, 20)
PAPER_QUESTIONS, OTHER_QUESTIONS = 160, 40
"""Drawn from the workload: of counts, prevalences and means, which the target is of, and of all other kinds."""
EVERYTHING = 1_000_000
TARGET, TARGET_K = 0.80, 10
EPSILONS = (0.1, 1.0)
STEP = 10
Spanning = Sequence[Sequence[str]]


def _category(role: Callable[..., Column], *values: str) -> Column:
    return role("category", values=sorted(values))


YES_NO = _category(sensitive, "No", "Yes")
NHANES = make_policy(
    "nhanes",
    {
        "age": quasi("integer", (20, 80), grid=1, cuts=[30, 40, 50, 60, 70], weight=4),
        "gender": _category(quasi, "female", "male"),
        "race": _category(quasi, "Black", "Hispanic", "Mexican", "Other", "White"),
        "education": _category(
            quasi, "8th Grade", "9 - 11th Grade", "High School", "Some College", "College Grad"
        ),
        "sbp": sensitive("integer", (60, 260), bins=10, guard=10),
        "dbp": sensitive("integer", (0, 140), bins=10, guard=10),
        "bmi": sensitive("number", (10.0, 90.0), bins=2.5, guard=2.0),
        "cholesterol": sensitive("number", (1.0, 15.0), bins=0.5, guard=0.5),
        "diabetes": YES_NO,
        "smoker": YES_NO,
        "health": _category(sensitive, "Excellent", "Vgood", "Good", "Fair", "Poor"),
    },
)  # fmt: skip
FLCHAIN = make_policy(
    "flchain",
    {
        "age": quasi("integer", (50, 101), grid=1, cuts=[60, 70, 80, 90], weight=4),
        "sex": _category(quasi, "F", "M"),
        "sample.yr": quasi("integer", (1995, 2003), grid=1),
        "kappa": sensitive("number", (0.0, 25.0), bins=0.5, guard=0.5),
        "lambda": sensitive("number", (0.0, 30.0), bins=0.5, guard=0.5),
        "creatinine": sensitive("number", (0.0, 12.0), bins=0.2, guard=0.2),
        "death": _category(sensitive, "0", "1"),
    },
)
ADULT = make_policy(
    "adult",
    {
        "age": quasi("integer", (17, 90), grid=1, cuts=[25, 35, 45, 55, 65], weight=4),
        "sex": _category(quasi, "Female", "Male"),
        "race": quasi("category"),
        "marital-status": quasi("category"),
        "education": quasi("category"),
        "workclass": _category(
            sensitive,
            "Federal-gov",
            "Local-gov",
            "Private",
            "Self-emp-inc",
            "Self-emp-not-inc",
            "State-gov",
            "Without-pay",
        ),
        "salary-class": sensitive("category"),
    },
)


@dataclass(frozen=True)
class Study:
    """`is_aim` where the target is meant."""

    name: str
    policy: PolicyText
    file: Path
    delimiter: str = ","
    is_aim: bool = False


def studies() -> tuple[Study, ...]:
    demo = ROOT / "querygate" / "demo"
    survey = PolicyText(tomllib.loads((demo / "survey.toml").read_text(encoding="utf-8")))
    return (
        Study("demo study (NHANES 2015-16)", survey.but(views=None), demo / "survey.csv", is_aim=True),
        Study("NHANES 2009-10", NHANES, DATA / "nhanes_2009_10_adults.csv.gz", is_aim=True),
        Study("flchain", FLCHAIN, DATA / "survival" / "flchain.csv.gz"),
        Study("Adult", ADULT, DATA / "adult_30162.csv.gz", ";"),
    )


def run() -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for study in studies():
            source = open_source(str(plain_file(study, Path(folder))))
            for k in KS:
                rows += _measured(study, source, k)
    return rows


def plain_file(study: Study, folder: Path) -> Path:
    """The file with commas, as sources have it."""
    if study.delimiter == ",":
        return study.file
    path = folder / f"{study.name}.csv"
    with gzip.open(study.file, "rt", encoding="utf-8", newline="") as packed, path.open("w", newline="") as plain:
        csv.writer(plain).writerows(csv.reader(packed, delimiter=study.delimiter))
    return path


def _measured(study: Study, source: Source, k: int) -> list[dict[str, Any]]:
    rows = []
    by_views = study.policy.but(k=k, views={"mode": "auto"}).parsed()
    by_classes = study.policy.but(k=k, anonymise={"class_moments": "rounded"}).parsed()
    with published_on_trial(by_views, source) as trial:
        asked = drawn(trial.questions(EVERYTHING), PAPER_QUESTIONS, OTHER_QUESTIONS)
        views = trial.figures(asked)
        others = {name: told_from_truth(trial, asked, tell) for name, tell in OTHERS.items()} if k == KS[0] else {}
    with published_on_trial(by_classes, source) as trial:
        classes = trial.figures(asked)
    with _uncertified(), published_on_trial(by_views, source) as trial:
        limit = trial.figures(asked)
    aim = study.is_aim and k == TARGET_K
    spanning = by_views.views.spanning if by_views.views else ()
    rows += _shares(f"{study.name}, k={k}, views", views, spanning, classes, aim=aim)
    rows += _by_kind(f"{study.name}, k={k}, views", views, classes)
    rows += _shares(f"{study.name}, k={k}, limit", limit, spanning)
    rows += _shares(f"{study.name}, k={k}, classes", classes, spanning)
    for name, figures in others.items():
        rows += _shares(f"{study.name}, {name}", figures, spanning)
    return rows


@contextmanager
def _uncertified() -> Iterator[None]:
    """Views as their trees give them: neither coarsened nor verified."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(certified_views, "uncrossed", lambda one, two, *_: ([one, two], [])))
        stack.enter_context(patch.object(certified_views, "balanced", lambda views, *_: (views[-1], [], [])))
        stack.enter_context(
            patch.object(certified_views, "find_frontiers", lambda _, __, views, *___: ColumnFrontiers(tuple(views)))
        )
        measured = Measurement(0, 0)
        stack.enter_context(patch("querygate.custody.publish.publish.verify_views", lambda *_, **__: measured))
        yield


# -- shares ----------------------------------------------------------------------------------------------------------


def _shares(
    name: str, figures: Sequence[Figure], spanning: Spanning, against: Sequence[Figure] = (), *, aim: bool = False
) -> list[dict[str, Any]]:
    """Rows of the report by what is asked. The target is of counts, prevalences and means."""
    rows = []
    for part, belongs in _parts(spanning).items():
        target = TARGET if aim and part in AIMED else None
        rows += _row(f"{name}: {part}", list(filter(belongs, figures)), list(filter(belongs, against)), target)
    return rows


def _by_kind(name: str, figures: Sequence[Figure], against: Sequence[Figure]) -> list[dict[str, Any]]:
    rows = []
    for kind in KINDS:
        own, other = ([figure for figure in each if figure.kind == kind] for each in (figures, against))
        rows += _row(f"{name}: {kind}", own, other)
    return rows


def _row(
    name: str, figures: Sequence[Figure], against: Sequence[Figure], target: float | None = None
) -> list[dict[str, Any]]:
    if not figures:
        return []
    share = share_of(figures)
    met = None if target is None else share >= target
    if not against:
        return [row(name, share, "usable share", target=target, met=met)]
    other = share_of(against)
    ratio = share / other if other else None
    return [row(name, share, "usable share", f"classes {other:.2f}", ratio=ratio, target=target, met=met)]


def share_of(figures: Sequence[Figure]) -> float:
    return sum(figure.is_usable for figure in figures) / len(figures)


AIMED = ("counts, prevalences, means", "counts, prevalences, means of one view, aligned")


def _parts(spanning: Spanning) -> Mapping[str, Callable[[Figure], bool]]:
    views = [frozenset(view) for view in spanning]

    def paper(figure: Figure) -> bool:
        return figure.kind in PAPER

    def one_view(figure: Figure) -> bool:
        return paper(figure) and any(figure.question.quasi <= view for view in views)

    return {
        AIMED[0]: paper,
        "counts, prevalences, means, aligned": lambda f: paper(f) and not f.is_free,
        "counts, prevalences, means, free": lambda f: paper(f) and f.is_free,
        AIMED[1]: lambda f: one_view(f) and not f.is_free,
        "counts, prevalences, means of one view, free": lambda f: one_view(f) and f.is_free,
    }


# -- what others tell ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """Of one group: its records with a value, and the statistic."""

    records: float
    value: float
    low: float
    high: float
    """The domain of its column; of a count or a prevalence 0 and 1."""


Tell = Callable[[str, Truth], Range | None]


def told_from_truth(trial: TrialVersion, asked: Sequence[Question], tell: Tell) -> list[Figure]:
    def ranges(question: Question) -> Ranges | None:
        if question.kind not in PAPER:
            return None
        column = trial.release.catalog.column(question.columns[0]) if question.kind == "mean" else None
        low, high = (0.0, 1.0) if column is None else (float(column.low or 0), float(column.high or 0))
        records = trial.rows.by_group(trial.policy.dataset, question.records)
        values = trial.rows.by_group(trial.policy.dataset, question.sql)
        truths = {
            keys: Truth(float(records[keys] or 0), float(v), low, high) for keys, v in values.items() if v is not None
        }
        found = {keys: tell(question.kind, truth) for keys, truth in truths.items()}
        return {keys: one for keys, one in found.items() if one is not None}

    return list(asked_figures(asked, trial.policy.dataset, ranges, trial.rows))


def laplace(kind: str, truth: Truth, epsilon: float) -> Range | None:
    """The interval around a noisy answer that happens to be right."""
    if kind == "count":
        off = within(epsilon)
        return Range(max(0.0, truth.value - off), truth.value + off)
    middle, reach = (truth.low + truth.high) / 2, (truth.high - truth.low) / 2
    off_count = within(epsilon / 2)
    off_sum = within(epsilon / 2, sensitivity=reach, mechanism="laplace")
    return _quotient((truth.value - middle) * truth.records, truth.records, off_sum, off_count, reach)


def rounded(kind: str, truth: Truth) -> Range | None:
    if kind == "count":
        return Range(max(0.0, truth.value - STEP / 2), truth.value + STEP / 2)
    if kind == "mean":
        return None
    having, off = truth.value * truth.records, STEP / 2
    if truth.records <= off:
        return Range(0.0, 1.0)
    return Range(max(0.0, (having - off) / (truth.records + off)), min(1.0, (having + off) / (truth.records - off)))


def _quotient(total: float, records: float, off_total: float, off_records: float, reach: float) -> Range | None:
    """The mean distance from the middle of the domain, which is `reach` away from its ends."""
    if records <= off_records:
        return Range(-reach, reach)
    ends = [
        t / n for t in (total - off_total, total + off_total) for n in (records - off_records, records + off_records)
    ]
    return Range(max(-reach, min(ends)), min(reach, max(ends)))


OTHERS: dict[str, Tell] = {
    **{f"Laplace, epsilon {epsilon:g} a statement": partial(laplace, epsilon=epsilon) for epsilon in EPSILONS},
    f"counts rounded to {STEP}": rounded,
}
