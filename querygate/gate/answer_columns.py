"""The columns that an answer will have, from the statement and the public schema alone.

Nothing is computed, spent or put on record: a client that asks for columns asks for the answer next, and that is.
"""

from __future__ import annotations

from dataclasses import dataclass

from querygate.core.answer_bodies import AnswerBody, ColumnBody
from querygate.core.answer_forms.flat_table import has_subtotals
from querygate.core.limits.deadline import within
from querygate.core.types import Request
from querygate.gate.answer import NOISY, Gate, State, find, understand
from querygate.gate.describe import make_verdict


@dataclass(frozen=True, slots=True)
class ForeseenColumns:
    """The columns of an answer, before or after it was given."""

    columns: tuple[ColumnBody, ...]
    mode: str
    has_subtotals: bool = False

    @classmethod
    def of(cls, body: AnswerBody) -> ForeseenColumns:
        return cls(tuple(body["columns"]), body["mode"], has_subtotals(body))


def foresee_columns(request: Request, gate: Gate) -> ForeseenColumns:
    """Raises the refusal that the statement would get."""
    with within(gate.clock_s, gate.limits.timeout_s), gate.turn.taken():
        state = find(State("", request, gate.clock_s()), gate)
        if state.mode == NOISY and gate.noise is not None:
            return ForeseenColumns(tuple(gate.noise.check(state, gate)["columns"]), NOISY)
        plan = understand(state, gate).plan
        columns = make_verdict(plan, state.catalog)["columns"]
        return ForeseenColumns(tuple(columns), state.mode, any(len(branch.sets) > 1 for branch in plan.branches))
