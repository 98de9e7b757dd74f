"""The custodian's half of a store for Spark: copies version files of a DuckDB store into its folder as Parquet.

A version is written under a name that readers do not look at, read back through Spark and compared with the file, and
only then renamed; the pointer comes last. A copy that is killed at any instant leaves what was served as it was, and
the next one sweeps what is left.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from querygate.core.errors import ConfigError
from querygate.core.files.full_disk import full_disk, is_full_disk
from querygate_adapters.store.catalog_json import catalog_to_json
from querygate_adapters.store.class_moments import TABLE, has_moments
from querygate_adapters.store.code_sets import CODE_TABLES, code_columns
from querygate_adapters.store.duckdb_lockdown import connect
from querygate_adapters.store.duckdb_store import DuckDBRelease
from querygate_adapters.store.retired_versions import STAGED, flush, point_to
from querygate_adapters.store.spark_store import CATALOG, CODE, SparkRelease, store_folder, version_folder, versions_in
from querygate_adapters.vault.copied_bits import UNLIMITED, is_same
from querygate_adapters.vault.version_writer import locked

BATCH_ROWS = 250_000
"""Rows of a group in a file: what one task of Spark reads at least."""


class SparkVersionWriter:
    """Where versions are put: one folder, which is made where it is not there."""

    def __init__(self, location: str) -> None:
        self._root = store_folder(location, CODE)

    def versions(self, dataset: str) -> dict[int, str]:
        """The versions that are there, each with its catalog as text."""
        with self._writing(dataset) as folder:
            found = {version: version_folder(folder, version) / CATALOG for version in versions_in(folder)}
            return {version: file.read_text(encoding="utf-8") for version, file in found.items()}

    def copy(self, file: Path) -> None:
        """Put the version of this file there, whole and verified, or not at all."""
        release = DuckDBRelease(file)
        with self._writing(release.catalog.dataset) as folder:
            whole = version_folder(folder, release.catalog.version)
            staged = folder / f"{STAGED}{whole.name}"
            staged.mkdir()
            _write(file, release, staged)
            if not is_same(SparkRelease(staged, memory_mb=UNLIMITED.memory_mb), release):
                raise ConfigError(
                    CODE, "The data that Spark reads differ from what was written. Nothing was kept.", "Try again."
                )
            for part in (*staged.iterdir(), staged):
                flush(part)
            os.rename(staged, whole)
            flush(folder)

    def serve(self, dataset: str, version: int) -> None:
        """Point to a version that is there."""
        with self._writing(dataset) as folder:
            point_to(folder, version)

    def withdraw(self, dataset: str) -> None:
        """Point to none."""
        with self._writing(dataset) as folder:
            (folder / "current").unlink(missing_ok=True)
            flush(folder)

    def remove(self, dataset: str, version: int) -> None:
        """Take a version away that is not served there any more."""
        with self._writing(dataset) as folder:
            whole = version_folder(folder, version)
            if whole.exists():
                os.rename(whole, folder / f"{STAGED}{whole.name}")

    @contextmanager
    def _writing(self, dataset: str) -> Iterator[Path]:
        """The folder of a dataset, under its lock, without what is staged: neither before nor after."""
        folder = self._root / dataset
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with locked(folder / "lock", "Another process is copying into this store."):
                _sweep(folder)
                try:
                    yield folder
                finally:
                    _sweep(folder)
        except OSError as error:
            if is_full_disk(error):
                raise full_disk("No new version is served there.") from None
            raise ConfigError(
                CODE, "The folder of the store cannot be written.", "Check that it exists, and who may write there."
            ) from None


def _sweep(folder: Path) -> None:
    for left in folder.glob(f"{STAGED}*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def _write(file: Path, release: DuckDBRelease, folder: Path) -> None:
    catalog = release.catalog
    beside = [*(CODE_TABLES if code_columns(catalog) else ()), *([TABLE] if has_moments(catalog) else [])]
    database = connect(file, read_only=True)
    try:
        for table in ("cells", "set_value", "value_text", *beside):
            _write_table(database, table, folder / f"{table}.parquet")
    finally:
        database.close()
    (folder / CATALOG).write_text(catalog_to_json(catalog), encoding="utf-8")


def _write_table(database: duckdb.DuckDBPyConnection, table: str, path: Path) -> None:
    reader: pa.RecordBatchReader = database.table(table).to_arrow_reader(BATCH_ROWS)
    schema = pa.schema([(field.name, _type(field.type)) for field in reader.schema])
    with pq.ParquetWriter(path, schema) as writer:
        for batch in reader:
            writer.write_batch(batch.cast(schema))


def _type(kind: pa.DataType) -> pa.DataType:
    """Spark has no numbers without a sign."""
    return pa.int64() if pa.types.is_integer(kind) else kind
