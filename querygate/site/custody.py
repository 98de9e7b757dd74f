"""The custodian's root: everything of the gate, and the vault. Never imported by a process that serves researchers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from querygate.control import stamp
from querygate.gateway.publish import Report, publish
from querygate.policy import Policy
from querygate.site.gate import OpenSite, now
from querygate_adapters.sources import open_source
from querygate_adapters.store_writer import PublisherShelf


def publish_to(
    opened: OpenSite,
    policy: Policy,
    source: str,
    *,
    user: str,
    beside: Path = Path(),
    progress: Callable[[str], None] = lambda text: None,
) -> Report:
    """Publish a source into a site and put it on record. `beside` is the folder of the policy file."""
    shelf = PublisherShelf(opened.site.store, opened.site.vault, memory_mb=opened.site.settings["publish_memory_mb"])
    report = publish(
        policy,
        open_source(source),
        shelf,
        now=lambda: stamp(now()),
        clock_s=time.perf_counter,
        open_beside=lambda specification: open_source(specification, beside),
        progress=progress,
    )
    body: dict[str, Any] = {
        "version": report.version,
        "rows": report.rows,
        "k": report.measured.k,
        "policy_hash": policy.hash,
    }
    body |= {"references": dict(report.references)} if report.references else {}
    opened.log.note("publish", user=user, dataset=policy.dataset, body=body)
    return report


def serve_version(opened: OpenSite, dataset: str, version: int, *, user: str) -> int | None:
    """Serve an earlier or later version; returns the one served before."""
    before = PublisherShelf(opened.site.store, opened.site.vault).serve_version(dataset, version)
    opened.log.note("rollback", user=user, dataset=dataset, body={"from": before, "to": version})
    return before
