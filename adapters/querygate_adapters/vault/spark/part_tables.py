"""The combinations of one part, in the memory of a worker, as whoever divides it asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from querygate.core.publications.coarse_parts import Parts
from querygate.core.publications.vault_ports import Combinations
from querygate.core.types import Ints
from querygate_adapters.store.column_arrays import ints
from querygate_adapters.store.duckdb_lockdown import in_memory
from querygate_adapters.vault.code_words import unpacked
from querygate_adapters.vault.combination_figures import combinations_of
from querygate_adapters.vault.spark.spark_gaps import SparkGaps, refused


@dataclass(frozen=True)
class PartLayout:
    """How coded columns are told in the rows of a part: quasi-identifiers in words k0, k1 and so on, other codes as x0,
    x1, extremes of sensitive numbers as lo0, hi0, lc0, hc0, and n records.
    """

    words: Sequence[Sequence[str]]
    sizes: Mapping[str, int]  # how many codes a column has
    codes: Mapping[str, str]  # by column, the name of its codes
    sensitive: Sequence[str]

    @property
    def keys(self) -> list[str]:
        return [f"k{i}" for i in range(len(self.words))]


class PartTables(SparkGaps):
    """One part. Combinations are in the same order as those of a whole table."""

    def __init__(self, layout: PartLayout, rows: pa.Table) -> None:
        self._layout, keys = layout, ", ".join(layout.keys)
        self._db = in_memory(threads="1")
        self._db.register("given", rows)
        self._db.execute("CREATE TABLE part AS SELECT * FROM given")
        self._db.unregister("given")
        figures = "".join(
            f", MIN(lo{i}) AS lo{i}, MAX(hi{i}) AS hi{i}, MIN(lc{i}) AS lc{i}, MAX(hc{i}) AS hc{i}"
            for i in range(len(layout.sensitive))
        )
        self._db.execute(
            f"CREATE TABLE combination AS SELECT row_number() OVER (ORDER BY {keys}) - 1 AS combination, * "
            f"FROM (SELECT {keys}, CAST(SUM(n) AS BIGINT) AS n{figures} FROM part GROUP BY ALL)"
        )

    def combinations(
        self, *, by_record: bool = False, parts: Parts = 0, part: int = 0, classes: range | None = None
    ) -> Combinations:
        if by_record or parts != 0 or classes is not None:
            refused("classes are made of single records")
        found = self._db.execute("SELECT * FROM combination ORDER BY combination").fetchnumpy()
        return combinations_of(found, unpacked(found, self._layout.words, self._layout.sizes), self._layout.sensitive)

    def counts_by_combination(self, column: str) -> tuple[Ints, Ints, Ints]:
        found = self._db.execute(
            f"SELECT combination, {self._layout.codes[column]} AS code, CAST(SUM(part.n) AS BIGINT) AS n "
            f"FROM part JOIN combination USING ({', '.join(self._layout.keys)}) GROUP BY ALL ORDER BY ALL"
        ).fetchnumpy()
        return ints(found["combination"]), ints(found["code"]), ints(found["n"])

    def keyed(self, classes: Ints) -> pa.Table:
        """The words of each combination, and its class."""
        keys = self._db.sql(f"SELECT {', '.join(self._layout.keys)} FROM combination ORDER BY combination")
        table: pa.Table = keys.to_arrow_table()
        return table.append_column("class", pa.array(classes, pa.int32()))

    def close(self) -> None:
        self._db.close()
