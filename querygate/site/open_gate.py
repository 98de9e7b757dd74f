"""The root that joins what answering needs: the store, the log, accounts, a clock. There is no vault in this module."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from querygate.control import Accounts, Database, Grants, Log, new_query_id
from querygate.control.log.entry_chain import LogEvent
from querygate.core.errors import ConfigError
from querygate.core.files.file_digest import FileDigest
from querygate.core.limits.turn import Turn
from querygate.core.ports import Store
from querygate.gate.answer_cache import KeptAnswers
from querygate.gate.query_state import Gate
from querygate.site.control_database import open_control
from querygate.site.layout import Site
from querygate_adapters.store.duckdb_native import DuckDBNative
from querygate_adapters.store.duckdb_store import DuckDBStore


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class OpenSite:
    """A site with its published plane and its control plane open."""

    site: Site
    gate: Gate
    log: Log
    accounts: Accounts
    grants: Grants
    store: Store


def open_gate(site: Site) -> OpenSite:
    """Open what serves researchers."""
    database = open_control(site)
    log = Log(database, now)
    limits = site.settings.limits
    store = open_store(site, log)
    grants = Grants(log, secrets.token_bytes)
    gate = Gate(
        store,
        log,
        grants,
        shared_native(),
        lambda: new_query_id(now, secrets.token_bytes),
        time.perf_counter,
        limits,
        answers=KeptAnswers(site.settings["answer_cache_mb"] * 2**20),
        turn=Turn(time.monotonic),
    )
    return OpenSite(site, gate, log, Accounts(database, now, secrets.token_bytes), grants, store)


def with_records(opened: OpenSite, control: Path) -> OpenSite:
    """The site with the log and the people of another control database: of the gate that its data is asked through."""
    if control.resolve() == opened.log.database.path.resolve():
        return opened
    database = Database(control)
    return replace(opened, log=Log(database, now), accounts=Accounts(database, now, secrets.token_bytes))


def noted_publication(log: Log, dataset: str, version: int) -> LogEvent | None:
    """What the log has of the publication of a version; archives are read only if it is no longer in the log itself."""
    for archived in (False, True):
        for event in log.events_of("publish", dataset, archived=archived):
            if event["body"]["version"] == version:
                return event
    return None


def noted_file(log: Log, dataset: str, version: int) -> FileDigest | None:
    """What the log has of the file of a version."""
    noted = noted_publication(log, dataset, version)
    return None if noted is None else FileDigest.noted(noted["body"])


def shared_native() -> DuckDBNative:
    """One for the whole process: it holds nothing but what is public, and slow to open. A fork needs its own."""
    return _native(os.getpid())


@cache
def _native(process: int) -> DuckDBNative:
    return DuckDBNative()


def open_store(site: Site, log: Log) -> Store:
    """Where published versions are read from: the site's own folder, or what the setting `store` names."""
    location, memory_mb = site.settings["store"], site.settings.limits.memory_mb
    if not location:
        noted = partial(noted_file, log)
        return DuckDBStore(site.store, memory_mb=memory_mb, noted=noted)
    if location.startswith("spark:"):
        name, extra = "a folder for Spark, but PySpark", "spark"
    else:
        name, extra = "a PostgreSQL server, but the PostgreSQL driver", "postgres"
    try:
        if extra == "spark":
            from querygate_adapters.store.spark_store import SparkStore

            return SparkStore(location, memory_mb=memory_mb)
        from querygate_adapters.store.postgres_store import PostgresStore

        return PostgresStore(location, memory_mb=memory_mb)
    except ImportError:
        raise ConfigError(
            "QG805",
            f"The setting `store` names {name} is not installed.",
            f"Install it with: pip install 'querygate[{extra}]'.",
        ) from None
