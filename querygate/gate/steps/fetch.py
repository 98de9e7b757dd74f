"""An aggregate read of the published cells, or of margins."""

from __future__ import annotations

from dataclasses import replace

from querygate.gate.passage import Gate, State
from querygate.gate.plan_cells import fetch_sheets


def fetch(state: State, gate: Gate) -> State:
    sheets = tuple(fetch_sheets(plan, state.release, gate.limits) for plan in state.plan.branches)
    return replace(state, sheets=sheets)
