"""An aggregate read of the published cells, or of margins."""

from __future__ import annotations

from dataclasses import replace

from querygate.gate.plan_cells import fetch_sheets
from querygate.gate.query_state import Gate, State


def fetch(state: State, gate: Gate) -> State:
    sheets = tuple(fetch_sheets(plan, state.release, gate.limits) for plan in state.plan.branches)
    return replace(state, sheets=sheets)
