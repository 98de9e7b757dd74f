"""The custodian's root for trial versions: made in a temporary folder, queried, and served to nobody."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from querygate.control import stamp_now
from querygate.core.ports import Native, PublishedVersion
from querygate.core.publications.vault_ports import Source
from querygate.custody.policy import Policy
from querygate.custody.policy.drafts.column_proposal import named_from
from querygate.custody.publish.publish import publish_on_trial
from querygate.custody.publish.view_risk import UnitRisk
from querygate.custody.verify.verify import Written
from querygate.custody.workload import Figure, Question, public_cuts, standing_workload
from querygate.custody.workload.preview_figures import RareValues
from querygate.custody.workload.trial_answers import asked_figures, ranges_of
from querygate.site.open_gate import now, shared_native
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.store.held_release import HeldRelease
from querygate_adapters.vault.publication import DuckDBPublication
from querygate_adapters.vault.report_rows import ReportRows
from querygate_adapters.vault.written_store import WrittenStore

MEMORY_MB = 4096


@dataclass(frozen=True, slots=True)
class TrialVersion:
    """A version that is not served, with its raw rows."""

    policy: Policy
    release: PublishedVersion
    native: Native
    rows: ReportRows
    written: Written
    risk: tuple[UnitRisk, ...]

    def questions(self, number: int) -> tuple[Question, ...]:
        return standing_workload(self.release.catalog, public_cuts(self.policy), most=number)

    def figures(self, questions: Iterable[Question]) -> list[Figure]:
        answer = partial(ranges_of, release=self.release, native=self.native)
        return list(asked_figures(questions, self.policy.dataset, answer, self.rows))

    def rare(self) -> tuple[RareValues, ...]:
        """Those of a frame are published in total, and hidden among nobody."""
        framed = {name for name, _ in self.policy.views.frame} if self.policy.views else set()
        least = named_from(self.rows.rows, self.policy.k)
        few = {
            column.name: sum(n for n in self.rows.counts(column.name).values() if n < least)
            for column in self.policy.named("quasi-identifier")
            if column.type == "category" and column.hierarchy is None and column.name not in framed
        }
        return tuple(RareValues(name, records) for name, records in few.items() if records)


@contextmanager
def published_on_trial(
    policy: Policy, source: Source, base_dir: Path = Path(), *, measures_risk: bool = False
) -> Iterator[TrialVersion]:
    """What would be published from the source, for as long as it is queried."""
    with tempfile.TemporaryDirectory() as folder:
        parts = Path(folder) / "store", Path(folder) / "vault"
        for part in parts:
            part.mkdir(mode=0o700)
        publication = DuckDBPublication(
            *parts, MEMORY_MB, version=1, earlier=(), reinstate=False, switching=lambda: None, noted={}
        )
        risk = publish_on_trial(
            policy,
            source,
            publication,
            now=partial(stamp_now, now),
            open_beside=lambda specification: open_source(specification, base_dir),
            measures_risk=measures_risk,
        )
        store, vault = publication.staged
        with closing(ReportRows(vault)) as rows:
            yield TrialVersion(policy, HeldRelease(store), shared_native(), rows, WrittenStore(store), risk)
