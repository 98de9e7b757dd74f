"""A published version with the class of each cell, for the custodian's reports. No vault is opened."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from querygate.core.block import Block, RowClasses
from querygate_adapters.store.catalog_json import NAME
from querygate_adapters.store.cell_query import make_block, projection
from querygate_adapters.store.duckdb_store import DuckDBRelease, version_file


class ClassedRelease(DuckDBRelease):
    """One published version whose cells can be read by class."""

    def by_class(self, names: Collection[str], margin: int | None = None) -> Block:
        """The cells (for views: of one margin) grouped by these columns and by class; `classified` is the class of each
        row.
        """
        columns = [column for column in self.catalog.columns if column.name in names]
        wanted = projection(self.catalog, columns, by_class=True, margin=margin)
        found = self._connection.cursor().execute(wanted).fetchnumpy()
        block = make_block(self.catalog, columns, found, self.dictionaries, margin=margin)
        labels = np.asarray(found["class"], dtype=np.int64)
        return replace(block, classified=RowClasses(labels, np.arange(block.size), {}))


def open_version(store: Path, dataset: str, version: int, *, memory_mb: int = 1024) -> ClassedRelease | None:
    """A version, served or not; None if its file is missing."""
    if not NAME.fullmatch(dataset):
        return None
    path = version_file(store / dataset, version)
    return ClassedRelease(path, memory_mb=memory_mb) if path.exists() else None
