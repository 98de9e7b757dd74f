"""What a policy costs: how much of the standing workload could be printed, and how that changes with the policy.

Every change is published on trial from the same records and asked the same questions, drawn from what the policy as it
is would be asked; of views, what a change cannot touch is not asked again. A change that leaves out a column is
compared without the questions about it where its cost is told, and with them, as figures that are lost, where it is
advised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

from querygate.core.errors import ConfigError
from querygate.core.progress import Progress, no_progress
from querygate.custody.policy import Policy, parse_policy
from querygate.custody.policy.policy_writer import write_toml
from querygate.custody.policy.toml_reader import RawTable
from querygate.custody.workload.helpful_edits import Edit, Kind, cost_edits, helpful_edits, k_edits
from querygate.custody.workload.policy_part import changed_columns, part_about
from querygate.custody.workload.standing_workload import MOST_QUESTIONS, Question
from querygate.custody.workload.usable_share import Figure, Standing, UsableShare, standing, usable_shares
from querygate.custody.workload.workload_sample import asked_columns, drawn

QUESTIONS, FEWER_QUESTIONS = 32, 20
"""So many counts, prevalences and means are asked of each change, of each the same; fewer of several views together."""

COLUMNS, FEWER_COLUMNS = 4, 2
"""They are about this many sensitive columns, since each of them has to be certified in every change."""

OTHERS = 4
"""Of the policy as it is, one in so many questions more is of another kind: these take most of the time."""

ADVISED, LEAST_GAIN = 3, 0.01
"""At most this many edits are advised, and none that makes fewer than one in a hundred more figures usable: that may be
chance."""

PARTS, WORSE = 3, 0.1
"""An edit that might help is asked a third of the questions first, and the others unless it is so much worse."""

NO_BETTER = "Fewer figures would be usable."

CANNOT = "QG803"
NOT_A_POLICY = "QG801"


@dataclass(frozen=True, slots=True)
class RareValues:
    """A quasi-identifier of which so many records have no value or a rare one, and are hidden among others."""

    column: str
    records: int


class AskedVersion(Protocol):
    """A version that is not served."""

    def questions(self, number: int) -> tuple[Question, ...]:
        """The standing workload, or so many of it."""

    def figures(self, questions: Iterable[Question]) -> list[Figure]: ...

    def rare(self) -> tuple[RareValues, ...]:
        """Categories that make classes, with values of few records."""


OnTrial: TypeAlias = "Callable[[Policy], AbstractContextManager[AskedVersion]]"
"""Publishes the records for as long as the result is in use."""

Answered: TypeAlias = "list[Figure] | str"
"""The figures of a version, or why it cannot be published."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A policy to be published on trial, and what it is to be asked. Where it is only to be better than `now` (of the
    first questions, the share that is usable as it is), the others are not asked once it is seen to be worse.
    """

    policy: Policy
    questions: tuple[Question, ...]
    now: float | None = None

    @property
    def first(self) -> tuple[Question, ...]:
        return self.questions[: -(-len(self.questions) // PARTS)]

    def answered(self, on_trial: OnTrial) -> Answered:
        try:
            with on_trial(self.policy) as version:
                first = version.figures(self.first)
                if self.now is not None and (standing(first).share or 0.0) <= self.now - WORSE:
                    return NO_BETTER
                return [*first, *version.figures(self.questions[len(self.first) :])]
        except ConfigError as problem:
            if problem.code not in (CANNOT, NOT_A_POLICY):
                raise
            return problem.detail


AnswerAll: TypeAlias = "Callable[[Sequence[Trial]], Iterator[tuple[int, Answered]]]"
"""The position of each trial and its result, in the order in which they finish."""


def one_by_one(on_trial: OnTrial) -> AnswerAll:
    return lambda trials: ((place, trial.answered(on_trial)) for place, trial in enumerate(trials))


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
class OwnCost:
    """The policy as it is: of what was asked, what could be printed; by kind and by how conditions end. `columns` are
    the sensitive columns that were asked about, of so many; `untried` are inserted views, which were left out; `rare`
    are quasi-identifiers with rare values outside the frame.
    """

    standing: Standing
    shares: tuple[UsableShare, ...]
    columns: tuple[str, ...]
    of_columns: int
    untried: tuple[tuple[str, ...], ...] = ()
    rare: tuple[RareValues, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyCost:
    """The cost of the unchanged policy, and its changes. `edits` are those that help most."""

    own: Standing
    by_k: tuple[MeasuredEdit, ...]
    costs: tuple[MeasuredEdit, ...]
    edits: tuple[MeasuredEdit, ...]
    tried: int


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
    trials = CostTrials(raw, on_trial, one_by_one(on_trial), folder=folder, questions=len(asked))
    trials.begin_with(asked, figures)
    edits = trials.policies_of(helpful_edits(trials.policy, raw, records))
    return trials.best(trials.ask_all(edits, progress))


class CostTrials:
    """The same questions to every change of a policy: those of the first version that could be published.

    `raw` are the tables of the policy file in that folder.
    """

    def __init__(
        self,
        raw: RawTable,
        on_trial: OnTrial,
        answer_all: AnswerAll,
        *,
        folder: Path = Path(),
        questions: int = QUESTIONS,
        columns: int | None = None,
        inserted: bool = True,
    ) -> None:
        """`columns` limits how many sensitive columns are asked about; `inserted` is whether views that are inserted
        after the spanning ones are tried too, which takes most of the time.
        """
        self._part = partial(part_about, inserted=inserted)
        self._raw, self._folder, self._on_trial, self._answer_all = raw, folder, on_trial, answer_all
        self._number = questions
        self.policy = parse_policy(write_toml(raw), folder=folder)
        sensitive = [column.name for column in self.policy.named("sensitive")]
        # classes are over all columns
        few = len(sensitive) if columns is None or self.policy.views is None else columns
        self._columns = asked_columns(self.policy, few)
        self.asked: tuple[Question, ...] = ()
        self._read: dict[int, tuple[Edit, Policy | str]] = {}
        self._first: list[Figure] = []
        self._problem: ConfigError | None = None
        self.standing = Standing()

    @property
    def own_part(self) -> Policy:
        """The part of the unchanged policy that is asked about."""
        return self._part(self.policy, self._columns)

    @property
    def _untried(self) -> tuple[tuple[str, ...], ...]:
        own, part = self.policy.views, self.own_part.views
        return () if own is None or part is None else tuple(view for view in own.extra if view not in part.extra)

    def begin_with(self, asked: Sequence[Question], figures: Sequence[Figure]) -> None:
        """The policy as it is has been published, and was asked this."""
        self.asked, self._first, self.standing = tuple(asked), list(figures), standing(figures)

    def policies_of(self, edits: Iterable[Edit]) -> list[Edit]:
        """The policies after changes that leave the file a valid policy."""
        return [edit for edit in edits if not isinstance(self._policy(edit), str)]

    def ask_own(self) -> OwnCost:
        """The policy as it is, other kinds of figures too."""
        shares: tuple[UsableShare, ...] = ()
        rare: tuple[RareValues, ...] = ()
        try:
            with self._on_trial(self.own_part) as version:
                self._begin(version)
                others = drawn(version.questions(MOST_QUESTIONS), 0, self._number // OTHERS)
                shares = usable_shares([*self._first, *version.figures(others)], self.policy.k)
                rare = version.rare()
                self.standing = standing(self._first)
        except ConfigError as problem:
            if problem.code != CANNOT:
                raise
            self._problem, self.standing = problem, Standing(problem=problem.detail)
        sensitive = [column.name for column in self.policy.named("sensitive")]
        told = tuple(name for name in sensitive if name in self._columns)
        return OwnCost(self.standing, shares, told, len(sensitive), self._untried, rare)

    def ask_changes(self, records: int, progress: Progress = no_progress) -> PolicyCost:
        """All changes, once the policy itself was asked; `records` is how many the source has. ConfigError where
        neither the policy nor any change of it can be published.
        """
        part = self.own_part
        by_k, costs = list(k_edits(self.policy)), list(cost_edits(part, self._raw))
        edits = [*by_k, *costs, *self.policies_of(helpful_edits(self.policy, self._raw, records))]
        answered = self.ask_all(edits, progress)
        if self._problem is not None and not self.asked:
            raise self._problem
        told = [self.compared(edit, after, lost=False) for edit, after in answered]
        return PolicyCost(
            self.standing,
            tuple(told[: len(by_k)]),
            tuple(told[len(by_k) : len(by_k) + len(costs)]),
            self.best(answered[len(by_k) :]),
            len(edits),
        )

    def ask_all(self, edits: Sequence[Edit], progress: Progress) -> list[tuple[Edit, Answered]]:
        """Every edit with its figures, in the same order."""
        found: dict[int, Answered] = {}
        for place, edit in enumerate(edits):
            if self.asked:
                break
            progress(f"trying {edit.name}", place / len(edits))
            found[place] = self._ask_first(edit)
        trials: dict[int, Trial] = {}
        for place in range(len(found), len(edits)):
            trial = self._trial(edits[place])
            if isinstance(trial, str):
                found[place] = trial
            else:
                trials[place] = trial
        places = list(trials)
        progress(f"trying {len(edits)} changes", len(found) / max(len(edits), 1))
        for at, answer in self._answer_all(list(trials.values())):
            edit = edits[places[at]]
            found[places[at]] = answer if isinstance(answer, str) else self._with_untouched(edit, answer)
            progress(f"tried {len(found)} of {len(edits)}: {edit.name}", len(found) / len(edits))
        return [(edit, found[place]) for place, edit in enumerate(edits)]

    def best(self, answered: Iterable[tuple[Edit, Answered]]) -> tuple[MeasuredEdit, ...]:
        """Those that make most more usable; none that hardly makes more usable, or leaves out a rule."""
        measured = [self.compared(edit, after, lost=True) for edit, after in answered if edit.kind != "rule"]
        gains = [((one.after.share or 0.0) - (one.before.share or 0.0), one) for one in measured]
        helpful = sorted((pair for pair in gains if pair[0] >= LEAST_GAIN), key=lambda pair: -pair[0])
        return tuple(one for _, one in helpful[:ADVISED])

    def compared(self, edit: Edit, after: Answered, *, lost: bool) -> MeasuredEdit:
        """Before and after the change: of what can be asked after it, or with what is lost by it."""
        kept = [figure for figure in self._first if edit.drops not in _columns(figure.question)]
        before = self.standing if lost or self.standing.problem else standing(kept)
        gone = len(self._first) - len(kept) if lost else 0
        found = Standing(problem=after) if isinstance(after, str) else standing(after, gone)
        return MeasuredEdit(edit.name, edit.kind, before, found, edit.gives_up, edit.text)

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _begin(self, version: AskedVersion) -> None:
        self.asked = tuple(drawn(version.questions(MOST_QUESTIONS), self._number))
        self._first = version.figures(self.asked)

    def _policy(self, edit: Edit) -> Policy | str:
        if id(edit) not in self._read:
            try:
                found: Policy | str = parse_policy(write_toml(edit.applied(self._raw)), folder=self._folder)
            except ConfigError as problem:
                found = problem.detail
            self._read[id(edit)] = edit, found
        return self._read[id(edit)][1]

    def _ask_first(self, edit: Edit) -> Answered:
        """Asks a change first, because the policy itself cannot be published."""
        policy = self._policy(edit)
        if isinstance(policy, str):
            return policy
        try:
            with self._on_trial(self._part(policy, self._columns)) as version:
                self._begin(version)
                return self._first
        except ConfigError as problem:
            if problem.code != CANNOT:
                raise
            return problem.detail

    def _trial(self, edit: Edit) -> Trial | str:
        policy = self._policy(edit)
        if isinstance(policy, str):
            return policy
        touched = self._touched(policy)
        part = self._part(policy, self._columns if touched is None else touched)
        told = {column.name for column in part.published}
        asked = (q for q in self.asked if _columns(q) <= told and (touched is None or touched & set(q.columns)))
        trial = Trial(part, tuple(asked))
        if edit.kind not in ("detail", "views") or self.standing.problem:
            return trial
        now = standing([figure for figure in self._first if figure.question in trial.first])
        return replace(trial, now=now.share)

    def _touched(self, policy: Policy) -> frozenset[str] | None:
        """The columns asked about whose answers can change; None if all can."""
        touched = None if self.standing.problem else changed_columns(self.policy, policy)
        return None if touched is None else touched & self._columns

    def _with_untouched(self, edit: Edit, figures: list[Figure]) -> list[Figure]:
        policy = self._policy(edit)
        touched = None if isinstance(policy, str) else self._touched(policy)
        if touched is None:
            return figures
        return [*figures, *(figure for figure in self._first if not touched & set(figure.question.columns))]


def _columns(question: Question) -> set[str]:
    return {*question.columns, *question.quasi}
