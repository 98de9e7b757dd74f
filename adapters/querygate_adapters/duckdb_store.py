"""The published plane on embedded DuckDB: one read-only file per version, and a pointer to the one being served.

    store/patients/v00003.duckdb     cells, value sets, catalog
    store/patients/current           the text "3"

The pointer is replaced atomically by the publisher, so a reader sees the old version or the new one, never a mixture.
Nothing here can open a vault; the publisher's half is in `store_writer`.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from querygate.core.block import Block
from querygate.core.block import Dictionary as CoreDictionary
from querygate.core.errors import NotPermitted
from querygate.core.plan import FetchedGroup, Measure, Plan
from querygate.core.ports import Limits
from querygate.core.types import Catalog, Cells, Column, Floats, Ints
from querygate_adapters.cells import make_block, projection
from querygate_adapters.cells_sql import CellQuery
from querygate_adapters.dictionary import MISSING, Dictionary
from querygate_adapters.duckdb_locked import connect, limited

KEPT_BLOCKS = 64
NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_VERSION_FILE = re.compile(r"v(\d{5,})\.duckdb")


def version_file(folder: Path, version: int) -> Path:
    return folder / f"v{version:05d}.duckdb"


def versions_in(folder: Path) -> tuple[int, ...]:
    """Versions whose file is complete, in rising order."""
    found = (_VERSION_FILE.fullmatch(path.name) for path in folder.glob("v*.duckdb"))
    return tuple(sorted(int(match[1]) for match in found if match))


def current_version(folder: Path) -> int | None:
    try:
        return int((folder / "current").read_text(encoding="ascii"))
    except FileNotFoundError:
        return None


def catalog_to_json(catalog: Catalog) -> str:
    return json.dumps(asdict(catalog), ensure_ascii=False)


def catalog_from_json(text: str) -> Catalog:
    body = json.loads(text)
    columns = tuple(Column(**{**column, "values": tuple(column["values"])}) for column in body.pop("columns"))
    return Catalog(**{**body, "modes": tuple(body["modes"])}, columns=columns)


class DuckDBStore:
    """All datasets under one folder. Releases stay open and are shared by threads."""

    def __init__(self, root: Path, *, memory_mb: int = 1024, threads: int | None = None) -> None:
        self.root = root
        self._options: dict[str, Any] = {"memory_mb": memory_mb, "threads": threads}
        self._open: dict[str, DuckDBRelease] = {}
        self._lock = threading.Lock()

    def datasets(self) -> tuple[str, ...]:
        return tuple(sorted(path.parent.name for path in self.root.glob("*/current")))

    def versions(self, dataset: str) -> tuple[int, ...]:
        return versions_in(self._folder(dataset))

    def current(self, dataset: str) -> DuckDBRelease:
        """The version being served, opened once and kept until another one is served."""
        folder = self._folder(dataset)
        version = current_version(folder)
        if version is None:
            raise _no_dataset()
        with self._lock:
            release = self._open.get(dataset)
            if release is None or release.catalog.version != version:
                release = DuckDBRelease(version_file(folder, version), **self._options)
                self._open[dataset] = release
            return release

    def _folder(self, dataset: str) -> Path:
        if not NAME.fullmatch(dataset):
            raise _no_dataset()
        return self.root / dataset


class DuckDBRelease:
    """One published version. `fetch` groups cells inside DuckDB; only sums of counts come out."""

    def __init__(self, path: Path, *, memory_mb: int = 1024, threads: int | None = None) -> None:
        self._connection = connect(path, read_only=True, memory_mb=memory_mb, threads=threads)
        rows = self._connection.execute("SELECT body FROM catalog").fetchall()
        self.catalog: Catalog = catalog_from_json(rows[0][0])
        self._blocks: dict[tuple[str, ...], Block] = {}
        self._lock = threading.Lock()
        self.dictionaries = {c.index: self._dictionary(c.index) for c in self.catalog.columns if not c.is_numeric}

    def _dictionary(self, index: int) -> Dictionary:
        values = self._connection.execute(
            "SELECT text FROM value_text WHERE column_id = ? ORDER BY value_id", [index]
        ).fetchall()
        pairs = self._connection.execute(
            "SELECT set_id, value_id FROM set_value WHERE column_id = ? ORDER BY set_id, value_id", [index]
        ).fetchall()
        return Dictionary.of([text for (text,) in values], pairs)

    def project(self, names: Collection[str], limits: Limits) -> Block:
        """The cells grouped to these columns. A version never changes, so what was read once is kept."""
        wanted = tuple(sorted(names))
        with self._lock:
            known = self._blocks.get(wanted)
        if known is not None:
            return known
        columns = [column for column in self.catalog.columns if column.name in wanted]
        cursor = self._connection.cursor()
        with limited(cursor, limits.timeout_s):
            found = cursor.execute(projection(self.catalog, columns)).fetchnumpy()
        sets = {i: CoreDictionary(d.values, d.starts, d.members) for i, d in self.dictionaries.items()}
        block = make_block(self.catalog, columns, found, sets)
        with self._lock:
            self._blocks[wanted] = block
            while len(self._blocks) > KEPT_BLOCKS:
                self._blocks.pop(next(iter(self._blocks)))
        return block

    def fetch(self, plan: Plan, limits: Limits) -> list[FetchedGroup]:
        query = CellQuery(self.catalog, self.dictionaries)
        sql = query.build(plan)
        cursor = self._connection.cursor()
        with limited(cursor, limits.timeout_s):
            columns = cursor.execute(sql, query.parameters).fetchnumpy()
        return self._groups(plan, columns)

    def _groups(self, plan: Plan, columns: dict[str, Any]) -> list[FetchedGroup]:
        """Rows to groups. They come ordered by key, so a group is a slice; no GROUP BY is one group, always."""
        if not plan.groups:
            return [
                FetchedGroup((), tuple(self._cells(plan, m, columns, slice(None)) for m in range(len(plan.measures))))
            ]
        keys = np.stack([np.asarray(columns[f"k{g}"], dtype=np.int64) for g in range(len(plan.groups))], axis=1)
        starts = np.flatnonzero(np.r_[True, (keys[1:] != keys[:-1]).any(axis=1)]) if len(keys) else np.zeros(0, int)
        groups = []
        for start, end in zip(starts, [*starts[1:], len(keys)], strict=False):
            cells = tuple(self._cells(plan, m, columns, slice(start, end)) for m in range(len(plan.measures)))
            groups.append(FetchedGroup(self._texts(plan, keys[start]), cells))
        return sorted(groups, key=lambda group: [(key is None, key or "") for key in group.keys])

    def _cells(self, plan: Plan, m: int, columns: dict[str, Any], rows: slice) -> Cells:
        measure: Measure = plan.measures[m]
        least, most = _ints(columns[f"l{m}"][rows]), _ints(columns[f"u{m}"][rows])
        if measure.column is None:
            nothing = np.zeros(len(most), dtype=np.int64)
            return Cells(nothing, nothing, least, most, integer=True)
        column = self.catalog.column(measure.column)
        integer = column is not None and column.is_discrete
        low, high = columns[f"lo{m}"][rows], columns[f"hi{m}"][rows]
        held = most > 0
        if integer:
            return Cells(_ints(low[held]), _ints(high[held]), least[held], most[held], integer=True)
        return Cells(_floats(low[held]), _floats(high[held]), least[held], most[held])

    def _texts(self, plan: Plan, ids: Ints) -> tuple[str | None, ...]:
        texts: list[str | None] = []
        for name, value_id in zip(plan.groups, ids, strict=True):
            column = self.catalog.column(name)
            values = self.dictionaries[column.index].values if column else ()
            texts.append(None if value_id == MISSING else values[int(value_id)])
        return tuple(texts)


def _ints(column: Any) -> Ints:
    return np.asarray(column, dtype=np.int64)


def _floats(column: Any) -> Floats:
    return np.asarray(column, dtype=np.float64)


def _no_dataset() -> NotPermitted:
    return NotPermitted("QG303", "There is no dataset of that name.", "List the datasets to see their names.")
