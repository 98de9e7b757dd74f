"""The path of a query, top to bottom. This file is the specification of the gate.

    find        whether they may ask, the dataset, the version being served and the kind of answer
    understand  SQL to a plan, or a refusal that says what to ask instead (pure: sql)
    admit       the inline auditor says whether it could single people out, where the site has one; the intent is
                on disk before anything is computed
    fetch       an aggregate read of the published cells, or of margins   (engine)
    protect     cells to guaranteed ranges                                (pure: bounds, stats)
    estimate    a likely value beside each range, from the published store (pure: estimates)
    arrange     ORDER BY and LIMIT, without hiding groups that may belong to the answer
    explain     why ranges are as wide as they are, if asked: the gate tries similar questions
    record      the answer is on disk before it is sent

If the same text was answered before, the answer is given again: audited and logged like any other, but not computed. A
crash after `admit` leaves the intent in the log. Nothing here can reach a vault: a Gate has a store, a log, a clock,
limits, the database's grammar and perhaps an inline auditor, and nothing else. Noisy answers need raw rows, so they are
a port: if the site's custodian offers them, they come from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from querygate.core.answer_bodies import AnswerBody, BudgetBody
from querygate.core.limits.deadline import within
from querygate.core.limits.turn import turn_given_up
from querygate.core.types import Answer, Principal, QueryOptions, Request
from querygate.gate.query_record import follow
from querygate.gate.query_state import NOISY, Gate, State
from querygate.gate.steps.admit import admit
from querygate.gate.steps.arrange import arrange
from querygate.gate.steps.estimate import estimate
from querygate.gate.steps.explain import explain
from querygate.gate.steps.fetch import fetch
from querygate.gate.steps.find import find, noise_of
from querygate.gate.steps.protect import protect
from querygate.gate.steps.record import record
from querygate.gate.steps.repeat import repeat
from querygate.gate.steps.understand import understand

STEPS: tuple[Callable[[State, Gate], State], ...] = (
    understand, admit, fetch, protect, estimate, arrange, explain, record,
)  # fmt: skip


def ask(request: Request, gate: Gate) -> AnswerBody:
    """Take a request through the gate, and return the answer exactly as it was logged. Raises QueryGateError."""
    with within(gate.clock_s, gate.limits.timeout_s), gate.turn.taken():
        state = follow(State(gate.new_id(), request, gate.clock_s()), gate, (find,), gate.log)
        if state.mode == NOISY and gate.noise is not None:
            with turn_given_up():  # whoever adds noise may be another process
                return gate.noise.answer(state, gate)
        if known := gate.answers.get(state.key):
            return compute_ranges(replace(state, known=known), gate, (repeat,)).body
        return compute_ranges(state, gate, STEPS).body


def answer(request: Request, gate: Gate) -> Answer:
    """Take a request to guaranteed ranges, as an object for other code. Raises QueryGateError."""
    with within(gate.clock_s, gate.limits.timeout_s):
        return compute_ranges(State(gate.new_id(), request, gate.clock_s()), gate, (find, *STEPS)).answer


def read_budget(principal: Principal, dataset: str, gate: Gate) -> BudgetBody:
    """What is left for noisy answers about a dataset."""
    state = find(State("", Request(principal, dataset, "", QueryOptions(mode=NOISY)), gate.clock_s()), gate)
    return noise_of(gate).budget(principal, state.catalog)


def compute_ranges(state: State, gate: Gate, steps: Iterable[Callable[[State, Gate], State]]) -> State:
    """The steps to ranges. The inline auditor is notified when they end, successfully or not."""
    try:
        return follow(state, gate, steps, gate.log)
    finally:
        if gate.auditor is not None:
            gate.auditor.settle(state.query_id)
