"""Spark as the engine of a publication: tables are Parquet in one folder, and statements are those of other engines.

Everything that comes from Spark to this process passes `figures`: values of one column with their counts, counts of
codes, boxes and cells. Nobody asks for rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from querygate.core.errors import ConfigError
from querygate.core.files.full_disk import is_full_disk
from querygate.core.types import Array
from querygate_adapters.store.spark_session import FAILURES, is_alive, open_session, quiet

CODE = "QG804"
_SQL = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
}
"""With these, Spark understands the statements of the other engines."""


class SparkEngine:
    """A session of its own in the application of this process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with asking():
            self.session: SparkSession = open_session(CODE).newSession()
            for name, value in _SQL.items():
                self.session.conf.set(name, value)
        self._check_workers()

    def _check_workers(self) -> None:
        """ConfigError if Spark's workers cannot run what this process sends them."""
        here, found = version("querygate"), []

        def have(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for _ in batches:
                yield pa.RecordBatch.from_pydict({"same": [version("querygate") == here]})

        with asking(self.session), suppress(PySparkException):
            found = self.figures(self.session.range(1).mapInArrow(have, "same boolean"))[0].to_pylist()
        if found != [True]:
            raise ConfigError(
                CODE,
                f"Spark's workers do not have QueryGate {here}.",
                "Install the same version there, and have PYSPARK_PYTHON name the interpreter that has it.",
            )

    def query(self, sql: str) -> dict[str, Array]:
        """Figures as arrays; masked where a value is missing."""
        return {name: _array(column) for name, column in self.table(sql).items()}

    def table(self, sql: str) -> Mapping[str, pa.ChunkedArray]:
        """The same as Arrow has them."""
        with asking(self.session):
            found = self.session.sql(sql)
            return dict(zip(found.columns, self.figures(found), strict=True))

    def figures(self, rows: DataFrame) -> list[pa.ChunkedArray]:
        """The columns of a result: the only door from Spark to this process."""
        table: pa.Table = rows.toArrow()
        return list(table.columns)

    def rows(self, sql: str) -> DataFrame:
        """The result of a statement, where it is."""
        with asking(self.session):
            return self.session.sql(sql)

    def keep(self, table: str, select: str) -> None:
        self.put(table, self.rows(select))

    def put(self, table: str, rows: DataFrame, place: Path | None = None) -> None:
        """Write rows and read them from there from now on."""
        place = place or self._folder / table
        with asking(self.session):
            rows.write.mode("overwrite").parquet(f"file://{place}")
        self.open(table, place)

    def open(self, table: str, place: Path) -> None:
        with asking(self.session):
            self.session.read.parquet(f"file://{place}").createOrReplaceTempView(table)

    def give(self, table: str, rows: pa.Table) -> None:
        with asking(self.session):
            self.session.createDataFrame(rows).createOrReplaceTempView(table)

    def drop(self, table: str) -> None:
        with asking(self.session):
            self.session.catalog.dropTempView(table)


@contextmanager
def asking(session: SparkSession | None = None) -> Iterator[None]:
    """What Spark says of a failure may quote a value: it becomes a coded error that does not."""
    try:
        with quiet():
            yield
    except FAILURES as error:
        if is_full_disk(error):
            raise
        if session is not None and not is_alive(session):
            raise ConfigError(
                CODE,
                "Spark was lost during the publication. Nothing was published.",
                "Find out why it ended (often: too little memory for its driver), and run the command again.",
            ) from None
        raise ConfigError(
            CODE,
            "Spark could not finish a step of the publication. Nothing was published.",
            "Spark's own log says why. Often its workers have too little memory, do not have the same QueryGate as "
            "this machine, or cannot write to the folder of the vault.",
        ) from None


def _array(column: pa.ChunkedArray) -> Array:
    if not column.null_count:
        found: Array = column.to_numpy()
        return found
    missing = column.is_null().to_numpy()
    if pa.types.is_string(column.type):
        return np.ma.MaskedArray(column.to_numpy(), missing)
    return np.ma.MaskedArray(column.fill_null(0).to_numpy(), missing)
