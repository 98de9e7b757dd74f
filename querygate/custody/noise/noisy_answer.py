"""The path of a noisy answer, top to bottom. This file is the specification of what noise costs and protects.

    understand  SQL to a plan whose every number has a known sensitivity       (pure: sql)
    price       what it costs, before anything is read                         (pure: dp)
    reserve     put the intent and the spend on disk; a repeated question gets the earlier answer
    count       one pass over the raw rows of the version, by tables of public codes  (vault)
    perturb     every number of every possible group gets noise                (pure: dp)
    record      the answer is on disk before it leaves
    hold        wait for a tick of the clock, for refusals too

Neighbouring data differ by one person, added or removed. What is spent stays spent: a crash after `reserve` costs
budget and reveals nothing. The same question has one answer per version, whatever its wording and whoever asks, so that
repeating it averages nothing out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

from querygate.core.answer_bodies import AnswerBody, BudgetBody, ColumnBody, Verdict
from querygate.core.budget_types import Budgets, Cost, PriorAnswer, Scope
from querygate.core.errors import NotPermitted
from querygate.core.frozen_classes import frozen
from querygate.core.limits.deadline import check_deadline
from querygate.core.noise_ports import RowReader, Tallied
from querygate.core.plan import Output
from querygate.core.types import Catalog, NoiseOptions, Principal, folded
from querygate.custody.noise.noisy_groups import (
    Figures,
    NoisyNumbers,
    arranged,
    figures_of,
    made_consistent,
    make_rows,
    perturbed,
    tally_of,
)
from querygate.custody.noise.row_tally import tally_rows
from querygate.gate.query_record import conclude, follow, intend
from querygate.gate.query_state import LATER, NOISY, Gate, Passage
from querygate.methods.dp import MECHANISMS, Entropy, share
from querygate.sql.noisy_plan import NoisyPlan, understand_noisy


@frozen
class NoisyState(Passage):
    """The state of a request for a noisy answer."""

    plan: NoisyPlan = LATER
    epsilon: float = 0.0  # for the whole statement
    figures: tuple[Figures, ...] = ()
    cost: Cost = LATER
    spent: float = 0.0
    tallied: tuple[Tallied, ...] = ()
    told: NoisyNumbers | None = None  # the noisy numbers, by their meaning

    @property
    def options(self) -> NoiseOptions:
        return noise_options(self.catalog)


@frozen
class Noise:
    """The noisy path of a site, and what it may use besides the gate."""

    rows: RowReader
    budgets: Budgets
    entropy: Entropy
    project_of: Callable[[str], str]
    tick_s: float
    wait: Callable[[float], None]

    def answer(self, passage: Passage, gate: Gate) -> AnswerBody:
        """Answer a request, once its version is found. Raises Refusal or Fault. Always ends at a tick."""
        try:
            return follow(begin(passage), Way(gate, self), STEPS, gate.log).body
        finally:
            self.hold(passage.began_s, gate.clock_s)

    def hold(self, began_s: float, clock_s: Callable[[], float]) -> None:
        """Wait for the next tick since the request came: so that its time reveals little about how long it took."""
        if self.tick_s > 0:
            self.wait(self.tick_s - (clock_s() - began_s) % self.tick_s)

    def check(self, passage: Passage, gate: Gate) -> Verdict:
        """What it would cost and how precise it would be. Nothing is read from the rows, spent or logged."""
        way = Way(gate, self)
        state = price(understand(begin(passage), way), way)
        scopes = self.scopes(passage.request.principal, passage.catalog)
        items = zip(shown(state.plan), state.plan.items, strict=True)
        verdict: Verdict = {
            "accepted": True,
            "mode": NOISY,
            "columns": make_columns(state.plan),
            "groups_at_most": state.figures[0].groups,
            "cost": {
                "epsilon": state.epsilon,
                "epsilon_least": state.options.epsilon_least,
                "delta": state.options.delta,
            },
            "budget": self.left(scopes),
            "accuracy": {output.name: state.figures[item].half_width for output, item in items if item is not None},
        }
        if notes := make_notes(state):
            verdict["notes"] = notes
        return verdict

    def budget(self, principal: Principal, catalog: Catalog) -> BudgetBody:
        """What is left for this person, and to a custodian what was spent, by whom."""
        scopes, options = self.scopes(principal, catalog), noise_options(catalog)
        body: BudgetBody = {
            "dataset": catalog.dataset,
            "epsilon_per_query": options.epsilon_per_query,
            "epsilon_least": options.epsilon_least,
            "delta": options.delta,
            "limits": {scope.kind: scope.epsilon for scope in scopes},
            "left": self.left(scopes),
        }
        if principal.may("oversee"):
            body["spent"] = [
                {"whose": one.scope.kind, "name": one.scope.name, "epsilon": one.epsilon, "releases": one.releases}
                for one in self.budgets.spent(catalog.dataset)
            ]
        return body

    def scopes(self, principal: Principal, catalog: Catalog) -> list[Scope]:
        """Whose budget pays: the dataset's, the asker's, and that of the asker's project where the policy has one.

        Of all versions together: whoever is in one is in the next.
        """
        options, user, where = noise_options(catalog), principal.name, catalog.dataset
        scopes = [
            Scope("dataset", where, where, options.epsilon_total, options.delta),
            Scope("user", user, where, options.epsilon_per_user, options.delta),
        ]
        project = folded(self.project_of(user))
        if options.epsilon_per_project is not None and project:
            scopes.append(Scope("group", project, where, options.epsilon_per_project, options.delta))
        return scopes

    def left(self, scopes: list[Scope]) -> dict[str, float]:
        return {scope.kind: left for scope, left in zip(scopes, self.budgets.left(scopes), strict=True)}


@frozen
class Way:
    """What the steps may use."""

    gate: Gate
    noise: Noise


def begin(passage: Passage) -> NoisyState:
    return NoisyState(
        passage.query_id, passage.request, passage.began_s, passage.mode, passage.release, passage.version
    )


# -- the steps -----------------------------------------------------------------------------------------------


def understand(state: NoisyState, way: Way) -> NoisyState:
    gate = way.gate
    return replace(state, plan=understand_noisy(state.request.sql, state.catalog, gate.native, gate.limits))


def price(state: NoisyState, way: Way) -> NoisyState:
    """A statement costs one epsilon, which its numbers share: groups contain different people, but the numbers of a
    group the same."""
    options, asked = state.options, state.request.options.epsilon
    least, most = options.epsilon_least, options.epsilon_per_query
    if asked is not None and not least <= asked <= most:
        raise NotPermitted(
            "QG306", f"epsilon must be at least {least:g} and at most {most:g}.", "Leave it out to use the maximum."
        )
    epsilon = float(asked if asked is not None else most)
    mechanism = MECHANISMS.get(state.options.mechanism)
    part = share(epsilon, state.plan.number)
    figures = tuple(
        figures_of(release, state.catalog, state.plan, part, mechanism, way.gate.limits)
        for release in state.plan.releases
    )
    delta = state.options.delta if mechanism.approximate else 0.0
    rho = sum(figure.cost.rho for figure in figures) * len(state.plan.plan.sets)
    return replace(state, epsilon=epsilon, figures=figures, cost=Cost(epsilon, delta, rho))


def reserve(state: NoisyState, way: Way) -> NoisyState:
    intend(state, way.gate, state.plan.plan.hash)
    scopes = way.noise.scopes(state.request.principal, state.catalog)
    held = way.noise.budgets.reserve(state.query_id, _key(state), scopes, state.cost)
    if isinstance(held, PriorAnswer):
        return replace(state, told=json.loads(held.answer), spent=state.epsilon if held.paid else 0.0)
    return replace(state, spent=state.epsilon)


def count(state: NoisyState, way: Way) -> NoisyState:
    if state.told is not None:
        return state
    plan, gate = state.plan, way.gate
    rows = way.noise.rows.read(state.catalog, plan.plan.columns, gate.limits)
    tallied = []
    for chosen in plan.plan.sets:
        tally = tally_of(plan, chosen, state.figures, state.catalog)
        tallied.append(tally_rows(tally, rows, state.options.rows_per_person, check_deadline))
    return replace(state, tallied=tuple(tallied))


def perturb(state: NoisyState, way: Way) -> NoisyState:
    if state.told is not None:
        return state
    told = perturbed(state.plan, state.figures, state.tallied, state.catalog, way.noise.entropy)
    return replace(state, told=told)


def record(state: NoisyState, way: Way) -> NoisyState:
    standing = state.told
    if state.spent:
        standing = json.loads(way.noise.budgets.record(state.query_id, json.dumps(state.told)))
    rows = make_rows(state.plan, standing or {"rows": []})
    if state.request.options.consistent:
        rows = made_consistent(rows, state.plan)
    rows = arranged(rows, state.plan.plan)
    left = min(way.noise.left(way.noise.scopes(state.request.principal, state.catalog)).values())
    notes = make_notes(state)
    notes += [] if state.spent else ["This question was asked before: you get the same answer again, at no cost."]
    body: AnswerBody = {
        "query_id": state.query_id,
        "dataset": state.catalog.dataset,
        "version": state.catalog.version,
        "mode": NOISY,
        "columns": make_columns(state.plan),
        "rows": rows,
        "budget": {"spent": state.spent, "left": left},
        "notes": notes,
    }
    conclude(state, way.gate.log, "answered", answer=body, epsilon=state.spent)
    return replace(state, body=body)


STEPS: tuple[Callable[[NoisyState, Way], NoisyState], ...] = (understand, price, reserve, count, perturb, record)


# -- helpers -------------------------------------------------------------------------------------------------


def noise_options(catalog: Catalog) -> NoiseOptions:
    if catalog.noise is None:
        raise ValueError("the dataset gives no noisy answers")
    return catalog.noise


def make_notes(state: NoisyState) -> list[str]:
    """What a reader should know; independent of the rows."""
    notes, options = list(state.plan.plan.notes), state.options
    if options.person and not state.catalog.person:  # which says that every row is a different person
        each = (
            "one row of each person counts"
            if options.rows_per_person == 1
            else (f"at most {options.rows_per_person:,} rows of each person count")
        )
        notes.append(f"With noise {each}, so figures can be below those of all rows.")
    if any(release.kind == "quantile" for release in state.plan.releases):
        notes.append("A noisy median or quantile has no interval; in a small group it can be far from the truth.")
    return notes


def shown(plan: NoisyPlan) -> tuple[Output, ...]:
    return plan.plan.outputs[: plan.plan.shown]


def make_columns(plan: NoisyPlan) -> list[ColumnBody]:
    return [{"name": o.name, "kind": "key" if o.kind == "key" else "noisy", "type": o.type} for o in shown(plan)]


def _key(state: NoisyState) -> str:
    """Equal for questions with the same meaning, on one version, at one price, according to the ids of keys and
    numbers."""
    plan, catalog = state.plan, state.catalog
    sets = sorted(sorted(plan.plan.keys[i].id for i in chosen) for chosen in plan.plan.sets)
    asked = sorted(release.id for release in plan.releases)
    what = [catalog.dataset, catalog.version, catalog.policy_hash, sets, asked, state.epsilon, state.options.mechanism]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()
