"""A table of a Spark catalog, or a folder of files that Spark reads, as a source.

    spark:#hospital.patients      a table or view of the catalog
    spark:/data/patients          a folder (or any location Spark knows) of Parquet files
    spark:/data/patients#csv      the same with CSV files, each with a header; all columns are texts

Spark's own settings (SPARK_HOME, spark-defaults.conf) say where it runs; without any it runs on this machine. It only
reads, and gets no SQL. Its workers send the rows as Arrow batches, one partition after the other, so that memory is
bounded by the largest partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import or_

import duckdb
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, functions
from pyspark.sql.pandas.types import to_arrow_schema

from querygate.core.derived_columns import EventCondition
from querygate.core.errors import ConfigError
from querygate.core.files.full_disk import is_full_disk
from querygate_adapters.store.spark_session import FAILURES, is_alive, open_session, quiet

CODE = "QG802"
_EXACT = ("string", "byte", "short", "integer", "long")
"""Types that are written as text in the same way everywhere."""

FORMATS = ("parquet", "csv")

# A row with too few or too many fields is an error, as in other CSV files; nothing is guessed.
_CSV: dict[str, bool | str] = {
    "header": True,
    "inferSchema": False,
    "mode": "FAILFAST",
    "quote": '"',
    "escape": '"',
    "enforceSchema": False,
}


class SparkTable:
    """One table or folder. Every read is a separate job."""

    def __init__(self, location: str) -> None:
        place, _, fragment = location.partition("#")
        if not place and not fragment:
            raise ConfigError(CODE, "The source names no table.", "Write spark:#schema.table or spark:FOLDER.")
        if place and fragment not in ("", *FORMATS):
            raise ConfigError(
                CODE, f"Spark: {fragment!r} is not a supported file format.", f"Accepted: {', '.join(FORMATS)}."
            )
        self._session: SparkSession | None = None
        with self.reading():
            self._session = open_session(CODE)
            self._rows = _opened(self._session, place, fragment)
            self._columns = tuple(self._rows.columns)

    def columns(self) -> tuple[str, ...]:
        return self._columns

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        """The wanted columns as a stream of Arrow record batches."""
        return self._read(self._rows, columns)

    @property
    def rows(self) -> DataFrame:
        """The rows, where they are."""
        return self._rows

    def selection(self, columns: Sequence[str]) -> DataFrame:
        """The same with the wanted columns alone."""
        return _selection(self._rows, columns)

    def selected(self, columns: Sequence[str], either: Sequence[EventCondition]) -> pa.RecordBatchReader:
        """The same for rows for which a condition may be true: Spark's workers leave the others out."""
        with self.reading():
            kinds = {field.name: field.dataType.typeName() for field in self._rows.schema.fields}
            tests = [_may_be_true(test, kinds[test.column]) for test in either]
            return self._read(self._rows.filter(reduce(or_, tests)), columns)

    def _read(self, rows: DataFrame, columns: Sequence[str]) -> pa.RecordBatchReader:
        with self.reading():
            wanted = _selection(rows, columns)
            return pa.RecordBatchReader.from_batches(to_arrow_schema(wanted.schema), _stream(wanted))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Messages of Spark, and of the engine that pulls the stream, may quote rows."""
        try:
            with quiet():
                yield
        except (*FAILURES, duckdb.Error, pa.ArrowException) as error:
            if is_full_disk(error):
                raise
            if self._session is not None and not is_alive(self._session):
                raise ConfigError(
                    CODE,
                    "Spark was lost while it read the source. Nothing was published.",
                    "Find out why it ended (often: too little memory for its driver), and run the command again.",
                ) from None
            raise ConfigError(
                CODE,
                "Spark cannot read the source.",
                "Check that the table or folder exists, and that its files have the right format.",
            ) from None


def _opened(session: SparkSession, place: str, fragment: str) -> DataFrame:
    if not place:
        return session.table(fragment)
    return session.read.options(**_CSV).csv(place) if fragment == "csv" else session.read.parquet(place)


def _selection(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    return rows.select(*(_name(name) for name in columns))


def _name(column: str) -> str:
    return f"`{column.replace('`', '``')}`"


def _may_be_true(test: EventCondition, kind: str) -> Column:
    """Texts must contain the wanted text, since the reader later ignores spaces around them."""
    column, sought = functions.col(_name(test.column)), (*test.texts, *test.begins)
    if kind not in _EXACT or not sought:
        return functions.lit(True)
    return reduce(or_, [column.cast("string").contains(text) for text in sought])


def _stream(rows: DataFrame) -> Iterator[pa.RecordBatch]:
    def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Runs in Spark's workers, which need pyarrow but not QueryGate: the function is sent by value.
        for batch in batches:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            yield pa.RecordBatch.from_pydict({"batch": [sink.getvalue().to_pybytes()]})

    sent = plainly_named(rows).mapInArrow(packed, "batch binary").toLocalIterator(prefetchPartitions=True)
    schema = to_arrow_schema(rows.schema)
    for row in sent:
        for batch in pa.ipc.open_stream(bytes(row["batch"])):
            yield batch.rename_columns(schema.names).cast(schema)


def plainly_named(rows: DataFrame) -> DataFrame:
    """The same under names that PySpark does not take apart: it reads a dot in a name as a field of a column."""
    return rows.toDF(*(f"c{i}" for i in range(len(rows.columns))))
