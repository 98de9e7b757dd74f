"""The ledger of privacy budgets in `control.db`, for the threads and processes of one machine.

`core/budget_rules.py` says what is decided, and why. Here it is one `BEGIN IMMEDIATE` transaction: SQLite lets
one writer in at a time, and has its pages on disk (`synchronous = FULL`) before the commit returns.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeAlias

from querygate.control.database import Database
from querygate.control.ids import Clock, stamp_now
from querygate.core.budget import BudgetAccounting, Scope, Sequential, SpentTotal
from querygate.core.budget_rules import Charge, Ledger
from querygate.core.types import Scalar

_Run: TypeAlias = Callable[[str, Sequence[Scalar]], list[sqlite3.Row]]

_ANSWER = "SELECT answer FROM noisy_answer WHERE key = ?"
_UNDERWAY = """SELECT 1 FROM reservation WHERE key = ? AND time > ?
               AND key NOT IN (SELECT key FROM noisy_answer) LIMIT 1"""
_TOTAL = """SELECT epsilon, delta, rho, number FROM charge
            WHERE dataset = ? AND kind = ? AND name = ? ORDER BY number DESC LIMIT 1"""
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
                coalesce(paid.epsilon, 0), coalesce(paid.delta, 0), coalesce(paid.rho, 0), 1
              FROM charge LEFT JOIN reservation AS paid USING (query_id)
              ORDER BY charge.dataset, kind, name, number"""
_COUNTS = """SELECT
    (SELECT count(*) FROM reservation),
    (SELECT count(*) FROM reservation WHERE query_id NOT IN (SELECT query_id FROM charge)),
    (SELECT count(*) FROM noisy_answer),
    (SELECT count(*) FROM noisy_answer WHERE (query_id, key) NOT IN (SELECT query_id, key FROM reservation))"""


class SqliteBudgets(Ledger):
    """The budgets of a site with one control database. Whoever asks what is being answered waits up to `patience_s`."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        accounting: BudgetAccounting | None = None,
        *,
        patience_s: float = 10.0,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        super().__init__(accounting or Sequential(), patience_s, pause)
        self._database = database
        self._clock = clock

    @contextmanager
    def _reading(self) -> Iterator[_Page]:
        yield _Page(self._database.rows, self._clock)

    @contextmanager
    def _writing(self, dataset: str) -> Iterator[_Page]:
        with self._database.writing() as connection:
            yield _Page(lambda text, values: connection.execute(text, values).fetchall(), self._clock)


class _Page:
    """The tables of the ledger, through one connection."""

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

    def reserve(self, query_id: str, key: str, dataset: str, cost: SpentTotal) -> None:
        self._run(_RESERVE, (query_id, key, dataset, self._now(), cost.epsilon, cost.delta, cost.rho))

    def charge(self, query_id: str, scope: Scope, total: SpentTotal) -> None:
        whose = (scope.dataset, scope.kind, scope.name, total.releases, query_id)
        self._run(_CHARGE, (*whose, total.epsilon, total.delta, total.rho, float(scope.epsilon), float(scope.delta)))

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
            yield Charge(Scope(*row[:5]), SpentTotal(*row[5:9]), SpentTotal(*row[9:]))

    def counts(self) -> tuple[int, int, int, int]:
        [(reservations, uncharged, answers, unpaid)] = self._run(_COUNTS, ())
        return reservations, uncharged, answers, unpaid

    def _now(self) -> str:
        return stamp_now(self._clock)
