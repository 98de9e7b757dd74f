"""What a ledger decides, wherever it is kept: the same steps for SQLite and for PostgreSQL.

**Nothing is overspent.** Reading the totals, deciding and writing the new totals is one transaction without concurrent
writers. The stores check the sums again: the n-th charge of a limit exists once, and its total is the previous total
plus the cost.

**No answer without a spend.** An answer names a reservation of the same key, which was committed before anything was
read. Only what `record` returns may be sent.

**Nothing is given back.** A reservation whose process died, or whose read failed, stays spent, and asking again costs
again. It may seem fair to let people use what they paid, since nothing was sent. But then a failure that depends on the
draw (or on the data: a time-out) would let somebody draw until the result suits them, and a draw that is kept only if
it suits reveals more than it cost. If every draw is paid for, composition covers all of them, whatever happens to them.

**No query pays twice.** A query that is retried because its worker is gone finds that it has paid: if there is an
answer it gets that answer, otherwise it fails, for the same reason.

**Nothing is spent from a ledger that was changed.** Before a charge the ledger is compared with the log, within the
same transaction. Recorded answers are still given: they were paid for.

**One answer per key.** The first one recorded stays forever. If two processes draw for one key at the same time, the
slower one's draw is discarded and its spend stays, because which one is slower may depend on what was drawn. To make
that rare, a process that finds a fresh reservation of the same key waits for its answer, and gets it for free. How long
it waits affects only patience: no clock decides what is spent.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from querygate.core.budget_types import (
    DELTA_PLACES,
    EPSILON_PLACES,
    MOST,
    BudgetAccounting,
    Cost,
    PaidInVain,
    PriorAnswer,
    Reservation,
    Scope,
    Sequential,
    SpentBudget,
    SpentTotal,
)
from querygate.core.count_text import counted
from querygate.core.errors import BudgetExhausted

POLL_S = 0.02

WRITTEN_OFF = "w_"
"""How the ids of write-offs begin. They count as spent, and are nobody's answers."""


class LedgerBroken(Exception):
    """The ledger does not add up. The text says where, without quoting answers."""


class LedgerCheck(NamedTuple):
    """A ledger that adds up: the numbers of its entries."""

    reservations: int
    answers: int
    limits: int


class Charge(NamedTuple):
    """One spend against one limit: the total after it, and the cost of its reservation as entered."""

    scope: Scope
    total: SpentTotal
    cost: SpentTotal
    query_id: str = ""


class Spend(NamedTuple):
    """One reservation as evidence: what was paid, and the total of each limit afterwards."""

    query_id: str
    key: str
    dataset: str
    cost: SpentTotal
    charges: tuple[tuple[Scope, SpentTotal], ...]
    time: str = ""  # where the ledger is in the site's own database


class Page(Protocol):
    """The ledger as seen by one transaction."""

    def answer(self, key: str) -> str | None: ...

    def is_underway(self, key: str, since_s: float) -> bool:
        """Whether the key was reserved within the last seconds and has no answer yet."""
        ...

    def check(self, scopes: Sequence[Scope]) -> None:
        """Raise BudgetExhausted QG402 if these limits do not match what the log says was spent."""
        ...

    def total(self, scope: Scope) -> SpentTotal: ...

    def reserve(self, query_id: str, key: str, dataset: str, cost: SpentTotal) -> None: ...

    def charge(self, query_id: str, scope: Scope, total: SpentTotal) -> None: ...

    def seal(self, spend: Spend) -> None:
        """Add a spend, entered above, to the log's chain before anything is drawn."""
        ...

    def spends(self) -> Iterable[Spend]:
        """Everything that was ever entered, in any order."""
        ...

    def reserved(self, query_id: str) -> tuple[str, str] | None:
        """Key and dataset of a reservation."""
        ...

    def record(self, query_id: str, key: str, answer: str) -> None: ...

    def last(self, dataset: str) -> Iterable[tuple[Scope, SpentTotal]]:
        """Each limit of a dataset, and what was spent against it."""
        ...

    def charges(self) -> Iterable[Charge]:
        """All, in order of limit and number."""
        ...

    def counts(self) -> tuple[int, int, int, int]:
        """Reservations, those without a charge, answers, those without a reservation of the same key."""
        ...


class Ledger(ABC):
    """A `Budgets` over any store of pages."""

    def __init__(self, accounting: BudgetAccounting, patience_s: float, pause: Callable[[float], object]) -> None:
        self._accounting = accounting
        self._patience_s = patience_s
        self._pause = pause

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Page]:
        """A page that sees what was committed."""

    @abstractmethod
    def _writing(self, dataset: str) -> AbstractContextManager[Page]:
        """A page for one transaction, while nobody else writes about the dataset. It is on disk when the block ends,
        and leaves no trace if it raises."""

    def reserve(self, query_id: str, key: str, scopes: Sequence[Scope], cost: Cost) -> PriorAnswer | Reservation:
        """Pay for the answer to `key` within all of these limits, or not at all."""
        dataset = _check(scopes)
        with self._reading() as page:
            if page.reserved(query_id) == (key, dataset):
                return _paid_before(page.answer(key))
        # Whoever waited for one that died may find that another one took its place, so there is time for two.
        for turn in range(math.ceil(2 * self._patience_s / POLL_S), -1, -1):
            with self._reading() as page:
                standing = page.answer(key)
                waits = turn > 0 and standing is None and page.is_underway(key, self._patience_s)
            if standing is not None:  # an answer never changes, so it needs no lock
                return PriorAnswer(standing)
            if not waits:
                with self._writing(dataset) as page:
                    done = self._settle(page, query_id, key, scopes, cost, wait=turn > 0)
                if done is not None:
                    return done
            self._pause(POLL_S)
        raise AssertionError("the last turn does not wait")

    def record(self, query_id: str, answer: str) -> str:
        """Record a reserved answer before it is sent; returns the one that may be sent."""
        with self._reading() as page:
            found = page.reserved(query_id)
        if found is None:
            raise ValueError(f"{query_id} has no reservation")
        key, dataset = found
        with self._writing(dataset) as page:
            standing = page.answer(key)
            if standing is None:
                page.record(query_id, key, answer)
        return answer if standing is None else standing

    def left(self, scopes: Sequence[Scope]) -> tuple[float, ...]:
        with self._reading() as page:
            return tuple(self._accounting.left(page.total(scope), scope) for scope in scopes)

    def spent(self, dataset: str) -> list[SpentBudget]:
        with self._reading() as page:
            return [_as_spending(scope, total) for scope, total in page.last(dataset)]

    def verify(self) -> LedgerCheck:
        """Add up everything again. Raises LedgerBroken if sums are wrong, a limit was not kept as it was then, or an
        answer was not paid for."""
        with self._reading() as page:
            reservations, uncharged, answers, unpaid = page.counts()
            if uncharged or unpaid:
                raise LedgerBroken(
                    f"{counted(uncharged, 'reservation was', 'reservations were')} not charged; "
                    f"{counted(unpaid, 'answer was', 'answers were')} not paid for"
                )
            sums: defaultdict[tuple[str, str, str], SpentTotal] = defaultdict(SpentTotal)
            for scope, total, cost, query_id in page.charges():
                whose = (scope.dataset, scope.kind, scope.name)
                sums[whose] = _sum(sums[whose], cost)
                if sums[whose] != total:
                    raise LedgerBroken(f"charge {total.releases} of {_name(scope)} does not add up")
                if not query_id.startswith(WRITTEN_OFF) and not self._accounting.fits(total, scope):
                    raise LedgerBroken(f"charge {total.releases} of {_name(scope)} is over the limit")
        return LedgerCheck(reservations, answers, len(sums))

    def spends(self) -> list[Spend]:
        """All that was ever entered, to be compared with the log."""
        with self._reading() as page:
            return list(page.spends())

    def write_off(self, query_id: str, scope: Scope, epsilon: float | None) -> float:
        """Spend what may have been spent without a trace: this much of one limit, or all that it has left. Known
        draws come on top, so this may exceed the limit. Returns the epsilon."""
        with self._writing(scope.dataset) as page:
            page.check((scope,))
            before = page.total(scope)
            left = min(Sequential().left(before, scope), MOST)  # a limit above that protects nothing
            written = left if epsilon is None else min(epsilon, left)
            # With delta, the rho of what was drawn is not known from its epsilon: sums of rho say nothing any more.
            cost = Cost(written, 0.0, MOST if scope.delta else 0.0)
            after = before.plus(cost)
            enter(page, Spend(query_id, query_id, scope.dataset, SpentTotal().plus(cost), ((scope, after),)))
        return written

    def replay(self, spends: Sequence[Spend], new_id: Callable[[], str]) -> None:
        """Spend again what the ledger has lost: each counts as written off, in addition to what is there."""
        for spend in spends:
            with self._writing(spend.dataset) as page:
                charges = tuple((scope, _sum(page.total(scope), spend.cost)) for scope, _ in spend.charges)
                query_id = WRITTEN_OFF + new_id()
                enter(page, Spend(query_id, query_id, spend.dataset, spend.cost, charges))

    def _settle(
        self, page: Page, query_id: str, key: str, scopes: Sequence[Scope], cost: Cost, *, wait: bool
    ) -> PriorAnswer | Reservation | None:
        """Within the transaction: the recorded answer, or None to wait for it, or a spend."""
        standing = page.answer(key)
        if standing is not None:
            return PriorAnswer(standing)
        if wait and page.is_underway(key, self._patience_s):
            return None
        page.check(scopes)
        before = [page.total(scope) for scope in scopes]
        after = [total.plus(cost) for total in before]
        for scope, old, new in zip(scopes, before, after, strict=True):
            if not self._accounting.fits(new, scope):
                raise _exhausted(scope, self._accounting.left(old, scope), cost)
        charges = tuple(zip(scopes, after, strict=True))
        enter(page, Spend(query_id, key, scopes[0].dataset, SpentTotal().plus(cost), charges))
        return Reservation(query_id, tuple((scope, self._accounting.left(new, scope)) for scope, new in charges))


def enter(page: Page, spend: Spend) -> None:
    """Write a spend into the ledger, and into the log as evidence."""
    page.reserve(spend.query_id, spend.key, spend.dataset, spend.cost)
    for scope, total in spend.charges:
        page.charge(spend.query_id, scope, total)
    page.seal(spend)


def _check(scopes: Sequence[Scope]) -> str:
    """The dataset that all of these are about. There must be a limit, or nothing may happen."""
    datasets = {scope.dataset for scope in scopes}
    if len(datasets) != 1 or len({(scope.kind, scope.name) for scope in scopes}) != len(scopes):
        raise ValueError("a reservation needs one or more limits, each given once and all for one dataset")
    return datasets.pop()


def _paid_before(standing: str | None) -> PriorAnswer:
    if standing is None:
        raise PaidInVain
    return PriorAnswer(standing, paid=True)


def _exhausted(scope: Scope, left: float, cost: Cost) -> BudgetExhausted:
    asked = f"epsilon {cost.epsilon:.6g}" + (f" and delta {cost.delta:.6g}" if cost.delta else "")
    return BudgetExhausted(
        "QG401",
        f"This answer costs {asked}, but the privacy budget of {_name(scope)} has only epsilon {left:.6g} left.",
        "Repeat a query that has been answered before, which is free, or ask the custodian for more budget.",
    )


def _name(scope: Scope) -> str:
    if scope.kind == "dataset":
        return f"dataset {scope.dataset}"
    return f"{scope.kind} {scope.name} for dataset {scope.dataset}"


def _sum(total: SpentTotal, cost: SpentTotal) -> SpentTotal:
    return SpentTotal(
        total.epsilon + cost.epsilon, total.delta + cost.delta, total.rho + cost.rho, total.releases + cost.releases
    )


def _as_spending(scope: Scope, total: SpentTotal) -> SpentBudget:
    epsilon, rho = total.epsilon / 10**EPSILON_PLACES, total.rho / 10**EPSILON_PLACES
    return SpentBudget(scope, epsilon, total.delta / 10**DELTA_PLACES, rho, total.releases)
