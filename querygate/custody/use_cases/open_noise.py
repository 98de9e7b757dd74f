"""The root that assembles what noisy answers need: the raw rows, the ledger, randomness from the operating system."""

from __future__ import annotations

import secrets
import time

from querygate.core.budget_ledger import Ledger
from querygate.core.budget_types import Budgets
from querygate.custody.noise.noisy_answer import Noise
from querygate.methods.dp import ComposedAccounting
from querygate.site.budget_evidence import check_anchored, open_ledger
from querygate.site.open_gate import OpenSite
from querygate_adapters.vault.noise_rows import VaultColumns


def open_noise(opened: OpenSite) -> Noise:
    """The noisy path of a site."""
    return noise_over(opened, open_budgets(opened))


def noise_over(opened: OpenSite, budgets: Budgets) -> Noise:
    """The noisy path of a site, paid from these budgets."""
    return Noise(
        rows=VaultColumns(opened.site.vault, memory_mb=opened.site.settings.limits.memory_mb),
        budgets=budgets,
        entropy=secrets.SystemRandom(),
        project_of=lambda name: _project(opened, name),
        tick_s=opened.site.settings["noise_tick_ms"] / 1000,
        wait=time.sleep,
    )


def open_budgets(opened: OpenSite) -> Ledger:
    """The ledger of a site: in its control database, or on the server that the setting `budgets` names. A control
    database that is older than its mark has forgotten what was spent, and nothing is spent from it: QG807."""
    check_anchored(opened)
    return open_ledger(opened, ComposedAccounting())


def _project(opened: OpenSite, name: str) -> str:
    found = (user for user in opened.accounts.list_users() if user.name.lower() == name.lower())
    return next((user.project or "" for user in found), "")
