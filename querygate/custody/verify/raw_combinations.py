"""Raw quasi-identifiers, each combination once: the class of a record depends on nothing else.

Columns are read one after another, so memory holds at most one of them for all records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from querygate.core.publications.vault_ports import RawColumn
from querygate.core.types import Ints

DIVIDING = ("quasi-identifier", "public")
"""Roles of the columns that classes of views are over."""


@dataclass(frozen=True)
class RawCombinations:
    """`place` is the combination of each record; `columns` and `times` are by combination."""

    place: Ints
    times: Ints
    columns: Mapping[str, RawColumn] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Iterable[str], read: Callable[[str], RawColumn], rows: int) -> RawCombinations:
        found = cls(np.zeros(rows, dtype=np.int64), np.array([rows]))
        for name in names:
            found = found._with(name, read(name))
        return found

    def _with(self, name: str, raw: RawColumn) -> RawCombinations:
        values, code = np.unique(raw.values, return_inverse=True)
        code = np.where(raw.missing, values.size, code.reshape(-1))
        _, first, place, times = np.unique(
            self.place * (values.size + 1) + code, return_index=True, return_inverse=True, return_counts=True
        )
        before = self.place[first]
        columns = {n: RawColumn(own.values[before], own.missing[before], own.texts) for n, own in self.columns.items()}
        columns[name] = RawColumn(raw.values[first], raw.missing[first], raw.texts)
        return RawCombinations(place.reshape(-1), times, columns)

    def read(self, name: str) -> RawColumn:
        """The column of each combination."""
        return self.columns[name]
