"""Takes a dataset out of service, and erases raw rows that no served version needs; both are logged.

The log has an entry before and one after. A process that is killed between them leaves the dataset served or withdrawn,
and asking again finishes it.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from querygate.control.sqlite_extract_requests import SqliteRequests
from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.limits.interrupts import uninterrupted
from querygate.core.types import Catalog
from querygate.custody.use_cases.publish_version import open_version_writer
from querygate.gate.query_state import NOISY
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import DuckDBRelease, has_damaged_pointer, version_file
from querygate_adapters.vault.version_writer import DuckDBVersionWriter

CAN_LEAVE = ("approved", "built", "released")
"""States of requests whose extract can be fetched, or would be once somebody acts."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A dataset that is no longer served, and what remains of it."""

    dataset: str
    version: int | None  # served until now; None if the pointer was damaged
    versions: tuple[int, ...]  # that are in the store
    in_vault: tuple[int, ...]  # whose raw rows are in the vault
    extracts: tuple[str, ...]  # requests that a custodian may want to revoke
    answers: int  # in the log
    noisy_answers: int  # of these, paid for from a budget


def withdraw_dataset(opened: OpenSite, dataset: str, *, user: str) -> Withdrawal:
    """Stop serving any version of a dataset."""
    writer = open_version_writer(opened)
    served = writer.served(dataset)
    if served is None and not has_damaged_pointer(opened.site.store / dataset):
        why = "was withdrawn already" if writer.is_withdrawn(dataset) else "is not served"
        raise ConfigError(
            "QG804", f"The dataset {dataset} {why}.", "List the datasets that are served with `querygate datasets`."
        )
    with uninterrupted():
        opened.log.note("dataset.withdraw", user=user, dataset=dataset, body={"version": served})
        writer.withdraw(dataset)
        opened.log.note("dataset.withdrawn", user=user, dataset=dataset, body={"version": served})
    return _what_remains(opened, writer, dataset, served)


def _what_remains(opened: OpenSite, writer: DuckDBVersionWriter, dataset: str, served: int | None) -> Withdrawal:
    modes = [line["mode"] for line in opened.log.queries(dataset=dataset) if line["outcome"] == "answered"]
    requests = SqliteRequests(opened.log.database, opened.log, secrets.token_bytes).listed()
    return Withdrawal(
        dataset,
        served,
        writer.readable(dataset),
        writer.in_vault(dataset),
        tuple(one.id for one in requests if one.spec.dataset == dataset and one.state in CAN_LEAVE),
        len(modes),
        modes.count(NOISY),
    )


def last_catalog(opened: OpenSite, dataset: str) -> Catalog:
    """The catalog of the served version or, after a withdrawal, of the latest in the store, since audits go on."""
    try:
        return opened.store.current(dataset).catalog
    except NotPermitted as refused:
        versions = open_version_writer(opened).readable(dataset) if refused.code == "QG312" else ()
        if not versions:
            raise
    return DuckDBRelease(version_file(opened.site.store / dataset, versions[-1])).catalog


def erasable(opened: OpenSite, dataset: str) -> tuple[int, ...]:
    """Retired versions whose raw rows are still in the vault."""
    writer = open_version_writer(opened)
    return tuple(version for version in writer.in_vault(dataset) if version in writer.retired(dataset))


def check_erasable(opened: OpenSite, dataset: str, versions: Sequence[int]) -> None:
    """ConfigError if the vault does not have raw rows of one of these, or if it is not retired."""
    writer = open_version_writer(opened)
    missing = sorted(set(versions) - set(writer.in_vault(dataset)))
    if missing:
        raise ConfigError(
            "QG804",
            f"The vault has no raw rows of version {missing[0]} of {dataset}.",
            f"Versions whose raw rows can be erased: {', '.join(map(str, erasable(opened, dataset))) or 'none'}.",
        )
    writer.check_retired(dataset, versions)


def erase_rows(opened: OpenSite, dataset: str, versions: Sequence[int], *, user: str) -> None:
    """Remove the raw rows of retired versions from the vault, with the reports on them."""
    check_erasable(opened, dataset, versions)
    writer, body = open_version_writer(opened), {"versions": sorted(versions)}
    with uninterrupted():
        opened.log.note("vault.erase", user=user, dataset=dataset, body=body)
        writer.erase(dataset, versions)
        opened.log.note("vault.erased", user=user, dataset=dataset, body=body)
