"""The root that joins what noisy answers need: the raw rows, the ledger, chance from the operating system."""

from __future__ import annotations

import secrets
import time

from querygate.control.sqlite_budgets import SqliteBudgets
from querygate.core.budget import Budgets
from querygate.core.errors import ConfigError
from querygate.custody.noise.noisy_answer import Noise
from querygate.methods.dp import ComposedAccounting
from querygate.site.open_gate import OpenSite, now
from querygate_adapters.vault.row_columns import VaultColumns


def open_noise(opened: OpenSite) -> Noise:
    """The noisy path of a site."""
    return Noise(
        rows=VaultColumns(opened.site.vault, memory_mb=opened.site.settings.limits.memory_mb),
        budgets=open_budgets(opened),
        entropy=secrets.SystemRandom(),
        project_of=lambda name: _project(opened, name),
        tick_s=opened.site.settings["noise_tick_ms"] / 1000,
        wait=time.sleep,
    )


def open_budgets(opened: OpenSite) -> Budgets:
    """The ledger of a site: in its control database, or on the server that the setting `budgets` names."""
    location = opened.site.settings["budgets"]
    if not location:
        return SqliteBudgets(opened.log.database, now, ComposedAccounting())
    try:
        from querygate_adapters.store.postgres_budgets import PostgresBudgets
    except ImportError:
        raise ConfigError(
            "QG805",
            "The setting `budgets` names a PostgreSQL server, but the PostgreSQL driver is not installed.",
            "Install it with: pip install 'querygate[postgres]'.",
        ) from None
    return PostgresBudgets(location, ComposedAccounting())


def _project(opened: OpenSite, name: str) -> str:
    found = (user for user in opened.accounts.list_users() if user.name.lower() == name.lower())
    return next((user.project or "" for user in found), "")
