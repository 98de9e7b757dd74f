"""Would a statement be accepted, and at what cost? Asked without asking it."""

from __future__ import annotations

from querygate.core.answer_bodies import Verdict
from querygate.core.errors import Refusal
from querygate.core.limits.deadline import within
from querygate.core.types import Request
from querygate.gate.query_record import LONGEST_LOGGED_SQL
from querygate.gate.query_state import NOISY, Gate, State
from querygate.gate.steps.arrange import arrange
from querygate.gate.steps.fetch import fetch
from querygate.gate.steps.find import find
from querygate.gate.steps.protect import protect
from querygate.gate.steps.understand import understand
from querygate.gate.verdict import make_verdict
from querygate.gate.widths import told_widths

DRY_RUN = "dry_run"
"""The kind of log entry that a statement leaves which was checked and not asked."""


def check(request: Request, gate: Gate) -> Verdict:
    """Would this be accepted, and at what cost? A dry run, which spends nothing and is on record.

    Nothing is read from the cells, unless it is to explain how wide the ranges would be.
    """

    def note(code: str | None) -> None:
        body = {"sql": request.sql[:LONGEST_LOGGED_SQL], "mode": request.options.mode, "code": code}
        gate.log.note(DRY_RUN, user=request.principal.name, dataset=request.dataset, body=body)

    try:
        with within(gate.clock_s, gate.limits.timeout_s):
            verdict = _judge(find(State("", request, gate.clock_s()), gate), gate)
    except Refusal as refusal:
        note(refusal.code)
        raise
    note(None)
    return verdict


def _judge(state: State, gate: Gate) -> Verdict:
    if state.mode == NOISY and gate.noise is not None:
        return gate.noise.check(state, gate)
    state = understand(state, gate)
    verdict = make_verdict(state.plan, state.catalog)
    if state.request.options.explain and state.catalog.on_differencing == "alert":
        for step in (fetch, protect, arrange):
            state = step(state, gate)
        verdict["widths"] = told_widths(state.answer)
    return verdict
