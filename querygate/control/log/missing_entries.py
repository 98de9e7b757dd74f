"""Bringing an old control database up to date from a later log: adding missing entries and what they spent.

The entries are added unchanged, so the chain continues as if the database had never been old, and every spend in them
is entered in the ledger again. Keys, grants and accounts that had been revoked or closed are revoked and closed again.
So are keys that had been replaced, because the new secret is in no log. Everything else in these entries has to be
repeated by hand, and is listed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from querygate.control.budgets.ledger_evidence import CHARGE, spend_of
from querygate.control.budgets.sqlite_budgets import SqlitePage
from querygate.control.log.entry_chain import Chain, ChainBroken, LogEvent, VerifiedChain, canonical
from querygate.control.log.entry_links import lines_of, links_of_lines
from querygate.control.log.log import Log
from querygate.control.ports import Connection
from querygate.core.budget_ledger import enter

NOTHING_TO_DO = ("query", "dry_run", "answer", "twin", "budget", "log", "audit", "risk", "site", "login", "encryption")
"""Families of entries that tell what was seen, not what was changed."""

_CLOSE = {
    "key.revoke": ("UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ?", "id"),
    "key.rotate": ("UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ?", "id"),
    "grant.revoke": ("UPDATE grants SET revoked = coalesce(revoked, ?) WHERE id = ?", "id"),
    "user.disable": ("UPDATE users SET disabled = coalesce(disabled, ?) WHERE name = ?", "name"),
    "user.remove": ("UPDATE users SET removed = coalesce(removed, ?) WHERE name = ?", "name"),
}


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """How many entries were added, how many spends with them, and how often what was told of that is not redone.
    `has_met` says that the later log has the place where this one ended."""

    entries: int
    spends: int
    undone: Mapping[str, int]
    has_met: bool


def catch_up(log: Log, lines: Iterable[bytes], *, ledger: bool) -> CaughtUp:
    """Add the entries of a later log to this one, in one transaction. `ledger` says that budgets are kept here too.

    The lines begin anywhere at or before the first entry that is lacking. ChainBroken where they do not continue this
    log; nothing is changed then.
    """
    spends, undone, added, has_met = 0, Counter[str](), 0, False
    with log.database.writing() as connection:
        start = log.head()
        for event in _following(start, lines):
            has_met = True
            if event["seq"] <= start.entries:
                continue
            _insert(connection, event)
            added += 1
            if event["kind"] == CHARGE:
                spends += 1
                if ledger:
                    enter(SqlitePage(connection, log.clock, None), spend_of(event))
            elif event["kind"] in _CLOSE:
                statement, field = _CLOSE[event["kind"]]
                connection.execute(statement, (event["time"], event["body"].get(field)))
            elif event["kind"].partition(".")[0] not in NOTHING_TO_DO:
                undone[event["kind"]] += 1
    return CaughtUp(added, spends, undone, has_met)


def _following(head: VerifiedChain, lines: Iterable[bytes]) -> Iterator[LogEvent]:
    """The entry at which this log ends, if it is there, and those it lacks, each checked against the one before."""
    chain = Chain(start=head)
    for line in lines:
        seq = _number(line)
        if seq > chain.entries + 1:
            raise ChainBroken(chain.entries + 1, "the later log does not have it")
        if seq > head.entries:
            for links in links_of_lines([line]):
                chain.follow((links,))
                yield from (json.loads(text) for text in lines_of(links))
        elif seq == head.entries:
            event: LogEvent = json.loads(line)
            if event.get("hash") != head.head:
                raise ChainBroken(seq, "it differs from the same entry of the later log")
            yield event


def _number(line: bytes) -> int:
    try:
        return int(json.loads(line)["seq"])
    except (ValueError, KeyError, TypeError):
        raise ChainBroken(0, "the later log has a line that is not an entry") from None


def _insert(connection: Connection, event: LogEvent) -> None:
    fields = [event[name] for name in ("seq", "time", "kind", "query_id", "user", "dataset")]
    connection.execute(
        """INSERT INTO log (seq, time, kind, query_id, user, dataset, body, prev, hash)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (*fields, canonical(event["body"]), event["prev"], event["hash"]),
    )
