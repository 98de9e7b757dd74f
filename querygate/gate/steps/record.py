"""The answer is on disk before it is sent."""

from __future__ import annotations

from dataclasses import replace

from querygate.core.answer_bodies import AnswerBody
from querygate.core.ports import Limits
from querygate.gate.answer_cache import KeptAnswer, is_lasting
from querygate.gate.plan_cells import too_large
from querygate.gate.query_record import conclude
from querygate.gate.query_state import Gate, State
from querygate.gate.render import to_json
from querygate.gate.steps.admit import WARNING
from querygate.gate.steps.protect import HURRIED


def record(state: State, gate: Gate) -> State:
    state = replace(state, body=state.make_body())
    size = check_size(state.body, gate.limits)
    conclude(state, gate.log, "answered", answer=state.body)
    if not state.request.options.explain and is_lasting(state.answer, passing={HURRIED, WARNING}):
        gate.answers.put(state.key, KeptAnswer(state.body, state.plan.hash, size))
    return state


def check_size(body: AnswerBody, limits: Limits) -> int:
    """The bytes of an answer. Refuses one that is too large, because it would stay in the log too."""
    size = len(to_json(body))
    if size > limits.max_answer_bytes:
        raise too_large()
    return size
