"""A sample of a source that is read once and kept in memory, for many trial publications.

Whole persons are drawn, with a fixed seed: with only some of a person's rows, k would seem easier to reach. Columns are
read when they are needed, so withheld ones are never read.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from querygate.core.publications.vault_ports import Source
from querygate.core.types import Bools

SEED = 20060627


class SampledSource:
    """Up to `most` records of a source. `person` is the column that identifies people; if it is empty, every row is a
    person.
    """

    def __init__(self, source: Source, most: int, person: str = "") -> None:
        self._source, self._person = source, person
        self._tables: list[pa.Table] = []
        self.records, self._people, self._rows = self._draw(most)
        self.used = self.records if self._rows is None else int(self._rows.sum())

    def columns(self) -> tuple[str, ...]:
        return self._source.columns()

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        known = (table for table in self._tables if set(columns) <= set(table.column_names))
        table = next(known, None)
        if table is None:
            table = self._read(columns)
            self._tables.append(table)
        return table.select(list(columns)).to_reader()

    def reading(self) -> AbstractContextManager[None]:
        return self._source.reading()

    def _draw(self, most: int) -> tuple[int, pa.Array | None, Bools | None]:
        """The number of records, the persons drawn, and their rows."""
        names = [self._person] if self._person else list(self._source.columns()[:1])
        table = self._all(names)
        if table.num_rows <= most:
            return table.num_rows, None, None
        rng = np.random.default_rng(SEED)
        if not self._person:
            rows = np.zeros(table.num_rows, dtype=np.bool_)
            rows[rng.permutation(table.num_rows)[:most]] = True
            return table.num_rows, None, rows
        people = _drawn_people(table.column(0).combine_chunks(), most, rng)
        return table.num_rows, people, _rows_of(table.column(0), people)

    def _read(self, columns: Sequence[str]) -> pa.Table:
        if self._rows is None:
            return self._all(columns)
        if self._people is None:
            return self._all(columns).filter(pa.array(self._rows))
        table = self._all([*dict.fromkeys((*columns, self._person))])  # a database may give its rows in another order
        return table.filter(pa.array(_rows_of(table.column(self._person), self._people)))

    def _all(self, columns: Sequence[str]) -> pa.Table:
        with self._source.reading():
            return self._source.batches(columns).read_all()


def _drawn_people(values: pa.Array, most: int, rng: np.random.Generator) -> pa.Array:
    """Persons in random order, as long as their rows fit; at least one."""
    coded = values.dictionary_encode()
    rows = np.bincount(coded.indices.drop_null().to_numpy(), minlength=len(coded.dictionary))
    in_order = np.argsort(np.array(coded.dictionary.to_pylist(), dtype=object).astype(str), kind="stable")
    order = in_order[rng.permutation(in_order.size)]
    room = most
    taken: list[int] = []
    for place in order.tolist():
        if rows[place] <= room or not taken:
            taken.append(place)
            room -= int(rows[place])
        if room <= 0:
            break
    return coded.dictionary.take(pa.array(taken, type=pa.int64()))


def _rows_of(column: pa.ChunkedArray, people: pa.Array) -> Bools:
    """Rows of these persons, and rows without a person, so that a publication refuses them as it would refuse the
    source."""
    return np.asarray(pc.or_(pc.is_in(column, value_set=people), pc.is_null(column)), dtype=np.bool_)
