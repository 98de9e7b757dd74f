"""Writes off budget that may have been spent without a trace: after an old backup was restored and no later log is at
hand, nobody knows what was spent since. All that is left counts as spent, or an amount that somebody takes
responsibility for.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass

from querygate.control import new_query_id
from querygate.core.budget_ledger import WRITTEN_OFF, Ledger
from querygate.core.budget_types import Scope
from querygate.core.types import Principal
from querygate.custody.use_cases.open_noise import noise_over
from querygate.gate.dataset_list import served_catalogs
from querygate.site.open_gate import OpenSite, now


@dataclass(frozen=True, slots=True)
class WrittenOff:
    """The epsilon written off from one limit."""

    kind: str
    name: str
    dataset: str
    epsilon: float


def write_off(opened: OpenSite, ledger: Ledger, epsilon: float | None) -> list[WrittenOff]:
    """Write off so much of every limit of every dataset; None is all that is left of each dataset's own limit, by which
    everybody is bound."""
    written = []
    for scope in _limits(opened, ledger):
        if epsilon is not None or scope.kind == "dataset":
            query_id = WRITTEN_OFF + new_query_id(now, secrets.token_bytes)
            written.append(
                WrittenOff(scope.kind, scope.name, scope.dataset, ledger.write_off(query_id, scope, epsilon))
            )
    return written


def _limits(opened: OpenSite, ledger: Ledger) -> Iterator[Scope]:
    """Every limit that there is: those that were charged, as they were last, and those of all users of each dataset
    that answers with noise."""
    found: dict[tuple[str, str, str], Scope] = {}
    for spend in ledger.spends():
        found |= {(scope.dataset, scope.kind, scope.name): scope for scope, _ in spend.charges}
    noise = noise_over(opened, ledger)
    for catalog in served_catalogs(opened.store, broken=lambda error: None):
        if catalog.noise is not None:
            for user in opened.accounts.list_users():
                scopes = noise.scopes(Principal(user.name, user.role), catalog)
                found |= {(scope.dataset, scope.kind, scope.name): scope for scope in scopes}
            scopes = noise.scopes(Principal("", "researcher"), catalog)
            found |= {(scope.dataset, scope.kind, scope.name): scope for scope in scopes if scope.kind == "dataset"}
    return iter(found[whose] for whose in sorted(found))
