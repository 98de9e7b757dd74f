"""The columns that an answer will have, from the statement and the public schema alone.

Nothing is computed or spent, and nothing is on record but a refusal: a client that asks for columns asks for the answer
next, and that is.
"""

from __future__ import annotations

from dataclasses import dataclass

from querygate.core.answer_bodies import AnswerBody, ColumnBody
from querygate.core.answer_forms.flat_table import has_subtotals
from querygate.core.errors import Refusal
from querygate.core.limits.deadline import within
from querygate.core.limits.turn import turn_given_up
from querygate.core.types import Request
from querygate.gate.dry_run import check
from querygate.gate.query_record import conclude
from querygate.gate.query_state import NOISY, Gate, State
from querygate.gate.steps.find import find
from querygate.gate.steps.understand import understand
from querygate.gate.verdict import make_verdict


@dataclass(frozen=True, slots=True)
class ForeseenColumns:
    """The columns of an answer, before or after it was given."""

    columns: tuple[ColumnBody, ...]
    mode: str
    has_subtotals: bool = False

    @classmethod
    def of(cls, body: AnswerBody) -> ForeseenColumns:
        return cls(tuple(body["columns"]), body["mode"], has_subtotals(body))


def foresee_columns(request: Request, gate: Gate, *, is_whole: bool) -> ForeseenColumns:
    """Raises the refusal that the statement would get. It is on record as one of a question; where examples stand for
    values that are not known yet, as one of a dry run."""
    with within(gate.clock_s, gate.limits.timeout_s), gate.turn.taken():
        state = State(gate.new_id(), request, gate.clock_s())
        try:
            state = find(state, gate)
            return _foresee(state, gate)
        except Refusal as refusal:
            if not is_whole:
                check(request, gate)
            else:
                refusal.query_id = state.query_id
                conclude(state, gate.log, "refused", code=refusal.code)
            raise


def _foresee(state: State, gate: Gate) -> ForeseenColumns:
    if state.mode == NOISY and gate.noise is not None:
        with turn_given_up():  # whoever knows what it costs may be another process
            return ForeseenColumns(tuple(gate.noise.check(state, gate)["columns"]), NOISY)
    plan = understand(state, gate).plan
    columns = make_verdict(plan, state.catalog)["columns"]
    return ForeseenColumns(tuple(columns), state.mode, any(len(branch.sets) > 1 for branch in plan.branches))
