"""A version's file as it was written, read back for the verifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.files.file_digest import FileDigest
from querygate.core.publications.carried_classes import CarriedClasses
from querygate.core.publications.class_ranges import ranges_of, records_held
from querygate.core.types import Array, Catalog, Ints
from querygate_adapters.store.catalog_json import catalog_from_json, catalog_to_json
from querygate_adapters.store.cell_query import stored
from querygate_adapters.store.class_moments import TABLE
from querygate_adapters.store.column_arrays import ints
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
    once; the cells, which may be many, are handed over and not kept, or read only when they are asked for, if there are
    more than the room in memory is for.
    """

    def __init__(
        self,
        path: Path,
        opened: Callable[[Path], AbstractContextManager[duckdb.DuckDBPyConnection]] = _alone,
        carried: CarriedClasses | None = None,
        room_bytes: int | None = None,
    ) -> None:
        self._path, self._opened, self._carried = path, partial(opened, path), carried
        self._room_bytes = room_bytes
        self._most: int | None = None  # records of which cells are held

    def digest(self) -> FileDigest:
        return FileDigest.of(self._path)

    def catalog(self) -> Catalog:
        return self._catalog

    def records(self) -> int:
        """How many records the cells have, but those of classes that were carried over."""
        held = self._tables.get("cells")
        return int((held or self._of_cells("COALESCE(SUM(n), 0) AS n"))["n"].sum())

    def ranges(self) -> list[range]:
        """Ranges of all classes, one after the other, of each of which memory holds the cells; none where it holds all
        at once.
        """
        if "cells" in self._tables or self._most is None:
            return []
        found = self._of_cells("class, SUM(n) AS n", "GROUP BY class ORDER BY class")
        classes = ints(found["class"]).tolist()
        begins = [classes[part.start] for part in ranges_of(ints(found["n"]), self._most)]
        return [range(first, behind) for first, behind in pairwise([*begins, *(last + 1 for last in classes[-1:])])]

    def cells(self, quasi: Sequence[int], classes: range | None = None) -> dict[str, Array]:
        """All cells, or those of some classes, but none of classes that were carried over; with `box`: a number for
        each distinct combination of the published quasi-identifiers.
        """
        if classes is None:
            found = self._tables.pop("cells", None) or self._of_cells("*")
        else:
            found = self._of_cells("*", among=f"class >= {classes.start} AND class < {classes.stop}")
        boxes = [values for name, values in found.items() if name.startswith(_stems(quasi))]
        near = np.asarray(found["class"], dtype=np.int64)
        return {**found, "box": distinct_rows(boxes, near - near.min(initial=0))}

    def totals(self, column: int) -> dict[str, Array]:
        """Cells with the same of this column as one, with the records of all of them."""
        told = next(one for one in self.catalog().columns if one.index == column)
        names = ", ".join(stored(told))
        return self._of_cells(f"{names}, CAST(SUM(n) AS BIGINT) AS n", "GROUP BY ALL ORDER BY ALL")

    def _of_cells(self, columns: str, order: str = "", among: str = "true") -> dict[str, Array]:
        with self._reading() as database:
            where = self._made("cells") or " WHERE true"
            return dict(database.execute(f"SELECT {columns} FROM cells{where} AND {among} {order}").fetchnumpy())

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
        with self._reading() as database:
            for name in ("catalog", *SMALL):
                order = f" ORDER BY {SMALL[name]}" if name in SMALL else ""
                with suppress(duckdb.CatalogException):  # not every version has it; to list tables takes longer
                    found[name] = dict(database.execute(f"SELECT * FROM {name}{self._made(name)}{order}").fetchnumpy())
            if self._room_bytes is not None:
                columns = len(catalog_from_json(found["catalog"]["body"][0]).columns)
                self._most = records_held(self._room_bytes, columns)
            [(cells,)] = database.execute("SELECT COUNT(*) FROM cells").fetchall()
            if self._most is None or cells <= self._most:
                found["cells"] = dict(database.execute(f"SELECT * FROM cells{self._made('cells')}").fetchnumpy())
        return found

    @contextmanager
    def _reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._opened() as database:
            if self._carried is not None:
                keep_gone(database, self._carried)
            yield database

    def _made(self, table: str) -> str:
        """SQL: of tables of classes only what was made anew."""
        if self._carried is None or table not in ("cells", TABLE):
            return ""
        return f" WHERE NOT {is_carried(self._carried)}"


def _stems(columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"c{index}_" for index in columns)
