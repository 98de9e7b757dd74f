"""All versions ever published, even if their files are gone: the store, the vault and the log each know some.

A file can be lost. The number of its version stays taken, and people know its answers, so a new version is compared
with it until somebody retires it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from querygate.core.files.file_digest import FileDigest
from querygate_adapters.store.duckdb_store import current_version, versions_in
from querygate_adapters.store.retired_versions import retired_in
from querygate_adapters.store.vault_pointer import pointed_in


@dataclass(frozen=True, slots=True)
class NotedVersions:
    """What the log says about the versions of a dataset."""

    published: frozenset[int] = frozenset()
    retired: frozenset[int] = frozenset()
    files: Mapping[int, FileDigest] = field(default_factory=dict)  # of published versions, what was verified


def ever_published(store: Path, vault: Path, noted: NotedVersions) -> frozenset[int]:
    """Every version that got a number."""
    found = {*versions_in(store), *versions_in(vault), *pointed_in(vault), *retired_in(store), *noted.published}
    served = current_version(store)
    return frozenset(found if served is None else found | {served})


def unretired(store: Path, vault: Path, noted: NotedVersions) -> tuple[int, ...]:
    """Versions that a new one is compared with, in rising order: those that can be read, and those that are lost."""
    retired = retired_in(store).keys() | (noted.retired - set(versions_in(store)))
    return tuple(sorted(ever_published(store, vault, noted) - retired))
