"""The path of a noisy answer, top to bottom. This file is the specification of what noise costs and protects.

    find        the dataset, the version being served, and what its policy allows
    understand  SQL to a plan whose every number has a known sensitivity       (pure: sql)
    price       what it costs, before anything is read                         (pure: dp)
    reserve     the intent and the spend are on disk; an answer that was given before is given again
    count       one pass over the raw rows of the version                      (vault)
    perturb     every number of every possible group gets noise                (pure: dp)
    record      the answer is on disk before it leaves

Neighbouring data differ by one person, added or removed. What is spent stays spent: a crash after `reserve` costs the
budget and tells nothing. The same question, in whatever words and by whomever, has one answer per version, so that
asking again averages nothing out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from querygate.core.budget import Budgets, Cost, PriorAnswer, Scope
from querygate.core.errors import NotPermitted
from querygate.core.ports import Limits, Native, QueryLog, Store
from querygate.core.tally import Counter, Tallied, Tally
from querygate.core.types import Catalog, NoiseOptions, Principal, Request, folded
from querygate.custody.noise.noisy_groups import Figures, arranged, figures_of, made_consistent, make_rows, perturbed
from querygate.gate.pipeline import conclude, follow
from querygate.methods.dp import MECHANISMS, Entropy, share
from querygate.sql.noisy_plan import NoisyPlan, understand_noisy

MODE = "laplace"

_LATER: Any = None  # a field that a later step fills


@dataclass(frozen=True, slots=True)
class NoisyGate:
    """All that the noisy path may touch."""

    store: Store
    counter: Counter
    budgets: Budgets
    log: QueryLog
    native: Native
    entropy: Entropy
    new_id: Callable[[], str]
    clock_s: Callable[[], float]
    project_of: Callable[[str], str]
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class NoisyState:
    """A request on its way. Each step returns a copy that knows more."""

    query_id: str
    request: Request
    began_s: float
    version: int | None = None
    catalog: Catalog = _LATER
    options: NoiseOptions = _LATER
    plan: NoisyPlan = _LATER
    epsilon: float = 0.0  # of the whole statement
    figures: tuple[Figures, ...] = ()
    cost: Cost = _LATER
    spent: float = 0.0
    tallied: tuple[Tallied, ...] = ()
    told: dict[str, Any] | None = None  # the noisy numbers, by what they mean
    body: dict[str, Any] = _LATER


def answer_noisy(request: Request, gate: NoisyGate) -> dict[str, Any]:
    """Take a request through; the answer as the contract has it. Raises Refusal or Fault."""
    state = NoisyState(gate.new_id(), request, gate.clock_s())
    return follow(state, gate, STEPS, MODE).body


def check_noisy(request: Request, gate: NoisyGate) -> dict[str, Any]:
    """What it would cost and how precise it would be. Nothing is read from the rows, spent or logged."""
    state = NoisyState("", request, gate.clock_s())
    for step in (find, understand, price):
        state = step(state, gate)
    scopes = _scopes(state, gate)
    return {
        "accepted": True,
        "mode": MODE,
        "columns": [{"name": o.name, "kind": _kind(o.kind), "type": o.type} for o in _shown(state.plan)],
        "groups_at_most": state.figures[0].groups,
        "cost": {"epsilon": state.epsilon, "delta": state.options.delta},
        "budget": {scope.kind: left for scope, left in zip(scopes, gate.budgets.left(scopes), strict=True)},
        "accuracy": {
            output.name: state.figures[item].half_width
            for output, item in zip(_shown(state.plan), state.plan.items, strict=True)
            if item is not None
        },
    }


def tell_budget(principal: Principal, dataset: str, gate: NoisyGate) -> dict[str, Any]:
    """What is left for this person, and to a custodian what was spent, by whom."""
    state = find(NoisyState("", Request(principal, dataset, ""), gate.clock_s()), gate)
    scopes = _scopes(state, gate)
    left = {scope.kind: each for scope, each in zip(scopes, gate.budgets.left(scopes), strict=True)}
    options = state.options
    body: dict[str, Any] = {
        "dataset": dataset,
        "epsilon_per_query": options.epsilon_per_query,
        "delta": options.delta,
        "limits": {scope.kind: scope.epsilon for scope in scopes},
        "left": left,
    }
    if principal.is_custodian:
        body["spent"] = [
            {"whose": one.scope.kind, "name": one.scope.name, "epsilon": one.epsilon, "releases": one.releases}
            for one in gate.budgets.spent(dataset)
        ]
    return body


# -- the steps -----------------------------------------------------------------------------------------------


def find(state: NoisyState, gate: NoisyGate) -> NoisyState:
    catalog = gate.store.current(state.request.dataset).catalog
    if MODE not in catalog.modes or catalog.noise is None:
        raise NotPermitted(
            "QG311", "This dataset does not give noisy answers.", "Leave out the mode to get guaranteed ranges."
        )
    return replace(state, version=catalog.version, catalog=catalog, options=catalog.noise)


def understand(state: NoisyState, gate: NoisyGate) -> NoisyState:
    return replace(state, plan=understand_noisy(state.request.sql, state.catalog, gate.native, gate.limits))


def price(state: NoisyState, gate: NoisyGate) -> NoisyState:
    """A statement costs one epsilon, which its numbers share: each group holds other people, each number the same."""
    most, asked = state.options.epsilon_per_query, state.request.options.get("epsilon")
    if asked is not None and not 0 < asked <= most:
        raise NotPermitted("QG306", f"epsilon must be above 0 and at most {most}.", "Leave it out to use the maximum.")
    epsilon = float(asked if asked is not None else most)
    mechanism = MECHANISMS.get(state.options.mechanism)
    part = share(epsilon, state.plan.number)
    figures = tuple(
        figures_of(release, state.catalog, state.plan, part, mechanism, gate.limits) for release in state.plan.releases
    )
    delta = state.options.delta if mechanism.approximate else 0.0
    rho = sum(figure.cost.rho for figure in figures) * len(state.plan.plan.sets)
    return replace(state, epsilon=epsilon, figures=figures, cost=Cost(epsilon, delta, rho))


def reserve(state: NoisyState, gate: NoisyGate) -> NoisyState:
    gate.log.intend(
        state.query_id,
        user=state.request.principal.name,
        dataset=state.catalog.dataset,
        version=state.catalog.version,
        sql=state.request.sql,
        mode=MODE,
        canonical_hash=state.plan.plan.hash,
        policy_hash=state.catalog.policy_hash,
    )
    held = gate.budgets.reserve(state.query_id, _key(state), _scopes(state, gate), state.cost)
    if isinstance(held, PriorAnswer):
        return replace(state, told=json.loads(held.answer))
    return replace(state, spent=state.epsilon)


def count(state: NoisyState, gate: NoisyGate) -> NoisyState:
    if state.told is not None:
        return state
    plan = state.plan
    tallied = []
    for chosen in plan.plan.sets:
        wanted = tuple(wanted for figure in state.figures for wanted in figure.wanted)
        tally = Tally(tuple(plan.terms[i] for i in chosen), plan.where, wanted)
        catalog = state.catalog
        tallied.append(gate.counter.tally(catalog.dataset, catalog.version, tally, state.options, gate.limits))
    return replace(state, tallied=tuple(tallied))


def perturb(state: NoisyState, gate: NoisyGate) -> NoisyState:
    if state.told is not None:
        return state
    return replace(state, told=perturbed(state.plan, state.figures, state.tallied, state.catalog, gate.entropy))


def record(state: NoisyState, gate: NoisyGate) -> NoisyState:
    standing = state.told
    if state.spent:
        standing = json.loads(gate.budgets.record(state.query_id, json.dumps(state.told)))
    rows = make_rows(state.plan, standing or {"rows": []})
    if state.request.options.get("consistent"):
        rows = made_consistent(rows, state.plan)
    rows = arranged(rows, state.plan.plan)
    scopes = _scopes(state, gate)
    left = min(gate.budgets.left(scopes))
    notes = list(state.plan.plan.notes)
    notes += [] if state.spent else ["This question was asked before: you get the same answer again, at no cost."]
    body = {
        "query_id": state.query_id,
        "dataset": state.catalog.dataset,
        "version": state.catalog.version,
        "mode": MODE,
        "columns": [{"name": o.name, "kind": _kind(o.kind), "type": o.type} for o in _shown(state.plan)],
        "rows": rows,
        "budget": {"spent": state.spent, "left": left},
        "notes": notes,
        "elapsed_ms": round((gate.clock_s() - state.began_s) * 1000, 1),
    }
    conclude(state, gate, MODE, "answered", answer=body, epsilon=state.spent)
    return replace(state, body=body)


STEPS: tuple[Callable[[NoisyState, NoisyGate], NoisyState], ...] = (
    find,
    understand,
    price,
    reserve,
    count,
    perturb,
    record,
)


# -- helpers -------------------------------------------------------------------------------------------------


def _shown(plan: NoisyPlan) -> Any:
    return plan.plan.outputs[: plan.plan.shown]


def _kind(kind: str) -> str:
    return "key" if kind == "key" else "noisy"


def _scopes(state: NoisyState, gate: NoisyGate) -> list[Scope]:
    """Whose budget pays: the dataset's, the asker's, and that of the asker's project where the policy has one.

    Of all versions together: whoever is in one is in the next.
    """
    options, user, where = state.options, state.request.principal.name, state.catalog.dataset
    scopes = [
        Scope("dataset", state.catalog.dataset, where, options.epsilon_total, options.delta),
        Scope("user", user, where, options.epsilon_per_user, options.delta),
    ]
    project = folded(gate.project_of(user))
    if options.epsilon_per_project is not None and project:
        scopes.append(Scope("group", project, where, options.epsilon_per_project, options.delta))
    return scopes


def _key(state: NoisyState) -> str:
    """Equal for questions that mean the same, of one version, at one price: the ids of keys and numbers say it."""
    plan, catalog = state.plan, state.catalog
    sets = sorted(sorted(plan.plan.keys[i].id for i in chosen) for chosen in plan.plan.sets)
    asked = sorted(release.id for release in plan.releases)
    what = [catalog.dataset, catalog.version, catalog.policy_hash, sets, asked, state.epsilon, state.options.mechanism]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()
