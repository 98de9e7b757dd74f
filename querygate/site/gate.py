"""The root that joins what answering needs: the store, the log, accounts, a clock. There is no vault in this module."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from querygate.control import Accounts, Database, Log, new_query_id
from querygate.gateway.answer import Gate
from querygate.site.layout import Site
from querygate_adapters.duckdb_store import DuckDBStore


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class OpenSite:
    """A site with its published plane and its control plane open."""

    site: Site
    gate: Gate
    log: Log
    accounts: Accounts
    store: DuckDBStore


def open_gate(site: Site) -> OpenSite:
    """Open what serves researchers."""
    database = Database(site.control)
    log = Log(database, now)
    limits = site.settings.limits
    store = DuckDBStore(site.store, memory_mb=limits.memory_mb)
    gate = Gate(store, log, lambda: new_query_id(now, secrets.token_bytes), time.perf_counter, limits)
    return OpenSite(site, gate, log, Accounts(database, now, secrets.token_bytes), store)
