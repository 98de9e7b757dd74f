"""Raw rows on DuckDB: one file per version, with the class each row was put into.

    vault/patients/v00003.duckdb     rows(row_id, ...), row_class(row_id, class)

Where the source has a column row_id of its own, the number of a row is called row_id_, and so on until it is free.

Only publishers and the custodian's own jobs are given this module; the interval path never imports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.ports import Combinations, Joined, Profile, Source
from querygate.core.types import Floats, Ints
from querygate_adapters.duckdb_locked import connect
from querygate_adapters.files import quoted
from querygate_adapters.vault_loading import Loading

# A typed column as a value on its axis: days for dates, text for booleans.
_AXIS = {
    "integer": "{x}",
    "number": "{x}",
    "date": "CAST({x} - DATE '1970-01-01' AS BIGINT)",
    "boolean": "CAST({x} AS VARCHAR)",
    "category": "{x}",
}


class DuckDBWorkshop:
    """A version in the making: rows, codes, combinations, classes, cells. All heavy work is SQL inside DuckDB."""

    def __init__(self, path: Path, *, memory_mb: int = 4096) -> None:
        self._db = connect(path, read_only=False, memory_mb=memory_mb)
        self._types: dict[str, str] = {}
        self._numbers: dict[str, int] = {}  # column name -> number in physical names
        self._coded: list[str] = []
        self._row = "row_id"
        self.matched: Mapping[str, int] = {}

    # -- loading ---------------------------------------------------------------------------------------------

    def load(self, source: Source, columns: Mapping[str, str], joins: Sequence[Joined] = ()) -> int:
        self._types = {**columns, **{name: kind for join in joins for name, kind in join.columns.items()}}
        self._numbers = {name: i for i, name in enumerate(self._types)}
        loading = Loading(self._db, columns, joins)
        rows = loading.run(source)
        self._row, self.matched = loading.row, loading.matched
        return rows

    # -- profiles and codes ----------------------------------------------------------------------------------

    def profile(self, column: str) -> Profile:
        axis = self._axis(column)
        found = self._db.execute(
            f"SELECT {axis} AS v, COUNT(*) AS n FROM rows WHERE {quoted(column)} IS NOT NULL GROUP BY 1 ORDER BY 1"
        ).fetchnumpy()
        missing = self._one(f"SELECT COUNT(*) FROM rows WHERE {quoted(column)} IS NULL")
        return Profile(np.asarray(found["v"]), np.asarray(found["n"], dtype=np.int64), int(missing))

    def set_codes(self, column: str, values: Any, codes: Ints) -> None:
        self._keep(f"code_{self._numbers[column]}", {"value": values, "code": codes})
        self._coded.append(column)

    def combinations(
        self, quasi: Sequence[str], sensitive: Sequence[str], *, by_record: bool = False
    ) -> Combinations:
        self._make_coded(sensitive)
        keys = [self._code(name) for name in quasi] + (["row_id"] if by_record else [])
        figures = ", ".join(
            f"MIN({v}) AS lo{i}, MAX({v}) AS hi{i}, MIN({x}) AS lc{i}, MAX({x}) AS hc{i}"
            for i, name in enumerate(sensitive)
            for v, x in [(f"v{self._numbers[name]}", self._code(name))]
        )
        by = ", ".join(keys)
        self._db.execute(
            f"CREATE TABLE combination AS SELECT row_number() OVER (ORDER BY {by}) - 1 AS combination, * "
            f"FROM (SELECT {by}, COUNT(*) AS n{', ' + figures if figures else ''} FROM coded GROUP BY {by})"
        )
        found = self._db.execute("SELECT * FROM combination ORDER BY combination").fetchnumpy()
        named = list(enumerate(sensitive))
        return Combinations(
            {name: _ints(found[self._code(name)]) for name in quasi},
            _ints(found["n"]),
            {name: _floats(found[f"lo{i}"]) for i, name in named},
            {name: _floats(found[f"hi{i}"]) for i, name in named},
            {name: _ints(found[f"lc{i}"]) for i, name in named},
            {name: _ints(found[f"hc{i}"]) for i, name in named},
        )

    def _make_coded(self, sensitive: Sequence[str]) -> None:
        """One row per person with codes in place of values (and the value itself where a hull is needed)."""
        parts, joins = [f"r.{self._row} AS row_id"], []
        for name in self._coded:
            i = self._numbers[name]
            parts.append(f"COALESCE(m{i}.code, -1) AS x{i}")
            joins.append(f"LEFT JOIN code_{i} m{i} ON m{i}.value = {self._axis(name, 'r.')}")
        parts += [f"CAST({self._axis(name, 'r.')} AS DOUBLE) AS v{self._numbers[name]}" for name in sensitive]
        self._db.execute(f"CREATE TABLE coded AS SELECT {', '.join(parts)} FROM rows r {' '.join(joins)}")

    def counts_by_combination(self, column: str) -> tuple[Ints, Ints, Ints]:
        found = self._db.execute(
            f"SELECT combination, {self._code(column)} AS code, COUNT(*) AS n FROM coded "
            f"JOIN combination USING ({self._quasi()}) GROUP BY ALL ORDER BY ALL"
        ).fetchnumpy()
        return _ints(found["combination"]), _ints(found["code"]), _ints(found["n"])

    # -- classes and cells -------------------------------------------------------------------------------------

    def set_classes(self, classes: Ints) -> None:
        self._keep("class_of", {"combination": np.arange(len(classes)), "class": classes})
        self._db.execute(
            f"CREATE TABLE row_class AS SELECT row_id, class FROM coded JOIN combination USING ({self._quasi()}) "
            "JOIN class_of USING (combination)"
        )

    def cells(self, columns: Sequence[str]) -> tuple[Ints, Mapping[str, Ints], Ints]:
        keys = ", ".join(["class", *(self._code(name) for name in columns)])
        found = self._db.execute(
            f"SELECT {keys}, COUNT(*) AS n FROM coded JOIN row_class USING (row_id) GROUP BY {keys} ORDER BY {keys}"
        ).fetchnumpy()
        return _ints(found["class"]), {name: _ints(found[self._code(name)]) for name in columns}, _ints(found["n"])

    # -- checks on what was made -------------------------------------------------------------------------------

    def intervals_off(self, column: str, classes: Ints, low: Any, high: Any, null: Any, counts: Ints) -> int:
        self._keep("cell", {"class": classes, "lo": low, "hi": high, "state": null, "n": counts})
        inside = "CASE WHEN v.x IS NULL THEN b.state > 0 ELSE b.state < 2 AND v.x BETWEEN b.lo AND b.hi END"
        off = self._one(
            "WITH b AS (SELECT class, lo, hi, state, SUM(n) AS n FROM cell GROUP BY ALL), "
            f"v AS (SELECT c.class, {self._axis(column, 'r.')} AS x FROM {self._rows_with_class()}) "
            "SELECT COUNT(*) FROM (SELECT b.n, COUNT(v.class) AS found "
            f"FROM b LEFT JOIN v ON v.class = b.class AND {inside} "
            "GROUP BY b.class, b.lo, b.hi, b.state, b.n) WHERE found <> n"
        )
        self._db.execute("DROP TABLE cell")
        return int(off)

    def sets_off(
        self, column: str, classes: Ints, sets: Ints, counts: Ints, members: tuple[Ints, Ints], texts: Sequence[str]
    ) -> int:
        self._keep("cell", {"class": classes, "set_id": sets, "n": counts})
        self._keep("member", {"set_id": members[0], "value_id": members[1]})
        self._keep("texts", {"value_id": np.arange(len(texts)), "value": pa.array(list(texts), pa.string())})
        x = self._axis(column, "r.")
        off = self._one(
            "WITH b AS (SELECT class, set_id, SUM(n) AS n FROM cell GROUP BY ALL), "
            f"v AS (SELECT c.class, CASE WHEN {x} IS NULL THEN -1 ELSE t.value_id END AS value_id, COUNT(*) AS n "
            f"FROM {self._rows_with_class()} LEFT JOIN texts t ON t.value = {x} GROUP BY ALL) "
            "SELECT COUNT(*) FROM (SELECT b.n, COALESCE(SUM(v.n), 0) AS found FROM b LEFT JOIN member m USING (set_id) "
            "LEFT JOIN v ON v.class = b.class AND v.value_id = m.value_id GROUP BY b.class, b.set_id, b.n) "
            "WHERE found <> n"
        )
        for table in ("cell", "member", "texts"):
            self._db.execute(f"DROP TABLE {table}")
        return int(off)

    def class_hulls(self, column: str) -> tuple[Ints, Floats, Floats]:
        x = self._axis(column, "r.")
        found = self._db.execute(
            f"SELECT c.class, CAST(MIN({x}) AS DOUBLE) AS lo, CAST(MAX({x}) AS DOUBLE) AS hi "
            f"FROM {self._rows_with_class()} GROUP BY c.class ORDER BY c.class"
        ).fetchnumpy()
        return _ints(found["class"]), _floats(found["lo"]), _floats(found["hi"])

    def close(self) -> None:
        try:
            for table in ("coded", "combination", "class_of", *(f"code_{self._numbers[name]}" for name in self._coded)):
                self._db.execute(f"DROP TABLE IF EXISTS {table}")
            self._db.execute("CHECKPOINT")
        finally:
            self._db.close()

    # -- helpers -----------------------------------------------------------------------------------------------

    def _axis(self, column: str, prefix: str = "") -> str:
        return _AXIS[self._types[column]].format(x=prefix + quoted(column))

    def _rows_with_class(self) -> str:
        return f"rows r JOIN row_class c ON c.row_id = r.{self._row}"

    def _code(self, column: str) -> str:
        return f"x{self._numbers[column]}"

    def _quasi(self) -> str:
        described = self._db.execute("DESCRIBE combination").fetchall()
        names = [str(row[0]) for row in described]
        return "row_id" if "row_id" in names else ", ".join(name for name in names if name.startswith("x"))

    def _keep(self, table: str, columns: Mapping[str, Any]) -> None:
        self._db.register("given", pa.table({name: _array(values) for name, values in columns.items()}))
        self._db.execute(f"CREATE TABLE {table} AS SELECT * FROM given")
        self._db.unregister("given")

    def _one(self, sql: str) -> Any:
        return self._db.execute(sql).fetchall()[0][0]


def _array(values: Any) -> pa.Array:
    if isinstance(values, np.ma.MaskedArray):
        return pa.array(values.data, mask=np.ma.getmaskarray(values))
    return pa.array(values)


def _ints(column: Any) -> Ints:
    return np.asarray(np.ma.filled(column, -1), dtype=np.int64)


def _floats(column: Any) -> Any:
    return np.asarray(np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan), dtype=np.float64)
