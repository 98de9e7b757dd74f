"""The path of a query, top to bottom. This file is the specification of the gate.

    find        the dataset and the version being served
    understand  SQL to a plan, or a refusal with a way forward            (pure: sql)
    admit       the inline auditor says whether it could single people out, where the site has one; the intent is
                on disk before anything is computed
    fetch       one aggregate read of the published cells                 (engine)
    protect     cells to guaranteed ranges                                (pure: bounds, stats)
    arrange     ORDER BY and LIMIT, without hiding what may be true
    record      the answer is on disk before it leaves

A crash after `admit` leaves the intent in the log. Nothing here can reach a vault: a Gate is given a store, a log, a
clock, limits, the database's grammar and perhaps somebody who says yes or no, and that is all there is to touch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from querygate.bounds import moment_columns
from querygate.core.block import Block
from querygate.core.errors import ConfigError, DisclosureRefused, NotPermitted
from querygate.core.plan import Plan
from querygate.core.ports import InlineAuditor, Limits, Native, PublishedVersion, QueryLog, Store
from querygate.core.types import Answer, AnswerColumn, Group, Request
from querygate.gate import arrange as arranging
from querygate.gate import render
from querygate.gate.pipeline import conclude, follow
from querygate.gate.ranges import compute_groups, shown_part
from querygate.sql import understand as understand_sql

MODE = "interval"

WARNING = "Combined with earlier answers, this one could single people out. The custodian has been notified."
"""The note of `on_differencing = "warn"`: the same whatever was found."""

_LATER: Any = None  # a field that a later step fills


@dataclass(frozen=True, slots=True)
class Gate:
    """All that the interval path may touch."""

    store: Store
    log: QueryLog
    native: Native
    new_id: Callable[[], str]
    clock_s: Callable[[], float]
    limits: Limits = field(default_factory=Limits)
    auditor: InlineAuditor | None = None


@dataclass(frozen=True, slots=True)
class State:
    """A request on its way. Each step returns a copy that knows more."""

    query_id: str
    request: Request
    began_s: float
    version: int | None = None
    release: PublishedVersion = _LATER
    plan: Plan = _LATER
    blocks: tuple[Block, ...] = ()
    groups: tuple[tuple[Group, ...], ...] = ()
    notes: tuple[str, ...] = ()
    answer: Answer = _LATER


def answer(request: Request, gate: Gate) -> Answer:
    """Take a request through the gate. Raises Refusal or Fault; never returns a raw row."""
    state = State(gate.new_id(), request, gate.clock_s())
    try:
        return follow(state, gate, STEPS, MODE).answer
    finally:
        if gate.auditor is not None:
            gate.auditor.settle(state.query_id)


def check(request: Request, gate: Gate) -> Plan:
    """Would this be accepted? A dry run: nothing is read from the cells, and nothing is spent or logged."""
    return understand_sql(request.sql, gate.store.current(request.dataset).catalog, gate.native, gate.limits)


# -- the steps -----------------------------------------------------------------------------------------------


def find(state: State, gate: Gate) -> State:
    release = gate.store.current(state.request.dataset)
    if "interval" not in release.catalog.modes:
        raise NotPermitted("QG311", "This dataset gives only noisy answers.", "Use the mode laplace.")
    return replace(state, release=release, version=release.catalog.version)


def understand(state: State, gate: Gate) -> State:
    return replace(state, plan=understand_sql(state.request.sql, state.release.catalog, gate.native, gate.limits))


def admit(state: State, gate: Gate) -> State:
    catalog = state.release.catalog
    state = replace(state, notes=check_differencing(state, gate))
    gate.log.intend(
        state.query_id,
        user=state.request.principal.name,
        dataset=catalog.dataset,
        version=catalog.version,
        sql=state.request.sql,
        mode=MODE,
        canonical_hash=state.plan.hash,
        policy_hash=catalog.policy_hash,
    )
    return state


def fetch(state: State, gate: Gate) -> State:
    release = state.release
    blocks = tuple(
        release.project(plan.columns, gate.limits, moment_columns(plan, release.catalog))
        for plan in _branches(state.plan)
    )
    return replace(state, blocks=blocks)


def protect(state: State, gate: Gate) -> State:
    groups = [
        tuple(compute_groups(plan, block, lambda: check_time(state, gate)))
        for plan, block in zip(_branches(state.plan), state.blocks, strict=True)
    ]
    return replace(state, groups=tuple(groups))


def arrange(state: State, gate: Gate) -> State:
    catalog = state.release.catalog
    shown: list[Group] = []
    notes = [*state.notes, *state.plan.notes]
    notes += [f"Groups that cannot hold {catalog.min_group} records are not shown."] if catalog.min_group else []
    for plan, groups in zip(_branches(state.plan), state.groups, strict=True):
        arranged, told = arranging.arrange(groups, plan)
        shown += [shown_part(plan, group) for group in arranged if (group.count.high or 0) >= catalog.min_group]
        notes += [note for note in told if note not in notes]
    columns = make_columns(state.plan)
    elapsed_ms = round((gate.clock_s() - state.began_s) * 1000, 1)
    made = Answer(
        state.query_id, catalog.dataset, catalog.version, "interval", columns, tuple(shown), tuple(notes), elapsed_ms
    )
    return replace(state, answer=made)


def record(state: State, gate: Gate) -> State:
    conclude(state, gate, MODE, "answered", answer=render.to_dict(state.answer))
    return state


STEPS: tuple[Callable[[State, Gate], State], ...] = (find, understand, admit, fetch, protect, arrange, record)


# -- helpers -------------------------------------------------------------------------------------------------


def check_differencing(state: State, gate: Gate) -> tuple[str, ...]:
    """Refuse, or warn of, what could single people out, as the policy says. What is told does not say why."""
    wanted = state.release.catalog.on_differencing
    if gate.auditor is None:
        if wanted != "alert":
            raise ConfigError("QG805", "The policy requires an inline audit, and this gate has none.")
        return ()
    request = state.request
    could = gate.auditor.judge(state.query_id, state.release.catalog, request.principal.name, request.sql)
    if could and wanted == "refuse":
        raise DisclosureRefused(
            "QG501",
            "Combined with earlier answers, this one could single people out.",
            "Ask about other or larger groups. A question that has been answered before is answered again.",
        )
    return (WARNING,) if could and wanted == "warn" else ()


def check_time(state: State, gate: Gate) -> None:
    """Stop a statement that has had its time, wherever it is."""
    if gate.clock_s() - state.began_s > gate.limits.timeout_s:
        raise NotPermitted(
            "QG305",
            "The statement exceeded the limit of time or memory and was stopped.",
            "Ask for fewer groups or fewer columns at once.",
        )


def _branches(plan: Plan) -> tuple[Plan, ...]:
    return (plan, *plan.following)


def make_columns(plan: Plan) -> tuple[AnswerColumn, ...]:
    """The select list as columns of the answer."""
    seen = {"key": 0, "range": 0}
    columns = []
    for output in plan.outputs[: plan.shown]:
        columns.append(AnswerColumn(output.name, output.kind, output.type, seen[output.kind]))
        seen[output.kind] += 1
    return tuple(columns)
