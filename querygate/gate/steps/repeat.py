"""An answer that was given before is given again: audited and logged like any other, but not computed."""

from __future__ import annotations

from dataclasses import replace

from querygate.core.answer_bodies import AnswerBody
from querygate.gate.query_record import asked
from querygate.gate.query_state import Gate, State
from querygate.gate.steps.admit import check_differencing
from querygate.gate.steps.record import check_size


def repeat(state: State, gate: Gate) -> State:
    """It gets its own id, and the auditor treats it as if it were new."""
    known, warned = state.known, check_differencing(state, gate)
    notes = [*warned, *known.body["notes"]]
    elapsed_ms = round((gate.clock_s() - state.began_s) * 1000, 1)
    body: AnswerBody = {**known.body, "query_id": state.query_id, "notes": notes, "elapsed_ms": elapsed_ms}
    if warned or known.json_bytes > gate.limits.max_answer_bytes:  # else it is as large as it was when it was kept
        check_size(body, gate.limits)
    gate.log.repeat(state.query_id, body, **asked(state, known.meaning))
    return replace(state, body=body)
