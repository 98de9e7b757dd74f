"""The ledger of privacy budgets in `control.db`, for the threads and processes of one machine.

`core/budget_ledger.py` says what is decided, and why. Here it is one `BEGIN IMMEDIATE` transaction: SQLite lets
one writer in at a time, and has its pages on disk (`synchronous = FULL`) before the commit returns. The entry of the
log that is evidence of a spend is in the same transaction, so neither is there without the other.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

from querygate.control.budgets.ledger_evidence import OPENING, note_spend, opening_of
from querygate.control.budgets.logged_spending import NotedTotals, contradicted
from querygate.control.ids import Clock, stamp_now
from querygate.control.log.entry_chain import ChainBroken
from querygate.control.log.head_mark import set_mark
from querygate.control.log.log import Log
from querygate.control.ports import Connection, ControlDatabase
from querygate.core.budget_ledger import Charge, Ledger, Spend
from querygate.core.budget_types import BudgetAccounting, Scope, Sequential, SpentTotal
from querygate.core.types import Scalar

_Run: TypeAlias = Callable[[str, Sequence[Scalar]], list[Any]]

_ANSWER = "SELECT answer FROM noisy_answer WHERE key = ?"
_UNDERWAY = """SELECT 1 FROM reservation WHERE key = ? AND time > ?
               AND key NOT IN (SELECT key FROM noisy_answer) LIMIT 1"""
_TOTAL = """SELECT epsilon, delta, rho, number FROM charge
            WHERE dataset = ? AND kind = ? AND name = ? ORDER BY number DESC LIMIT 1"""
_ADDED_UP = """SELECT coalesce(sum(paid.epsilon), 0), coalesce(sum(paid.delta), 0), coalesce(sum(paid.rho), 0), count(*)
               FROM charge JOIN reservation AS paid USING (query_id)
               WHERE charge.dataset = ? AND kind = ? AND name = ?"""
_RESERVE = "INSERT INTO reservation (query_id, key, dataset, time, epsilon, delta, rho) VALUES (?, ?, ?, ?, ?, ?, ?)"
_CHARGE = """INSERT INTO charge (dataset, kind, name, number, query_id, epsilon, delta, rho, limit_epsilon, limit_delta)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_RESERVED = "SELECT key, dataset FROM reservation WHERE query_id = ?"
_RECORD = "INSERT INTO noisy_answer (key, query_id, time, answer) VALUES (?, ?, ?, ?)"
_LAST = """SELECT kind, name, dataset, limit_epsilon, limit_delta, epsilon, delta, rho, number FROM charge AS one
           WHERE dataset = ? AND number = (SELECT max(number) FROM charge
             WHERE dataset = one.dataset AND kind = one.kind AND name = one.name)
           ORDER BY kind, name"""
_CHARGES = """SELECT kind, name, charge.dataset, limit_epsilon, limit_delta,
                charge.epsilon, charge.delta, charge.rho, number,
                coalesce(paid.epsilon, 0), coalesce(paid.delta, 0), coalesce(paid.rho, 0), 1, charge.query_id
              FROM charge LEFT JOIN reservation AS paid USING (query_id)
              ORDER BY charge.dataset, kind, name, number"""
_RESERVATIONS = "SELECT query_id, key, dataset, epsilon, delta, rho, time FROM reservation"
_CHARGES_OF = """SELECT query_id, kind, name, dataset, limit_epsilon, limit_delta, epsilon, delta, rho, number
                 FROM charge ORDER BY rowid"""
_COUNTS = """SELECT
    (SELECT count(*) FROM reservation),
    (SELECT count(*) FROM reservation WHERE query_id NOT IN (SELECT query_id FROM charge)),
    (SELECT count(*) FROM noisy_answer),
    (SELECT count(*) FROM noisy_answer WHERE (query_id, key) NOT IN (SELECT query_id, key FROM reservation))"""


class SqliteBudgets(Ledger):
    """The budgets of a site with one control database. Whoever asks what is being answered waits up to `patience_s`."""

    def __init__(
        self,
        database: ControlDatabase,
        clock: Clock,
        accounting: BudgetAccounting | None = None,
        *,
        log: Log | None = None,
        mark: Path | None = None,
        patience_s: float = 10.0,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        super().__init__(accounting or Sequential(), patience_s, pause)
        self._database = database
        self._clock = clock
        self._log = log
        self._noted = None if log is None else NotedTotals(log, mark)
        self._mark = mark

    @contextmanager
    def _reading(self) -> Iterator[_Page]:
        yield _Page(self._database.rows, self._clock)

    @contextmanager
    def _writing(self, dataset: str) -> Iterator[_Page]:
        with self._database.writing() as connection:
            page = SqlitePage(connection, self._clock, self._log, self._noted)
            yield page
        if page.sealed is not None and self._log is not None and self._mark is not None:
            set_mark(self._log, self._mark)  # the spend is on disk, and nothing was drawn yet


class _Page:
    """The tables of the ledger, as they are read."""

    def __init__(self, run: _Run, clock: Clock) -> None:
        self._run = run
        self._clock = clock

    def answer(self, key: str) -> str | None:
        rows = self._run(_ANSWER, (key,))
        return str(rows[0][0]) if rows else None

    def is_underway(self, key: str, since_s: float) -> bool:
        return bool(self._run(_UNDERWAY, (key, stamp_now(self._clock, -timedelta(seconds=since_s)))))

    def total(self, scope: Scope) -> SpentTotal:
        rows = self._run(_TOTAL, (scope.dataset, scope.kind, scope.name))
        return SpentTotal(*rows[0]) if rows else SpentTotal()

    def check(self, scopes: Sequence[Scope]) -> None:
        """Outside a transaction nothing is spent."""

    def reserve(self, query_id: str, key: str, dataset: str, cost: SpentTotal) -> None:
        self._run(_RESERVE, (query_id, key, dataset, self._now(), cost.epsilon, cost.delta, cost.rho))

    def charge(self, query_id: str, scope: Scope, total: SpentTotal) -> None:
        whose = (scope.dataset, scope.kind, scope.name, total.releases, query_id)
        self._run(_CHARGE, (*whose, total.epsilon, total.delta, total.rho, float(scope.epsilon), float(scope.delta)))

    def seal(self, spend: Spend) -> None:
        """Outside a transaction there is nothing to note: only what is committed is a spend."""

    def spends(self) -> Iterator[Spend]:
        charges: dict[str, list[tuple[Scope, SpentTotal]]] = defaultdict(list)
        for query_id, *row in map(tuple, self._run(_CHARGES_OF, ())):
            charges[query_id].append((Scope(*row[:5]), SpentTotal(*row[5:])))
        for query_id, key, dataset, epsilon, delta, rho, when in self._run(_RESERVATIONS, ()):
            cost = SpentTotal(epsilon, delta, rho, 1)
            yield Spend(query_id, key, dataset, cost, tuple(charges.pop(query_id, ())), when)
        for query_id, left in charges.items():  # somebody removed what they were paid by
            yield Spend(query_id, "", left[0][0].dataset, SpentTotal(0, 0, 0, 1), tuple(left), self._now())

    def reserved(self, query_id: str) -> tuple[str, str] | None:
        rows = self._run(_RESERVED, (query_id,))
        return (rows[0][0], rows[0][1]) if rows else None

    def record(self, query_id: str, key: str, answer: str) -> None:
        self._run(_RECORD, (key, query_id, self._now(), answer))

    def last(self, dataset: str) -> Iterator[tuple[Scope, SpentTotal]]:
        for row in self._run(_LAST, (dataset,)):
            yield Scope(*row[:5]), SpentTotal(*row[5:])

    def charges(self) -> Iterator[Charge]:
        for row in self._run(_CHARGES, ()):
            yield Charge(Scope(*row[:5]), SpentTotal(*row[5:9]), SpentTotal(*row[9:13]), row[13])

    def counts(self) -> tuple[int, int, int, int]:
        [(reservations, uncharged, answers, unpaid)] = self._run(_COUNTS, ())
        return reservations, uncharged, answers, unpaid

    def _now(self) -> str:
        return stamp_now(self._clock)


class SqlitePage(_Page):
    """The tables of the ledger within a transaction of the caller; with a log, what is spent is on record there."""

    def __init__(self, connection: Connection, clock: Clock, log: Log | None, noted: NotedTotals | None = None) -> None:
        super().__init__(lambda text, values: connection.execute(text, values).fetchall(), clock)
        self._connection = connection
        self._log = log
        self._noted = noted
        self.sealed: Spend | None = None

    def check(self, scopes: Sequence[Scope]) -> None:
        """The last total of each limit is the one that the log has, and what is entered adds up to it."""
        if self._noted is None or self._log is None:
            return
        try:
            last = self._noted.read()
        except ChainBroken:
            raise contradicted(scopes[0].dataset) from None
        if self._noted.is_silent:
            self._open(self._log)
            return
        for scope in scopes:
            noted = last.get((scope.dataset, scope.kind, scope.name))
            total = SpentTotal() if noted is None else noted[1]
            added_up = SpentTotal(*self._run(_ADDED_UP, (scope.dataset, scope.kind, scope.name))[0])
            if not total == self.total(scope) == added_up:
                raise contradicted(scope.dataset)

    def _open(self, log: Log) -> None:
        """The first spend of which the log tells: it begins with what had been spent before."""
        body = opening_of(self.spends())
        if body["charges"]:
            log.append(self._connection, OPENING, None, None, None, body)

    def seal(self, spend: Spend) -> None:
        self.sealed = spend
        if self._log is not None:
            note_spend(self._log, self._connection, spend)
