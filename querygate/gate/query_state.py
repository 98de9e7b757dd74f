"""A query on its way through the gate: what it may touch, and what is known of it so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Never, Protocol

from querygate.core.answer_bodies import AnswerBody, BudgetBody, ExplanationBody, Verdict
from querygate.core.frozen_classes import frozen
from querygate.core.limits.turn import Turn
from querygate.core.plan import Plan
from querygate.core.ports import InlineAuditor, Limits, Native, PublishedVersion, QueryLog, Store
from querygate.core.rights import GrantBook
from querygate.core.types import Answer, Catalog, Group, Principal, Request
from querygate.gate.answer_cache import AnswerKey, KeptAnswer, KeptAnswers
from querygate.gate.likely_tables import LikelyTables
from querygate.gate.plan_cells import Sheet
from querygate.gate.render import make_body

INTERVAL, NOISY = MODES = ("interval", "laplace")

LATER: Never = None  # type: ignore[assignment]
"""The value of a field that a later step fills."""


@frozen
class Gate:
    """All that a query may touch."""

    store: Store
    log: QueryLog
    grants: GrantBook
    native: Native
    new_id: Callable[[], str]
    clock_s: Callable[[], float]
    limits: Limits = field(default_factory=Limits)
    auditor: InlineAuditor | None = None
    noise: NoisyPath | None = None
    likely: LikelyTables = field(default_factory=LikelyTables)
    answers: KeptAnswers = field(default_factory=KeptAnswers)
    turn: Turn = field(default_factory=lambda: Turn(lambda: 0.0))


@frozen
class Passage:
    """A request on its way to either kind of answer. Each step returns a copy that knows more."""

    query_id: str
    request: Request
    began_s: float
    mode: str = INTERVAL
    release: PublishedVersion = LATER
    version: int | None = None
    body: AnswerBody = LATER

    @property
    def catalog(self) -> Catalog:
        return self.release.catalog


@frozen
class State(Passage):
    """A request on its way to guaranteed ranges."""

    plan: Plan = LATER
    sheets: tuple[tuple[Sheet, ...], ...] = ()
    groups: tuple[tuple[Group, ...], ...] = ()
    notes: tuple[str, ...] = ()
    answer: Answer = LATER
    explanation: ExplanationBody | None = None
    known: KeptAnswer = LATER

    @property
    def key(self) -> AnswerKey:
        """What an answer that was given before is found by."""
        request, catalog = self.request, self.catalog
        served = (catalog.dataset, catalog.version, catalog.published, catalog.policy_hash)
        return AnswerKey(request.principal.name, *served, request.sql, self.mode, request.options)

    def make_body(self) -> AnswerBody:
        """The answer as it is given out and kept."""
        body = make_body(self.answer)
        return body if self.explanation is None else {**body, "explanation": self.explanation}


class NoisyPath(Protocol):
    """Answers with noise, paid for from a budget, made where the raw rows are."""

    def answer(self, passage: Passage, gate: Gate) -> AnswerBody: ...

    def check(self, passage: Passage, gate: Gate) -> Verdict:
        """What it would cost and how precise it would be. Nothing is read from the rows or spent."""
        ...

    def budget(self, principal: Principal, catalog: Catalog) -> BudgetBody:
        """What is left for this person, and for a custodian what was spent, by whom."""
        ...
