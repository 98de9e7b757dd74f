"""What the chain says was spent against each limit: nothing is spent from a ledger that says otherwise.

Entries of the log about budgets are read once, and from then on only those that are new, so a spend pays for no more
than what came since. An opening tells of all limits at once: with the first that is not in an archive, reading begins.
A later one takes nothing back, whatever it says.

Whoever takes a spend out of the ledger by hand may try the same with the log. Entries that were removed leave a gap in
the numbers; one that was made into something else is missed by the next about budgets, which names it, or by the mark
outside the database; the mark knows where the log had come to, and the database that there was one; and entries count
as archived where the site's key has signed that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from querygate.control.budgets.ledger_evidence import CHARGE, OPENING, REBUILD, TELLING, charge_body, charge_of
from querygate.control.log.entry_chain import ChainBroken, Entry, LogBody, LogEvent, digest
from querygate.control.log.head_mark import HeadMark, has_marked, mark_problem, read_mark
from querygate.control.log.log import Log
from querygate.core.budget_types import Scope, SpentTotal
from querygate.core.errors import BudgetExhausted

Whose: TypeAlias = tuple[str, str, str]
"""Dataset, kind and name of a limit."""

_NEW = f"SELECT * FROM log WHERE {TELLING} AND seq >= ? ORDER BY seq"  # noqa: S608
_FIRST_OPENING = """SELECT min(seq) FROM log WHERE kind IN ('budget.opening', 'budget.rebuild')
                   AND kind NOT IN ('query.intent', 'query.outcome')"""
_ENDS = """SELECT coalesce(min(seq), 0), coalesce(max(seq), 0),
             (SELECT coalesce(max(last), 0) FROM segment) FROM log"""
# Counted once from the beginning, in an index, and then only what is new.
_ALL = "SELECT count(*) FROM log INDEXED BY log_user WHERE seq > ?"
_SINCE = "SELECT count(*) FROM log WHERE seq > ?"


class NotedTotals:
    """The totals of one log. Safe to share between threads; read within a transaction, they are those of its moment."""

    def __init__(self, log: Log, mark: Path | None = None, *, shared: bool = False, since: int = 1) -> None:
        self._log, self._mark, self._shared = log, mark, shared
        self._lock = threading.Lock()
        self._begun = 0  # with this entry
        self._told: dict[str, None] = {}  # hashes of the entries about budgets since then, the last one last
        self._read = since - 1  # up to this entry
        self._sealed = 0  # archives up to this entry are signed
        self._last: dict[Whose, tuple[Scope, SpentTotal]] = {}
        self.is_silent = True
        """Has the log no entry about budgets at all?"""

    def read(self) -> Mapping[Whose, tuple[Scope, SpentTotal]]:
        """Each limit as it was charged last. ChainBroken where an entry was altered, or some are gone."""
        with self._lock:
            mark = self._marked()  # first: the log is never behind it
            first, last, archived = self._log.database.rows(_ENDS)[0]
            if archived != self._sealed:
                self._log.check_sealed(self._sealed)
                self._sealed = archived
            self._check_all_there(last, archived)
            if first > self._read + 1:  # what was not read yet is in archives by now
                self._begin(first)
            for row in self._log.database.rows(_NEW, (self._read + 1,)):
                entry = Entry(**dict(row))
                if digest(entry.text()) != entry.hash:
                    raise ChainBroken(entry.seq, "it was altered")
                self._take(entry.event())
            self._read = max(last, self._read)
            if mark is not None:
                self._check_marked(mark)
            return dict(self._last)

    def _marked(self) -> HeadMark | None:
        """ChainBroken where there was a mark, or a later one, that is not there."""
        if self._mark is None:
            return None
        if mark_problem(self._log, self._mark) is not None:
            raise ChainBroken(self._log.head().entries, "the mark outside the database is gone")
        return read_mark(self._mark)

    def _check_marked(self, mark: HeadMark) -> None:
        is_forgotten = mark.told is not None and mark.entries >= self._begun and mark.told not in self._told
        if is_forgotten or not has_marked(self._log, mark):
            raise ChainBroken(mark.entries, "it is not what was marked")

    def _check_all_there(self, last: int, archived: int) -> None:
        """Entries are numbered without gaps, from the last archive on. Whoever takes a spend out of the ledger by hand
        may take its entry out of the log, too."""
        start = max(self._read, archived)
        there = self._log.database.rows(_SINCE if self._read else _ALL, (start,))[0][0]
        if max(last, archived) < self._read or there != max(last - start, 0):
            raise ChainBroken(start + 1, "entries after it are missing")

    def check_lookup(self, scopes: Sequence[Scope], charged: Callable[[Scope, int], SpentTotal | None]) -> None:
        """QG402 unless a ledger that others spend from too has what was noted last of each of these limits."""
        try:
            last = self.read()
        except ChainBroken:
            raise contradicted(scopes[0].dataset) from None
        for scope in scopes:
            noted = last.get((scope.dataset, scope.kind, scope.name))
            if noted is not None and charged(scope, noted[1].releases) != noted[1]:
                raise contradicted(scope.dataset)

    @property
    def _newest(self) -> str | None:
        return next(reversed(self._told), None)

    def body(self) -> LogBody:
        """All of them, as an opening tells them."""
        last = self.read()
        return {"charges": [charge_body(*last[whose]) for whose in sorted(last)]}

    def _begin(self, first: int) -> None:
        """Start at the first opening, or with the archives where there is none outside them."""
        self._last.clear()
        self._told.clear()
        opening = self._log.database.rows(_FIRST_OPENING)[0][0]
        if opening is not None:
            self._read, self._begun = opening - 1, opening
            return
        for event in self._log.events_in("budget"):
            if event["seq"] < first:
                self._take(event)
        self._read = first - 1

    def _take(self, event: LogEvent) -> None:
        if event["kind"] == REBUILD and self._shared:  # what a server had lost of others' spends is lost
            self._last.clear()
        if event["kind"] not in (CHARGE, OPENING, REBUILD):
            return
        if event["kind"] == CHARGE and event["body"].get("after", self._newest) != self._newest:
            raise ChainBroken(event["seq"], "the entry about budgets before it is missing")
        self.is_silent = False
        self._told[event["hash"]] = None
        for scope, total in map(charge_of, event["body"]["charges"]):
            whose = (scope.dataset, scope.kind, scope.name)
            # Where the ledger is on a server, entries of two processes may come in another order than their spends.
            if whose not in self._last or self._last[whose][1].releases <= total.releases:
                self._last[whose] = (scope, total)


def contradicted(dataset: str) -> BudgetExhausted:
    return BudgetExhausted(
        "QG402",
        f"The budget ledger for dataset {dataset} does not match what the log says was spent, so nothing can be spent "
        "from it.",
        "Use guaranteed ranges in the meantime. The custodian can see what differs with `querygate doctor`, and "
        "repair the ledger with `querygate budget rebuild` or from a backup.",
    )
