"""One publication: its staging tables, its two staged files, and the switch to them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import TypeAlias

import duckdb
import pyarrow as pa

from querygate.core.block import CodeSets
from querygate.core.errors import ConfigError
from querygate.core.files.file_digest import FileDigest
from querygate.core.publications.carried_classes import CarriedClasses, CarriedProof
from querygate.core.publications.version_overlap import OverlapRule
from querygate.core.types import Catalog
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
from querygate_adapters.vault.carried_cells import prove, write_beside
from querygate_adapters.vault.carried_rows import keep_gone, made_anew, same_rows, still_to_compare
from querygate_adapters.vault.code_set_writer import write_code_sets
from querygate_adapters.vault.kept_version import KeptVersion
from querygate_adapters.vault.person_history import DuckDBVersionOverlap, Vault, attach, check_there, read_past
from querygate_adapters.vault.report_files import figures_file
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from querygate_adapters.vault.written_store import WrittenStore

_STORE = "store_of_{}"
"""The attached store of a version."""


class DuckDBPublication:
    """One publication of one dataset, under the dataset's lock."""

    _rows_file = staticmethod(version_file)
    """Which file of the vault has the raw rows, or says where they are."""

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
        noted: Mapping[int, FileDigest],
    ) -> None:
        self._store, self._vault, self._memory_mb = store, vault, memory_mb
        self._reinstate, self._switching, self._noted = reinstate, switching, noted
        self.version, self._earlier = version, earlier
        self._staging: DuckDBStagingTables | None = None
        self._numbers = count()
        self._staged_store = store / f"{STAGED}{version_file(store, self.version).name}"
        self._kept_rows = self._rows_file(vault, self.version)
        self._staged_vault = vault / f"{STAGED}{self._kept_rows.name}"

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
        self,
        catalog: Catalog,
        tables: Mapping[str, Parts],
        codes: Mapping[int, CodeSets] | None = None,
    ) -> WrittenStore:
        """Write the published tables, and the sets of each code list by column index; returns the staged file for the
        verifier to read back.
        """
        tables = {**tables, **write_code_sets(catalog, codes or {})}
        return self._write(catalog, partial(write_tables, tables=tables))

    def write_beside(self, catalog: Catalog, tables: Mapping[str, pa.Table], carried: CarriedClasses) -> WrittenStore:
        """The same where classes are carried over: the tables have the others, and cells of carried ones come from the
        store of their version. What is read back are the cells that were made.
        """
        earlier = _STORE.format(carried.version)
        with self._store_attached(carried.version):
            return self._write(
                catalog,
                partial(write_beside, earlier=earlier, tables=tables, catalog=catalog, carried=carried),
                carried,
            )

    def _write(
        self,
        catalog: Catalog,
        write: Callable[[duckdb.DuckDBPyConnection], None],
        carried: CarriedClasses | None = None,
    ) -> WrittenStore:
        with self._opened(self._staged_store, read_only=False) as database:
            database.begin()
            write(database)
            database.execute("CREATE TABLE catalog (body VARCHAR)")
            database.execute("INSERT INTO catalog VALUES (?)", [catalog_to_json(catalog)])
            database.commit()
            database.execute("CHECKPOINT")
        room_bytes = None if self._staging is None else self._staging.room_bytes
        return WrittenStore(self._staged_store, self._opened, carried, room_bytes)

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

    def meet(
        self, staging: DuckDBStagingTables, keeping: OverlapRule, carried: CarriedClasses | None = None
    ) -> DuckDBVersionOverlap | None:
        """The staged rows beside the people of all versions that are not retired; None where there are none. People in
        carried classes are left out.
        """
        if not self._earlier:
            return None
        with self._vaults(self._earlier) as database:
            past = read_past(database, self._earlier, staging.columns, keeping, _compared(keeping, carried))
        return staging.meet(past, keeping)

    @contextmanager
    def meet_written(
        self, keeping: OverlapRule, without: Collection[int], carried: CarriedClasses | None = None
    ) -> Iterator[DuckDBVersionOverlap | None]:
        """The same once more, from the files alone, without the versions that are to be retired."""
        versions = [version for version in self._earlier if version not in without]
        if not versions:
            yield None
            return
        with self._vaults(versions, now=self._staged_vault) as database:
            columns = tuple(Vault.of(database, "now").types)
            if carried is None:
                yield DuckDBVersionOverlap(database, read_past(database, versions, columns, keeping), keeping, "now")
                return
            keep_gone(database, carried)
            past = read_past(database, versions, columns, keeping, _compared(keeping, carried))
            made = partial(made_anew, carried=carried, staged=False)
            yield DuckDBVersionOverlap(database, past, keeping, "now", made)

    # -- classes that stay as they were ----------------------------------------------------------------------------

    def carry(self, staging: DuckDBStagingTables, version: int) -> CarriedClasses | None:
        """The classes of an earlier version in which nothing has changed: from now on classes are made of all other
        staged rows. None where all have to be made, or where the version is not what was verified.
        """
        file, noted = version_file(self._store, version), self._noted.get(version)
        told = self._catalogs[version]
        if told is None or (noted is not None and not noted.is_of(file)):
            return None
        with self._vaults([version]):
            return staging.carry(version, told.rows)

    def figures(self, version: int) -> str:
        """What publishing measured of a version; empty where that is not there."""
        file = figures_file(self._vault, version)
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    def intervals(self, version: int, column: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Low and high ends of all intervals of a number that a version tells."""
        lo, hi = f"c{column}_lo", f"c{column}_hi"
        with self._store_attached(version) as database:
            found = database.execute(
                f"SELECT DISTINCT {lo}, {hi} FROM {_STORE.format(version)}.cells WHERE {lo} IS NOT NULL ORDER BY 1"
            ).fetchall()
        return tuple(low for low, _ in found), tuple(high for _, high in found)

    def prove(self, catalog: Catalog, carried: CarriedClasses) -> CarriedProof:
        """Measure the whole of what was written, and that carried classes are what they were."""
        earlier = self._catalogs[carried.version]
        if earlier is None or self._staging is None:
            raise ValueError("classes are carried over from a version that is there")
        with self._vaults([carried.version]) as database:
            same = same_rows(database, carried)
        with self._store_attached(carried.version), self._staging.attached({"written": self._staged_store}) as database:
            return prove(
                database, "written", _STORE.format(carried.version), (catalog, earlier), carried, same_rows=same
            )

    @contextmanager
    def _store_attached(self, version: int) -> Iterator[duckdb.DuckDBPyConnection]:
        if self._staging is None:
            raise ValueError("there are no staging tables")
        files = {_STORE.format(version): version_file(self._store, version)}
        with self._staging.attached(files) as database:
            yield database

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
        os.link(self._staged_vault, self._kept_rows)  # unlike a rename it never replaces a file
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


Parts: TypeAlias = pa.Table | Iterable[pa.Table]
"""A table, or its parts one after the other."""


def write_tables(database: duckdb.DuckDBPyConnection, tables: Mapping[str, Parts]) -> None:
    for name, table in tables.items():
        for place, part in enumerate([table] if isinstance(table, pa.Table) else table):
            database.register("given", part)
            database.execute(
                f"{'INSERT INTO' if place else 'CREATE TABLE'} {name} {'' if place else 'AS '}SELECT * FROM given"
            )
            database.unregister("given")


def _compared(keeping: OverlapRule, carried: CarriedClasses | None) -> Callable[[Vault, int], str]:
    """Which rows of an earlier version are laid beside the new one."""
    if carried is None:
        return lambda vault, version: "true"
    return partial(still_to_compare, carried=carried, person=str(keeping.person))


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
