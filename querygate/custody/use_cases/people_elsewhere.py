"""People of a dataset who are also in other datasets of the site: each dataset keeps k people together, but nothing
compares datasets with each other, as versions of one dataset are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from querygate.core.count_text import counted
from querygate.custody.policy import Policy
from querygate.custody.use_cases.kept_policy import read_kept_policy
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import current_version, version_file
from querygate_adapters.store.vault_pointer import pointed_in
from querygate_adapters.vault.report_rows import ReportRows
from querygate_adapters.vault.shared_people import count_shared


def people_elsewhere(opened: OpenSite, policy: Policy, version: int) -> Iterator[str]:
    """A warning for each other served dataset with some of the same people, by their identifiers."""
    if not policy.person:
        return
    vaults = opened.site.vault
    own = version_file(vaults / policy.dataset, version)
    if version in pointed_in(own.parent):
        yield (
            "The raw rows are in Spark, so nobody has looked for people of this dataset in others. Both keep at least "
            "k people together, but a figure of one minus a figure of the other can be about a single person."
        )
    for folder in sorted(path for path in vaults.iterdir() if path.is_dir() and path.name != policy.dataset):
        served = current_version(opened.site.store / folder.name)
        there = version_file(folder, served) if served else None
        if there is None or not there.is_file() or not own.is_file():
            continue
        if same := _same_people(own, policy.person, there):
            yield (
                f"{counted(same, 'person identifier')} of this dataset can also be found in {folder.name}. "
                "If they mean the same people: both keep at least k people together, but a figure of one minus a "
                "figure of the other can be about a single person. Then publish both under one name, so that they are "
                f"compared, or take one out of service: querygate withdraw {folder.name}"
            )


def _same_people(own: Path, person: str, there: Path) -> int:
    """The number of identifiers that both versions have; 0 if the other does not say what identifies people."""
    with closing(ReportRows(there)) as rows:
        kept = read_kept_policy(rows.policy())
    return count_shared((own, person), (there, kept[0].person)) if kept and kept[0].person else 0
