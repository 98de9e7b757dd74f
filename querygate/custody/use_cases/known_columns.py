"""The part of a version's raw records that may be read before an answer: its known columns, and no others.

Secret columns and identifiers are not read at all, so that no decision can depend on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import pyarrow as pa

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Source
from querygate.core.types import Catalog
from querygate.custody.audit.query_structure import Structure, known_columns
from querygate.site.layout import Site
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.store.duckdb_store import version_file
from querygate_adapters.vault.raw_records import DuckDBRecords


class Columns:
    """A source with only some of its columns."""

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        self._source, self._names = source, tuple(names)

    def columns(self) -> tuple[str, ...]:
        return self._names

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        return self._source.batches([name for name in columns if name in self._names])

    def reading(self) -> AbstractContextManager[None]:
        return self._source.reading()


def open_structure(site: Site, catalog: Catalog) -> Structure:
    """The places of a version; ConfigError QG804 if its raw records are not here."""
    path = version_file(site.vault / catalog.dataset, catalog.version)
    if not path.exists():
        raise ConfigError(
            "QG804",
            f"This site's vault does not have the raw records of {catalog.dataset}, version {catalog.version}.",
            "Run the command where the version was published.",
        )
    records = DuckDBRecords(Columns(open_source(f"duckdb:{path}#rows"), known_columns(catalog)))
    return Structure(records, catalog)
