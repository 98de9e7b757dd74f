"""Privacy budgets as evidence: what was spent is in the chain of the log, and the ledger is held against it.

Triggers keep the ledger append-only, but whoever can write the file can drop them. The log says of each spend what was
paid and what each limit had spent after it; the chain shows whether that was changed. So a spend that was removed from
the ledger, or made smaller, is found by comparing the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from querygate.control.log.entry_chain import LogBody, LogEvent
from querygate.control.log.log import Log
from querygate.control.ports import Connection
from querygate.core.budget_ledger import Ledger, Spend
from querygate.core.budget_types import EPSILON_PLACES, Scope, SpentTotal

CHARGE, OPENING, REBUILD = "budget.charge", "budget.opening", "budget.rebuild"

# The index has all kinds but the last two; SQLite wants to be told.
TELLING = """kind IN ('budget.charge', 'budget.opening', 'budget.rebuild')
             AND kind NOT IN ('query.intent', 'query.outcome')"""
LAST_TOLD = f"SELECT hash FROM log WHERE {TELLING} AND seq > ? ORDER BY seq DESC LIMIT 1"  # noqa: S608
"""The hash of the last entry about budgets after one."""


@dataclass(frozen=True, slots=True)
class LedgerEvidence:
    """What a comparison found: spends that agree, those of which the log has no entry any more, and what is wrong."""

    agreed: int
    without_entry: int
    wrong: tuple[str, ...]


# -- writing -------------------------------------------------------------------------------------------------------


def note_spend(log: Log, connection: Connection, spend: Spend) -> None:
    """Within a transaction of the caller: the entry that is evidence of a spend. It names the one before it, so that
    none of them can be made into an entry about something else."""
    user = next((scope.name for scope, _ in spend.charges if scope.kind == "user"), None)
    before = connection.execute(LAST_TOLD, (0,)).fetchone()
    body = {**body_of(spend), "after": before and before[0]}
    log.append(connection, CHARGE, spend.query_id, user, spend.dataset, body)


def note_opening(log: Log, ledger: Ledger) -> bool:
    """Put on record what had been spent before spends were noted one by one. False where there is nothing to say."""
    if any(True for _ in log.events_in("budget")):
        return False
    body = opening_of(ledger.spends())
    if body["charges"]:
        log.note(OPENING, user=None, body=body)
    return bool(body["charges"])


def opening_of(spends: Iterable[Spend]) -> LogBody:
    """What an opening says after these spends: each limit as it was charged last."""
    last: dict[tuple[str, str, str], tuple[Scope, SpentTotal]] = {}
    for spend in spends:
        for scope, total in spend.charges:
            whose = (scope.dataset, scope.kind, scope.name)
            if whose not in last or last[whose][1].releases < total.releases:
                last[whose] = (scope, total)
    return {"charges": [charge_body(*last[whose]) for whose in sorted(last)]}


def body_of(spend: Spend) -> LogBody:
    cost = spend.cost
    return {
        "key": spend.key,
        "cost": {"epsilon": cost.epsilon, "delta": cost.delta, "rho": cost.rho},
        "charges": [charge_body(*charge) for charge in spend.charges],
    }


def spend_of(event: LogEvent) -> Spend:
    """The spend that an entry is evidence of."""
    cost = event["body"]["cost"]
    return Spend(
        str(event["query_id"]),
        event["body"]["key"],
        str(event["dataset"]),
        SpentTotal(cost["epsilon"], cost["delta"], cost["rho"], 1),
        tuple(charge_of(charge) for charge in event["body"]["charges"]),
        event["time"],
    )


def charge_body(scope: Scope, total: SpentTotal) -> LogBody:
    return {
        "kind": scope.kind,
        "name": scope.name,
        "dataset": scope.dataset,
        "number": total.releases,
        "epsilon": total.epsilon,
        "delta": total.delta,
        "rho": total.rho,
        "limit_epsilon": float(scope.epsilon),
        "limit_delta": float(scope.delta),
    }


def charge_of(body: LogBody) -> tuple[Scope, SpentTotal]:
    scope = Scope(body["kind"], body["name"], body["dataset"], body["limit_epsilon"], body["limit_delta"])
    return scope, SpentTotal(body["epsilon"], body["delta"], body["rho"], body["number"])


# -- comparing -----------------------------------------------------------------------------------------------------


def compare(log: Log, ledger: Ledger, *, shared: bool) -> LedgerEvidence:
    """Hold the ledger against the log. `shared` is a ledger that other gates, with logs of their own, spend from too.

    A spend is in the ledger when its entry is written, or at the same time. So the log is read first, and read again
    for spends that came in between.
    """
    noted = to_compare(log, shared=shared)
    entered = {spend.query_id: spend for spend in ledger.spends()}
    wrong = [text for event in noted for text in _missing(event, entered)]
    known = {event["query_id"] for event in noted}
    unknown = [spend for query_id, spend in entered.items() if query_id not in known]
    if unknown and not shared:
        again = [*log.events_in("budget")]
        known = {event["query_id"] for event in again}
        discarded = log.discarded_until()
        wrong += [
            f"{_name(spend)} is in the ledger, but not in the log"
            for spend in unknown
            if spend.query_id not in known and spend.time > discarded and not is_from_before(spend, again)
        ]
    return LedgerEvidence(len(entered) - len(unknown), len(unknown), tuple(wrong))


def to_compare(log: Log, *, shared: bool) -> list[LogEvent]:
    """Entries about budgets. What a server's ledger lacked at a rebuild was written off, so older ones hold no more."""
    noted = list(log.events_in("budget"))
    rebuilt = [place for place, event in enumerate(noted) if event["kind"] == REBUILD]
    return noted[rebuilt[-1] :] if shared and rebuilt else noted


def is_from_before(spend: Spend, noted: Sequence[LogEvent]) -> bool:
    """Was it entered before the log began to tell of spends? An opening tells of all until then."""
    if not noted or noted[0]["kind"] in (OPENING, REBUILD):
        return not noted or spend.time <= noted[0]["time"]
    return spend.time < noted[0]["time"]


def _missing(event: LogEvent, entered: Mapping[str, Spend]) -> Iterator[str]:
    """What the ledger lacks of what an entry says, or has otherwise."""
    if event["kind"] in (OPENING, REBUILD):
        there = {_whose(*charge): charge[1] for spend in entered.values() for charge in spend.charges}
        for scope, total in map(charge_of, event["body"]["charges"]):
            if there.get(_whose(scope, total)) != total:
                yield f"charge {total.releases} of {_limit(scope)}, which the log opens with, {_state(scope, there)}"
    elif event["kind"] == CHARGE:
        noted = spend_of(event)
        found = entered.get(noted.query_id)
        if found is None or not found.key:
            yield f"{_name(noted)} is in the log (entry {event['seq']}), but not in the ledger"
        else:
            yield from (f"{text} (entry {event['seq']} of the log)" for text in _changed(noted, found))


def _changed(noted: Spend, found: Spend) -> Iterator[str]:
    if (noted.key, noted.dataset, noted.cost) != (found.key, found.dataset, found.cost):
        yield f"{_name(noted)} was changed in the ledger: it cost epsilon {_epsilon(noted.cost)}"
    charges = {(scope.kind, scope.name): (scope, total) for scope, total in found.charges}
    for scope, total in noted.charges:
        there = charges.pop((scope.kind, scope.name), None)
        if there is None:
            yield f"charge {total.releases} of {_limit(scope)} for {noted.query_id} is missing from the ledger"
        elif there != (scope, total):
            yield f"charge {total.releases} of {_limit(scope)} for {noted.query_id} was changed in the ledger"
    for scope, total in charges.values():
        yield f"charge {total.releases} of {_limit(scope)} for {noted.query_id} is in the ledger, but not in the log"


def _whose(scope: Scope, total: SpentTotal) -> tuple[str, str, str, int]:
    return scope.dataset, scope.kind, scope.name, total.releases


def _state(scope: Scope, there: Iterable[tuple[str, str, str, int]]) -> str:
    kept = any(one[:3] == (scope.dataset, scope.kind, scope.name) for one in there)
    return "is missing from the ledger or was changed" if kept else "is missing from the ledger"


def _name(spend: Spend) -> str:
    return f"the reservation of {spend.query_id} for dataset {spend.dataset}"


def _limit(scope: Scope) -> str:
    return f"dataset {scope.dataset}" if scope.kind == "dataset" else f"{scope.kind} {scope.name} for {scope.dataset}"


def _epsilon(total: SpentTotal) -> str:
    return f"{total.epsilon / 10**EPSILON_PLACES:g}"
