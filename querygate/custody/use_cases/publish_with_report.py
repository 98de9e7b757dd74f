"""Publishes with a report on the version, and finds that report again.

The version is served before its report is begun. Whatever happens to the report, even a kill, the publication stands.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from querygate.core.errors import ConfigError, QueryGateError
from querygate.core.json_body import from_json
from querygate.core.limits.interrupts import is_interrupt
from querygate.core.progress import Progress, no_progress
from querygate.core.publications.vault_ports import Source
from querygate.custody.columns.population import read_population
from querygate.custody.policy import Policy
from querygate.custody.policy.toml_reader import RawTable
from querygate.custody.publish.publish import Report
from querygate.custody.publish.republication_guard import OnOverlap
from querygate.custody.publish_report.kept_report import KeptReport
from querygate.custody.publish_report.report import make_files
from querygate.custody.publish_report.report_case import ReportCase
from querygate.custody.use_cases.kept_policy import read_kept_policy, read_kept_tables
from querygate.custody.use_cases.publish_version import (
    NOTHING_MORE,
    open_version_writer,
    publish_to,
)
from querygate.custody.use_cases.trial_version import published_on_trial
from querygate.gate.incidents import make_problem
from querygate.site.open_gate import OpenSite
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.store.duckdb_store import DuckDBRelease
from querygate_adapters.vault.report_rows import ReportRows
from querygate_adapters.vault.written_store import WrittenStore

Kind = Literal["none", "json", "full"]

FILES = {"json": "report.json", "full": "report.html"}
"""The file to open, by kind of report."""


@dataclass(frozen=True, slots=True)
class ReportedPublication:
    """A publication, and the location of its report; or why there is none."""

    published: Report
    file: Path | None = None
    problem: QueryGateError | None = None


def publish_with_report(
    opened: OpenSite,
    policy: Policy,
    source: str | Source,
    *,
    user: str,
    kind: Kind | None = None,
    base_dir: Path = Path(),
    progress: Progress = no_progress,
    on_overlap: OnOverlap | None = None,
    reinstate: bool = False,
    tables: RawTable | None = None,
    noted: Mapping[str, str] = NOTHING_MORE,
    vault: str = "",
) -> ReportedPublication:
    """Publish, and then make the report. A failed report is mentioned, and changes nothing. `tables` are those of the
    policy file: with them the report says which edits of it would help. There is none of a version in Spark,
    and None asks for a full one elsewhere.
    """
    kind = kind or ("none" if vault else "full")
    before = None if kind == "none" else last_report(opened, policy.dataset)
    published = publish_to(
        opened,
        policy,
        source,
        user=user,
        base_dir=base_dir,
        progress=progress,
        on_overlap=on_overlap,
        reinstate=reinstate,
        noted=noted,
        tables=tables,
        vault=vault,
    )
    if kind == "none":
        return ReportedPublication(published)
    if vault:
        what = "A report compares answers with the raw rows, which are in Spark."
        return ReportedPublication(published, problem=ConfigError("QG804", what, "Add --report none."))
    try:
        progress("making the report")
        folder = report_on(
            opened,
            policy,
            published,
            full=kind == "full",
            base_dir=base_dir,
            before=before,
            tell=progress,
        )
    except (Exception, KeyboardInterrupt) as error:  # an engine's own may quote what it read
        again = f"Make it with `querygate report {policy.dataset} {published.version} --again`."
        if is_interrupt(error):
            return ReportedPublication(published, problem=ConfigError("QG804", "The report was interrupted.", again))
        if not isinstance(error, Exception):
            raise
        return ReportedPublication(published, problem=make_problem(error))
    return ReportedPublication(published, folder / FILES[kind])


def report_on(
    opened: OpenSite,
    policy: Policy,
    published: Report,
    *,
    full: bool = True,
    base_dir: Path = Path(),
    before: KeptReport | None = None,
    tell: Progress = no_progress,
) -> Path:
    """Make the report on a version and keep it with the raw rows; returns its folder."""
    writer = open_version_writer(opened)
    store, vault = writer.files(policy.dataset, published.version)
    with closing(ReportRows(vault, memory_mb=opened.site.settings["publish_memory_mb"])) as rows:
        case = ReportCase(
            policy=policy,
            published=published,
            written=WrittenStore(store),
            release=DuckDBRelease(store),
            rows=rows,
            native=opened.gate.native,
            clock_s=time.perf_counter,
            population=read_population(policy, lambda specification: open_source(specification, base_dir)),
            before=before,
            on_trial=partial(published_on_trial, base_dir=base_dir),
            tables=read_kept_tables(rows.policy()),
            folder=base_dir,
        )
        files = make_files(case, full=full, progress=tell)
    return writer.keep_report(policy.dataset, published.version, files)


def report_again(
    opened: OpenSite, dataset: str, version: int | None, *, full: bool = True, tell: Progress = no_progress
) -> Path:
    """Make the report on a version again: from its files, the figures measured while publishing, and the kept
    policy."""
    writer = open_version_writer(opened)
    wanted = writer.served(dataset) if version is None else version
    if wanted is None or wanted not in writer.readable(dataset):
        raise ConfigError(
            "QG804",
            f"The store has no version {wanted} of {dataset}." if wanted else f"No version of {dataset} is served.",
            f"Versions that a report can be made on: {', '.join(map(str, writer.readable(dataset))) or 'none'}.",
        )
    with closing(ReportRows(writer.files(dataset, wanted)[1])) as rows:
        kept = read_kept_policy(rows.policy())
    try:
        published = from_json(Report, json.loads(writer.figures(dataset, wanted).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        published = None
    if kept is None or published is None:
        raise ConfigError(
            "QG804",
            f"The vault does not have what was measured when version {wanted} of {dataset} was published.",
            "It was published by an earlier version of QueryGate, or somebody in it was deleted. Publish it again.",
        )
    policy, beside = kept
    earlier = [known for known in writer.reports(dataset) if known < wanted]
    before = _read_kept(writer.report(dataset, earlier[-1])) if earlier else None
    return report_on(opened, policy, published, full=full, base_dir=beside, before=before, tell=tell)


def find_report(opened: OpenSite, dataset: str, version: int | None) -> Path:
    """The folder of the report on a version, by default the served one; ConfigError if there is none."""
    writer = open_version_writer(opened)
    wanted = writer.served(dataset) if version is None else version
    known = writer.reports(dataset)
    if wanted is None or wanted not in known:
        listed = ", ".join(map(str, known)) or "none"
        raise ConfigError(
            "QG804",
            f"There is no report on {'any version' if wanted is None else f'version {wanted}'} of {dataset}.",
            f"Versions with a report: {listed}. `querygate publish` makes it, and `querygate report --again` makes "
            "it once more. It is removed when its version is retired, or when somebody in it is deleted.",
        )
    return writer.report(dataset, wanted)


def read_report(folder: Path) -> KeptReport:
    body: KeptReport = json.loads((folder / FILES["json"]).read_text(encoding="utf-8"))
    return body


def last_report(opened: OpenSite, dataset: str) -> KeptReport | None:
    """The report on the newest version that has one; None if none can be read."""
    writer = open_version_writer(opened)
    known = writer.reports(dataset)
    return _read_kept(writer.report(dataset, known[-1])) if known else None


def _read_kept(folder: Path) -> KeptReport | None:
    """An earlier report to compare with."""
    try:
        return read_report(folder)
    except (OSError, ValueError):
        return None
