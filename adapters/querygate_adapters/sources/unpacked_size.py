"""How large a table is once it is unpacked: a file of a few kilobytes can hold terabytes of zeros."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from querygate_adapters.sources.files import translated

CHUNK = 1 << 20
BATCH_ROWS = 4_096
CELL_BYTES = 8
"""What a value of a column takes at least: a Parquet file tells a constant once, however many rows have it."""


def is_larger(path: Path, most_bytes: int) -> bool:
    """Whether a CSV, gzip or Parquet file unpacks to more than this. No more than that is unpacked to find out."""
    with translated(path.name):
        if path.suffix.lower() == ".gz":
            return _unpacks_beyond(path, most_bytes)
        if path.suffix.lower() == ".parquet":
            told = pyarrow.parquet.read_metadata(path)
            packed = sum(told.row_group(place).total_byte_size for place in range(told.num_row_groups))
            if max(packed, told.num_rows * told.num_columns * CELL_BYTES) > most_bytes:
                return True
            return _texts_beyond(path, told, most_bytes)
        return path.stat().st_size > most_bytes


def _texts_beyond(path: Path, told: pyarrow.parquet.FileMetaData, most_bytes: int) -> bool:
    """Whether the texts of all rows take more: a Parquet file tells one once, too, or only how it differs from the one
    before."""
    left = most_bytes
    for place in range(told.num_columns):
        column = told.schema.column(place)
        if column.physical_type != "BYTE_ARRAY" or "." in column.path:
            continue
        for batch in _batches(path, told, place, most_bytes):
            left -= _decoded_bytes(batch.column(0))
            if left < 0:
                return True
    return False


def _batches(
    path: Path, told: pyarrow.parquet.FileMetaData, place: int, most_bytes: int
) -> Iterator[pyarrow.RecordBatch]:
    """A column of texts. Dictionaries are kept, so that a text that many rows share is in memory once. Differences have
    to be decoded: of those, no more rows at once than fit, were each text as long as the packed column."""
    name = told.schema.column(place).path
    chunks = [told.row_group(group).column(place) for group in range(told.num_row_groups)]
    if any("DELTA_BYTE_ARRAY" in chunk.encodings for chunk in chunks):
        longest = max(chunk.total_uncompressed_size for chunk in chunks)
        rows = max(1, min(BATCH_ROWS, most_bytes // max(1, longest)))
        yield from pyarrow.parquet.ParquetFile(path).iter_batches(rows, columns=[name])
        return
    yield from pyarrow.parquet.ParquetFile(path, read_dictionary=[name]).iter_batches(BATCH_ROWS, columns=[name])


def _decoded_bytes(values: pyarrow.Array) -> int:
    if not isinstance(values, pyarrow.DictionaryArray):
        return int(values.nbytes)
    lengths = pyarrow.compute.binary_length(values.dictionary).cast("int64")
    return int(pyarrow.compute.sum(lengths.take(values.indices)).as_py() or 0)


def _unpacks_beyond(path: Path, most_bytes: int) -> bool:
    with gzip.open(path, "rb") as stream:
        left = most_bytes
        while left >= 0 and (read := len(stream.read(CHUNK))):
            left -= read
    return left < 0
