"""The ledger, as diffprivlib's accountant adds it up: a second account by independent code.

It only shares the list of payments with the ledger. For each limit it enters every spend again, and stops if the limit
is exceeded by its own rules. Its sums are floats, so they are compared with the ledger's exact ones up to rounding.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from querygate.core.budget_ledger import Spend
from querygate.core.budget_types import DELTA_PLACES, EPSILON_PLACES, Scope, SpentTotal

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class SecondAccount:
    """One limit: what was spent according to the ledger, and according to the accountant."""

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
