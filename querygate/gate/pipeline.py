"""How a request goes along a path of steps, and how it ends on record: the same for ranges and for noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from querygate.core.errors import Refusal
from querygate.core.ports import Outcome, QueryLog
from querygate.core.types import Request
from querygate.gate.incidents import make_fault

LONGEST_LOGGED_SQL = 20_000


class RequestState(Protocol):
    """A request, as far as its end is put on record."""

    @property
    def query_id(self) -> str: ...

    @property
    def request(self) -> Request: ...

    @property
    def version(self) -> int | None: ...


class Gateway(Protocol):
    """What puts it there."""

    @property
    def log(self) -> QueryLog: ...


S = TypeVar("S", bound=RequestState)
G = TypeVar("G", bound=Gateway)


def follow(state: S, gate: G, steps: Iterable[Callable[[S, G], S]], mode: str) -> S:
    """Step by step to the end. A refusal or a fault is on record, with what was known by then, before it is raised."""
    try:
        for step in steps:
            state = step(state, gate)
    except Refusal as refusal:
        refusal.query_id = state.query_id
        conclude(state, gate, mode, "refused", code=refusal.code)
        raise
    except Exception as error:
        fault = make_fault(error, state.query_id)
        conclude(state, gate, mode, "failed", code=fault.code)
        raise fault from None
    return state


def conclude(state: RequestState, gate: Gateway, mode: str, outcome: Outcome, **more: Any) -> None:
    """Put on record how it ended."""
    gate.log.conclude(
        state.query_id,
        outcome,
        user=state.request.principal.name,
        dataset=state.request.dataset,
        sql=state.request.sql[:LONGEST_LOGGED_SQL],
        version=state.version,
        mode=mode,
        **more,
    )
