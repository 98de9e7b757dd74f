"""The publisher's half of the store and the vault: staging, and a switch that a kill at any instant leaves whole.

A version is written under a name that readers do not look at, flushed to disk, renamed, and only then pointed to.
The lock is the kernel's (flock), so it dies with its holder; what a killed publisher left behind is swept by the
next one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import cached_property, partial
from itertools import count
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.block import CodeSets
from querygate.core.errors import ConfigError
from querygate.core.files.file_digest import FileDigest
from querygate.core.files.full_disk import full_disk, is_full_disk
from querygate.core.files.private_files import for_owner
from querygate.core.types import Array, Catalog, Ints
from querygate.core.version_overlap import OverlapRule
from querygate_adapters.store.catalog_json import NAME, catalog_from_json, catalog_to_json
from querygate_adapters.store.class_moments import TABLE
from querygate_adapters.store.code_sets import write_code_sets
from querygate_adapters.store.duckdb_lockdown import connect
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
from querygate_adapters.vault.distinct_rows import distinct_rows
from querygate_adapters.vault.kept_version import KeptVersion
from querygate_adapters.vault.known_versions import NotedVersions, ever_published, unretired
from querygate_adapters.vault.person_history import DuckDBVersionOverlap, Vault, attach, check_there, read_past
from querygate_adapters.vault.person_removal import Person, Without, holding, remove, rows_of
from querygate_adapters.vault.report_files import (
    figures_file,
    keep_figures,
    keep_report,
    remove_reports,
    report_folder,
    reports_in,
    sweep_reports,
)
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from querygate_adapters.vault.store_strays import strays
from querygate_adapters.vault.written_margins import WrittenMargins


class DuckDBPublication:
    """One publication of one dataset, under the dataset's lock."""

    def __init__(
        self,
        store: Path,
        vault: Path,
        memory_mb: int,
        *,
        version: int,
        earlier: Sequence[int],
        reinstate: bool,
        switching: Callable[[], object],
    ) -> None:
        self._store, self._vault, self._memory_mb = store, vault, memory_mb
        self._reinstate, self._switching = reinstate, switching
        self.version, self._earlier = version, earlier
        self._staging: DuckDBStagingTables | None = None
        self._numbers = count()
        self._staged_store = store / f"{STAGED}{version_file(store, self.version).name}"
        self._staged_vault = vault / f"{STAGED}{version_file(vault, self.version).name}"

    @property
    def staged(self) -> tuple[Path, Path]:
        """The files in the making: what is told, and the raw rows."""
        return self._staged_store, self._staged_vault

    def staging(self) -> DuckDBStagingTables:
        """The raw rows of the new version, in the vault."""
        beside = (self._store, self._vault)
        self._staging = DuckDBStagingTables(self._staged_vault, memory_mb=self._memory_mb, beside=beside)
        return self._staging

    def write(
        self, catalog: Catalog, tables: Mapping[str, pa.Table], codes: Mapping[int, CodeSets] | None = None
    ) -> WrittenStore:
        """Write the published tables, and what the sets of each code list mean, by column index; returns the staged
        file for the verifier to read back.
        """
        tables = {**tables, **write_code_sets(catalog, codes or {})}
        with self._opened(self._staged_store, read_only=False) as database:
            database.begin()
            for name, table in tables.items():
                database.register("given", table)
                database.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
                database.unregister("given")
            database.execute("CREATE TABLE catalog (body VARCHAR)")
            database.execute("INSERT INTO catalog VALUES (?)", [catalog_to_json(catalog)])
            database.commit()
            database.execute("CHECKPOINT")
        return WrittenStore(self._staged_store, self._opened)

    def earlier(self) -> dict[int, Catalog | None]:
        """What every version that is not retired says of itself; None where its file is lost."""
        return self._catalogs

    @cached_property
    def _catalogs(self) -> dict[int, Catalog | None]:
        files = {version: version_file(self._store, version) for version in self._earlier}
        return {version: self._catalog(file) if file.exists() else None for version, file in files.items()}

    def _catalog(self, file: Path) -> Catalog:
        with self._opened(file) as database:
            [(body,)] = database.execute("SELECT body FROM catalog LIMIT 1").fetchall()
        return catalog_from_json(body)

    def same_as(self, versions: Collection[int]) -> tuple[int, ...]:
        """Those of these versions whose tables are those of the staged one, row by row."""
        written = WrittenStore(self._staged_store).tables()
        files = {version: version_file(self._store, version) for version in versions}
        return tuple(v for v, file in files.items() if file.exists() and WrittenStore(file).tables() == written)

    def meet(self, staging: DuckDBStagingTables, keeping: OverlapRule) -> DuckDBVersionOverlap | None:
        """The staged rows beside the people of all versions that are not retired; None where there are none."""
        if not self._earlier:
            return None
        with self._vaults(self._earlier) as database:
            past = read_past(database, self._earlier, staging.columns, keeping)
        return staging.meet(past, keeping)

    @contextmanager
    def meet_written(self, keeping: OverlapRule, without: Collection[int]) -> Iterator[DuckDBVersionOverlap | None]:
        """The same once more, from the files alone, without the versions that are to be retired."""
        versions = [version for version in self._earlier if version not in without]
        if not versions:
            yield None
            return
        with self._vaults(versions, now=self._staged_vault) as database:
            past = read_past(database, versions, tuple(Vault.of(database, "now").types), keeping)
            yield DuckDBVersionOverlap(database, past, keeping, "now")

    @contextmanager
    def kept(self, versions: Collection[int]) -> Iterator[tuple[KeptVersion, ...]]:
        """Versions with their rows, for as long as they are read."""
        if not versions:
            yield ()
            return
        with self._vaults(versions) as database:
            stores = {v: WrittenStore(version_file(self._store, v), self._opened) for v in versions}
            yield tuple(KeptVersion(version, store, database, f"v{version}") for version, store in stores.items())

    @contextmanager
    def _vaults(self, versions: Collection[int], **more: Path) -> Iterator[duckdb.DuckDBPyConnection]:
        """The raw rows of versions as v1, v2 ...; in the engine of the staging tables, while that is open."""
        files = {**more, **{f"v{version}": version_file(self._vault, version) for version in versions}}
        if self._staging is None or not self._staging.is_open:
            with closing(attach(files, self._memory_mb)) as database:
                yield database
            return
        check_there(files.values())
        with self._staging.attached(files) as database:
            yield database

    @contextmanager
    def _opened(self, path: Path, *, read_only: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
        """A file of the store; in the engine of the staging tables, while that is open."""
        if self._staging is None or not self._staging.is_open:
            with closing(connect(path, read_only=read_only)) as database:
                yield database
            return
        name = f"store_{next(self._numbers)}"
        with self._staging.attached({name: path}, read_only=read_only) as database:
            database.execute(f"USE {name}")
            yield database

    def switch(self, retire: Sequence[int] = ()) -> None:
        """Serve the new version. Until it is pointed to the old one is served, after that the new one; from the moment
        that its file is there the others are retired. A dataset that was withdrawn meanwhile is left as it was.

        The raw rows have both names until the version is there: that tells a switch that was cut off from a version
        whose file was lost.
        """
        _check_in_service(self._store, self._reinstate)
        self._switching()
        flush(self._staged_vault)
        os.link(self._staged_vault, version_file(self._vault, self.version))  # unlike a rename it replaces nothing
        flush(self._vault)
        if retire:
            mark(self._store, retire, by=self.version)
        flush(self._staged_store)
        os.replace(self._staged_store, version_file(self._store, self.version))
        flush(self._store)
        self._staged_vault.unlink()
        flush(self._vault)
        point_to(self._store, self.version)
        if self._reinstate:
            _reinstate(self._store)
        settle(self._store)


SMALL = {
    "set_value": "column_id, set_id, value_id",
    "value_text": "column_id, value_id",
    "code_item": "column_id, code, item_id",
    "item_set": "column_id, set_id, item_id",
    TABLE: "column_id, class",
}
"""The tables of a store beside its cells, and the order in which they are read."""


def _alone(path: Path) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    return closing(connect(path, read_only=True))


class WrittenStore:
    """A staged store file, opened anew and read as it is. To open one costs more than to read it, so all of it is read
    at once; the cells, which may be many, are given away and not kept.
    """

    def __init__(
        self, path: Path, opened: Callable[[Path], AbstractContextManager[duckdb.DuckDBPyConnection]] = _alone
    ) -> None:
        self._path, self._opened = path, partial(opened, path)

    def digest(self) -> FileDigest:
        return FileDigest.of(self._path)

    def catalog(self) -> Catalog:
        return self._catalog

    def cells(self, quasi: Sequence[int]) -> dict[str, Array]:
        """All cells, with `box`: a number for each distinct combination of the published quasi-identifiers."""
        found = self._tables.pop("cells", None) or self._read()["cells"]
        boxes = [values for name, values in found.items() if name.startswith(_stems(quasi))]
        return {**found, "box": distinct_rows(boxes, np.asarray(found["class"], dtype=np.int64))}

    @contextmanager
    def margins(self) -> Iterator[WrittenMargins]:
        """The margins of a version of views; the file is open as long as they are read."""
        with self._opened() as database:
            yield WrittenMargins(database)

    def sets(self, column: int) -> tuple[Ints, Ints, tuple[str, ...]]:
        """(set id, value id) of every member of the column's sets, and the text of each value id; -1 is missing."""
        members, texts = self._of("set_value", column), self._of("value_text", column)["text"]
        return members["set_id"].astype(np.int64), members["value_id"].astype(np.int64), tuple(map(str, texts))

    def code_sets(self, column: int) -> tuple[tuple[str, ...], Ints, Ints, Ints]:
        """Codes and the item of each, sets and the item of each, one entry for each row as it is, in order."""
        items, sets = self._of("code_item", column), self._of("item_set", column)
        of_code, of_set, held = (part.astype(np.int64) for part in (items["item_id"], sets["set_id"], sets["item_id"]))
        return tuple(map(str, items["code"])), of_code, of_set, held

    def moments(self, column: int) -> dict[str, Array]:
        """The moments of the column's classes as they are, in order of class."""
        return self._of(TABLE, column)

    def strays(self) -> Iterator[str]:
        """Promises of tables, columns and rows that are broken: there is more than the catalog calls for."""
        with self._opened() as database:
            yield from strays(database, self._path, self.catalog())
            if database.execute("SELECT body FROM catalog").fetchall() != [(catalog_to_json(self.catalog()),)]:
                yield "the catalog says nothing twice or beside"

    def tables(self) -> dict[str, pa.Table]:
        """All that is published, as it is, but the catalog; columns and margins are in the cells."""
        with self._opened() as database:
            names = [name for (name,) in database.execute("SHOW TABLES").fetchall() if name != "catalog"]
            return {name: database.table(name).to_arrow_table() for name in names}

    def _of(self, table: str, column: int) -> dict[str, Array]:
        found = self._tables[table]
        here = found["column_id"] == column
        return {name: values[here] for name, values in found.items()}

    @cached_property
    def _catalog(self) -> Catalog:
        return catalog_from_json(self._tables["catalog"]["body"][0])

    @cached_property
    def _tables(self) -> dict[str, dict[str, Array]]:
        return self._read()

    def _read(self) -> dict[str, dict[str, Array]]:
        found = {}
        with self._opened() as database:
            for name in ("catalog", "cells", *SMALL):
                order = f" ORDER BY {SMALL[name]}" if name in SMALL else ""
                with suppress(duckdb.CatalogException):  # not every version has it; to list tables takes longer
                    found[name] = dict(database.execute(f"SELECT * FROM {name}{order}").fetchnumpy())
        return found


def _stems(columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"c{index}_" for index in columns)


class DuckDBVersionWriter:
    """Where publications are made: the store and the vault of a site. With `reinstate`, publishing or serving a version
    of a dataset that was withdrawn puts it back into service; otherwise that is refused. `switching` is called before a
    new version is served. `noted` tells what the log says of the versions of a dataset.
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
    ) -> None:
        self._store, self._vault, self._memory_mb = store, vault, memory_mb
        self._reinstate, self._switching, self._noted = reinstate, switching, noted

    @contextmanager
    def publishing(self, dataset: str) -> Iterator[DuckDBPublication]:
        """Hold the dataset's lock; sweep what an interrupted publication left, before and after.

        Before, the rows it had read may stay: if they are what the new one would read, it goes on from them.
        """
        store, vault = self._folders(dataset)
        reinstate = _check_in_service(store, self._reinstate)
        _make_private(store, vault)
        with _locked(store / "lock"):
            settle(store)
            _undo_cut_off(store, vault)
            noted = self._noted(dataset)
            version = max(ever_published(store, vault, noted), default=0) + 1
            _sweep(store, vault, resumable=version)
            try:
                yield DuckDBPublication(
                    store,
                    vault,
                    self._memory_mb,
                    version=version,
                    earlier=unretired(store, vault, noted),
                    reinstate=reinstate,
                    switching=self._switching,
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
        with _locked(folder / "lock"):
            settle(folder)
            self._check_readable(dataset, version)
            reinstate = _check_in_service(folder, self._reinstate)
            before = current_version(folder)
            point_to(folder, version)
            if reinstate:
                _reinstate(folder)
        return before

    def is_withdrawn(self, dataset: str) -> bool:
        return is_withdrawn(self._folders(dataset)[0])

    def withdraw(self, dataset: str) -> None:
        """Serve no version from now on. One file is made, so a kill leaves the dataset served or withdrawn; and it is
        made without the lock, so that a publication that takes hours is not waited for.
        """
        folder, _ = self._folders(dataset)
        with suppress(FileExistsError):
            os.close(os.open(folder / WITHDRAWN, os.O_CREAT | os.O_EXCL, 0o600))
        flush(folder)

    def retire(self, dataset: str, version: int) -> None:
        """Never serve a version again: its file is removed, or is lost already. The one that is served stays."""
        folder, vault = self._folders(dataset)
        self._check_unretired(dataset, version)
        _make_private(folder)
        with _locked(folder / "lock"):
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
        """How many rows of somebody each version has in the vault, retired ones too; without those that have none."""
        return holding(self._vaults(dataset), person)

    def without(self, dataset: str, version: int, more: Sequence[str], person: Person) -> Without:
        """The rows of a version as a source, without somebody; `more` are columns that its vault does not have."""
        return rows_of(self._vaults(dataset)[version], more, person)

    def remove(self, dataset: str, person: Person) -> int:
        """Take somebody's rows out of the vault of every version; returns how many there were."""
        store, vault = self._folders(dataset)
        with _locked(store / "lock"):
            settle(store)
            _undo_cut_off(store, vault)
            _sweep(store, vault)
            held = holding(self._vaults(dataset), person)
            for version in held:
                file = version_file(vault, version)
                remove(file, person, vault / f"{STAGED}{file.name}", self._memory_mb)
                remove_reports(vault, [version])  # its pictures may show the person
        return sum(held.values())

    def keep_report(self, dataset: str, version: int, files: Mapping[str, bytes]) -> Path:
        """Put the report on a version with its raw rows; returns its folder."""
        return keep_report(self._folders(dataset)[1], version, files)

    def keep_figures(self, dataset: str, version: int, text: str) -> None:
        """Keep what publishing measured of a version with its raw rows."""
        keep_figures(self._folders(dataset)[1], version, text)

    def figures(self, dataset: str, version: int) -> Path:
        """The file of what publishing measured of a version, if there is one."""
        return figures_file(self._folders(dataset)[1], version)

    def report(self, dataset: str, version: int) -> Path:
        """The folder of the report on a version, if there is one."""
        return report_folder(self._folders(dataset)[1], version)

    def reports(self, dataset: str) -> tuple[int, ...]:
        """Versions that have a report."""
        return reports_in(self._folders(dataset)[1])

    def files(self, dataset: str, version: int) -> tuple[Path, Path]:
        """The files of a version: what is published, and the raw rows."""
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
        return versions_in(self._folders(dataset)[1])

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
        with _locked(store / "lock"):
            settle(store)
            self.check_retired(dataset, versions)
            for version in versions:
                for left in vault.glob(f"{version_file(vault, version).name}*"):  # a journal may lie beside it
                    left.unlink()
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
        """By the store's own list: what only the log has as retired can be retired once more."""
        store, vault = self._folders(dataset)
        retired = retired_in(store)
        if version in retired or version not in ever_published(store, vault, self._noted(dataset)):
            raise ConfigError(
                "QG804",
                f"Version {version} of {dataset} {'was retired' if version in retired else 'does not exist'}.",
                f"Versions that can be served: {', '.join(map(str, readable_in(store))) or 'none'}.",
            )

    def _folders(self, dataset: str) -> tuple[Path, Path]:
        """Of a dataset in store and vault; a name is a name and never a path."""
        if not NAME.fullmatch(dataset):
            raise ConfigError(
                "QG806", "This is not a valid dataset name.", "Names consist of a-z, 0-9 and _ and begin with a letter."
            )
        return self._store / dataset, self._vault / dataset


def _check_in_service(store: Path, reinstate: bool) -> bool:
    """Whether a dataset that was withdrawn is to be reinstated; ConfigError if it is not."""
    found = is_withdrawn(store)
    if found and not reinstate:
        raise ConfigError(
            "QG804",
            f"The dataset {store.name} was withdrawn, so no version of it is put into service.",
            "To serve it again all the same, add --reinstate.",
        )
    return found


def _reinstate(store: Path) -> None:
    """After the pointer was set, so that no version is served but the one that is meant."""
    (store / WITHDRAWN).unlink()
    flush(store)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, "w", opener=for_owner) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                "QG804", "Another process is publishing this dataset.", "Wait until it has finished."
            ) from None
        yield


def _make_private(*folders: Path) -> None:
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)


def _undo_cut_off(store: Path, vault: Path) -> None:
    """Remove the raw rows of a version whose switch was cut off before it was there: it never had a reader. All other
    raw rows stay, whatever became of their store.
    """
    for version in versions_in(vault):
        file = version_file(vault, version)
        staged = vault / f"{STAGED}{file.name}"
        if staged.exists() and staged.samefile(file) and not version_file(store, version).exists():
            file.unlink()
            staged.unlink()


def _sweep(store: Path, vault: Path, *, resumable: int | None = None) -> None:
    """Remove what is staged, except for the rows of the version that may be gone on with."""
    staged = vault / f"{STAGED}{version_file(vault, resumable or 0).name}"
    kept = (staged, staged.with_name(f"{staged.name}.wal")) if resumable else ()
    for folder in (store, vault):
        for left in folder.glob(f"{STAGED}*"):
            if left not in kept:
                shutil.rmtree(left) if left.is_dir() else left.unlink()
    sweep_reports(vault, retired_in(store))
