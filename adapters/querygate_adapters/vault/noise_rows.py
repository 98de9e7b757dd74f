"""Columns of raw rows for noisy answers. It reads vaults, and only the noisy path gets it.

The database is asked for whole columns and nothing else: neither the question nor its time depends on the content of a
row, or on the rows that a statement selects. Columns are cached until others need the room, as public codes if a column
has few values.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.errors import NotPermitted
from querygate.core.noise_ports import RowCodes, RowColumn, RowNumbers, Rows
from querygate.core.ports import Limits
from querygate.core.types import Array, Catalog, Column, Ints, folded
from querygate_adapters.sources.files import quoted
from querygate_adapters.store.duckdb_lockdown import connect, limited
from querygate_adapters.store.duckdb_store import version_file

MOST_CODED = 100_000
"""Columns with at most this many whole numbers or days in their domain are cached as codes."""

ORDER = ""
"""Stands for the order of the rows in place of a column name."""


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The number of rows and, if persons are identified, the order of the rows and the person of each."""

    size: int
    places: Ints | None = None
    persons: Ints | None = None


Part: TypeAlias = tuple[Path, str, str]  # the file, the column that identifies persons, the column


class VaultColumns:
    """The vaults of a site, each opened only to read columns that are not cached."""

    def __init__(self, vault: Path, *, memory_mb: int) -> None:
        self._vault, self._memory_mb = vault, memory_mb
        self._kept: OrderedDict[Part, RowColumn | RowOrder] = OrderedDict()
        self._written: dict[Path, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def read(self, catalog: Catalog, names: Collection[str], limits: Limits) -> Rows:
        """These columns of all rows, and the person of each row."""
        path = version_file(self._vault / catalog.dataset, catalog.version)
        person = catalog.noise.person if catalog.noise is not None else ""
        wanted = [(path, person, name) for name in (ORDER, *sorted(names))]
        with self._lock:
            self._renew(path)
            missing = [part for part in wanted if part not in self._kept]
            if missing:
                self._load(path, missing, catalog, limits)
            found = {}
            for part in wanted:
                found[part[2]] = self._kept[part]
                self._kept.move_to_end(part)
            self._make_room()
        order = found.pop(ORDER)
        if not isinstance(order, RowOrder):
            raise TypeError("the order of the rows is read first")
        columns = {name: column for name, column in found.items() if not isinstance(column, RowOrder)}
        return Rows(order.size, columns, order.persons)

    def _renew(self, path: Path) -> None:
        """Drop what was read from a file that has changed since, for example after a person was deleted."""
        try:
            told = path.stat()
        except FileNotFoundError:
            raise NotPermitted(
                "QG310",
                "Noisy answers need the raw rows, and this gate has no access to them.",
                "Ask for guaranteed ranges, or ask the custodian.",
            ) from None
        written = (told.st_ino, told.st_mtime_ns)
        if self._written.get(path) != written:
            self._kept = OrderedDict((part, kept) for part, kept in self._kept.items() if part[0] != path)
            self._written[path] = written

    def _make_room(self) -> None:
        """The least recently used columns are dropped first."""
        most = self._memory_mb * 2**20 // 2
        sizes = {part: _bytes(kept) for part, kept in self._kept.items()}
        held = sum(sizes.values())
        while held > most:
            part, _ = self._kept.popitem(last=False)
            held -= sizes[part]

    def _load(self, path: Path, missing: Sequence[Part], catalog: Catalog, limits: Limits) -> None:
        try:
            with connect(path, read_only=True, memory_mb=self._memory_mb) as database:
                for part in missing:
                    with limited(database, limits.timeout_s):
                        self._kept[part] = self._read(database, part, catalog)
        except duckdb.Error:
            raise NotPermitted(
                "QG305", "The rows could not be read for this statement.", "Ask again, or ask the custodian."
            ) from None

    def _read(self, database: duckdb.DuckDBPyConnection, part: Part, catalog: Catalog) -> RowColumn | RowOrder:
        path, person, name = part
        if name == ORDER:
            return _order(database, person)
        order = self._kept[path, person, ORDER]
        if not isinstance(order, RowOrder):
            raise TypeError("the order of the rows is read first")
        if order.persons is not None and folded(name) == folded(person):
            return RowNumbers(order.persons, order.persons < 0)
        column = catalog.column(name)
        if column is None:
            raise ValueError("a statement reads published columns")
        table = database.sql(f"SELECT {quoted(column.name)} AS x FROM rows").to_arrow_table()
        return _column(table.column("x").combine_chunks(), column, order.places)


def _order(database: duckdb.DuckDBPyConnection, person: str) -> RowOrder:
    """Rows of one person together, in a fixed random order: by the person and the position among their own rows.

    It depends on nobody else. A position in the whole table would not do: without one person, different rows of
    others would be kept, so one person would change what many contribute.
    """
    if not person:
        return RowOrder(int(database.execute("SELECT count(*) FROM rows").fetchall()[0][0]))
    row = quoted(str(database.execute("SELECT column_name FROM (DESCRIBE rows) LIMIT 1").fetchall()[0][0]))
    who = quoted(person)
    table = database.sql(f"SELECT {who} AS who, hash({who}) AS h, {row} AS r FROM rows").to_arrow_table()
    persons = table.column("who").combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy().astype(np.int64)
    places = np.lexsort((table.column("r").to_numpy(), persons))
    own = persons[places]
    nth = np.arange(len(own)) - np.searchsorted(own, own, side="left")
    chance = _mixed(table.column("h").to_numpy()[places] + nth.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    places = places[np.lexsort((chance, own))]
    return RowOrder(len(persons), places, persons[places])


def _mixed(numbers: Array) -> Array:
    """Scatters neighbouring numbers: the last step of SplitMix64 (Steele, Lea and Flood 2014)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    found: Array = numbers ^ (numbers >> np.uint64(31))
    return found


def _column(found: pa.Array, column: Column, places: Ints | None) -> RowColumn:
    """A column as codes where it has few public values, else as numbers."""
    ordered = slice(None) if places is None else places
    if not column.is_numeric:
        return RowCodes(np.array(column.values, dtype=object), _text_codes(found, column.values)[ordered])
    missing = found.is_null().to_numpy(zero_copy_only=False)
    if column.type == "number":
        return RowNumbers(found.cast(pa.float64()).fill_null(0.0).to_numpy()[ordered], missing[ordered])
    units = {"date": (pa.date32(), pa.int32()), "timestamp": (pa.timestamp("us"), pa.int64())}
    for unit in units.get(column.type, ()):
        found = found.cast(unit)
    numbers = found.cast(pa.int64()).fill_null(0).to_numpy()
    if column.low is None or column.high is None or column.high - column.low >= MOST_CODED:
        return RowNumbers(numbers[ordered], missing[ordered])
    values = np.arange(int(column.low), int(column.high) + 1, dtype=np.int64)
    codes = np.where(missing, len(values), np.clip(numbers - int(column.low), 0, len(values) - 1))
    return RowCodes(values, codes.astype(np.min_scalar_type(len(values)))[ordered])


def _text_codes(found: pa.Array, values: Sequence[str]) -> Array:
    """The position of each text among the public ones; one past the last if it is missing or not public."""
    coded = found.cast(pa.string()).dictionary_encode()
    place = {value: i for i, value in enumerate(values)}
    table = [place.get(text, len(values)) for text in coded.dictionary.to_pylist()]
    codes = np.array([*table, len(values)], dtype=np.min_scalar_type(len(values)))
    found_codes: Array = codes[coded.indices.fill_null(-1).to_numpy()]
    return found_codes


def _bytes(kept: RowColumn | RowOrder) -> int:
    held = {
        RowCodes: ("codes",),
        RowNumbers: ("numbers", "missing"),
        RowOrder: ("places", "persons"),
    }[type(kept)]
    return sum(int(array.nbytes) for array in (getattr(kept, name) for name in held) if array is not None)
