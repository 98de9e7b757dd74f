"""What the classes of a version in the making hold: all of them, or those of a range, which memory may hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import duckdb

from querygate.core.types import NUMERIC, Array, Floats, Ints
from querygate_adapters.store.column_arrays import ints
from querygate_adapters.vault.code_words import packed, unpacked, words_of
from querygate_adapters.vault.raw_arrays import raw_array
from querygate_adapters.vault.verifier_counts import Checks


@dataclass(frozen=True, slots=True)
class CodedColumns:
    """The columns of the rows: types and numbers of codes by name, and how SQL reads their codes and values."""

    types: Mapping[str, str]
    sizes: Mapping[str, int]
    code_of: Callable[[str], str]
    value_of: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class ClassedRows:
    """Coded rows with their classes. `raw` is the table of the source's rows, and the column that numbers them."""

    database: duckdb.DuckDBPyConnection
    columns: CodedColumns
    raw: tuple[str, str]
    checks: Callable[[], Checks]
    classes: range | None = None

    def within(self, classes: range) -> ClassedRows:
        """The same of some classes, by their own numbers."""
        return replace(self, classes=classes, checks=cache(lambda: self.checks().within(classes)))

    def class_sizes(self) -> Ints:
        found = self.database.execute(f"SELECT COUNT(*) AS n FROM coded {self._where()} GROUP BY class ORDER BY class")
        return ints(found.fetchnumpy()["n"])

    def class_codes(self, column: str) -> tuple[Ints, Ints, Ints]:
        x = self.columns.code_of(column)
        found = self.database.execute(
            f"SELECT MIN({x}) FILTER ({x} >= 0) AS low, MAX({x}) AS high, COUNT(*) FILTER ({x} < 0) AS missing "
            f"FROM coded {self._where()} GROUP BY class ORDER BY class"
        ).fetchnumpy()
        return ints(found["low"]), ints(found["high"]), ints(found["missing"])

    def cells(self, columns: Sequence[str]) -> tuple[Ints, Mapping[str, Ints], Ints]:
        words = words_of(columns, self.columns.sizes)
        keys = [f"k{i}" for i in range(len(words))]
        keyed = ", ".join(
            f"{packed(word, self.columns.sizes, self.columns.code_of)} AS {key}"
            for key, word in zip(keys, words, strict=True)
        )
        found = self.database.execute(
            f"SELECT class, {keyed}, COUNT(*) AS n FROM coded {self._where()} "
            f"GROUP BY ALL ORDER BY class, {', '.join(keys)}"
        ).fetchnumpy()
        return ints(found["class"]), unpacked(found, words, self.columns.sizes), ints(found["n"])

    # -- for the verifier --------------------------------------------------------------------------------------------

    def intervals_off(self, column: str, classes: Ints, low: Array, high: Array, null: Array, counts: Ints) -> int:
        return self.checks().intervals_off(column, classes, low, high, null, counts)

    def sets_off(
        self, column: str, classes: Ints, sets: Ints, counts: Ints, members: tuple[Ints, Ints], texts: Sequence[str]
    ) -> int:
        return self.checks().sets_off(column, classes, sets, counts, members, texts)

    def class_values(self, column: str) -> tuple[Ints, Array, Ints]:
        return self.checks().values(column)

    def class_hulls(self, column: str) -> tuple[Ints, Floats, Floats]:
        return self.checks().hulls(column)

    def raw_counts(
        self, columns: Sequence[str], *, by: Literal["combination", "class"] = "class"
    ) -> tuple[Ints, Mapping[str, Array], Ints]:
        if by != "class":
            raise ValueError("a combination is not one of some classes")
        table, row = self.raw
        rows = (
            f"coded JOIN row_class USING (row_id) JOIN {table} r ON r.{row} = coded.row_id {self._where('row_class.')}"
        )
        return count_raw(self.database, self.columns, columns, "row_class.class", rows)

    def _where(self, prefix: str = "") -> str:
        if self.classes is None:
            return ""
        return f"WHERE {prefix}class >= {self.classes.start} AND {prefix}class < {self.classes.stop}"


def count_raw(
    database: duckdb.DuckDBPyConnection, known: CodedColumns, columns: Sequence[str], key: str, rows: str
) -> tuple[Ints, Mapping[str, Array], Ints]:
    """(key, raw values of each column, records) of everything that occurs in rows of which r are the raw ones."""
    values = ", ".join(f"{known.value_of(name)} AS y{i}" for i, name in enumerate(columns))
    found = database.execute(
        f"SELECT {key} AS key, {values}, COUNT(*) AS n FROM {rows} GROUP BY ALL ORDER BY ALL"
    ).fetchnumpy()
    raw = {name: raw_array(found[f"y{i}"], is_number=known.types[name] in NUMERIC) for i, name in enumerate(columns)}
    return ints(found["key"]), raw, ints(found["n"])
