"""The custodian's builder of extracts: the raw rows of the version served, under the policy it was published with."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from querygate.core.errors import ExtractRefused, QueryGateError
from querygate.core.extract_spec import A_KIND, ExtractSpec
from querygate.core.json_body import from_json, to_json
from querygate.core.ports import Source
from querygate.core.progress import Progress, no_progress
from querygate.custody.assess.risk_body import RiskReport
from querygate.custody.assess.risk_files import make_files
from querygate.custody.audit.audit import AuditOptions
from querygate.custody.columns.population import Population, read_population, read_register
from querygate.custody.columns.source_joins import Beside
from querygate.custody.extract import Builder
from querygate.custody.extract.extract_scope import make_catalog, narrowed
from querygate.custody.policy import Policy
from querygate.custody.roots.log_audit import audit_site
from querygate.custody.roots.log_coalitions import ORGANISATION, PROJECT, views_of
from querygate.custody.roots.publish_version import kept, open_shelf
from querygate.custody.roots.risk_assessment import assess_extract
from querygate.custody.roots.scratch_vault import desk_rows
from querygate.custody.roots.vault_keys import vault_key
from querygate.site.open_gate import OpenSite
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.store.duckdb_native import DuckDBNative
from querygate_adapters.vault.report_rows import ReportRows

KEY_FILE = "extract.key"
"""In the vault: what synthetic records are drawn by. Whoever has it can draw the same ones again."""


class SiteBuilder:
    """Makes the extracts of a site's datasets."""

    def __init__(self, opened: OpenSite, progress: Progress = no_progress) -> None:
        self._opened, self._progress = opened, progress

    def preview(self, wish: ExtractSpec, *, requester: str) -> Mapping[str, Any]:
        name = hashlib.sha256(json.dumps(wish.to_dict(), sort_keys=True).encode()).hexdigest()
        return self._made(wish, f"preview {name}", requester)

    def build(self, wish: ExtractSpec, folder: Path, *, request_id: str, requester: str) -> Mapping[str, Any]:
        return self._made(wish, request_id, requester, folder)

    def risk_page(self, assessment: Mapping[str, Any]) -> bytes:
        return make_files(from_json(RiskReport, assessment))["report.html"]

    def _made(self, wish: ExtractSpec, request_id: str, requester: str, folder: Path | None = None) -> dict[str, Any]:
        """The figures of the extract, in the folder if there is one; and beside them, for those who decide alone, the
        risk report on its records and what the requester has learnt before."""
        with self._builder(wish) as builder:
            protected, body = builder.make(wish, request_id)
            if folder is not None:
                builder.write(protected, body, wish, folder)
            assessed = assess_extract(
                narrowed(builder.policy, wish),
                protected,
                builder.register or builder.population,
                builder.catalog,
                self._progress,
            )
        return {
            **body,
            "assessment": None if assessed is None else to_json(assessed),
            "learnt": self._learnt(wish.dataset, requester),
        }

    @contextmanager
    def _builder(self, wish: ExtractSpec) -> Iterator[Builder]:
        opened, memory_mb = self._opened, self._opened.site.settings["publish_memory_mb"]
        catalog = opened.store.current(wish.dataset).catalog
        _, vault = open_shelf(opened).files(wish.dataset, catalog.version)
        if not vault.exists():
            raise ExtractRefused(
                "QG605", "The vault does not have the raw rows of the served version.", "Publish the dataset again."
            )
        with closing(ReportRows(vault, memory_mb=memory_mb)) as rows:
            found = kept(rows.policy())
            if found is None:
                raise ExtractRefused(
                    "QG605", "The policy of the served version was not stored.", "Publish the dataset again."
                )
            policy, beside = found
            yield Builder(
                policy,
                catalog,
                rows,
                opened.gate.native,
                vault_key(opened.site.vault, KEY_FILE),
                time.perf_counter,
                _population(policy, beside),
                self._progress,
                _register(policy, beside, wish),
                time.gmtime().tm_year,
            )

    def _learnt(self, dataset: str, requester: str) -> dict[str, Any]:
        """What the requester, their project and their organisation were answered before, and what an audit says."""
        views = views_of(self._opened)
        named = [
            name for name, members in views.items() if requester in members and name.startswith((PROJECT, ORGANISATION))
        ]
        people = sorted({requester, *(member for name in named for member in views[name])})
        queries = [line for line in self._opened.log.queries(dataset=dataset) if line["user"] in people]
        answered = sum(1 for line in queries if line["outcome"] == "answered")
        findings = [
            finding
            for audited in (audit_site(self._opened, dataset, AuditOptions(), exact=False) if answered > 1 else ())
            for finding, _ in audited.found.findings
            if set(finding.users) <= set(people)
        ]
        return {
            "people": len(people),
            "asked": len(queries),
            "answered": answered,
            "findings": len(findings),
            "isolating": sum(1 for finding in findings if finding.severity != "notice"),
        }


def _register(policy: Policy, beside: Path, wish: ExtractSpec) -> Population | None:
    """The population that records are looked up in, where the kind that is asked for needs one."""
    return _population(policy, beside, read_register) if wish.kind in A_KIND else None


def _population(
    policy: Policy, beside: Path, read: Callable[[Policy, Beside], Population | None] = read_population
) -> Population | None:
    try:
        return read(policy, lambda specification: open_source(specification, beside))
    except QueryGateError as problem:
        raise ExtractRefused(
            "QG605", f"The population of the policy cannot be read: {problem.detail}", problem.remedy
        ) from None


def make_extract(
    policy: Policy,
    source: Source,
    wish: ExtractSpec,
    folder: Path,
    *,
    secret: bytes,
    beside: Path = Path(),
    memory_mb: int = 4096,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """One extract of a source, without a site: the raw rows are put into a vault that is gone afterwards."""
    with desk_rows(policy, source, beside, memory_mb=memory_mb, progress=progress) as rows:
        builder = Builder(
            policy,
            make_catalog(policy),
            rows,
            DuckDBNative(),
            secret,
            time.perf_counter,
            _population(policy, beside),
            progress,
            _register(policy, beside, wish),
            time.gmtime().tm_year,
        )
        return builder.build(wish, folder, request_id="anonymise")
