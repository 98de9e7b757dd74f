"""The ledger once more, as diffprivlib's accountant adds it up: a second account by code that is not ours.

It shares nothing with the ledger but the list of what was paid. Limit by limit it enters each spend again, and stops
where its own rules say that the limit is exceeded. Its sums are floats, so it is held against the ledger's exact ones
within rounding.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from querygate.core.budget import DELTA_PLACES, EPSILON_PLACES, Scope, SpentTotal
from querygate.core.budget_ledger import Spend

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class SecondAccount:
    """One limit: what the ledger says was spent, and what the accountant adds up to."""

    scope: Scope
    ledger: float
    accountant: float
    delta: float
    releases: int

    @property
    def agrees(self) -> bool:
        return math.isclose(self.ledger, self.accountant, rel_tol=ROUNDING, abs_tol=ROUNDING)


def is_installed() -> bool:
    try:
        import diffprivlib  # noqa: F401
    except ImportError:
        return False
    return True


def second_accounts(spends: Iterable[Spend], dataset: str | None = None) -> list[SecondAccount]:
    """Every limit of a dataset, or of all of them, in the order of their names."""
    from diffprivlib import BudgetAccountant

    paid: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    last: dict[tuple[str, str, str], tuple[Scope, SpentTotal]] = {}
    for spend in spends:
        cost = (spend.cost.epsilon / 10**EPSILON_PLACES, spend.cost.delta / 10**DELTA_PLACES)
        for scope, total in spend.charges:
            whose: tuple[str, str, str] = (scope.dataset, scope.kind, scope.name)
            paid[whose].append(cost)
            if whose not in last or last[whose][1].releases < total.releases:
                last[whose] = (scope, total)
    found = []
    for one in sorted(last):
        scope, total = last[one]
        if dataset is not None and scope.dataset != dataset:
            continue
        account = BudgetAccountant(spent_budget=paid[one])
        epsilon, delta = account.total()
        of_ledger = total.epsilon / 10**EPSILON_PLACES
        found.append(SecondAccount(scope, of_ledger, float(epsilon), float(delta), len(account)))
    return found
