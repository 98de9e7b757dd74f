"""The publisher's half of the store and the vault: staging, and a switch that a kill at any instant leaves whole.

A version is written under a name that readers do not look at, flushed to disk, renamed, and only then pointed to.
The lock is the kernel's (flock), so it dies with its holder; what a killed publisher left behind is swept by the
next one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.block import CodeSets
from querygate.core.errors import ConfigError
from querygate.core.types import Catalog, Ints
from querygate_adapters.code_sets import write_code_sets
from querygate_adapters.duckdb_locked import connect
from querygate_adapters.duckdb_store import current_version, version_file, versions_in
from querygate_adapters.releases import NAME, catalog_from_json, catalog_to_json
from querygate_adapters.vault import DuckDBWorkshop

STAGED = "staged-"


class Publishing:
    """One publication of one dataset, under the dataset's lock."""

    def __init__(self, store: Path, vault: Path, memory_mb: int) -> None:
        self._store, self._vault, self._memory_mb = store, vault, memory_mb
        known = set(versions_in(store)) | set(versions_in(vault))
        self.version = max(known, default=0) + 1
        self._staged_store = store / f"{STAGED}{version_file(store, self.version).name}"
        self._staged_vault = vault / f"{STAGED}{version_file(vault, self.version).name}"

    def workshop(self) -> DuckDBWorkshop:
        """The raw rows of the new version, in the vault."""
        return DuckDBWorkshop(self._staged_vault, memory_mb=self._memory_mb)

    def write(
        self, catalog: Catalog, tables: Mapping[str, pa.Table], codes: Mapping[int, CodeSets] | None = None
    ) -> WrittenStore:
        """Write the published tables, and what the sets of each code list mean, by column index; returns the staged
        file for the verifier to read back.
        """
        tables = {**tables, **write_code_sets(catalog, codes or {})}
        database = connect(self._staged_store, read_only=False)
        try:
            for name, table in tables.items():
                database.register("given", table)
                database.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
                database.unregister("given")
            database.execute("CREATE TABLE catalog (body VARCHAR)")
            database.execute("INSERT INTO catalog VALUES (?)", [catalog_to_json(catalog)])
            database.execute("CHECKPOINT")
        finally:
            database.close()
        return WrittenStore(self._staged_store)

    def switch(self) -> None:
        """Serve the new version. Before the last line the old one is served, after it the new one."""
        for staged, folder in ((self._staged_vault, self._vault), (self._staged_store, self._store)):
            _flush(staged)
            os.replace(staged, version_file(folder, self.version))
            _flush(folder)
        point_to(self._store, self.version)


class WrittenStore:
    """A staged store file, opened anew and read as it is."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def catalog(self) -> Catalog:
        with self._reading() as read:
            return catalog_from_json(read("SELECT body FROM catalog")["body"][0])

    def cells(self, quasi: Sequence[int]) -> dict[str, Any]:
        """All cells, with `box`: a number for each distinct combination of the published quasi-identifiers."""
        with self._reading() as read:
            names = [name for name in read("SELECT * FROM cells LIMIT 0") if name.startswith(_stems(quasi))]
            return read(f"SELECT *, dense_rank() OVER (ORDER BY {', '.join(names)}) - 1 AS box FROM cells")

    def sets(self, column: int) -> tuple[Ints, Ints, tuple[str, ...]]:
        """(set id, value id) of every member of the column's sets, and the text of each value id; -1 is missing."""
        where = f"WHERE column_id = {int(column)}"
        with self._reading() as read:
            members = read(f"SELECT set_id, value_id FROM set_value {where} ORDER BY set_id, value_id")
            texts = read(f"SELECT text FROM value_text {where} ORDER BY value_id")["text"]
        return members["set_id"].astype(np.int64), members["value_id"].astype(np.int64), tuple(map(str, texts))

    @contextmanager
    def _reading(self) -> Iterator[Callable[[str], dict[str, Any]]]:
        database = connect(self._path, read_only=True)
        try:
            yield lambda sql: dict(database.execute(sql).fetchnumpy())
        finally:
            database.close()


def _stems(columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"c{index}_" for index in columns)


class PublisherShelf:
    """Where publications are made: the store and the vault of a site."""

    def __init__(self, store: Path, vault: Path, *, memory_mb: int = 4096) -> None:
        self._store, self._vault, self._memory_mb = store, vault, memory_mb

    @contextmanager
    def publishing(self, dataset: str) -> Iterator[Publishing]:
        """Hold the dataset's lock; sweep what an interrupted publication left, before and after."""
        store, vault = self._folders(dataset)
        for folder in (store, vault):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)
        with _locked(store / "lock"):
            _sweep(store, vault)
            try:
                yield Publishing(store, vault, self._memory_mb)
            finally:
                _sweep(store, vault)

    def serve_version(self, dataset: str, version: int) -> int | None:
        """Point to an earlier (or later) version; returns the one served before."""
        folder, _ = self._folders(dataset)
        if version not in versions_in(folder):
            known = ", ".join(map(str, versions_in(folder))) or "none"
            raise ConfigError("QG804", f"{dataset} has no version {version}.", f"Versions there are: {known}.")
        with _locked(folder / "lock"):
            before = current_version(folder)
            point_to(folder, version)
        return before

    def _folders(self, dataset: str) -> tuple[Path, Path]:
        """Of a dataset in store and vault; a name is a name and never a path."""
        if not NAME.fullmatch(dataset):
            raise ConfigError(
                "QG806", "That is not a name of a dataset.", "Names are of a-z, 0-9 and _ and begin with a letter."
            )
        return self._store / dataset, self._vault / dataset


def point_to(folder: Path, version: int) -> None:
    staged = folder / f"{STAGED}current"
    staged.write_text(str(version), encoding="ascii")
    _flush(staged)
    os.replace(staged, folder / "current")
    _flush(folder)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                "QG804", "This dataset is being published by another process.", "Wait for it to end."
            ) from None
        yield


def _sweep(store: Path, vault: Path) -> None:
    for folder in (store, vault):
        for left in folder.glob(f"{STAGED}*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    # A switch cut off between its two renames leaves the next version's vault alone: it never had a reader. Earlier
    # vaults stay, whatever became of their store.
    following = max(versions_in(store), default=0) + 1
    if max(versions_in(vault), default=0) == following:
        version_file(vault, following).unlink()


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
