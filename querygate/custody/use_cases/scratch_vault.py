"""The rows of a source for one of the custodian's jobs, in a temporary vault."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from querygate.core.progress import Progress, no_progress
from querygate.core.publications.vault_ports import Source
from querygate.custody.columns.person_rows import count_persons
from querygate.custody.columns.source_columns import check_columns, open_joined, wanted_columns
from querygate.custody.policy import Policy
from querygate.custody.policy.source_rules import reading_of
from querygate.custody.publish.rare_values import put_together
from querygate.custody.publish.step_state import PublicationState, StepProgress
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.report_rows import ReportRows
from querygate_adapters.vault.staging_tables import DuckDBStagingTables


@contextmanager
def scratch_rows(
    policy: Policy, source: Source, base_dir: Path, *, memory_mb: int = 4096, progress: Progress = no_progress
) -> Iterator[ReportRows]:
    """The rows with the columns of the policy, typed, and joined to its tables; rare values are in the groups that it
    names. `base_dir` is its folder.
    """
    joins = open_joined(policy, lambda specification: open_source(specification, base_dir), source)
    check_columns(policy, source, joins)
    with tempfile.TemporaryDirectory() as staged:
        vault = Path(staged) / "rows.duckdb"
        progress("reading the source")
        staging = DuckDBStagingTables(vault, memory_mb=memory_mb)
        try:
            read = staging.load(source, wanted_columns(policy, exclude=policy.brought), joins, reading_of(policy))
            persons = count_persons(policy, read, staging.count_values) if policy.person else read
            put_together(PublicationState(policy, staging, StepProgress(), rows=read, persons=persons))
        finally:
            staging.close()
        with closing(ReportRows(vault, memory_mb=memory_mb)) as rows:
            yield rows
