"""The publisher's half of the store and the vault: staging, and a switch that survives a kill at any instant.

A version is written under a name that readers do not look at, flushed to disk, renamed, and only then pointed to. The
lock is the kernel's (flock), so it ends with its holder; the next publisher cleans up what a killed one left behind.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.core.files.full_disk import full_disk, is_full_disk
from querygate.core.files.private_files import for_owner
from querygate_adapters.store.catalog_json import NAME
from querygate_adapters.store.duckdb_store import WITHDRAWN, current_version, is_withdrawn, version_file, versions_in
from querygate_adapters.store.retired_versions import (
    NOTHING,
    STAGED,
    flush,
    mark,
    point_to,
    readable_in,
    retired_in,
    settle,
)
from querygate_adapters.store.vault_pointer import SUFFIX, pointed_in, pointer_file
from querygate_adapters.vault.known_versions import NotedVersions, ever_published, unretired
from querygate_adapters.vault.person_removal import Person, Without, holding, remove, rows_of
from querygate_adapters.vault.publication import DuckDBPublication, check_in_service, put_back
from querygate_adapters.vault.report_files import (
    figures_file,
    keep_figures,
    keep_report,
    remove_reports,
    report_folder,
    reports_in,
    sweep_reports,
)
from querygate_adapters.vault.spark import parquet_vault


class DuckDBVersionWriter:
    """Where publications are made: the store and the vault of a site. With `reinstate`, publishing or serving a version
    of a dataset that was withdrawn puts it back into service; otherwise that is refused. `switching` is called before a
    new version is served. `noted` returns what the log says about the versions of a dataset. `publication` makes one
    publication of a dataset: by default with the raw rows in a file of the vault.
    """

    def __init__(
        self,
        store: Path,
        vault: Path,
        *,
        memory_mb: int = 4096,
        reinstate: bool = False,
        switching: Callable[[], object] = lambda: None,
        noted: Callable[[str], NotedVersions] = lambda dataset: NotedVersions(),
        publication: Callable[..., DuckDBPublication] = DuckDBPublication,
    ) -> None:
        self._store, self._vault, self._memory_mb = store, vault, memory_mb
        self._reinstate, self._switching, self._noted = reinstate, switching, noted
        self._publication = publication

    @contextmanager
    def publishing(self, dataset: str) -> Iterator[DuckDBPublication]:
        """Hold the dataset's lock; clean up after an interrupted publication, before and after.

        Before, the rows it had read may stay: if the new publication would read the same, it continues from them.
        """
        store, vault = self._folders(dataset)
        reinstate = check_in_service(store, self._reinstate)
        _make_private(store, vault)
        with locked(store / "lock"):
            settle(store)
            _undo_cut_off(store, vault)
            noted = self._noted(dataset)
            version = max(ever_published(store, vault, noted), default=0) + 1
            _sweep(store, vault, resumable=version)
            try:
                yield self._publication(
                    store,
                    vault,
                    self._memory_mb,
                    version=version,
                    earlier=unretired(store, vault, noted),
                    reinstate=reinstate,
                    switching=self._switching,
                    noted=noted.files,
                )
            except Exception as error:
                if is_full_disk(error):
                    raise full_disk("No new version is served.") from None
                raise
            finally:
                _undo_cut_off(store, vault)
                _sweep(store, vault)

    def serve_version(self, dataset: str, version: int) -> int | None:
        """Point to an earlier (or later) version; returns the one served before."""
        folder, _ = self._folders(dataset)
        self._check_readable(dataset, version)
        with locked(folder / "lock"):
            settle(folder)
            self._check_readable(dataset, version)
            reinstate = check_in_service(folder, self._reinstate)
            before = current_version(folder)
            point_to(folder, version)
            if reinstate:
                put_back(folder)
        return before

    def is_withdrawn(self, dataset: str) -> bool:
        return is_withdrawn(self._folders(dataset)[0])

    def withdraw(self, dataset: str) -> None:
        """Serve no version from now on. One file is created, so a kill leaves the dataset either served or withdrawn;
        and it needs no lock, so that nobody waits for a long publication.
        """
        folder, _ = self._folders(dataset)
        with suppress(FileExistsError):
            os.close(os.open(folder / WITHDRAWN, os.O_CREAT | os.O_EXCL, 0o600))
        flush(folder)

    def retire(self, dataset: str, version: int) -> None:
        """Never serve a version again: its file is removed, or already lost. The served version cannot be retired."""
        folder, vault = self._folders(dataset)
        self._check_unretired(dataset, version)
        _make_private(folder)
        with locked(folder / "lock"):
            settle(folder)
            self._check_unretired(dataset, version)
            readable, served = readable_in(folder), current_version(folder)
            if served == version and readable:
                raise ConfigError(
                    "QG804",
                    f"Version {version} of {dataset} is being served.",
                    "Publish or serve another version first; `querygate publish --on-overlap retire` does both at "
                    f"once. To serve none, run `querygate withdraw {dataset}`.",
                )
            mark(folder, [version], by=served if served in readable else NOTHING)
            settle(folder)
            sweep_reports(vault, retired_in(folder))

    def served(self, dataset: str) -> int | None:
        return current_version(self._folders(dataset)[0])

    def readable(self, dataset: str) -> tuple[int, ...]:
        """Versions that are served or could be."""
        return readable_in(self._folders(dataset)[0])

    def unretired(self, dataset: str) -> tuple[int, ...]:
        """The same, and versions whose file the store has lost."""
        return unretired(*self._folders(dataset), self._noted(dataset))

    def holding(self, dataset: str, person: Person) -> dict[int, int]:
        """How many rows of a person each version has in the vault, including retired ones; versions without any are
        left out."""
        parquet_vault.check_none(dataset, self._folders(dataset)[1])
        return holding(self._vaults(dataset), person)

    def without(self, dataset: str, version: int, more: Sequence[str], person: Person) -> Without:
        """The rows of a version as a source, without one person; `more` are columns that its vault does not have."""
        return rows_of(self._vaults(dataset)[version], more, person)

    def remove(self, dataset: str, person: Person) -> int:
        """Remove a person's rows from the vault of every version; returns how many there were."""
        store, vault = self._folders(dataset)
        parquet_vault.check_none(dataset, vault)
        with locked(store / "lock"):
            settle(store)
            _undo_cut_off(store, vault)
            _sweep(store, vault)
            held = holding(self._vaults(dataset), person)
            for version in held:
                file = version_file(vault, version)
                remove(file, person, vault / f"{STAGED}{file.name}", self._memory_mb)
                remove_reports(vault, [version])  # its charts may show the person
        return sum(held.values())

    def keep_report(self, dataset: str, version: int, files: Mapping[str, bytes]) -> Path:
        """Store the report on a version beside its raw rows; returns its folder."""
        return keep_report(self._folders(dataset)[1], version, files)

    def keep_figures(self, dataset: str, version: int, text: str) -> None:
        """Store what publishing measured for a version beside its raw rows."""
        keep_figures(self._folders(dataset)[1], version, text)

    def figures(self, dataset: str, version: int) -> Path:
        """The file with what publishing measured for a version, if there is one."""
        return figures_file(self._folders(dataset)[1], version)

    def report(self, dataset: str, version: int) -> Path:
        """The folder of the report on a version, if there is one."""
        return report_folder(self._folders(dataset)[1], version)

    def reports(self, dataset: str) -> tuple[int, ...]:
        """Versions that have a report."""
        return reports_in(self._folders(dataset)[1])

    def files(self, dataset: str, version: int) -> tuple[Path, Path]:
        """The files of a version: the published cells, and the raw rows."""
        store, vault = self._folders(dataset)
        return version_file(store, version), version_file(vault, version)

    def _vaults(self, dataset: str) -> dict[int, Path]:
        _, vault = self._folders(dataset)
        return {version: version_file(vault, version) for version in versions_in(vault)}

    def retired(self, dataset: str) -> dict[int, int]:
        """Retired versions, each with the one that took its place."""
        return retired_in(self._folders(dataset)[0])

    def in_vault(self, dataset: str) -> tuple[int, ...]:
        """Versions whose raw rows are in the vault."""
        vault = self._folders(dataset)[1]
        return tuple(sorted({*versions_in(vault), *pointed_in(vault)}))

    def check_retired(self, dataset: str, versions: Sequence[int]) -> None:
        kept = sorted(set(versions) - set(self.retired(dataset)))
        if kept:
            raise ConfigError(
                "QG804",
                f"Version {kept[0]} of {dataset} is not retired: raw rows of a version that can be served stay.",
                f"Retire it first: `querygate retire {dataset} {kept[0]}`.",
            )

    def erase(self, dataset: str, versions: Sequence[int]) -> None:
        """Remove the raw rows of retired versions, and what was reported on them."""
        store, vault = self._folders(dataset)
        with locked(store / "lock"):
            settle(store)
            self.check_retired(dataset, versions)
            for version in versions:
                for left in vault.glob(f"{version_file(vault, version).name}*"):  # a journal may lie beside it
                    left.unlink()
            for version in set(versions).intersection(pointed_in(vault)):
                parquet_vault.remove(pointer_file(vault, version))
            remove_reports(vault, versions)
            flush(vault)

    def _check_readable(self, dataset: str, version: int) -> None:
        folder, _ = self._folders(dataset)
        readable = readable_in(folder)
        if version in readable:
            return
        self._check_unretired(dataset, version)
        raise ConfigError(
            "QG804",
            f"The store has lost the file of version {version} of {dataset}.",
            f"Restore {version_file(folder, version).name} from a backup. Versions that can be served: "
            f"{', '.join(map(str, readable)) or 'none'}.",
        )

    def _check_unretired(self, dataset: str, version: int) -> None:
        """By the store's own list: a version that only the log has as retired can be retired again."""
        store, vault = self._folders(dataset)
        retired = retired_in(store)
        if version in retired or version not in ever_published(store, vault, self._noted(dataset)):
            raise ConfigError(
                "QG804",
                f"Version {version} of {dataset} {'was retired' if version in retired else 'does not exist'}.",
                f"Versions that can be served: {', '.join(map(str, readable_in(store))) or 'none'}.",
            )

    def _folders(self, dataset: str) -> tuple[Path, Path]:
        """The folders of a dataset in store and vault; a name is never a path."""
        if not NAME.fullmatch(dataset):
            raise ConfigError(
                "QG806", "This is not a valid dataset name.", "Names consist of a-z, 0-9 and _ and begin with a letter."
            )
        return self._store / dataset, self._vault / dataset


@contextmanager
def locked(path: Path, taken: str = "Another process is publishing this dataset.") -> Iterator[None]:
    with open(path, "w", opener=for_owner) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError("QG804", taken, "Wait until it has finished.") from None
        yield


def _make_private(*folders: Path) -> None:
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)


def _undo_cut_off(store: Path, vault: Path) -> None:
    """Remove the raw rows of a version whose switch was interrupted before it was in place: nobody ever read it. All
    other raw rows stay, even if their store file is lost.
    """
    for version in versions_in(vault):
        file = version_file(vault, version)
        staged = vault / f"{STAGED}{file.name}"
        if staged.exists() and staged.samefile(file) and not version_file(store, version).exists():
            file.unlink()
            staged.unlink()
    for version in pointed_in(vault):
        pointer = pointer_file(vault, version)
        staged = vault / f"{STAGED}{pointer.name}"
        if staged.exists() and staged.samefile(pointer) and not version_file(store, version).exists():
            pointer.unlink()  # the folder goes with what is staged


def _sweep(store: Path, vault: Path, *, resumable: int | None = None) -> None:
    """Remove staged files, except for rows that the next publication may continue from."""
    staged = vault / f"{STAGED}{version_file(vault, resumable or 0).name}"
    kept = (staged, staged.with_name(f"{staged.name}.wal")) if resumable else ()
    parquet_vault.sweep(vault, is_over=resumable is None)
    for folder in (store, vault):
        for left in folder.glob(f"{STAGED}*"):
            if left not in kept and left.suffix != SUFFIX:
                shutil.rmtree(left) if left.is_dir() else left.unlink()
    sweep_reports(vault, retired_in(store))
