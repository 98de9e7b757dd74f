"""What a policy costs: how much of the standing workload could be printed, and how that changes with the policy.

Every change is published on trial from the same records and asked the same questions, drawn from what the policy as it
is would be asked. A change that leaves out a column is compared without the questions about it where its cost is told,
and with them, as figures that are lost, where it is advised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from querygate.core.errors import ConfigError
from querygate.core.progress import Progress, no_progress
from querygate.custody.policy import Policy, parse_policy
from querygate.custody.policy.policy_writer import write_toml
from querygate.custody.policy.toml_reader import RawTable
from querygate.custody.workload.drawn_questions import drawn
from querygate.custody.workload.helpful_edits import Edit, Kind, cost_edits, helpful_edits, k_edits
from querygate.custody.workload.standing_workload import MOST_QUESTIONS, Question
from querygate.custody.workload.usable_share import PAPER, Figure, UsableShare, median_width, usable_shares

QUESTIONS = 48
"""So many counts, prevalences and means are asked of each change, of each the same."""

OTHERS = 4
"""Of the policy as it is, one in so many questions more is of another kind: these take most of the time."""

ADVISED, LEAST_GAIN = 3, 0.01
"""So many edits are advised, and none that makes less than one figure in a hundred more usable: that may be chance."""

CANNOT = "QG803"
NOT_A_POLICY = "QG801"


class AskedVersion(Protocol):
    """A version that nobody is served."""

    def questions(self, number: int) -> tuple[Question, ...]:
        """The standing workload, or so many of it."""

    def figures(self, questions: Iterable[Question]) -> list[Figure]: ...


OnTrial: TypeAlias = "Callable[[Policy], AbstractContextManager[AskedVersion]]"
"""Publishes the records for as long as the result is looked at."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Of so many counts, prevalences and means the share that is usable, and the median width of their ranges, in
    widths that could just be printed (None: most have no bounds); or why nothing can be published.
    """

    figures: int = 0
    share: float | None = None
    width: float | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class MeasuredEdit:
    """A change of the policy, before and after; of `toml`, whole tables take the place of those in the file."""

    name: str
    kind: Kind
    before: Standing
    after: Standing
    gives_up: str
    toml: str


@dataclass(frozen=True, slots=True)
class PolicyCost:
    """`shares` are of the policy as it is, by kind and by how conditions end. `edits` are those that help most."""

    own: Standing
    shares: tuple[UsableShare, ...]
    by_k: tuple[MeasuredEdit, ...]
    costs: tuple[MeasuredEdit, ...]
    edits: tuple[MeasuredEdit, ...]
    tried: int


def measure_cost(
    raw: RawTable,
    on_trial: OnTrial,
    *,
    folder: Path = Path(),
    records: int,
    questions: int = QUESTIONS,
    progress: Progress = no_progress,
) -> PolicyCost:
    """`raw` are the tables of the policy file in that folder, `records` how many the source has. ConfigError where
    neither the policy nor any change of it can be published.
    """
    trials = _Trials(raw, folder, on_trial, questions)
    policy = parse_policy(write_toml(raw), folder=folder)
    by_k, costs = list(k_edits(policy)), list(cost_edits(policy, raw))
    advice = [edit for edit in helpful_edits(policy, raw, records) if trials.is_policy(edit)]
    edits = [*by_k, *costs, *advice]
    progress("publishing the policy on trial", 0.0)
    trials.ask_own(policy)
    answered = trials.ask_all(edits, progress)
    trials.check_any()
    told = [trials.compared(edit, after, lost=False) for edit, after in answered]
    return PolicyCost(
        trials.standing,
        usable_shares(trials.own_figures),
        tuple(told[: len(by_k)]),
        tuple(told[len(by_k) : len(by_k) + len(costs)]),
        trials.best(answered[len(by_k) :]),
        len(edits),
    )


def measure_advice(
    raw: RawTable,
    on_trial: OnTrial,
    asked: Sequence[Question],
    figures: Sequence[Figure],
    *,
    folder: Path,
    records: int,
    progress: Progress = no_progress,
) -> tuple[MeasuredEdit, ...]:
    """The edits alone that would help most at the same k and with the same guards; `figures` are what the version
    answers to the questions that were asked.
    """
    trials = _Trials(raw, folder, on_trial, len(asked))
    trials.begin_with(asked, figures)
    policy = parse_policy(write_toml(raw), folder=folder)
    edits = [edit for edit in helpful_edits(policy, raw, records) if trials.is_policy(edit)]
    return trials.best(trials.ask_all(edits, progress))


Answered: TypeAlias = "list[Figure] | str"
"""The figures of a version; or why it cannot be published."""


class _Trials:
    """The same questions to every change of a policy: those of the first version that could be published."""

    def __init__(self, raw: RawTable, folder: Path, on_trial: OnTrial, number: int) -> None:
        self._raw, self._folder, self._on_trial, self._number = raw, folder, on_trial, number
        self._asked: list[Question] = []
        self._first: list[Figure] = []
        self._problem: ConfigError | None = None
        self.own_figures: list[Figure] = []
        self.standing = Standing()

    def begin_with(self, asked: Sequence[Question], figures: Sequence[Figure]) -> None:
        """The policy as it is has been published, and was asked this."""
        self._asked, self._first, self.standing = list(asked), list(figures), standing(figures)

    def is_policy(self, edit: Edit) -> bool:
        try:
            self._policy(edit)
        except ConfigError:
            return False
        return True

    def ask_own(self, policy: Policy) -> None:
        """The policy as it is, other kinds of figures too."""
        try:
            with self._on_trial(policy) as version:
                found = self._answers(version, policy)
                others = drawn(version.questions(MOST_QUESTIONS), 0, self._number // OTHERS)
                self.own_figures = [*found, *version.figures(others)]
                self.standing = standing(found)
        except ConfigError as problem:
            if problem.code != CANNOT:
                raise
            self._problem, self.standing = problem, Standing(problem=problem.detail)

    def ask(self, edit: Edit) -> Answered:
        try:
            policy = self._policy(edit)
            with self._on_trial(policy) as version:
                return self._answers(version, policy)
        except ConfigError as problem:
            if problem.code not in (CANNOT, NOT_A_POLICY):
                raise
            return problem.detail

    def ask_all(self, edits: Sequence[Edit], progress: Progress) -> list[tuple[Edit, Answered]]:
        answered = []
        for place, edit in enumerate(edits, start=1):
            progress(f"trying {place} of {len(edits)}: {edit.name}", place / (len(edits) + 1))
            answered.append((edit, self.ask(edit)))
        return answered

    def best(self, answered: Iterable[tuple[Edit, Answered]]) -> tuple[MeasuredEdit, ...]:
        """Those that make most more usable; none that hardly makes more usable, or leaves out a rule."""
        measured = [self.compared(edit, after, lost=True) for edit, after in answered if edit.kind != "rule"]
        gains = [((one.after.share or 0.0) - (one.before.share or 0.0), one) for one in measured]
        helpful = sorted((pair for pair in gains if pair[0] >= LEAST_GAIN), key=lambda pair: -pair[0])
        return tuple(one for _, one in helpful[:ADVISED])

    def check_any(self) -> None:
        if self._problem is not None and not self._asked:
            raise self._problem

    def compared(self, edit: Edit, after: Answered, *, lost: bool) -> MeasuredEdit:
        """Before and after the change: of what can be asked after it, or with what is lost by it."""
        kept = [figure for figure in self._first if edit.drops not in _columns(figure.question)]
        before = self.standing if lost or self.standing.problem else standing(kept)
        gone = len(self._first) - len(kept) if lost else 0
        found = Standing(problem=after) if isinstance(after, str) else standing(after, gone)
        return MeasuredEdit(edit.name, edit.kind, before, found, edit.gives_up, edit.text)

    def _policy(self, edit: Edit) -> Policy:
        return parse_policy(write_toml(edit.applied(self._raw)), folder=self._folder)

    def _answers(self, version: AskedVersion, policy: Policy) -> list[Figure]:
        is_first = not self._asked
        if is_first:
            self._asked = drawn(version.questions(MOST_QUESTIONS), self._number)
        told = {column.name for column in policy.published}
        figures = version.figures(question for question in self._asked if _columns(question) <= told)
        if is_first:
            self._first = figures
        return figures


def _columns(question: Question) -> set[str]:
    return {*question.columns, *question.quasi}


def standing(figures: Sequence[Figure], lost: int = 0) -> Standing:
    """Of counts, prevalences and means; what is lost is not usable, and without bounds."""
    paper = [figure for figure in figures if figure.kind in PAPER]
    number = len(paper) + lost
    if not number:
        return Standing()
    usable = sum(figure.is_usable for figure in paper)
    return Standing(number, usable / number, median_width([f.width for f in paper] + [float("inf")] * lost))
