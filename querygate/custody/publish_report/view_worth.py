"""The benefit and cost of views: how much of the standing workload could be printed, and how strongly values are
believed; beside classes over all quasi-identifiers, which are published on trial from the same rows.

A part of the workload is asked, drawn by a fixed rule, and trials are for tables that are not large: the report says
what was done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from querygate.core.errors import ConfigError
from querygate.core.progress import Progress, no_progress
from querygate.core.types import Arrays, Catalog, Column, Floats, Ints
from querygate.custody.publish.view_risk import UnitRisk
from querygate.custody.publish_report.report_case import OnTrial, ReportCase
from querygate.custody.verify.verify import Written
from querygate.custody.workload import Figure, Question, UsableShare, public_cuts, standing_workload, usable_shares
from querygate.custody.workload.usable_share import median_width
from querygate.custody.workload.workload_sample import drawn

QUESTIONS = {"one view": (26, 10), "others": (18, 6)}
"""How many questions are asked whose columns are together in some view, and how many others: counts, prevalences and
means, and all other kinds."""

MOST_RECORDS = 50_000
"""With more, classes are not published on trial."""

MOST_OTHER_K = 2_000
"""With more, views are not published on trial with twice the k."""

PRINTED = "counts, prevalences and means"

Ask: TypeAlias = Callable[[Sequence[Question]], list[Figure]]


@dataclass(frozen=True, slots=True)
class Belief:
    """Belief in the true bin of a unit: the mean over records, and the greatest."""

    unit: tuple[str, ...]
    mean: float
    highest: float


@dataclass(frozen=True, slots=True)
class AskedPart:
    """A part of the standing workload: how many of its questions were asked, and how many figures these have."""

    name: str
    asked: int
    questions: int
    figures: int


@dataclass(frozen=True, slots=True)
class AnsweredPart:
    """What could be printed of a part, and how wide ranges are by kind: the median, in widths that could just be
    printed (None: refused, or without bounds).
    """

    shares: tuple[UsableShare, ...]
    widths: Mapping[str, float | None]

    def share(self, name: str) -> float | None:
        return next((one.share for one in self.shares if one.name == name), None)


@dataclass(frozen=True, slots=True)
class WayToPublish:
    """One way to publish: its answers to the parts of the workload, and the belief. `printed` is the share of counts,
    prevalences and means in the whole workload that could be printed.
    """

    name: str
    k: int
    parts: tuple[AnsweredPart, ...]
    printed: float | None
    belief: tuple[Belief, ...]

    @property
    def believed(self) -> float | None:
        """The mean belief over all units."""
        return sum(one.mean for one in self.belief) / len(self.belief) if self.belief else None


@dataclass(frozen=True, slots=True)
class ViewWorth:
    """The version itself first. `why_alone` says why nothing is beside it; empty where something is. `guess` is what is
    believed by whoever knows the histograms of the whole table alone.
    """

    parts: tuple[AskedPart, ...]
    ways: tuple[WayToPublish, ...]
    guess: tuple[Belief, ...]
    why_alone: str


@dataclass(frozen=True)
class _Workload:
    """Questions by part, and of how many they were drawn."""

    drawn: Mapping[str, Sequence[Question]]
    sizes: Mapping[str, int]

    @classmethod
    def of(cls, case: ReportCase) -> _Workload:
        parts: dict[str, list[Question]] = {name: [] for name in QUESTIONS}
        for question in standing_workload(case.catalog, public_cuts(case.policy)):
            parts["one view" if _is_told(case.catalog, question) else "others"].append(question)
        return cls(
            {name: drawn(found, *QUESTIONS[name]) for name, found in parts.items()},
            {name: len(found) for name, found in parts.items()},
        )

    def way(self, name: str, k: int, ask: Ask, belief: tuple[Belief, ...]) -> tuple[WayToPublish, list[int]]:
        """A way to publish, and the number of figures of each part."""
        figures = [ask(questions) for questions in self.drawn.values()]
        parts = tuple(AnsweredPart(usable_shares(found), _widths(found)) for found in figures)
        shares = [(part.share(PRINTED), size) for part, size in zip(parts, self.sizes.values(), strict=True)]
        known = [(share, size) for share, size in shares if share is not None]
        total = sum(size for _, size in known)
        printed = sum(share * size for share, size in known) / total if total else None
        return WayToPublish(name, k, parts, printed, belief), [len(found) for found in figures]


def _is_told(catalog: Catalog, question: Question) -> bool:
    """Does some margin have all columns of a question?"""
    return any(
        question.quasi <= set(margin.quasi) and set(question.columns) <= set(margin.sensitive)
        for margin in catalog.margins
    )


def view_worth(case: ReportCase, risk: Sequence[UnitRisk], progress: Progress = no_progress) -> ViewWorth:
    workload = _Workload.of(case)
    progress("asking the usual questions of analysts")
    own, figures = workload.way("views", case.policy.k, case.figures, _told(risk))
    ways, why = [own], ""
    guess: tuple[Belief, ...] = ()
    if case.on_trial is None or case.rows.rows > MOST_RECORDS:
        why = f"A trial version with classes is made for at most {MOST_RECORDS:,} records."
    else:
        progress("making a trial version with classes")
        try:
            classes, guess = _classes(case, case.on_trial, [one.unit for one in risk], workload)
            ways += [classes, *_twice_k(case, case.on_trial, workload)]
        except ConfigError as problem:
            why = f"Classes cannot be published with this policy: {problem.detail}"
    parts = [
        AskedPart(name, len(workload.drawn[name]), size, number)
        for (name, size), number in zip(workload.sizes.items(), figures, strict=True)
    ]
    return ViewWorth(tuple(parts), tuple(ways), guess, why)


def _classes(
    case: ReportCase, on_trial: OnTrial, units: Sequence[tuple[str, ...]], workload: _Workload
) -> tuple[WayToPublish, tuple[Belief, ...]]:
    """Classes over all quasi-identifiers, and the belief without any."""
    with case.tried(replace(case.policy, views=None), on_trial) as trial:
        believed, guess = (tuple(class_beliefs(trial.written, units, whole=whole)) for whole in (False, True))
        return workload.way("classes", case.policy.k, trial.figures, believed)[0], guess


def _twice_k(case: ReportCase, on_trial: OnTrial, workload: _Workload) -> list[WayToPublish]:
    """Views with twice the k; None if the table is large, or has too few people for so large a k."""
    if case.rows.rows > MOST_OTHER_K:
        return []
    policy = replace(case.policy, k=2 * case.policy.k)
    try:
        with case.tried(policy, on_trial, measures_risk=True) as trial:
            return [workload.way("views", policy.k, trial.figures, _told(trial.risk))[0]]
    except ConfigError:
        return []


def _told(risk: Sequence[UnitRisk]) -> tuple[Belief, ...]:
    return tuple(Belief(one.unit, one.mean, one.highest or 0.0) for one in risk if one.mean is not None)


def _widths(figures: Sequence[Figure]) -> dict[str, float | None]:
    kinds = dict.fromkeys(figure.kind for figure in figures)
    return {kind: median_width(figure.width for figure in figures if figure.kind == kind) for kind in sorted(kinds)}


# -- classes -------------------------------------------------------------------------------------------------------


def class_beliefs(written: Written, units: Iterable[tuple[str, ...]], *, whole: bool) -> Iterator[Belief]:
    """In classes over all quasi-identifiers, or in the whole table, a bin is believed as its share there."""
    columns = {column.name: column for column in written.catalog().columns}
    cells = written.cells([])
    label = np.unique(np.asarray(cells["class"]), return_inverse=True)[1].reshape(-1)
    label = np.zeros_like(label) if whole else label
    number = np.asarray(cells["n"], dtype=np.float64)
    size = np.bincount(label, number)
    for unit in units:
        bins = _bins(cells, [columns[name] for name in unit])
        _, place = np.unique(label * (int(bins.max()) + 1) + bins, return_inverse=True)
        share: Floats = np.bincount(place.reshape(-1), number)[place.reshape(-1)] / size[label]
        yield Belief(unit, round(float((share * number).sum() / number.sum()), 4), round(float(share.max()), 4))


def _bins(cells: Arrays, columns: Sequence[Column]) -> Ints:
    """A number for each combination of what cells show of these columns."""
    found = np.zeros(len(cells["n"]), dtype=np.int64)
    for column in columns:
        for name, values in cells.items():
            if name.startswith(f"c{column.index}_"):
                plain = np.unique(np.ma.getdata(values), return_inverse=True)[1].reshape(-1) + 1
                told = np.where(np.ma.getmaskarray(values), 0, plain)
                found = np.unique(found * (int(told.max()) + 1) + told, return_inverse=True)[1].reshape(-1)
    return found
