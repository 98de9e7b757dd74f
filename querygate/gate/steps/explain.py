"""Why ranges are as wide as they are, if asked: the gate tries similar questions."""

from __future__ import annotations

from dataclasses import replace

from querygate.core.errors import UnsupportedSQL
from querygate.core.limits.deadline import over_the_limit, seconds_left, within
from querygate.core.types import Answer
from querygate.gate.query_state import Gate, State
from querygate.gate.steps.arrange import arrange
from querygate.gate.steps.fetch import fetch
from querygate.gate.steps.protect import HURRIED, protect
from querygate.gate.width_explanation import explain_width, withhold_reasons
from querygate.sql import accepted_plan

FOR_EXPLAINING = 0.5
"""The part of the time left that an explanation may use."""


def explain(state: State, gate: Gate) -> State:
    """Costs nothing unless asked for, and then at most half of the remaining time."""
    if not state.request.options.explain:
        return state
    if state.catalog.on_differencing != "alert":
        return replace(state, explanation=withhold_reasons(state.answer))
    sheets = [sheet for each in state.sheets for sheet in each]
    with within(gate.clock_s, seconds_left(gate.limits.timeout_s) * FOR_EXPLAINING):
        found = explain_width(
            state.request.sql, state.plan, state.answer, sheets, state.catalog, lambda sql: _try(sql, state, gate)
        )
    elapsed_ms = round((gate.clock_s() - state.began_s) * 1000, 1)
    return replace(state, explanation=found, answer=replace(state.answer, elapsed_ms=elapsed_ms))


def _try(sql: str, state: State, gate: Gate) -> Answer | None:
    """The answer to another statement, for internal use; None if it is refused. Raises QG305 if there is no time to
    compute it in full."""
    plan = accepted_plan(sql, state.catalog, gate.native, gate.limits)
    if plan is None:
        return None
    tried = replace(state, request=replace(state.request, sql=sql), plan=plan, notes=())
    try:
        for step in (fetch, protect, arrange):
            tried = step(tried, gate)
    except UnsupportedSQL:
        return None
    if HURRIED in tried.notes:
        raise over_the_limit()
    return tried.answer
