"""The published plane on embedded DuckDB: one read-only file per version, and a pointer to the one being served.

    store/patients/v00003.duckdb     cells, value sets, code sets, moments, catalog
    store/patients/current           the text "3"
    store/patients/withdrawn         while it is there, no version is served, whatever `current` says

The pointer is replaced atomically by the publisher, so a reader sees the old version or the new one, never a mixture.
Nothing here can open a vault; the publisher's half is in `vault.version_writer`.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import duckdb

from querygate.core.block import Block, ClassMoments, CodeSets, Dictionary
from querygate.core.errors import ConfigError
from querygate.core.files.file_digest import FileDigest
from querygate.core.ports import Limits
from querygate.core.rights import no_dataset
from querygate.core.types import Catalog, Column
from querygate_adapters.store.catalog_json import NAME, KeptBlocks, Names, catalog_from_json, withdrawn
from querygate_adapters.store.cell_query import Dictionaries, make_block, projection
from querygate_adapters.store.class_moments import COLUMNS, TABLE, make_moments, wanted_columns
from querygate_adapters.store.code_sets import read_code_sets
from querygate_adapters.store.duckdb_lockdown import connect, limited

WITHDRAWN = "withdrawn"

READ_UP_TO = 64 * 2**20
"""A version file up to this size in bytes is hashed before it is served, which takes a tenth of a second. For a larger
one only the length is compared, and `querygate doctor` reads it: nobody waits half a minute for a gate with 10 GB to
start.
"""

_VERSION_FILE = re.compile(r"v(\d{5,})\.duckdb")
_LONGEST_NUMBER = 64
_NUMBER = re.compile(rb"\s*([0-9]+)\s*")


def version_file(folder: Path, version: int) -> Path:
    return folder / f"v{version:05d}.duckdb"


def versions_in(folder: Path) -> tuple[int, ...]:
    """Versions whose file is complete, in rising order."""
    found = (_VERSION_FILE.fullmatch(path.name) for path in folder.glob("v*.duckdb"))
    return tuple(sorted(int(match[1]) for match in found if match))


def is_withdrawn(folder: Path | str) -> bool:
    return os.path.exists(f"{folder}/{WITHDRAWN}")  # every request needs this, and Path is slower


def current_version(folder: Path | str) -> int | None:
    """The version being served; None where there is none, where the dataset was withdrawn, and where the pointer is
    damaged: that must keep nobody from withdrawing, rolling back or publishing.
    """
    if is_withdrawn(folder):
        return None
    try:
        file = os.open(f"{folder}/current", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        found = _NUMBER.fullmatch(os.read(file, _LONGEST_NUMBER))
    finally:
        os.close(file)
    return int(found[1]) if found else None


def has_damaged_pointer(folder: Path | str) -> bool:
    """Whether a pointer is there that names no version."""
    return os.path.exists(f"{folder}/current") and not is_withdrawn(folder) and current_version(folder) is None


def damaged_pointer(dataset: str) -> ConfigError:
    return ConfigError(
        "QG804",
        f"{dataset}/current, which says what version of {dataset} is served, is damaged.",
        "The custodian runs `querygate rollback` with a version that `querygate versions` lists, or publishes again.",
    )


class DuckDBStore:
    """All datasets under one folder. Releases stay open and are shared by threads."""

    def __init__(
        self,
        root: Path,
        *,
        memory_mb: int = 1024,
        threads: int | None = None,
        noted: Callable[[str, int], FileDigest | None] = lambda dataset, version: None,
    ) -> None:
        """`noted` is what the log says about the file of a version. If it says nothing, as on a gate with copied files,
        the file must match the digest beside it; without a digest it is served as it is.
        """
        self.root, self._noted = root, noted
        self._memory_mb, self._threads = memory_mb, threads
        self._open: dict[str, DuckDBRelease] = {}
        self._lock = threading.Lock()

    def datasets(self) -> tuple[str, ...]:
        """Datasets that are served."""
        found = (path.parent for path in self.root.glob("*/current"))
        return tuple(sorted(folder.name for folder in found if not is_withdrawn(folder)))

    def versions(self, dataset: str) -> tuple[int, ...]:
        return versions_in(self._folder(dataset))

    def current(self, dataset: str) -> DuckDBRelease:
        """The version being served, opened once and kept until another one is served."""
        folder = self._folder(dataset)
        version = current_version(folder)
        if version is None:
            if has_damaged_pointer(folder):
                raise damaged_pointer(dataset)
            raise withdrawn() if is_withdrawn(folder) else no_dataset()
        file = version_file(folder, version)
        with self._lock:
            try:
                release = self._open.get(dataset)
                if release is None or not release.is_of(version, file):
                    release = self._open[dataset] = self._opened(dataset, version, file)
            except (duckdb.Error, OSError):  # its message may quote what it read
                raise _cannot_be_opened(dataset, version) from None
            return release

    def _opened(self, dataset: str, version: int, file: Path) -> DuckDBRelease:
        before = self._open.pop(dataset, None)
        if before is not None and before.catalog.version == version:
            before.close()  # the engine returns what it has open under a name, even if another file has that name now
        self._check_noted(dataset, version, file)
        return DuckDBRelease(file, memory_mb=self._memory_mb, threads=self._threads)

    def _check_noted(self, dataset: str, version: int, file: Path) -> None:
        noted = self._noted(dataset, version) or FileDigest.told_beside(file)
        if noted is not None and not noted.is_of(file, read_up_to=READ_UP_TO):
            raise ConfigError(
                "QG804",
                f"Version {version} of {dataset} is to be served, but its file is not the one that was verified.",
                "The custodian finds what to do with `querygate doctor`.",
            )

    def _folder(self, dataset: str) -> Path:
        if not NAME.fullmatch(dataset):
            raise no_dataset()
        return self.root / dataset


def _identity(path: Path) -> tuple[int, int, int, int]:
    """What distinguishes a file from another one under the same name; OSError where there is none."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _cannot_be_opened(dataset: str, version: int) -> ConfigError:
    return ConfigError(
        "QG804",
        f"Version {version} of {dataset} is to be served, but its file is missing or damaged.",
        "The custodian finds what to do with `querygate doctor`.",
    )


class DuckDBRelease:
    """One published version. `project` groups cells inside DuckDB; only sums of counts come out."""

    def __init__(self, path: Path, *, memory_mb: int = 1024, threads: int | None = None) -> None:
        self._file = _identity(path)
        self._connection = connect(path, read_only=True, memory_mb=memory_mb, threads=threads)
        rows = self._connection.execute("SELECT body FROM catalog").fetchall()
        self.catalog: Catalog = catalog_from_json(rows[0][0])
        self._blocks = KeptBlocks()
        self._moments: dict[int, ClassMoments] = {}
        self.dictionaries: Dictionaries = {
            c.index: self._code_sets(c) if c.is_codes else self._dictionary(c.index)
            for c in self.catalog.columns
            if not c.is_numeric and not c.groups
        }

    def is_of(self, version: int, path: Path) -> bool:
        """Whether this is still the file in place: a site that was recreated numbers its versions from one again."""
        return self.catalog.version == version and self._file == _identity(path)

    def close(self) -> None:
        """Current readers finish with their own cursors."""
        self._connection.close()

    def _code_sets(self, column: Column) -> CodeSets:
        codes, pairs = (
            self._connection.execute(text, [column.index]).fetchall()
            for text in (
                "SELECT item_id, code FROM code_item WHERE column_id = ?",
                "SELECT set_id, item_id FROM item_set WHERE column_id = ? ORDER BY set_id, item_id",
            )
        )
        return read_code_sets(column, codes, pairs)

    def _dictionary(self, index: int) -> Dictionary:
        values = self._connection.execute(
            "SELECT text FROM value_text WHERE column_id = ? ORDER BY value_id", [index]
        ).fetchall()
        pairs = self._connection.execute(
            "SELECT set_id, value_id FROM set_value WHERE column_id = ? ORDER BY set_id, value_id", [index]
        ).fetchall()
        return Dictionary.of([text for (text,) in values], pairs)

    def project(
        self,
        names: Collection[str],
        limits: Limits,
        moments: Collection[str] = (),
        margin: int | None = None,
        by_class: bool = False,
    ) -> Block:
        """The cells grouped by these columns, and by class if classes or their moments are wanted."""
        return self._blocks.get(names, moments, margin, by_class, partial(self._read, limits))

    def _read(self, limits: Limits, names: Names, moments: Names, margin: int | None, by_class: bool) -> Block:
        columns = [column for column in self.catalog.columns if column.name in names]
        cursor = self._connection.cursor()
        with limited(cursor, limits.timeout_s):
            told = {column.name: self.moments(column) for column in wanted_columns(self.catalog, moments, margin)}
            wanted = projection(self.catalog, columns, by_class=by_class or bool(told), margin=margin)
            found = cursor.execute(wanted).fetchnumpy()
        return make_block(self.catalog, columns, found, self.dictionaries, told, margin, by_class=by_class)

    def moments(self, column: Column) -> ClassMoments:
        """The published moments of a column's classes, read once."""
        if column.index not in self._moments:
            wanted = f"SELECT {COLUMNS} FROM {TABLE} WHERE column_id = {int(column.index)} ORDER BY class"
            found = self._connection.cursor().execute(wanted).fetchnumpy()
            self._moments[column.index] = make_moments([found[name] for name in COLUMNS.split(", ")[1:]])
        return self._moments[column.index]
