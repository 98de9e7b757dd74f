"""The path of a query, top to bottom. This file is the specification of the gate.

    find        whether they may ask, the dataset, the version being served and the kind of answer
    understand  SQL to a plan, or a refusal with a way forward            (pure: sql)
    admit       the inline auditor says whether it could single people out, where the site has one; the intent is
                on disk before anything is computed
    fetch       an aggregate read of the published cells, or of margins   (engine)
    protect     cells to guaranteed ranges                                (pure: bounds, stats)
    estimate    a likely value beside each range, from the published store (pure: estimates)
    arrange     ORDER BY and LIMIT, without hiding what may be true
    explain     why ranges are as wide as they are, where that is asked for: the gate tries questions nearby
    record      the answer is on disk before it leaves

An answer that was given before to the same text is given again: it is judged and put on record like any other, and not
computed. A crash after `admit` leaves the intent in the log. Nothing here can reach a vault: a Gate is given a store, a
log, a clock, limits, the database's grammar and perhaps somebody who says yes or no, and that is all there is to touch.
Noisy answers need raw rows, so they are a port: where the site's custodian offers them, they come from there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Never, Protocol, TypeVar

from querygate.core.answer_bodies import AnswerBody, BudgetBody, ExplanationBody, Verdict
from querygate.core.errors import ConfigError, DisclosureRefused, NotPermitted, Refusal, UnsupportedSQL
from querygate.core.limits.deadline import check_deadline, over_the_limit, seconds_left, within
from querygate.core.limits.pace import paced
from querygate.core.limits.turn import Turn, turn_given_up
from querygate.core.plan import Plan
from querygate.core.ports import AskedQuery, InlineAuditor, Limits, Native, Outcome, PublishedVersion, QueryLog, Store
from querygate.core.rights import GrantBook, not_granted
from querygate.core.step_times import timed
from querygate.core.types import Answer, AnswerColumn, Catalog, Group, Limited, Principal, QueryOptions, Request
from querygate.gate import order_and_limit as order
from querygate.gate.answer_cache import AnswerKey, KeptAnswer, KeptAnswers, is_lasting
from querygate.gate.answer_rows import answer_groups, shown_part
from querygate.gate.grant_check import granted_modes
from querygate.gate.incidents import make_failure
from querygate.gate.likely_tables import LikelyTables
from querygate.gate.likely_values import NOTE as NOT_GUARANTEED
from querygate.gate.likely_values import OutOfTime, has_estimate, with_estimates
from querygate.gate.plan_cells import Sheet, fetch_sheets, too_large
from querygate.gate.render import make_body, to_json
from querygate.gate.verdict import make_verdict
from querygate.gate.width_explanation import explain_width, withhold_reasons
from querygate.gate.widths import told_widths
from querygate.sql import accepted_plan, without_zero_divisors
from querygate.sql import understand as understand_sql

INTERVAL, NOISY = MODES = ("interval", "laplace")
LONGEST_LOGGED_SQL = 20_000
LOST = "QG804"
"""The code of a version whose file is missing or damaged."""

DRY_RUN = "dry_run"
"""The kind of log entry that a statement leaves which was checked and not asked."""

NOT_OFFERED = {
    INTERVAL: ("This dataset gives only noisy answers.", "Use the mode laplace."),
    NOISY: ("This dataset does not give noisy answers.", "Leave out the mode to get guaranteed ranges."),
}

WARNING = "Combined with earlier answers, this one could single people out. The custodian has been notified."
"""The note of `on_differencing = "warn"`: the same whatever was found."""


@dataclass(frozen=True, slots=True)
class Gate:
    """All that a query may touch."""

    store: Store
    log: QueryLog
    grants: GrantBook
    native: Native
    new_id: Callable[[], str]
    clock_s: Callable[[], float]
    limits: Limits = field(default_factory=Limits)
    auditor: InlineAuditor | None = None
    noise: NoisyPath | None = None
    likely: LikelyTables = field(default_factory=LikelyTables)
    answers: KeptAnswers = field(default_factory=KeptAnswers)
    turn: Turn = field(default_factory=lambda: Turn(lambda: 0.0))


METHOD = 1
"""The way in which ranges are computed, on record with each question. Whoever makes the same store give narrower ranges
raises it: a replay then expects answers of earlier methods to be wider, and those of this one never."""

HURRIED = (
    "There was not enough time to make every range as narrow as possible: some are wider than they need to be, but "
    "still guaranteed. Use fewer groups or fewer statistics per statement."
)
"""The note of an answer whose searches were cut short."""


FOR_THE_REST = 0.2
"""The part of a request's time that estimates leave to what comes after them."""

FOR_EXPLAINING = 0.5
"""The part of the time left that an explanation may use."""

LATER: Never = None  # type: ignore[assignment]
"""The value of a field that a later step fills."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A request on its way to either kind of answer. Each step returns a copy that knows more."""

    query_id: str
    request: Request
    began_s: float
    mode: str = INTERVAL
    release: PublishedVersion = LATER
    version: int | None = None
    body: AnswerBody = LATER

    @property
    def catalog(self) -> Catalog:
        return self.release.catalog


@dataclass(frozen=True, slots=True)
class State(Passage):
    """A request on its way to guaranteed ranges."""

    plan: Plan = LATER
    sheets: tuple[tuple[Sheet, ...], ...] = ()
    groups: tuple[tuple[Group, ...], ...] = ()
    notes: tuple[str, ...] = ()
    answer: Answer = LATER
    explanation: ExplanationBody | None = None

    def make_body(self) -> AnswerBody:
        """The answer as it is given out and kept."""
        body = make_body(self.answer)
        return body if self.explanation is None else {**body, "explanation": self.explanation}


class NoisyPath(Protocol):
    """Answers with noise, paid for from a budget, made where the raw rows are."""

    def answer(self, passage: Passage, gate: Gate) -> AnswerBody: ...

    def check(self, passage: Passage, gate: Gate) -> Verdict:
        """What it would cost and how precise it would be. Nothing is read from the rows or spent."""
        ...

    def budget(self, principal: Principal, catalog: Catalog) -> BudgetBody:
        """What is left for this person, and for a custodian what was spent, by whom."""
        ...


S = TypeVar("S", bound=Passage)
G = TypeVar("G")


# -- the ways in -----------------------------------------------------------------------------------------------


def ask(request: Request, gate: Gate) -> AnswerBody:
    """Take a request through the gate; the answer is as it was put on record. Raises QueryGateError."""
    with within(gate.clock_s, gate.limits.timeout_s), gate.turn.taken():
        state = follow(State(gate.new_id(), request, gate.clock_s()), gate, (find,), gate.log)
        if state.mode == NOISY and gate.noise is not None:
            with turn_given_up():  # whoever adds noise may be another process
                return gate.noise.answer(state, gate)
        is_known = gate.answers.get(key_of(state)) is not None
        return compute_ranges(state, gate, (repeat,) if is_known else STEPS).body


def answer(request: Request, gate: Gate) -> Answer:
    """Take a request to guaranteed ranges, as an object for other code. Raises QueryGateError."""
    with within(gate.clock_s, gate.limits.timeout_s):
        return compute_ranges(State(gate.new_id(), request, gate.clock_s()), gate, (find, *STEPS)).answer


def check(request: Request, gate: Gate) -> Verdict:
    """Would this be accepted, and at what cost? A dry run, which spends nothing and is on record.

    Nothing is read from the cells, unless it is to explain how wide the ranges would be.
    """

    def note(code: str | None) -> None:
        body = {"sql": request.sql[:LONGEST_LOGGED_SQL], "mode": request.options.mode, "code": code}
        gate.log.note(DRY_RUN, user=request.principal.name, dataset=request.dataset, body=body)

    try:
        with within(gate.clock_s, gate.limits.timeout_s):
            verdict = _judge(find(State("", request, gate.clock_s()), gate), gate)
    except Refusal as refusal:
        note(refusal.code)
        raise
    note(None)
    return verdict


def _judge(state: State, gate: Gate) -> Verdict:
    if state.mode == NOISY and gate.noise is not None:
        return gate.noise.check(state, gate)
    state = understand(state, gate)
    verdict = make_verdict(state.plan, state.catalog)
    if state.request.options.explain and state.catalog.on_differencing == "alert":
        for step in (fetch, protect, arrange):
            state = step(state, gate)
        verdict["widths"] = told_widths(state.answer)
    return verdict


def read_budget(principal: Principal, dataset: str, gate: Gate) -> BudgetBody:
    """What is left for noisy answers about a dataset."""
    state = find(State("", Request(principal, dataset, "", QueryOptions(mode=NOISY)), gate.clock_s()), gate)
    return noise_of(gate).budget(principal, state.catalog)


# -- the steps -------------------------------------------------------------------------------------------------


def find(state: State, gate: Gate) -> State:
    """The version being served, and the kind of answer: what was asked for, or else ranges where they are allowed.

    Whether they may ask at all comes first, so that a refusal does not depend on what there is."""
    request = state.request
    granted = granted_modes(request.principal, request.dataset, gate.grants)
    release = gate.store.current(request.dataset)
    modes = release.catalog.modes
    mode = request.options.mode or _silent_mode(modes, granted)
    if mode not in granted:
        raise not_granted(mode)
    if mode == NOISY:
        noise_of(gate)
    if mode not in modes:
        raise NotPermitted("QG311", *NOT_OFFERED[mode])
    return replace(state, release=release, version=release.catalog.version, mode=mode)


def _silent_mode(modes: Collection[str], granted: Collection[str]) -> str:
    """The kind of answer where nobody says: ranges before noise, of what the dataset gives and they were granted."""
    given = [mode for mode in MODES if mode in modes]
    return next((mode for mode in given if mode in granted), given[0])


def understand(state: State, gate: Gate) -> State:
    return replace(state, plan=understand_sql(state.request.sql, state.catalog, gate.native, gate.limits))


def admit(state: State, gate: Gate) -> State:
    state = replace(state, notes=check_differencing(state, gate))
    intend(state, gate, state.plan.hash)
    return state


def fetch(state: State, gate: Gate) -> State:
    sheets = tuple(fetch_sheets(plan, state.release, gate.limits) for plan in state.plan.branches)
    return replace(state, sheets=sheets)


def protect(state: State, gate: Gate) -> State:
    groups = []
    with within(gate.clock_s, gate.limits.timeout_s) as deadline, paced(deadline) as pace:
        try:
            for plan, sheets in zip(state.plan.branches, state.sheets, strict=True):
                groups.append(tuple(answer_groups(plan, sheets, check_deadline)))
        except UnsupportedSQL as refusal:  # it shows on the groups only: a divisor that may be zero
            refusal.suggestion = without_zero_divisors(state.request.sql, state.catalog, gate.native, gate.limits)
            raise
    notes = (*state.notes, *([HURRIED] if pace.is_cut else []))
    return replace(state, groups=tuple(groups), notes=notes)


def estimate(state: State, gate: Gate) -> State:
    """The ranges are there: what is left of the time is for estimates, but for what the answer itself still needs."""
    with within(gate.clock_s, gate.limits.timeout_s) as deadline:

        def check() -> None:
            if deadline.clock_s() > deadline.at_s - FOR_THE_REST * gate.limits.timeout_s:
                raise OutOfTime

        pairs = zip(state.plan.branches, state.groups, strict=True)
        groups = [with_estimates(*pair, gate.likely, state.release, gate.limits, check) for pair in pairs]
    return replace(state, groups=tuple(groups))


def arrange(state: State, gate: Gate) -> State:
    catalog = state.catalog
    shown: list[Group] = []
    limited: Limited | None = None
    notes = [*state.notes, *state.plan.notes]
    notes += [f"Groups that cannot contain {catalog.min_group} records are not shown."] if catalog.min_group else []
    for plan, groups in zip(state.plan.branches, state.groups, strict=True):
        arranged, told = order.arrange(groups, plan)
        here = [shown_part(plan, group) for group in arranged if group.may_show(catalog.min_group)]
        limited, shown = order.find_limit(plan, here) or limited, shown + here
        notes += [note for note in told if note not in notes]
    notes += [NOT_GUARANTEED] if any(map(has_estimate, shown)) else []
    columns, elapsed_ms = make_columns(state.plan), round((gate.clock_s() - state.began_s) * 1000, 1)
    made = Answer(
        state.query_id, catalog.dataset, catalog.version, INTERVAL, columns, tuple(shown), tuple(notes), elapsed_ms,
        limited,
    )  # fmt: skip
    return replace(state, answer=made)


def explain(state: State, gate: Gate) -> State:
    """Costs nothing where it is not asked for, and at most half of the time that is left where it is."""
    if not state.request.options.explain:
        return state
    if state.catalog.on_differencing != "alert":
        return replace(state, explanation=withhold_reasons(state.answer))
    sheets = [sheet for each in state.sheets for sheet in each]
    with within(gate.clock_s, seconds_left(gate.limits.timeout_s) * FOR_EXPLAINING):
        found = explain_width(
            state.request.sql, state.plan, state.answer, sheets, state.catalog, lambda sql: _try(sql, state, gate)
        )
    elapsed_ms = round((gate.clock_s() - state.began_s) * 1000, 1)
    return replace(state, explanation=found, answer=replace(state.answer, elapsed_ms=elapsed_ms))


def record(state: State, gate: Gate) -> State:
    state = replace(state, body=state.make_body())
    size = check_size(state.body, gate.limits)
    conclude(state, gate.log, "answered", answer=state.body)
    if not state.request.options.explain and is_lasting(state.answer, passing={HURRIED, WARNING}):
        gate.answers.put(key_of(state), KeptAnswer(state.body, state.plan.hash, size))
    return state


def repeat(state: State, gate: Gate) -> State:
    """An answer that was given before, with an id of its own. The auditor judges it as if it were new."""
    known = gate.answers.get(key_of(state))
    if known is None:  # it has just made room for others
        return reduce(lambda passed, step: step(passed, gate), STEPS, state)
    warned = check_differencing(state, gate)
    notes = [*warned, *known.body["notes"]]
    elapsed_ms = round((gate.clock_s() - state.began_s) * 1000, 1)
    body: AnswerBody = {**known.body, "query_id": state.query_id, "notes": notes, "elapsed_ms": elapsed_ms}
    if warned or known.json_bytes > gate.limits.max_answer_bytes:  # else it is as large as it was when it was kept
        check_size(body, gate.limits)
    gate.log.repeat(state.query_id, body, **asked(state, known.meaning))
    return replace(state, body=body)


def key_of(state: State) -> AnswerKey:
    request, catalog = state.request, state.catalog
    served = (catalog.dataset, catalog.version, catalog.policy_hash)
    return AnswerKey(request.principal.name, *served, request.sql, state.mode, request.options)


STEPS: tuple[Callable[[State, Gate], State], ...] = (
    understand, admit, fetch, protect, estimate, arrange, explain, record,
)  # fmt: skip


def _try(sql: str, state: State, gate: Gate) -> Answer | None:
    """The answer to another statement, which is not given out; None where it is refused. Raises QG305 if there is no
    time to compute it as it would be."""
    plan = accepted_plan(sql, state.catalog, gate.native, gate.limits)
    if plan is None:
        return None
    tried = replace(state, request=replace(state.request, sql=sql), plan=plan, notes=())
    try:
        for step in (fetch, protect, arrange):
            tried = step(tried, gate)
    except UnsupportedSQL:
        return None
    if HURRIED in tried.notes:
        raise over_the_limit()
    return tried.answer


# -- along the way ---------------------------------------------------------------------------------------------


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


def compute_ranges(state: State, gate: Gate, steps: Iterable[Callable[[State, Gate], State]] = STEPS) -> State:
    """The steps to ranges; the inline auditor is told when they have ended, however that was."""
    try:
        return follow(state, gate, steps, gate.log)
    finally:
        if gate.auditor is not None:
            gate.auditor.settle(state.query_id)


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


def check_differencing(state: State, gate: Gate) -> tuple[str, ...]:
    """Refuse, or warn of, what could single people out, as the policy says. What is told does not say why."""
    wanted = state.catalog.on_differencing
    if gate.auditor is None:
        if wanted != "alert":
            raise ConfigError("QG805", "The policy requires an inline audit, and this gate has none.")
        return ()
    request = state.request
    with turn_given_up():  # whoever judges may be another process
        could = gate.auditor.judge(state.query_id, state.catalog, request.principal.name, request.sql)
    if could and wanted == "refuse":
        raise DisclosureRefused(
            "QG501",
            "Combined with earlier answers, this one could single people out.",
            "Query other or larger groups. A query that has been answered before can be repeated.",
        )
    return (WARNING,) if could and wanted == "warn" else ()


def check_size(body: AnswerBody, limits: Limits) -> int:
    """The bytes of an answer. Refuses what is larger than one may be: it would be in the log too, and stay there."""
    size = len(to_json(body))
    if size > limits.max_answer_bytes:
        raise too_large()
    return size


def noise_of(gate: Gate) -> NoisyPath:
    if gate.noise is None:
        raise NotPermitted(
            "QG310",
            "Noisy answers need the raw rows, and this gate has no access to them.",
            "Ask for guaranteed ranges, or ask the custodian.",
        )
    return gate.noise


def make_columns(plan: Plan) -> tuple[AnswerColumn, ...]:
    """The select list as columns of the answer."""
    seen = {"key": 0, "range": 0}
    columns = []
    for output in plan.outputs[: plan.shown]:
        place = seen[output.kind]
        columns.append(AnswerColumn(output.name, output.kind, output.type, place, output.texts, output.digits))
        seen[output.kind] += 1
    return tuple(columns)
