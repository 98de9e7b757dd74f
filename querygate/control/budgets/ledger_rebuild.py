"""The ledger of privacy budgets written anew from the log, after somebody changed it by hand.

The chain says of each spend what was paid and what each limit had spent after it, so it can be entered again as it was.
Of spends from before the log told of them one by one an opening has the totals: where the ledger still has spends that
add up to these, they stay; where not, entries that add up to them take their place. Answers that stand are kept where
they were paid for. All of it, with the entry that says so, is one transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from querygate.control.budgets.ledger_evidence import (
    CHARGE,
    OPENING,
    REBUILD,
    LedgerEvidence,
    charge_of,
    is_from_before,
    opening_of,
    spend_of,
    to_compare,
)
from querygate.control.budgets.sqlite_budgets import SqlitePage
from querygate.control.log.entry_chain import LogEvent
from querygate.control.log.log import Log
from querygate.control.ports import Connection
from querygate.core.budget_ledger import WRITTEN_OFF, Ledger, Spend
from querygate.core.budget_types import Scope, SpentTotal
from querygate.core.errors import ConfigError

MOST_TOLD = 100
"""So many of the differences are put on record."""

_RESERVE = "INSERT INTO reservation (query_id, key, dataset, time, epsilon, delta, rho) VALUES (?, ?, ?, ?, ?, ?, ?)"
_UNPAID = "DELETE FROM noisy_answer WHERE (query_id, key) NOT IN (SELECT query_id, key FROM reservation)"


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Spends in the ledger now; what it had otherwise; answers that nobody had paid for, which were removed."""

    spends: int
    wrong: tuple[str, ...] = ()
    answers_removed: int = 0


def rebuild(log: Log, found: LedgerEvidence, *, user: str) -> Rebuilt:
    """Write the ledger in the control database anew. The log must have been verified."""
    with log.database.writing() as connection:
        entered = list(SqlitePage(connection, log.clock, None).spends())
        spends = list(_spends(list(log.events_in("budget")), entered, log.discarded_until()))
        with log.database.unguarded_ledger(connection):
            for table in ("charge", "reservation"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608
            for spend in spends:
                _enter(connection, log, spend)
            removed = connection.execute(_UNPAID).rowcount
        _note(log, connection, spends, found, removed, user)
    return Rebuilt(len(spends), found.wrong, removed)


def replay_missing(log: Log, ledger: Ledger, found: LedgerEvidence, new_id: Callable[[], str], *, user: str) -> Rebuilt:
    """For a ledger on a server, which others spend from too: what this log has and the server has lost is spent once
    more, as written off."""
    entered = {spend.query_id: spend for spend in ledger.spends()}
    noted = [spend_of(event) for event in to_compare(log, shared=True) if event["kind"] == CHARGE]
    missing = [spend for spend in noted if spend.query_id not in entered]
    if len(missing) < len(found.wrong):  # others may have spent on top of what was changed
        raise ConfigError(
            "QG807",
            "Entries of the ledger on the server were changed, not only lost.",
            "Restore the server's database from a backup first, then run this again.",
        )
    ledger.replay(missing, new_id)
    spends = ledger.spends()
    with log.database.writing() as connection:
        _note(log, connection, spends, found, 0, user)
    return Rebuilt(len(spends), found.wrong)


def _note(
    log: Log, connection: Connection, spends: Sequence[Spend], found: LedgerEvidence, removed: int, user: str
) -> None:
    told = {"spends": len(spends), "differences": len(found.wrong), "wrong": list(found.wrong[:MOST_TOLD])}
    log.append(connection, REBUILD, None, user, None, {**opening_of(spends), **told, "answers_removed": removed})


# -- what the ledger has to say --------------------------------------------------------------------------------------


def _spends(events: Sequence[LogEvent], entered: Sequence[Spend], discarded: str) -> Iterator[Spend]:
    """All spends, in the order in which they were charged."""
    noted = [spend_of(event) for event in events if event["kind"] == CHARGE]
    known = {spend.query_id for spend in noted}
    before = [
        spend
        for spend in entered
        if spend.query_id not in known and (spend.time <= discarded or is_from_before(spend, events))
    ]
    if events and events[0]["kind"] in (OPENING, REBUILD):
        opening = [charge_of(charge) for charge in events[0]["body"]["charges"]]
        if not _adds_up(before, opening):
            before = [filler for charge in opening for filler in _fillers(*charge, events[0]["time"])]
    yield from before
    yield from noted


def _adds_up(spends: Sequence[Spend], opening: Sequence[tuple[Scope, SpentTotal]]) -> bool:
    """Are these spends what the opening says, limit by limit and one after the other?"""
    charges: dict[tuple[str, str, str], list[tuple[SpentTotal, SpentTotal]]] = defaultdict(list)
    for spend in spends:
        for scope, total in spend.charges:
            charges[scope.dataset, scope.kind, scope.name].append((total, spend.cost))
    told = {(scope.dataset, scope.kind, scope.name): total for scope, total in opening}
    return charges.keys() == told.keys() and all(_reaches(charges[whose], told[whose]) for whose in told)


def _reaches(charges: Sequence[tuple[SpentTotal, SpentTotal]], end: SpentTotal) -> bool:
    sum_so_far = SpentTotal()
    for total, cost in sorted(charges, key=lambda charge: charge[0].releases):
        sum_so_far = SpentTotal(
            sum_so_far.epsilon + cost.epsilon,
            sum_so_far.delta + cost.delta,
            sum_so_far.rho + cost.rho,
            sum_so_far.releases + 1,
        )
        if total != sum_so_far:
            return False
    return sum_so_far == end


def _fillers(scope: Scope, total: SpentTotal, time: str) -> Iterator[Spend]:
    """As many spends as there were, of which the first cost all of it."""
    for number in range(1, total.releases + 1):
        query_id = f"{WRITTEN_OFF}{scope.dataset} {scope.kind} {scope.name} {number}"
        cost = SpentTotal(total.epsilon, total.delta, total.rho, 1) if number == 1 else SpentTotal(0, 0, 0, 1)
        after = SpentTotal(total.epsilon, total.delta, total.rho, number)
        yield Spend(query_id, query_id, scope.dataset, cost, ((scope, after),), time)


# -- writing -------------------------------------------------------------------------------------------------------


def _enter(connection: Connection, log: Log, spend: Spend) -> None:
    cost = spend.cost
    whose = (spend.query_id, spend.key, spend.dataset, spend.time)
    connection.execute(_RESERVE, (*whose, cost.epsilon, cost.delta, cost.rho))
    page = SqlitePage(connection, log.clock, None)
    for scope, total in spend.charges:
        page.charge(spend.query_id, scope, total)
