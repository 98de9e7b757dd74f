"""How large a table is once it is unpacked: a file of a few kilobytes can hold terabytes of zeros."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow.parquet

from querygate_adapters.sources.files import translated

CHUNK = 1 << 20
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
            return bool(max(packed, told.num_rows * told.num_columns * CELL_BYTES) > most_bytes)
        return path.stat().st_size > most_bytes


def _unpacks_beyond(path: Path, most_bytes: int) -> bool:
    with gzip.open(path, "rb") as stream:
        left = most_bytes
        while left >= 0 and (read := len(stream.read(CHUNK))):
            left -= read
    return left < 0
