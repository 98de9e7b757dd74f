"""One publication: its staging tables, its two staged files, and the switch to them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path

import duckdb
import pyarrow as pa

from querygate.core.block import CodeSets
from querygate.core.errors import ConfigError
from querygate.core.types import Catalog
from querygate.core.version_overlap import OverlapRule
from querygate_adapters.store.catalog_json import catalog_from_json, catalog_to_json
from querygate_adapters.store.duckdb_lockdown import connect
from querygate_adapters.store.duckdb_store import WITHDRAWN, is_withdrawn, version_file
from querygate_adapters.store.retired_versions import (
    STAGED,
    flush,
    mark,
    point_to,
    settle,
)
from querygate_adapters.vault.code_set_writer import write_code_sets
from querygate_adapters.vault.kept_version import KeptVersion
from querygate_adapters.vault.person_history import DuckDBVersionOverlap, Vault, attach, check_there, read_past
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from querygate_adapters.vault.written_store import WrittenStore


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
        """The staged files: the published cells, and the raw rows."""
        return self._staged_store, self._staged_vault

    def staging(self) -> DuckDBStagingTables:
        """The raw rows of the new version, in the vault."""
        beside = (self._store, self._vault)
        self._staging = DuckDBStagingTables(self._staged_vault, memory_mb=self._memory_mb, beside=beside)
        return self._staging

    def write(
        self, catalog: Catalog, tables: Mapping[str, pa.Table], codes: Mapping[int, CodeSets] | None = None
    ) -> WrittenStore:
        """Write the published tables, and the sets of each code list by column index; returns the staged file for the
        verifier to read back.
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
        """The catalog of every version that is not retired; None where its file is lost."""
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
        """The versions among these whose tables equal the staged one's, row by row."""
        written = WrittenStore(self._staged_store).tables()
        files = {version: version_file(self._store, version) for version in versions}
        return tuple(v for v, file in files.items() if file.exists() and WrittenStore(file).tables() == written)

    def meet(self, staging: DuckDBStagingTables, keeping: OverlapRule) -> DuckDBVersionOverlap | None:
        """The staged rows compared with the people of all versions that are not retired; None if there are none."""
        if not self._earlier:
            return None
        with self._vaults(self._earlier) as database:
            past = read_past(database, self._earlier, staging.columns, keeping)
        return staging.meet(past, keeping)

    @contextmanager
    def meet_written(self, keeping: OverlapRule, without: Collection[int]) -> Iterator[DuckDBVersionOverlap | None]:
        """The same again, from the files alone, without the versions that will be retired."""
        versions = [version for version in self._earlier if version not in without]
        if not versions:
            yield None
            return
        with self._vaults(versions, now=self._staged_vault) as database:
            past = read_past(database, versions, tuple(Vault.of(database, "now").types), keeping)
            yield DuckDBVersionOverlap(database, past, keeping, "now")

    @contextmanager
    def kept(self, versions: Collection[int]) -> Iterator[tuple[KeptVersion, ...]]:
        """Versions with their rows, while they are being read."""
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
        """Serve the new version. The old version is served until the pointer changes; the others are retired as soon as
        the new file is in place. A dataset that was withdrawn meanwhile stays withdrawn.

        The raw rows have both names until the version is in place: this distinguishes an interrupted switch from a
        version whose file was lost.
        """
        check_in_service(self._store, self._reinstate)
        self._switching()
        flush(self._staged_vault)
        os.link(self._staged_vault, version_file(self._vault, self.version))  # unlike a rename it never replaces a file
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
            put_back(self._store)
        settle(self._store)


def check_in_service(store: Path, reinstate: bool) -> bool:
    """Whether a withdrawn dataset should be reinstated; ConfigError if it should not."""
    found = is_withdrawn(store)
    if found and not reinstate:
        raise ConfigError(
            "QG804",
            f"The dataset {store.name} was withdrawn, so no version of it is put into service.",
            "To serve it again all the same, add --reinstate.",
        )
    return found


def put_back(store: Path) -> None:
    """Called after the pointer is set, so that only the intended version is ever served."""
    (store / WITHDRAWN).unlink()
    flush(store)
