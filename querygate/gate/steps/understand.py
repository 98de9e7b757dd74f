"""SQL to a plan, or a refusal that says what to ask instead."""

from __future__ import annotations

from dataclasses import replace

from querygate.gate.query_state import Gate, State
from querygate.sql import understand as understand_sql


def understand(state: State, gate: Gate) -> State:
    return replace(state, plan=understand_sql(state.request.sql, state.catalog, gate.native, gate.limits))
