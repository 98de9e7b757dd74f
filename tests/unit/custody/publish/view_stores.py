"""A written version of views beside its raw rows, checked record by record with code of the test's own."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from querygate.core.types import Catalog, Column
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.catalog_json import catalog_from_json
from tests.engine import reading

EPOCH = dt.date(1970, 1, 1)
Cell = Mapping[str, Any]


@dataclass
class ViewStore:
    """One version: its tables, and the raw rows of its vault with the frame cell of each."""

    opened: OpenSite
    dataset: str = "t"
    version: int = 1
    _read: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)

    @cached_property
    def catalog(self) -> Catalog:
        return catalog_from_json(self.table("catalog")[0]["body"])

    def table(self, name: str, plane: str = "store") -> list[dict[str, Any]]:
        folder = self.opened.site.store if plane == "store" else self.opened.site.vault
        if (plane, name) not in self._read:
            with reading(folder / self.dataset / f"v{self.version:05d}.duckdb") as database:
                found = database.execute(f"SELECT * FROM {name}")
                names = [column[0] for column in found.description]
                self._read[plane, name] = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        return self._read[plane, name]

    @cached_property
    def cells(self) -> list[dict[str, Any]]:
        return self.table("cells")

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Raw values as they are on the axis of the store, and the frame cell of each."""
        frame = {row["row_id"]: row["class"] for row in self.table("row_class", "vault")}
        return [{**{n: _axis(v) for n, v in row.items()}, "frame": frame[row["row_id"]]} for row in self._raw]

    @cached_property
    def _raw(self) -> list[dict[str, Any]]:
        return self.table("rows", "vault")

    @cached_property
    def sets(self) -> dict[tuple[int, int], set[str | None]]:
        texts = {(row["column_id"], row["value_id"]): row["text"] for row in self.table("value_text")}
        found: dict[tuple[int, int], set[str | None]] = defaultdict(set)
        for row in self.table("set_value"):
            found[row["column_id"], row["set_id"]].add(texts.get((row["column_id"], row["value_id"])))
        return found

    def may_have(self, column: Column, cell: Cell, value: Any) -> bool:
        """Does the cell allow the value?"""
        stem = f"c{column.index}"
        if not column.is_numeric:
            return value in self.sets[column.index, cell[f"{stem}_set"]]
        null = cell.get(f"{stem}_null") or 0
        if value is None:
            return bool(null)
        return bool(null != 2 and cell[f"{stem}_lo"] <= value <= cell[f"{stem}_hi"])

    def wrong(self) -> Iterator[str]:
        """What of the store is not true of the rows."""
        for place, margin in enumerate(self.catalog.margins):
            cells = [cell for cell in self.cells if cell["margin"] == place]
            told = [column for column in self.catalog.columns if column.name in margin.columns]
            for column in self.catalog.columns:
                named = [name for name in cells[0] if name.startswith(f"c{column.index}_") and column not in told]
                if any(cell[name] is not None for cell in cells for name in named):
                    yield f"margin {place} tells of {column.name}"
            yield from self._counts(place, cells, told)
            yield from self._sums(place, cells, [column for column in told if column.moments != "none"])

    def _counts(self, place: int, cells: list[dict[str, Any]], told: list[Column]) -> Iterator[str]:
        """Every record is in one cell, every class has its size, and as many records are in each as it says."""
        found: Counter[int] = Counter()
        for row in self.rows:
            mine = [
                at
                for at, cell in enumerate(cells)
                if cell["frame"] == row["frame"] and all(self.may_have(c, cell, row[c.name]) for c in told)
            ]
            if len(mine) != 1:
                yield f"margin {place}: a record is in {len(mine)} cells"
                return
            found[mine[0]] += 1
        sizes: Counter[int] = Counter()
        for at, cell in enumerate(cells):
            sizes[cell["class"]] += cell["n"]
            if cell["n"] != found[at]:
                yield f"margin {place}: a cell says {cell['n']} and has {found[at]}"
        if any(cell["class_n"] != sizes[cell["class"]] for cell in cells):
            yield f"margin {place}: sizes of classes"

    def members(self, place: int) -> dict[int, list[dict[str, Any]]]:
        """The rows of each class of a margin."""
        cells = [cell for cell in self.cells if cell["margin"] == place]
        told = [column for column in self.catalog.columns if column.name in self.catalog.margins[place].columns]
        found: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for row in self.rows:
            for cell in cells:
                if cell["frame"] == row["frame"] and all(self.may_have(c, cell, row[c.name]) for c in told):
                    found[cell["class"]].append(row)
        return found

    def _sums(self, place: int, cells: list[dict[str, Any]], numbers: list[Column]) -> Iterator[str]:
        if not numbers:
            return
        members = self.members(place)
        moments = {(row["column_id"], row["class"]): row for row in self.table("class_moment")}
        for column in numbers:
            for label in {cell["class"] for cell in cells}:
                one = moments.get((column.index, label))
                values = [row[column.name] for row in members[label] if row[column.name] is not None]
                if one is None:
                    anything = all(
                        cell[f"c{column.index}_lo"] == column.low for cell in cells if cell["class"] == label
                    )
                    if values and not anything:
                        yield f"margin {place}: no sum of {column.name}"
                elif len(values) != one["n"] or not one["sum_lo"] <= math.fsum(values) <= one["sum_hi"]:
                    yield f"margin {place}: a sum of {column.name} is not in its cell"


def _axis(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        return round((value - dt.datetime(1970, 1, 1)) / dt.timedelta(microseconds=1))
    return (value - EPOCH).days if isinstance(value, dt.date) else value
