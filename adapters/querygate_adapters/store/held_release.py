"""A version whose cells are held and grouped in memory: for trial versions that answer many questions and are soon
dropped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from querygate.core.block import Block
from querygate.core.ports import Limits
from querygate.core.types import Array
from querygate_adapters.store.catalog_json import Names
from querygate_adapters.store.cell_query import grouping, make_block
from querygate_adapters.store.class_moments import wanted_columns
from querygate_adapters.store.duckdb_store import DuckDBRelease

Table = dict[str, Array]


class HeldRelease(DuckDBRelease):
    """Each margin is read once, as a whole: a statement to the engine takes longer than grouping thousands of cells
    here."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)  # as the verifier opens it: an engine has one configuration for each file
        self._tables: dict[int | None, Table] = {}

    def _read(self, limits: Limits, names: Names, moments: Names, margin: int | None, by_class: bool) -> Block:
        columns = [column for column in self.catalog.columns if column.name in names]
        told = {column.name: self.moments(column) for column in wanted_columns(self.catalog, moments, margin)}
        keys = grouping(self.catalog, columns, by_class=by_class or bool(told), margin=margin)
        found = grouped(self._cells(margin), keys)
        return make_block(self.catalog, columns, found, self.dictionaries, told, margin, by_class=by_class)

    def _cells(self, margin: int | None) -> Table:
        if margin not in self._tables:
            where = "" if margin is None else f" WHERE margin = {int(margin)}"
            self._tables[margin] = self._connection.execute(f"SELECT * FROM cells{where}").fetchnumpy()
        return self._tables[margin]


def grouped(cells: Table, keys: Sequence[str]) -> Table:
    """The cells grouped by these columns, sorted, NULL last, as the engine would return them.

    >>> grouped({"a": np.array([2, 1, 2]), "n": np.array([3, 4, 5])}, ["a"])
    {'a': array([1, 2]), 'n': array([4, 8])}
    """
    number = len(cells["n"])
    place = np.zeros(number, dtype=np.int64)
    for name in keys:
        values, code = np.unique(np.ma.getdata(cells[name]), return_inverse=True)
        code = np.where(np.ma.getmaskarray(cells[name]), values.size, code.reshape(-1))
        place = np.unique(place * (values.size + 1) + code, return_inverse=True)[1].reshape(-1)
    _, first = np.unique(place, return_index=True)
    n = np.zeros(first.size, dtype=np.int64)
    np.add.at(n, place, np.asarray(cells["n"], dtype=np.int64))
    if not keys:
        n = np.array([int(np.sum(cells["n"]))])
    return {name: cells[name][first] for name in keys} | {"n": n}
