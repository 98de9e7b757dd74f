"""Raw rows on DuckDB: one file per version, with the class each row was put into.

    vault/patients/v00003.duckdb     rows(row_id, ...), row_class(row_id, class)

Where the source has a column row_id of its own, the number of a row is called row_id_, and so on until it is free.

Only publishers and the custodian's own jobs are given this module; the interval path never imports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.persons import Keeping
from querygate.core.ports import Combinations, Joined, Profile, Source
from querygate.core.types import Floats, Ints
from querygate_adapters.duckdb_locked import connect
from querygate_adapters.files import quoted
from querygate_adapters.persons import DuckDBMeeting, Past, check_persons
from querygate_adapters.vault_checks import Checks
from querygate_adapters.vault_loading import LOADED, Loading

# A typed column as a value on its axis: days for dates, text for booleans.
_AXIS = {
    "integer": "{x}",
    "number": "{x}",
    "date": "CAST({x} - DATE '1970-01-01' AS BIGINT)",
    "timestamp": "epoch_us({x})",
    "boolean": "CAST({x} AS VARCHAR)",
    "category": "{x}",
}

_MAKING = ("coded", "combination", "judged")
WORD = 2**62
"""More than any packed number of codes."""


class DuckDBWorkshop:
    """A version in the making: rows, codes, combinations, classes, cells. All heavy work is SQL inside DuckDB."""

    def __init__(self, path: Path, *, memory_mb: int = 4096) -> None:
        self._path, self._memory_mb = path, memory_mb
        self._db = _opened(path, memory_mb)
        self._types: dict[str, str] = {}
        self._numbers: dict[str, int] = {}  # column name -> number in physical names
        self._coded: dict[str, int] = {}  # column name -> different codes, with that of a missing value
        self._by: dict[str, Any] = {}  # what tells the combinations apart
        self._judged: Checks | None = None
        self._row = "row_id"
        self.matched: Mapping[str, int] = {}

    # -- loading ---------------------------------------------------------------------------------------------

    def load(self, source: Source, columns: Mapping[str, str], joins: Sequence[Joined] = ()) -> int:
        self._types = {**columns, **{name: kind for join in joins for name, kind in join.columns.items()}}
        self._numbers = {name: i for i, name in enumerate(self._types)}
        loading = Loading(self._db, columns, joins)
        rows = loading.resume(source)
        if rows is None:
            self._db.close()
            self._db = _anew(self._path, self._memory_mb)
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
        self._keep(f"code_{self._numbers[column]}", {"value": values, "code": codes.astype(np.int32)})
        self._coded[column] = int(codes.max(initial=-1)) + 2

    def combinations(self, quasi: Sequence[str], sensitive: Sequence[str], *, by_record: bool = False) -> Combinations:
        words = self._words(quasi)
        self._make_coded(sensitive, words)
        keys = [f"k{i}" for i in range(len(words))]
        by = ", ".join([*keys, *(["row_id"] if by_record else [])])
        figures = ", ".join(
            f"MIN({v}) AS lo{i}, MAX({v}) AS hi{i}, MIN({x}) AS lc{i}, MAX({x}) AS hc{i}"
            for i, name in enumerate(sensitive)
            for v, x in [(f"v{self._numbers[name]}", self._code(name))]
        )
        found = self._db.execute(
            f"SELECT {by}, COUNT(*) AS n{', ' + figures if figures else ''} FROM coded GROUP BY {by} ORDER BY {by}"
        ).fetchnumpy()
        self._by = {name: found[name] for name in (["row_id"] if by_record else keys)}
        self._keep("combination", {"combination": np.arange(len(found["n"])), **self._by})
        named = list(enumerate(sensitive))
        return Combinations(
            self._unpacked(found, words),
            _ints(found["n"]),
            {name: _floats(found[f"lo{i}"]) for i, name in named},
            {name: _floats(found[f"hi{i}"]) for i, name in named},
            {name: _ints(found[f"lc{i}"]) for i, name in named},
            {name: _ints(found[f"hc{i}"]) for i, name in named},
        )

    def _make_coded(self, sensitive: Sequence[str], words: Sequence[Sequence[str]]) -> None:
        """One row per person with codes in place of values (and the value itself where a hull is needed), and the
        quasi-identifiers packed into as few numbers as hold them: grouping, sorting and joining go by these.
        """
        parts, joins = [f"r.{self._row} AS row_id"], []
        for name in self._coded:
            i = self._numbers[name]
            parts.append(f"COALESCE(m{i}.code, -1) AS x{i}")
            joins.append(f"LEFT JOIN code_{i} m{i} ON m{i}.value = {self._axis(name, 'r.')}")
        parts += [f"CAST({self._axis(name, 'r.')} AS DOUBLE) AS v{self._numbers[name]}" for name in sensitive]
        keys = "".join(f", {self._packed(word)} AS k{i}" for i, word in enumerate(words))
        self._db.execute(
            f"CREATE TABLE coded AS SELECT *{keys} FROM (SELECT {', '.join(parts)} FROM rows r {' '.join(joins)})"
        )

    def _words(self, columns: Sequence[str]) -> list[list[str]]:
        """The columns in order, in groups whose codes fit into one number."""
        words: list[list[str]] = [[]]
        room = WORD
        for name in columns:
            if self._coded[name] > room:
                words, room = [*words, []], WORD
            words[-1].append(name)
            room //= self._coded[name]
        return words

    def _packed(self, word: Sequence[str]) -> str:
        key = "CAST(0 AS BIGINT)"
        for name in word:
            key = f"({key} * {self._coded[name]} + {self._code(name)} + 1)"
        return key

    def _unpacked(self, found: Mapping[str, Any], words: Sequence[Sequence[str]]) -> dict[str, Ints]:
        """The codes of each column, from the words k0, k1 and so on."""
        codes = {}
        for i, word in enumerate(words):
            key = _ints(found[f"k{i}"])
            for name in reversed(word):
                key, code = np.divmod(key, self._coded[name])
                codes[name] = code - 1
        return codes

    def counts_by_combination(self, column: str) -> tuple[Ints, Ints, Ints]:
        found = self._db.execute(
            f"SELECT combination, {self._code(column)} AS code, COUNT(*) AS n FROM coded "
            f"JOIN combination USING ({self._quasi()}) GROUP BY ALL ORDER BY ALL"
        ).fetchnumpy()
        return _ints(found["combination"]), _ints(found["code"]), _ints(found["n"])

    # -- classes and cells -------------------------------------------------------------------------------------

    def set_classes(self, classes: Ints) -> None:
        given = {**self._by, "class": classes.astype(np.int32)}
        self._keep("coded_", given, f"SELECT coded.*, given.class FROM coded JOIN given USING ({', '.join(self._by)})")
        self._db.execute("DROP TABLE coded")
        self._db.execute("ALTER TABLE coded_ RENAME TO coded")
        self._db.execute("CREATE TABLE row_class AS SELECT row_id, CAST(class AS BIGINT) AS class FROM coded")

    def cells(self, columns: Sequence[str]) -> tuple[Ints, Mapping[str, Ints], Ints]:
        words = self._words(columns)
        keys = [f"k{i}" for i in range(len(words))]
        packed = ", ".join(f"{self._packed(word)} AS {key}" for key, word in zip(keys, words, strict=True))
        found = self._db.execute(
            f"SELECT class, {packed}, COUNT(*) AS n FROM coded GROUP BY ALL ORDER BY class, {', '.join(keys)}"
        ).fetchnumpy()
        return _ints(found["class"]), self._unpacked(found, words), _ints(found["n"])

    # -- checks on what was made -------------------------------------------------------------------------------

    @property
    def _checks(self) -> Checks:
        """Raw rows and classes as they are in the vault, read anew."""
        if self._judged is None:
            numeric = [name for name in self._coded if self._types[name] not in ("boolean", "category")]
            axes = {name: self._axis(name, "r.") for name in self._coded}
            self._judged = Checks(self._db, self._row, axes, numeric)
        return self._judged

    def intervals_off(self, column: str, classes: Ints, low: Any, high: Any, null: Any, counts: Ints) -> int:
        return self._checks.intervals_off(column, classes, low, high, null, counts)

    def sets_off(
        self, column: str, classes: Ints, sets: Ints, counts: Ints, members: tuple[Ints, Ints], texts: Sequence[str]
    ) -> int:
        return self._checks.sets_off(column, classes, sets, counts, members, texts)

    def class_values(self, column: str) -> tuple[Ints, Any, Ints]:
        return self._checks.values(column)

    def class_hulls(self, column: str) -> tuple[Ints, Floats, Floats]:
        return self._checks.hulls(column)

    def raw_counts(
        self, columns: Sequence[str], *, by: Literal["combination", "class"]
    ) -> tuple[Ints, Mapping[str, Any], Ints]:
        joined, key = {
            "combination": (f"combination USING ({self._quasi()})", "combination.combination"),
            "class": ("row_class USING (row_id)", "row_class.class"),
        }[by]
        values = ", ".join(f"{self._axis(name, 'r.')} AS y{i}" for i, name in enumerate(columns))
        found = self._db.execute(
            f"SELECT {key} AS class, {values}, COUNT(*) AS n FROM coded JOIN {joined} "
            f"JOIN rows r ON r.{self._row} = coded.row_id GROUP BY ALL ORDER BY ALL"
        ).fetchnumpy()
        raw = {name: _raw(found[f"y{i}"]) for i, name in enumerate(columns)}
        return _ints(found["class"]), raw, _ints(found["n"])

    # -- beside earlier versions -------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._types)

    def check_persons(self, person: str) -> None:
        check_persons(self._db, person)

    def meet(self, past: Past, keeping: Keeping) -> DuckDBMeeting:
        """The rows beside the people of earlier versions."""
        return DuckDBMeeting(self._db, past, keeping)

    def forget_classes(self) -> None:
        for table in ("row_class", *_MAKING):
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
        self._judged = None

    def close(self) -> None:
        try:
            for table in (*_MAKING, LOADED, *(f"code_{self._numbers[name]}" for name in self._coded)):
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
        return ", ".join(self._by)

    def _keep(self, table: str, columns: Mapping[str, Any], wanted: str = "SELECT * FROM given") -> None:
        self._db.register("given", pa.table({name: _array(values) for name, values in columns.items()}))
        self._db.execute(f"CREATE TABLE {table} AS {wanted}")
        self._db.unregister("given")

    def _one(self, sql: str) -> Any:
        return self._db.execute(sql).fetchall()[0][0]


def _opened(path: Path, memory_mb: int) -> duckdb.DuckDBPyConnection:
    """The file, with what a publication that was cut off left in it; anew if that cannot be opened."""
    try:
        return connect(path, read_only=False, memory_mb=memory_mb)
    except duckdb.Error:
        return _anew(path, memory_mb)


def _anew(path: Path, memory_mb: int) -> duckdb.DuckDBPyConnection:
    """An empty file. Tables that are only dropped would still lie in it, and somebody may have left since."""
    for left in (path, path.with_name(path.name + ".wal")):
        left.unlink(missing_ok=True)
    return connect(path, read_only=False, memory_mb=memory_mb)


def _array(values: Any) -> pa.Array:
    if isinstance(values, np.ma.MaskedArray):
        return pa.array(values.data, mask=np.ma.getmaskarray(values))
    return pa.array(values)


def _ints(column: Any) -> Ints:
    return np.asarray(np.ma.filled(column, -1), dtype=np.int64)


def _raw(column: Any) -> Any:
    """Numbers as floats with NaN, texts as objects with None."""
    if np.asarray(column).dtype != object:
        return _floats(column)
    texts = np.array(np.ma.getdata(column), dtype=object)
    texts[np.ma.getmaskarray(column)] = None
    return texts


def _floats(column: Any) -> Any:
    return np.asarray(np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan), dtype=np.float64)
