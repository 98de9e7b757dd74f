"""The custodian's root for comparing views: publishes into a folder that is gone afterwards, and asks."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from querygate.core.progress import Progress, no_progress
from querygate.core.vault_ports import Source
from querygate.custody.policy import Policy
from querygate.custody.roots.publish_version import open_version_writer, publish_to
from querygate.custody.workload import UsableShare, public_cuts, standing_workload, usable_shares
from querygate.custody.workload.asked_figures import asked_figures, ranges_of
from querygate.custody.workload.view_candidates import view_candidates
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.store.duckdb_store import DuckDBRelease
from querygate_adapters.vault.report_rows import ReportRows

QUESTIONS = 300
"""Of the standing workload, so many are asked of each candidate: all of them are asked the same."""


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One way to publish, and how much of the standing workload is usable then."""

    views: str
    shares: tuple[UsableShare, ...]


def preview(
    policy: Policy,
    source: str | Source,
    *,
    base_dir: Path = Path(),
    questions: int = QUESTIONS,
    progress: Progress = no_progress,
) -> tuple[PreviewRow, ...]:
    """The policy's own views, classes in their place, and other views. Nothing is kept."""
    rows = []
    opened = open_source(source) if isinstance(source, str) else source
    for candidate in view_candidates(policy):
        progress(f"trying {candidate.name}")
        shares = measure_published(candidate.policy, opened, base_dir=base_dir, questions=questions)
        rows.append(PreviewRow(candidate.name, shares))
    return tuple(rows)


def measure_published(
    policy: Policy, source: Source, *, base_dir: Path = Path(), questions: int = QUESTIONS
) -> tuple[UsableShare, ...]:
    """Publish for a moment, ask the standing workload, and add up what is usable."""
    with tempfile.TemporaryDirectory() as folder:
        opened = open_gate(init_site(Path(folder) / "site"))
        version = publish_to(opened, policy, source, user="preview", base_dir=base_dir).version
        store, vault = open_version_writer(opened).files(policy.dataset, version)
        release = DuckDBRelease(store)
        asked = standing_workload(release.catalog, public_cuts(policy), most=questions)
        answer = partial(ranges_of, release=release, native=opened.gate.native)
        with closing(ReportRows(vault)) as rows:
            return usable_shares(asked_figures(asked, policy.dataset, answer, rows))
