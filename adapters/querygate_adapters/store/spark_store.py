"""The published plane as Parquet files that Spark reads: versions that `spark_writer` copied there, and nothing else.

    spark:/srv/querygate            the setting `store`: a folder that the gate and Spark's workers see alike

    patients/v00003/cells.parquet   the cells; beside them set_value, value_text, code_item, item_set, class_moment
    patients/v00003/catalog.json
    patients/current                the text "3"; gone where the dataset was withdrawn

Cells are grouped by Spark's workers; only sums of counts come to the gate. Sets, texts and moments, which are few, it
reads itself.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Collection
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from querygate.core.block import Block, ClassMoments, CodeSets, Dictionary
from querygate.core.errors import ConfigError
from querygate.core.limits.deadline import over_the_limit
from querygate.core.ports import Limits
from querygate.core.rights import no_dataset
from querygate.core.types import Array, Catalog, Column
from querygate_adapters.store.catalog_json import NAME, KeptBlocks, Names, catalog_from_json, withdrawn
from querygate_adapters.store.cell_query import Dialect, Dictionaries, make_block, projection
from querygate_adapters.store.class_moments import COLUMNS, TABLE, make_moments, wanted_columns
from querygate_adapters.store.code_sets import read_code_sets
from querygate_adapters.store.duckdb_store import current_version, has_damaged_pointer
from querygate_adapters.store.interruption import interrupted_after
from querygate_adapters.store.spark_session import FAILURES, is_alive, open_session, quiet

CODE = "QG804"
KIND = "spark:"
CATALOG = "catalog.json"

SPARK = Dialect("{cells}")
"""PySpark puts a DataFrame in the place of a name in braces."""

_VERSION = re.compile(r"v(\d{5,})")


def store_folder(location: str, code: str) -> Path:
    """The folder of a location such as spark:/srv/querygate; ConfigError with the code where it is none."""
    place = location.removeprefix(KIND)
    if not place.startswith("/"):
        raise ConfigError(
            code,
            "A store for Spark is a folder that this machine and Spark's workers see under the same path.",
            "Write spark:/PATH/OF/THE/FOLDER.",
        )
    return Path(place)


def version_folder(folder: Path, version: int) -> Path:
    return folder / f"v{version:05d}"


def versions_in(folder: Path) -> tuple[int, ...]:
    """Versions that are there whole, in rising order."""
    found = (_VERSION.fullmatch(path.name) for path in folder.glob("v*"))
    return tuple(sorted(int(match[1]) for match in found if match))


class SparkStore:
    """All datasets of one folder. Releases stay open and are shared by threads; Spark is begun with the first."""

    def __init__(self, location: str, *, memory_mb: int = 1024) -> None:
        self._root, self._memory_mb = store_folder(location, "QG805"), memory_mb
        self._open: dict[str, SparkRelease] = {}
        self._lock = threading.Lock()

    def datasets(self) -> tuple[str, ...]:
        return tuple(sorted(path.parent.name for path in self._root.glob("*/current")))

    def versions(self, dataset: str) -> tuple[int, ...]:
        return versions_in(self._folder(dataset))

    def current(self, dataset: str) -> SparkRelease:
        """The version being served, opened once and kept until another one is served."""
        folder = self._folder(dataset)
        version = current_version(folder)
        if has_damaged_pointer(folder):
            raise ConfigError(
                CODE,
                f"{dataset}/current, which says what version of {dataset} is served, is damaged.",
                "Have the custodian run `querygate store copy` again.",
            )
        if version is None:
            raise withdrawn() if versions_in(folder) else no_dataset()
        with self._lock:
            release = self._open.get(dataset)
            if release is None or release.catalog.version != version:
                try:
                    release = SparkRelease(version_folder(folder, version), memory_mb=self._memory_mb)
                except (OSError, pa.ArrowException, ValueError):  # their words may quote what they read
                    raise ConfigError(
                        CODE,
                        f"Version {version} of {dataset} is to be served, but its files are missing or damaged.",
                        "Remove its folder, and have the custodian run `querygate store copy` again.",
                    ) from None
                self._open[dataset] = release
            return release

    def _folder(self, dataset: str) -> Path:
        if not NAME.fullmatch(dataset):
            raise no_dataset()
        return self._root / dataset


class SparkRelease:
    """One published version. `project` groups cells inside Spark; only sums of counts come out."""

    def __init__(self, folder: Path, *, memory_mb: int = 1024) -> None:
        self._folder, self._memory_mb = folder, memory_mb
        self.catalog: Catalog = catalog_from_json((folder / CATALOG).read_text(encoding="utf-8"))
        self.dictionaries: Dictionaries = {
            column.index: self._code_sets(column) if column.is_codes else self._dictionary(column)
            for column in self.catalog.columns
            if not column.is_numeric and not column.groups
        }
        self._blocks = KeptBlocks()
        self._moments: dict[int, ClassMoments] = {}
        self._found: tuple[SparkSession, DataFrame] | None = None

    def project(
        self,
        names: Collection[str],
        limits: Limits,
        moments: Collection[str] = (),
        margin: int | None = None,
        by_class: bool = False,
    ) -> Block:
        """The cells grouped to these columns, and to classes where these or their moments are wanted."""
        return self._blocks.get(names, moments, margin, by_class, partial(self._read, limits))

    def _read(self, limits: Limits, names: Names, moments: Names, margin: int | None, by_class: bool) -> Block:
        columns = [column for column in self.catalog.columns if column.name in names]
        told = {column.name: self.moments(column) for column in wanted_columns(self.catalog, moments, margin)}
        by = by_class or bool(told)
        wanted = projection(self.catalog, columns, by_class=by, margin=margin, dialect=SPARK)
        table = self._grouped(wanted, limits)
        found = {name: _plain(table.column(name)) for name in table.column_names}
        return make_block(self.catalog, columns, found, self.dictionaries, told, margin, by_class=by_class)

    def moments(self, column: Column) -> ClassMoments:
        """What is told about the classes of a column, read once."""
        if column.index not in self._moments:
            found = self._of(TABLE, column).sort_by("class")
            names = COLUMNS.split(", ")[1:]
            self._moments[column.index] = make_moments([found[name].to_numpy() for name in names])
        return self._moments[column.index]

    def _grouped(self, statement: str, limits: Limits) -> pa.Table:
        """The result of a statement about the cells, within the limits; QG305 beyond them."""
        tag = f"querygate-{secrets.token_hex(8)}"
        try:
            session, cells = self._cells()
            context = session.sparkContext
            with interrupted_after(limits.timeout_s, lambda: context.cancelJobsWithTag(tag)) as late, quiet():
                context.addJobTag(tag)
                try:
                    table: pa.Table = session.sql(statement, cells=cells).toArrow()
                except FAILURES as error:
                    if late.is_set() or "maxResultSize" in str(error):
                        raise over_the_limit() from None
                    raise
                finally:
                    context.removeJobTag(tag)
        except FAILURES:
            raise _not_reached() from None
        if table.nbytes > min(limits.memory_mb, self._memory_mb) * 2**20:
            raise over_the_limit()
        return table

    def _cells(self) -> tuple[SparkSession, DataFrame]:
        """The cells as Spark has them: anew where its driver was killed since."""
        if self._found is None or not is_alive(self._found[0]):
            session = open_session(CODE, memory_mb=self._memory_mb)
            self._found = session, session.read.parquet(str(self._folder / "cells.parquet"))
        return self._found

    def _dictionary(self, column: Column) -> Dictionary:
        texts = self._of("value_text", column).sort_by("value_id")["text"].to_pylist()
        return Dictionary.of(texts, self._pairs("set_value", "value_id", column))

    def _code_sets(self, column: Column) -> CodeSets:
        codes = self._of("code_item", column)
        entries = zip(codes["item_id"].to_pylist(), codes["code"].to_pylist(), strict=True)
        return read_code_sets(column, entries, self._pairs("item_set", "item_id", column))

    def _pairs(self, table: str, member: str, column: Column) -> list[tuple[int, int]]:
        found = self._of(table, column)
        return sorted(zip(found["set_id"].to_pylist(), found[member].to_pylist(), strict=True))

    def _of(self, table: str, column: Column) -> pa.Table:
        return pq.read_table(self._folder / f"{table}.parquet", filters=[("column_id", "=", column.index)])


def _plain(column: pa.ChunkedArray) -> Array:
    """As NumPy has it; where there is no value, zero."""
    found: Array = column.fill_null(0).to_numpy()
    return found


def _not_reached() -> ConfigError:
    return ConfigError(
        CODE,
        "Spark cannot read the store.",
        "Check that Spark runs, and that its workers see the folder that the setting `store` names.",
    )
