"""A version's file as it was written, read back for the verifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.carried_classes import CarriedClasses
from querygate.core.files.file_digest import FileDigest
from querygate.core.types import Array, Catalog, Ints
from querygate_adapters.store.catalog_json import catalog_from_json, catalog_to_json
from querygate_adapters.store.class_moments import TABLE
from querygate_adapters.store.duckdb_lockdown import connect
from querygate_adapters.vault.carried_rows import is_carried, keep_gone
from querygate_adapters.vault.distinct_rows import distinct_rows
from querygate_adapters.vault.store_strays import strays
from querygate_adapters.vault.written_margins import WrittenMargins

SMALL = {
    "set_value": "column_id, set_id, value_id",
    "value_text": "column_id, value_id",
    "code_item": "column_id, code, item_id",
    "item_set": "column_id, set_id, item_id",
    TABLE: "column_id, class",
}
"""The tables of a store besides its cells, and the order in which they are read."""


def _alone(path: Path) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    return closing(connect(path, read_only=True))


class WrittenStore:
    """A staged store file, reopened and read as it is. Opening it costs more than reading it, so all of it is read at
    once; the cells, which may be many, are handed over and not kept.
    """

    def __init__(
        self,
        path: Path,
        opened: Callable[[Path], AbstractContextManager[duckdb.DuckDBPyConnection]] = _alone,
        carried: CarriedClasses | None = None,
    ) -> None:
        self._path, self._opened, self._carried = path, partial(opened, path), carried

    def digest(self) -> FileDigest:
        return FileDigest.of(self._path)

    def catalog(self) -> Catalog:
        return self._catalog

    def cells(self, quasi: Sequence[int]) -> dict[str, Array]:
        """All cells but those of classes that were carried over, with `box`: a number for each distinct combination of
        the published quasi-identifiers.
        """
        found = self._tables.pop("cells", None) or self._read()["cells"]
        boxes = [values for name, values in found.items() if name.startswith(_stems(quasi))]
        return {**found, "box": distinct_rows(boxes, np.asarray(found["class"], dtype=np.int64))}

    @contextmanager
    def margins(self) -> Iterator[WrittenMargins]:
        """The margins of a version of views; the file is open as long as they are read."""
        with self._opened() as database:
            yield WrittenMargins(database)

    def sets(self, column: int) -> tuple[Ints, Ints, tuple[str, ...]]:
        """(set id, value id) of every member of the column's sets, and the text of each value id; -1 is missing."""
        members, texts = self._of("set_value", column), self._of("value_text", column)["text"]
        return members["set_id"].astype(np.int64), members["value_id"].astype(np.int64), tuple(map(str, texts))

    def code_sets(self, column: int) -> tuple[tuple[str, ...], Ints, Ints, Ints]:
        """Codes and the item of each, sets and the item of each, one entry for each row as it is, in order."""
        items, sets = self._of("code_item", column), self._of("item_set", column)
        of_code, of_set, held = (part.astype(np.int64) for part in (items["item_id"], sets["set_id"], sets["item_id"]))
        return tuple(map(str, items["code"])), of_code, of_set, held

    def moments(self, column: int) -> dict[str, Array]:
        """The moments of the column's classes as they are, in order of class."""
        return self._of(TABLE, column)

    def strays(self) -> Iterator[str]:
        """Broken promises about tables, columns and rows: content that the catalog does not call for."""
        with self._opened() as database:
            yield from strays(database, self._path, self.catalog())
            if database.execute("SELECT body FROM catalog").fetchall() != [(catalog_to_json(self.catalog()),)]:
                yield "the catalog says nothing twice or beside"

    def tables(self) -> dict[str, pa.Table]:
        """Everything published except the catalog; columns and margins are in the cells."""
        with self._opened() as database:
            names = [name for (name,) in database.execute("SHOW TABLES").fetchall() if name != "catalog"]
            return {name: database.table(name).to_arrow_table() for name in names}

    def _of(self, table: str, column: int) -> dict[str, Array]:
        found = self._tables[table]
        here = found["column_id"] == column
        return {name: values[here] for name, values in found.items()}

    @cached_property
    def _catalog(self) -> Catalog:
        return catalog_from_json(self._tables["catalog"]["body"][0])

    @cached_property
    def _tables(self) -> dict[str, dict[str, Array]]:
        return self._read()

    def _read(self) -> dict[str, dict[str, Array]]:
        found = {}
        with self._opened() as database:
            if self._carried is not None:
                keep_gone(database, self._carried)
            for name in ("catalog", "cells", *SMALL):
                order = f" ORDER BY {SMALL[name]}" if name in SMALL else ""
                with suppress(duckdb.CatalogException):  # not every version has it; to list tables takes longer
                    found[name] = dict(database.execute(f"SELECT * FROM {name}{self._made(name)}{order}").fetchnumpy())
        return found

    def _made(self, table: str) -> str:
        """SQL: of tables of classes only what was made anew."""
        if self._carried is None or table not in ("cells", TABLE):
            return ""
        return f" WHERE NOT {is_carried(self._carried)}"


def _stems(columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"c{index}_" for index in columns)
