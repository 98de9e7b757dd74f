"""What the log has of a query: its intent before anything is computed, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from querygate.core.answer_bodies import AnswerBody
from querygate.core.errors import ConfigError, Refusal
from querygate.core.ports import AskedQuery, Outcome, QueryLog
from querygate.core.step_times import timed
from querygate.gate.incidents import make_failure
from querygate.gate.query_state import Gate, Passage

METHOD = 1
"""The way in which ranges are computed, on record with each question. Whoever makes the same store give narrower ranges
raises it: a replay then expects answers of earlier methods to be wider, and those of this one never."""

LONGEST_LOGGED_SQL = 20_000
LOST = "QG804"
"""The code of a version whose file is missing or damaged."""

S = TypeVar("S", bound=Passage)
G = TypeVar("G")


def follow(state: S, gate: G, steps: Iterable[Callable[[S, G], S]], log: QueryLog) -> S:
    """Step by step to the end. A refusal or a fault is on record, with what was known by then, before it is raised."""
    try:
        for step in steps:
            with timed(step.__name__):
                state = step(state, gate)
    except Refusal as refusal:
        refusal.query_id = state.query_id
        conclude(state, log, "refused", code=refusal.code)
        raise
    except Exception as error:
        is_lost = isinstance(error, ConfigError) and error.code == LOST  # which may be said, in QueryGate's own words
        told = error if isinstance(error, ConfigError) and is_lost else make_failure(error, state.query_id)
        told.query_id = state.query_id
        conclude(state, log, "failed", code=told.code)
        raise told from None
    return state


def intend(state: Passage, gate: Gate, meaning: str) -> None:
    """Put a query on record before anything is computed. `meaning` is the hash of its plan."""
    gate.log.intend(state.query_id, **asked(state, meaning))


def asked(state: Passage, meaning: str) -> AskedQuery:
    """What the log has of a question."""
    return {
        "user": state.request.principal.name,
        "dataset": state.catalog.dataset,
        "version": state.catalog.version,
        "sql": state.request.sql,
        "mode": state.mode,
        "canonical_hash": meaning,
        "policy_hash": state.catalog.policy_hash,
        "method": METHOD,
    }


def conclude(
    state: Passage,
    log: QueryLog,
    outcome: Outcome,
    *,
    code: str | None = None,
    answer: AnswerBody | None = None,
    epsilon: float | None = None,
) -> None:
    """Put on record how it ended, before anything leaves."""
    log.conclude(
        state.query_id,
        outcome,
        code=code,
        answer=answer,
        epsilon=epsilon,
        user=state.request.principal.name,
        dataset=state.request.dataset,
        sql=state.request.sql[:LONGEST_LOGGED_SQL],
        version=state.version,
        mode=state.mode,
    )
