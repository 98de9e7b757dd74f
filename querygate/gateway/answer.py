"""The path of a query, top to bottom. This file is the specification of the gate.

    find        the dataset and the version being served
    understand  SQL to a plan, or a refusal with a way forward            (pure: sql)
    admit       the intent is on disk before anything is computed
    fetch       one aggregate read of the published cells, then bounds    (engine, then pure: bounds)
    protect     each statistic becomes a guaranteed range                 (pure: stats)
    arrange     ORDER BY and LIMIT, without hiding what may be true
    record      the answer is on disk before it leaves

A crash after `admit` leaves the intent in the log. Nothing here can reach a vault: a Gate is given a store, a log, a
clock and limits, and that is all there is to touch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from querygate.bounds import gather
from querygate.core.errors import NotPermitted, Refusal
from querygate.core.plan import FetchedGroup, Plan
from querygate.core.ports import Limits, Outcome, QueryLog, Release, Store
from querygate.core.types import Answer, AnswerColumn, Group, Range, Request
from querygate.gateway import arrange as arranging
from querygate.gateway import render
from querygate.gateway.incidents import make_fault
from querygate.sql import understand as understand_sql
from querygate.stats import STATISTICS

LONGEST_LOGGED_SQL = 20_000

_LATER: Any = None  # a field that a later step fills


@dataclass(frozen=True, slots=True)
class Gate:
    """All that the interval path may touch."""

    store: Store
    log: QueryLog
    new_id: Callable[[], str]
    clock_s: Callable[[], float]
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class State:
    """A request on its way. Each step returns a copy that knows more."""

    query_id: str
    request: Request
    began_s: float
    version: int | None = None
    release: Release = _LATER
    plan: Plan = _LATER
    fetched: tuple[FetchedGroup, ...] = ()
    answer: Answer = _LATER


def answer(request: Request, gate: Gate) -> Answer:
    """Take a request through the gate. Raises Refusal or Fault; never returns a raw row."""
    state = State(gate.new_id(), request, gate.clock_s())
    try:
        for step in STEPS:
            state = step(state, gate)
    except Refusal as refusal:
        refusal.query_id = state.query_id
        _conclude(state, gate, "refused", code=refusal.code)
        raise
    except Exception as error:
        fault = make_fault(error, state.query_id)
        _conclude(state, gate, "failed", code=fault.code)
        raise fault from None
    return state.answer


def check(request: Request, gate: Gate) -> Plan:
    """Would this be accepted? A dry run: nothing is read from the cells, and nothing is spent or logged."""
    return understand_sql(request.sql, gate.store.current(request.dataset).catalog, gate.limits)


# -- the steps -----------------------------------------------------------------------------------------------


def find(state: State, gate: Gate) -> State:
    release = gate.store.current(state.request.dataset)
    return replace(state, release=release, version=release.catalog.version)


def understand(state: State, gate: Gate) -> State:
    return replace(state, plan=understand_sql(state.request.sql, state.release.catalog, gate.limits))


def admit(state: State, gate: Gate) -> State:
    catalog = state.release.catalog
    gate.log.intend(
        state.query_id,
        user=state.request.principal.name,
        dataset=catalog.dataset,
        version=catalog.version,
        sql=state.request.sql,
        mode="interval",
        canonical_hash=state.plan.hash,
        policy_hash=catalog.policy_hash,
    )
    return state


def fetch(state: State, gate: Gate) -> State:
    block = state.release.project(state.plan.columns, gate.limits)
    return replace(state, fetched=tuple(gather(state.plan, block, lambda: check_time(state, gate))))


def protect(state: State, gate: Gate) -> State:
    plan, catalog = state.plan, state.release.catalog
    groups = []
    for fetched in state.fetched:
        check_time(state, gate)
        groups.append(make_group(fetched, plan))
    large_enough = tuple(g for g in groups if (g.count.high or 0) >= catalog.min_group)
    notes = [f"Groups that cannot hold {catalog.min_group} records are not shown."] if catalog.min_group else []
    made = Answer(
        state.query_id, catalog.dataset, catalog.version, "interval", make_columns(plan), large_enough, tuple(notes)
    )
    return replace(state, answer=made)


def arrange(state: State, gate: Gate) -> State:
    groups, notes = arranging.arrange(state.answer.groups, state.plan)
    elapsed_ms = round((gate.clock_s() - state.began_s) * 1000, 1)
    arranged = replace(state.answer, groups=groups, notes=state.answer.notes + notes, elapsed_ms=elapsed_ms)
    return replace(state, answer=arranged)


def record(state: State, gate: Gate) -> State:
    _conclude(state, gate, "answered", answer=render.to_dict(state.answer))
    return state


STEPS: tuple[Callable[[State, Gate], State], ...] = (find, understand, admit, fetch, protect, arrange, record)


# -- helpers -------------------------------------------------------------------------------------------------


def check_time(state: State, gate: Gate) -> None:
    """Stop a statement that has had its time, wherever it is."""
    if gate.clock_s() - state.began_s > gate.limits.timeout_s:
        raise NotPermitted(
            "QG305",
            "The statement was stopped at the limit of time or memory.",
            "Ask for fewer groups or fewer columns at once.",
        )


def make_columns(plan: Plan) -> tuple[AnswerColumn, ...]:
    """The select list as columns of the answer."""
    ranges = [output for output in plan.outputs if output.kind == "range"]
    return tuple(
        AnswerColumn(o.name, o.kind, o.type, o.source if o.kind == "key" else ranges.index(o))
        for o in plan.outputs[: plan.shown]
    )


def make_group(fetched: FetchedGroup, plan: Plan) -> Group:
    """One row of the answer: its keys, and a range for each output that is a statistic."""
    ranges = tuple(
        make_range(output.statistic, fetched, output.source) for output in plan.outputs if output.kind == "range"
    )
    count = make_range("count", fetched, 0)
    return Group(fetched.keys, ranges, count, certain=not plan.groups or (count.low or 0) > 0)


def make_range(statistic: str, fetched: FetchedGroup, measure: int) -> Range:
    """The range of a statistic. Where the cells allow more than the store does, it is an outer bound and says so."""
    found = STATISTICS.get(statistic).range(fetched.cells[measure])
    if fetched.free[measure] or found.is_exact:
        return found
    return replace(found, sharp=False, attained_low=None, attained_high=None)


def _conclude(state: State, gate: Gate, outcome: Outcome, **more: Any) -> None:
    gate.log.conclude(
        state.query_id,
        outcome,
        user=state.request.principal.name,
        dataset=state.request.dataset,
        sql=state.request.sql[:LONGEST_LOGGED_SQL],
        version=state.version,
        mode="interval",
        **more,
    )
