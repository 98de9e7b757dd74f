"""Copies published versions to another folder: a gate's store, or a disk that is carried there.

A version's file gets its name when it is complete and has the digest that was logged when it was published. The pointer
follows last. So a gate that reads the folder meanwhile sees the version before, or the next one whole. The digest is
kept beside the file, since a gate without the custodian's log has no other: a file that was damaged, cut off or changed
by itself is not served there. Whoever can write both is found by the next copy, and by comparing with the log.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.core.files.file_digest import FileDigest, beside
from querygate.core.progress import Progress, no_progress
from querygate.site.extract_requests.extract_package import sync
from querygate.site.open_gate import OpenSite, noted_file
from querygate.site.settings import FILE
from querygate_adapters.store.duckdb_store import WITHDRAWN, current_version, version_file, versions_in

POINTER = "current"


@dataclass(frozen=True, slots=True)
class SyncedDataset:
    """What was done for one dataset: versions copied and removed, and the one now served there."""

    dataset: str
    copied: int
    removed: int
    served: int | None


def sync_versions(
    opened: OpenSite, target: Path, *, user: str, progress: Progress = no_progress
) -> list[SyncedDataset]:
    """Give the folder the versions that this site has, and serve there those that it serves. What was done is
    logged."""
    if target.resolve() == opened.site.store.resolve():
        raise ConfigError("QG804", "The folder is this site's own store.", "Name the store of a gate with --to.")
    if (target / FILE).is_file():
        raise ConfigError("QG804", "The folder is a site, not the store of one.", f"Name {target / 'store'} with --to.")
    done = []
    for folder in sorted(path for path in opened.site.store.iterdir() if versions_in(path) or _is_withdrawn(path)):
        progress(f"copying {folder.name}")
        done.append(_sync_dataset(opened, folder, target / folder.name))
    body = {"datasets": {one.dataset: one.served for one in done}}
    opened.log.note("store.sync", user=user, body=body)
    return done


def _sync_dataset(opened: OpenSite, here: Path, there: Path) -> SyncedDataset:
    try:
        there.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise ConfigError(
            "QG804",
            f"The folder cannot be made: {str(problem.strerror).lower()}.",
            "Check the folder that --to names, and who may write there.",
        ) from None
    for left in there.glob(".copied-*"):
        left.unlink()
    copied = 0
    for version in versions_in(here):
        copied += _copy_version(opened, here.name, version, version_file(here, version), version_file(there, version))
    for name in (POINTER, WITHDRAWN):  # the pointer first: a withdrawal starts or ends when all else is there
        if (here / name).exists():
            _copy(here / name, there / name)
        else:
            (there / name).unlink(missing_ok=True)
    gone = set(versions_in(there)) - set(versions_in(here))
    for version in gone:
        version_file(there, version).unlink()
        beside(version_file(there, version)).unlink(missing_ok=True)
    sync(there)
    return SyncedDataset(here.name, copied, len(gone), current_version(there))


def _copy_version(opened: OpenSite, dataset: str, version: int, here: Path, there: Path) -> int:
    """1 if the file had to be copied. A file that is already there is compared, byte for byte."""
    noted = noted_file(opened.log, dataset, version) or FileDigest.of(here)
    if there.exists() and noted.is_of(there):
        _tell(noted, there)
        return 0
    staged = _stage(here, there)
    if not noted.is_of(staged):
        staged.unlink()
        raise ConfigError(
            "QG804",
            f"Version {version} of {dataset} is not the file that was verified when it was published.",
            "Find out with `querygate doctor`. Nothing of it was copied.",
        )
    _tell(noted, there)
    staged.replace(there)
    return 1


def _tell(noted: FileDigest, there: Path) -> None:
    """Keep the digest beside a file, before the file has its name."""
    if FileDigest.told_beside(there) == noted:
        return
    staged = there.with_name(f".copied-{beside(there).name}")
    staged.write_text(noted.text(there.name), encoding="utf-8")
    staged.chmod(0o600)
    sync(staged)
    staged.replace(beside(there))


def _copy(here: Path, there: Path) -> None:
    _stage(here, there).replace(there)


def _stage(here: Path, there: Path) -> Path:
    staged = there.with_name(f".copied-{there.name}")
    shutil.copyfile(here, staged)
    staged.chmod(0o600)
    sync(staged)
    return staged


def _is_withdrawn(folder: Path) -> bool:
    return (folder / WITHDRAWN).exists()
