"""The unpacked size of a table: a file of a few kilobytes can hold terabytes of zeros."""

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
"""The least memory of a column's value: a Parquet file stores a constant once, however many rows have it."""


def is_larger(path: Path, most_bytes: int) -> bool:
    """Whether a CSV, gzip or Parquet file unpacks to more than this. It unpacks no more than that to find out."""
    with translated(path.name):
        if path.suffix.lower() == ".gz":
            return _unpacks_beyond(path, most_bytes)
        if path.suffix.lower() == ".parquet":
            told = pyarrow.parquet.read_metadata(path)
            groups = [told.row_group(place) for place in range(told.num_row_groups)]
            packed = sum(group.total_byte_size for group in groups)
            cells = sum(_values(told, place) for place in range(told.num_columns))  # for a list, each of its values
            if max(packed, cells * CELL_BYTES) > most_bytes:
                return True
            return _texts_beyond(path, told, most_bytes)
        return path.stat().st_size > most_bytes


def _chunks(told: pyarrow.parquet.FileMetaData, place: int) -> list[pyarrow.parquet.ColumnChunkMetaData]:
    return [told.row_group(group).column(place) for group in range(told.num_row_groups)]


def _values(told: pyarrow.parquet.FileMetaData, place: int) -> int:
    return sum(chunk.num_values for chunk in _chunks(told, place))


def _texts_beyond(path: Path, told: pyarrow.parquet.FileMetaData, most_bytes: int) -> bool:
    """Whether the texts of all rows take more: a Parquet file may store a text once, or only its difference from the
    one before."""
    left = most_bytes
    for place in range(told.num_columns):
        column, chunks = told.schema.column(place), _chunks(told, place)
        if column.physical_type != "BYTE_ARRAY":
            continue
        longest = max((chunk.total_uncompressed_size for chunk in chunks), default=0)
        is_by_difference = any("DELTA_BYTE_ARRAY" in chunk.encodings for chunk in chunks)
        if is_by_difference and column.max_repetition_level:  # one row may have all of them: their largest size
            left -= longest * _values(told, place)
        rows = max(1, min(BATCH_ROWS, most_bytes // max(1, longest))) if is_by_difference else BATCH_ROWS
        for batch in _batches(path, column.path, rows, kept=not is_by_difference) if left >= 0 else ():
            left -= _decoded_bytes(batch.column(0))
            if left < 0:
                break
        if left < 0:
            return True
    return False


def _batches(path: Path, column: str, rows: int, *, kept: bool) -> Iterator[pyarrow.RecordBatch]:
    """A column of texts, or of lists of them. Dictionaries are kept, so that a text that many rows share is in memory
    once. Differences have to be decoded, in batches that would fit even if each text were as long as the packed
    column."""
    file = pyarrow.parquet.ParquetFile(path, read_dictionary=[column] if kept else None)
    yield from file.iter_batches(rows, columns=[column])


def _decoded_bytes(values: pyarrow.Array) -> int:
    while pyarrow.types.is_nested(values.type):  # one column was read, so there is only one path down
        values = pyarrow.concat_arrays(values.flatten()) if pyarrow.types.is_struct(values.type) else values.flatten()
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
