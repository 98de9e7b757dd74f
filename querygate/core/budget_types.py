"""A privacy budget: what a release costs, whose limit it counts against, and what a ledger has to do.

The gate calls `reserve` before anything is read and `record` before anything is sent. Both are on disk when they
return.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal, NamedTuple, Protocol

Kind = Literal["user", "group", "dataset"]

EPSILON_PLACES = 12
DELTA_PLACES = 18
"""Decimal places in which is counted: epsilon and rho in units of 10^-12, delta in units of 10^-18."""

MOST = 1000.0
"""More epsilon than this is a mistake: there is no privacy in it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one release costs: epsilon and delta, and the rho of its zero-concentrated differential privacy (Bun and
    Steinke 2016). A rho of 0 means that none was given."""

    epsilon: float
    delta: float = 0.0
    rho: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.epsilon <= MOST and 0 <= self.delta < 1 and 0 <= self.rho <= MOST**2):  # nor NaN
            raise ValueError("a cost has parts that are not negative, and not absurd")


@dataclass(frozen=True, slots=True)
class Scope:
    """A limit, and whose it is: one user's, a group's or everybody's, for one dataset."""

    kind: Kind
    name: str
    dataset: str
    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.epsilon <= (MOST if self.delta else 1000 * MOST) and 0 <= self.delta < 1):
            raise ValueError("a limit is not negative, and not absurd")


@dataclass(frozen=True, slots=True)
class SpentTotal:
    """What was spent, in whole units, so that sums are exact. A cost is the decimal as written, rounded up.

    >>> total = SpentTotal()
    >>> for _ in range(10):
    ...     total = total.plus(Cost(0.1))
    >>> total.epsilon == 10**EPSILON_PLACES
    True
    """

    epsilon: int = 0
    delta: int = 0
    rho: int = 0
    releases: int = 0

    def plus(self, cost: Cost) -> SpentTotal:
        return SpentTotal(
            self.epsilon + _units(cost.epsilon, EPSILON_PLACES, ROUND_CEILING),
            self.delta + _units(cost.delta, DELTA_PLACES, ROUND_CEILING),
            self.rho + _units(_rho(cost), EPSILON_PLACES, ROUND_CEILING),
            self.releases + 1,
        )


class BudgetAccounting(Protocol):
    """How sums of costs are interpreted: the only thing that decides whether a limit is kept."""

    def fits(self, total: SpentTotal, scope: Scope) -> bool:
        """Whether everything spent is within the limit."""
        ...

    def left(self, total: SpentTotal, scope: Scope) -> float:
        """How much epsilon the limit has left, at least 0."""
        ...


class Sequential:
    """Epsilons add up, and so do deltas (Dwork, McSherry, Nissim and Smith 2006; Dwork et al., same year). Valid for
    any releases in any order, each chosen after seeing earlier answers."""

    def fits(self, total: SpentTotal, scope: Scope) -> bool:
        return total.epsilon <= _units(scope.epsilon, EPSILON_PLACES, ROUND_FLOOR) and total.delta <= _units(
            scope.delta, DELTA_PLACES, ROUND_FLOOR
        )

    def left(self, total: SpentTotal, scope: Scope) -> float:
        if not self.fits(total, scope):
            return 0.0
        return float((_units(scope.epsilon, EPSILON_PLACES, ROUND_FLOOR) - total.epsilon) / 10**EPSILON_PLACES)


class PriorAnswer(NamedTuple):
    """This was answered before. The answer (JSON text) is given again, and nothing was spent; `paid` says that this
    same query paid for it and is being retried."""

    answer: str
    paid: bool = False


class PaidInVain(Exception):
    """This query has paid, but what happened to its draw is unknown: it is not retried, and stays paid."""


class Reservation(NamedTuple):
    """The budget is spent and on disk: one draw may be made. `left` is what each limit has left afterwards."""

    id: str
    left: tuple[tuple[Scope, float], ...]


class SpentBudget(NamedTuple):
    """What was spent against one limit, as it was when something was last spent."""

    scope: Scope
    epsilon: float
    delta: float
    rho: float
    releases: int


class Budgets(Protocol):
    """The ledger. Safe to share between threads; any number of processes may keep one together."""

    def reserve(self, query_id: str, key: str, scopes: Sequence[Scope], cost: Cost) -> PriorAnswer | Reservation:
        """Pay for the answer to `key` within all of these limits, or not at all: BudgetExhausted QG401. A query pays
        once: when retried, it gets the recorded answer, or PaidInVain if there is none."""
        ...

    def record(self, query_id: str, answer: str) -> str:
        """Record a reserved answer before it is sent. Returns the answer that may be sent: this one, or the one
        recorded earlier for the same key."""
        ...

    def left(self, scopes: Sequence[Scope]) -> tuple[float, ...]:
        """How much epsilon each limit has left."""
        ...

    def spent(self, dataset: str) -> list[SpentBudget]:
        """What was spent on a dataset, by whom."""
        ...


def _rho(cost: Cost) -> float:
    """Where it was not told: half the square of epsilon if delta is 0 (Bun and Steinke 2016, proposition 1.4), else so
    much that no limit holds it, as there need not be any."""
    if cost.rho:
        return cost.rho
    return MOST if cost.delta else math.nextafter(cost.epsilon**2 / 2, math.inf)


def _units(value: float, places: int, rounding: str) -> int:
    """A number in whole units. Its shortest decimal counts: 0.1 is a tenth, not the nearest binary fraction."""
    return int(Decimal(repr(float(value))).scaleb(places).to_integral_value(rounding))
