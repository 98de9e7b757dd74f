"""The custodian's root: the whole gate, and the vault. Never imported by a process that serves researchers."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from querygate.control import SqliteRequests, stamp_now
from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.extracts.extracts_of_views import is_synthetic
from querygate.core.files.file_digest import FileDigest
from querygate.core.json_body import to_json
from querygate.core.limits.interrupts import interrupts_say, uninterrupted
from querygate.core.progress import Progress, no_progress
from querygate.core.publications.vault_ports import Source
from querygate.custody.policy import Policy
from querygate.custody.policy.toml_reader import RawTable
from querygate.custody.publish.publish import Report, publish
from querygate.custody.publish.republication_guard import OnOverlap, VersionHandling
from querygate.custody.publish.spark_policies import check_spark_policy
from querygate.custody.use_cases.kept_policy import write_kept_policy
from querygate.custody.use_cases.people_elsewhere import people_elsewhere
from querygate.site.audit_rule import check_differencing
from querygate.site.open_gate import OpenSite, now
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.known_versions import NotedVersions
from querygate_adapters.vault.publication import DuckDBPublication
from querygate_adapters.vault.spark.parquet_vault import vault_folder
from querygate_adapters.vault.version_writer import DuckDBVersionWriter

NOTHING_MORE: Mapping[str, str] = MappingProxyType({})


def open_version_writer(
    opened: OpenSite,
    *,
    reinstate: bool = False,
    switching: Callable[[], object] = lambda: None,
    publication: Callable[..., DuckDBPublication] = DuckDBPublication,
) -> DuckDBVersionWriter:
    site = opened.site
    return DuckDBVersionWriter(
        site.store,
        site.vault,
        memory_mb=site.settings["publish_memory_mb"],
        reinstate=reinstate,
        switching=switching,
        noted=partial(_noted_versions, opened),
        publication=publication,
    )


def _publication_in(vault: str, handling: VersionHandling) -> Callable[..., DuckDBPublication]:
    """How a publication is made whose raw rows go to this vault; empty: to the site's own."""
    if not vault:
        return DuckDBPublication
    root = vault_folder(vault)
    try:
        from querygate_adapters.vault.spark.spark_publication import SparkPublication
    except ImportError:
        raise ConfigError(
            "QG804", "A vault in Spark needs PySpark.", "Install it: pip install 'querygate[spark]'."
        ) from None
    return partial(SparkPublication, root=root, retires=handling.on_overlap == "retire")


def _noted_versions(opened: OpenSite, dataset: str) -> NotedVersions:
    published, retired = (
        frozenset(event["body"]["version"] for event in opened.log.events_of(kind, dataset))
        for kind in ("publish", "version.retire")
    )
    told = {e["body"]["version"]: FileDigest.noted(e["body"]) for e in opened.log.events_of("publish", dataset)}
    return NotedVersions(published, retired, {version: file for version, file in told.items() if file is not None})


def publish_to(
    opened: OpenSite,
    policy: Policy,
    source: str | Source,
    *,
    user: str,
    base_dir: Path = Path(),
    progress: Progress = no_progress,
    on_overlap: OnOverlap | None = None,
    handling: VersionHandling | None = None,
    reinstate: bool = False,
    tables: RawTable | None = None,
    noted: Mapping[str, str] = NOTHING_MORE,
    vault: str = "",
) -> Report:
    """Publish a source into a site and log it. `base_dir` is the folder of the policy file, and `tables` are what it
    says.

    `on_overlap` stands in for that of the policy, `handling` for all that it says about earlier versions. Only with
    `reinstate` is a dataset served again that was withdrawn. `noted` is put on record with it. With a `vault` such as
    spark:/data/querygate the source is published inside Spark, and its raw rows stay there.
    """
    check_differencing(policy.audit.on_differencing, opened.site.settings)
    handling = handling or VersionHandling.by(policy, on_overlap)
    publication = _publication_in(vault, handling)
    if vault:
        check_spark_policy(policy)
    with ExitStack() as to_the_record:  # from the switch on, Ctrl-C waits until the version is logged
        writer = open_version_writer(
            opened,
            reinstate=reinstate,
            switching=lambda: to_the_record.enter_context(uninterrupted()),
            publication=publication,
        )
        was_withdrawn, before = writer.is_withdrawn(policy.dataset), writer.served(policy.dataset)
        stands = f" Version {before} is still served." if before else ""
        with interrupts_say(f"Interrupted: nothing was published.{stands}"):
            report = publish(
                policy,
                open_source(source) if isinstance(source, str) else source,
                writer,
                now=partial(stamp_now, now),
                clock_s=time.perf_counter,
                open_beside=lambda specification: open_source(specification, base_dir),
                progress=progress,
                handling=handling,
                kept=write_kept_policy(policy, base_dir, tables),
            )
        more_warnings = (*_extracts_beside(opened, policy), *people_elsewhere(opened, policy, report.version))
        report = replace(report, warnings=(*report.warnings, *more_warnings))
        more = {"reinstated": True} if was_withdrawn else {}
        _note_published(opened, policy, report, user, {**more, **noted})
        with suppress(OSError):  # a full disk costs the report on a served version, and nothing else
            writer.keep_figures(policy.dataset, report.version, json.dumps(to_json(report)))
    return report


def _extracts_beside(opened: OpenSite, policy: Policy) -> Iterator[str]:
    """A warning about records that left before the dataset was published as views."""
    requests = SqliteRequests(opened.log.database, opened.log, secrets.token_bytes).listed()
    out = [one for one in requests if one.spec.dataset == policy.dataset and one.expires and not is_synthetic(one.spec)]
    if policy.views is None or not out:
        return
    there = ", ".join(one.id for one in out if one.state == "released")
    yield (
        f"{counted(len(out), 'extract was', 'extracts were')} released with records of {policy.dataset}. Anyone who "
        "combines one with the views may work out complete records of single people."
        + (f" Revoke what was not fetched yet: {there}." if there else "")
    )


def _note_published(opened: OpenSite, policy: Policy, report: Report, user: str, more: dict[str, Any]) -> None:
    body: dict[str, Any] = {
        "version": report.version,
        "rows": report.rows,
        "k": report.measured.k,
        "policy_hash": policy.hash,
        **more,
    }
    body |= {"file": to_json(report.file)} if report.file else {}
    body |= {"views": {"k": policy.k}} if policy.views is not None else {}
    body |= {"references": dict(report.references)} if report.references else {}
    if report.versions is not None:
        body["versions"] = {
            "laid_over": sorted(report.versions.by_version),
            "smallest": report.versions.together.smallest,
            "sticky": report.versions.sticky,
            "retired": list(report.versions.retired),
        }
    opened.log.note("publish", user=user, dataset=policy.dataset, body=body)
    for version in report.versions.retired if report.versions else ():
        _note_retired(opened, policy.dataset, version, report.version, user)


def serve_version(opened: OpenSite, dataset: str, version: int, *, user: str, reinstate: bool = False) -> int | None:
    """Serve an earlier or later version; returns the one served before."""
    writer = open_version_writer(opened, reinstate=reinstate)
    was_withdrawn = writer.is_withdrawn(dataset)
    with uninterrupted():
        before = writer.serve_version(dataset, version)
        body: dict[str, Any] = {"from": before, "to": version}
        body |= {"reinstated": True} if was_withdrawn else {}
        opened.log.note("rollback", user=user, dataset=dataset, body=body)
    return before


def retire_version(opened: OpenSite, dataset: str, version: int, *, user: str) -> None:
    """Never serve a version again, and log that."""
    writer = open_version_writer(opened)
    with uninterrupted():
        writer.retire(dataset, version)
        _note_retired(opened, dataset, version, writer.served(dataset), user)


def _note_retired(opened: OpenSite, dataset: str, version: int, by: int | None, user: str) -> None:
    opened.log.note("version.retire", user=user, dataset=dataset, body={"version": version, "by": by})
