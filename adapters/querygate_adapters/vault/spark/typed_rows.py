"""Rows of a source as the policy's types, batch by batch: how Spark's workers read them.

The values are amended and typed by the same statements as rows that are read into a file. Each value that is there but
cannot be read leaves a mark in a column of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain

import pyarrow as pa

from querygate.core.publications.vault_ports import ReadAs
from querygate_adapters.sources.amended_source import amended
from querygate_adapters.sources.files import BATCH_ROWS, quoted
from querygate_adapters.sources.value_casts import cast_column, is_sure, is_unread
from querygate_adapters.store.duckdb_lockdown import in_memory
from querygate_adapters.vault.free_names import free_stem


@dataclass(frozen=True)
class TypedRows:
    """The wanted columns (name -> type) of a source whose rows come as batches of this schema."""

    columns: Mapping[str, str]
    read_as: ReadAs
    schema: pa.Schema

    @property
    def needed(self) -> tuple[str, ...]:
        """The source's own columns that these are made of."""
        source = _Batches(self._none, self.schema.names)
        amended(source, self.read_as).batches(tuple(self.columns))
        return tuple(dict.fromkeys(source.asked))

    @property
    def result(self) -> pa.Schema:
        """What comes out: the columns, and the marks."""
        return self._typed(self._none).schema

    @property
    def _none(self) -> pa.RecordBatchReader:
        return self.schema.empty_table().to_reader()

    @property
    def marks(self) -> dict[str, str]:
        """The mark of each column that may have values that cannot be read."""
        stem = free_stem("wrong", list(self.columns))
        names = self.result.names
        return {name: mark for i, name in enumerate(self.columns) if (mark := f"{stem}{i}") in names}

    def of(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Of batches with the needed columns, in this order and under any names. Runs in Spark's workers."""
        names = list(self.needed)
        named = (batch.rename_columns(names) for batch in batches)
        first = next(named, None)
        if first is None:
            return
        yield from self._typed(pa.RecordBatchReader.from_batches(first.schema, chain([first], named)))

    def _typed(self, reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
        incoming = amended(_Batches(reader, self.schema.names), self.read_as).batches(tuple(self.columns))
        database = in_memory(threads="1")  # in the order in which rows arrive
        database.register("incoming", incoming)
        found = {str(row[0]): str(row[1]) for row in database.execute("DESCRIBE SELECT * FROM incoming").fetchall()}
        casts = {name: cast_column(name, kind, found[name], self.read_as.person) for name, kind in self.columns.items()}
        stem = free_stem("wrong", list(self.columns))
        listed = [f"{cast} AS {quoted(name)}" for name, cast in casts.items()]
        listed += [
            f"{is_unread(name, casts[name])} AS {stem}{i}"
            for i, (name, kind) in enumerate(self.columns.items())
            if not is_sure(kind, found[name])
        ]
        return database.sql(f"SELECT {', '.join(listed)} FROM incoming").to_arrow_reader(BATCH_ROWS)


@dataclass(frozen=True)
class _Batches:
    """Batches that have come as a source that is read once."""

    reader: pa.RecordBatchReader
    names: Sequence[str]
    asked: list[str] = field(default_factory=list)

    def columns(self) -> tuple[str, ...]:
        return tuple(self.names)

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        self.asked.extend(columns)
        schema = pa.schema([self.reader.schema.field(name) for name in columns])
        return pa.RecordBatchReader.from_batches(schema, (batch.select(list(columns)) for batch in self.reader))

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()
