"""Cells to guaranteed ranges."""

from __future__ import annotations

from dataclasses import replace

from querygate.core.errors import UnsupportedSQL
from querygate.core.limits.deadline import check_deadline, within
from querygate.core.limits.pace import paced
from querygate.gate.answer_rows import answer_groups
from querygate.gate.query_state import Gate, State
from querygate.sql import without_zero_divisors

HURRIED = (
    "There was not enough time to make every range as narrow as possible: some are wider than they need to be, but "
    "still guaranteed. Use fewer groups or fewer statistics per statement."
)
"""The note of an answer whose searches were cut short."""


def protect(state: State, gate: Gate) -> State:
    groups = []
    with within(gate.clock_s, gate.limits.timeout_s) as deadline, paced(deadline) as pace:
        try:
            for plan, sheets in zip(state.plan.branches, state.sheets, strict=True):
                groups.append(tuple(answer_groups(plan, sheets, check_deadline)))
        except UnsupportedSQL as refusal:  # it shows on the groups only: a divisor that may be zero
            refusal.suggestion = without_zero_divisors(state.request.sql, state.catalog, gate.native, gate.limits)
            raise
    notes = (*state.notes, *([HURRIED] if pace.is_cut else []))
    return replace(state, groups=tuple(groups), notes=notes)
