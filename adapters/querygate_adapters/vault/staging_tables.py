"""Raw rows on DuckDB: one file per version, with the class each row was put into.

    vault/patients/v00003.duckdb     rows(row_id, ...), row_class(row_id, class), policy(body)

If the source has a column row_id, the number of a row is called row_id_, and so on until the name is free.

Only publishers and the custodian's own jobs get this module; the interval path never imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.publications.carried_classes import CarriedClasses
from querygate.core.publications.coarse_parts import Parts
from querygate.core.publications.vault_ports import (
    AS_IT_IS,
    CodeTexts,
    Combinations,
    JoinedTable,
    Profile,
    RawColumn,
    ReadAs,
    Source,
    ValueCount,
)
from querygate.core.publications.version_overlap import OverlapRule
from querygate.core.types import NUMERIC, Array, Bools, Floats, Ints
from querygate_adapters.sources.amended_source import amended
from querygate_adapters.sources.files import quoted
from querygate_adapters.store.column_arrays import floats, ints
from querygate_adapters.store.duckdb_lockdown import attached
from querygate_adapters.vault.carried_rows import CHANGED, GONE, SAME, carry, forget, made_anew
from querygate_adapters.vault.classed_rows import ClassedRows, CodedColumns, count_raw
from querygate_adapters.vault.coarse_counts import CoarseCounts, number_of, within
from querygate_adapters.vault.code_list_rows import CodeListRows
from querygate_adapters.vault.code_words import packed, unpacked, words_of
from querygate_adapters.vault.combination_figures import combinations_of, figures_sql
from querygate_adapters.vault.kept_version import read_column
from querygate_adapters.vault.person_history import DuckDBVersionOverlap, Past
from querygate_adapters.vault.raw_arrays import arrow_array
from querygate_adapters.vault.row_loader import LOADED, RowLoader
from querygate_adapters.vault.staged_file import StagedFile, StagedInMemory
from querygate_adapters.vault.value_counts import count_values
from querygate_adapters.vault.verifier_counts import Checks, DuckDBEngine

# A typed column as a value on its axis: days for dates, text for booleans.
_AXIS = {
    "integer": "{x}",
    "number": "{x}",
    "date": "CAST({x} - DATE '1970-01-01' AS BIGINT)",
    "timestamp": "epoch_us({x})",
    "boolean": "CAST({x} AS VARCHAR)",
    "category": "{x}",
}

_MAKING = ("coded", "classed", "combination", "judged")
_ROW_CLASS = "CREATE TABLE row_class AS"  # in the order of rows: whoever reads both need not search
_CARRYING = (SAME, CHANGED, GONE)
AT_ONCE = 40
"""Columns that are coded in one pass over the rows."""

ENGINE, LEAST_MB = 0.4, 64
"""The engine's share of the memory of a publication, and the least for it and for arrays. The engine keeps the rest in
its file."""


class DuckDBStagingTables:
    """A version in the making: rows, codes, combinations, classes, cells. All heavy work is SQL inside DuckDB."""

    def __init__(
        self, path: Path | None, *, memory_mb: int = 4096, beside: Sequence[Path] = (), spill: Path | None = None
    ) -> None:
        engine_mb = min(memory_mb, max(LEAST_MB, round(ENGINE * memory_mb)))
        self.room_bytes = max(LEAST_MB, memory_mb - engine_mb) << 20
        self._is_new, self.is_open = not (path and path.exists()), True
        self._file = StagedFile(path, engine_mb, beside) if path else StagedInMemory(engine_mb, spill)
        self._db = self._file.opened()
        self._types: dict[str, str] = {}
        self._numbers: dict[str, int] = {}  # column name -> number in physical names
        self._coded: dict[str, int] = {}  # column name -> number of codes, including the one for missing values
        self._keys: list[str] = []  # the words into which quasi-identifiers are packed
        self._by: dict[str, Array] = {}  # what identifies the combinations
        self._numbered = ("", "")  # a row's combination, and the rows that have one
        self._judged: Checks | None = None
        self._carried: CarriedClasses | None = None
        self._row = "row_id"
        self.matched: Mapping[str, int] = {}

    # -- loading ---------------------------------------------------------------------------------------------

    def load(
        self,
        source: Source,
        columns: Mapping[str, str],
        joins: Sequence[JoinedTable] = (),
        read_as: ReadAs = AS_IT_IS,
    ) -> int:
        source = amended(source, read_as)
        joins = [replace(join, source=amended(join.source, read_as.of_table(join))) for join in joins]
        self._types = {**columns, **{name: kind for join in joins for name, kind in join.columns.items()}}
        self._numbers = {name: i for i, name in enumerate(self._types)}
        loading = RowLoader(self._db, columns, joins, read_as.person)
        rows = None if self._is_new else loading.resume(source)
        if rows is None and not self._is_new:
            self._db.close()
            self._db = self._file.anew()
            loading = RowLoader(self._db, columns, joins, read_as.person)
        if rows is None:
            rows = loading.run(source)
        self._row, self.matched = loading.row, loading.matched
        return rows

    # -- profiles and codes ----------------------------------------------------------------------------------

    def profile(self, column: str) -> Profile:
        found = self._db.execute(
            f"SELECT {self._axis(column)} AS v, COUNT(*) AS n FROM rows GROUP BY 1 ORDER BY 1 NULLS LAST"
        ).fetchnumpy()
        known = int((~np.ma.getmaskarray(found["v"])).sum())  # missing ones are in the last row
        n = np.asarray(found["n"], dtype=np.int64)
        return Profile(np.ma.getdata(found["v"])[:known], n[:known], int(n[known:].sum()))

    def count_values(self, columns: Iterable[str]) -> Mapping[str, ValueCount]:
        return count_values(self._db, "rows", columns)

    def count_missing(self, columns: Sequence[str]) -> Mapping[str, int]:
        listed = ", ".join(["COUNT(*)", *(f"COUNT(*) - COUNT({quoted(name)})" for name in columns)])
        [(_, *found)] = self._db.execute(f"SELECT {listed} FROM rows").fetchall()
        return dict(zip(columns, map(int, found), strict=True))

    def count_source_values(self, source: Source, columns: Iterable[str]) -> Mapping[str, ValueCount]:
        found: dict[str, ValueCount] = {}
        for name in columns:
            with source.reading():
                self._db.register("incoming", source.batches([name]))
                found |= count_values(self._db, "incoming", [name])
            self._db.unregister("incoming")
        return found

    def people_by_value(self, column: str, person: str) -> tuple[Ints, Floats]:
        found = self._db.execute(
            "SELECT COUNT(*) AS people, SUM(1 / n) AS shares FROM ("
            f"SELECT DISTINCT {self._axis(column)} AS v, {quoted(person)} AS p, "
            f"COUNT(DISTINCT {self._axis(column)}) OVER (PARTITION BY {quoted(person)}) AS n "
            f"FROM rows WHERE {quoted(column)} IS NOT NULL) GROUP BY v ORDER BY v"
        ).fetchnumpy()
        return ints(found["people"]), floats(found["shares"])

    def replace_values(self, column: str, values: Array, by: str) -> None:
        self._db.execute(f"DROP TABLE IF EXISTS {LOADED}")  # the rows no longer match the source
        self._keep("replaced", {"value": values})
        x = quoted(column)
        self._db.execute(f"UPDATE rows SET {x} = ? WHERE {x} IN (SELECT value FROM replaced)", [by])
        self._db.execute("DROP TABLE replaced")

    def add_flag(self, column: str, flags: Bools) -> None:
        self._db.execute(f"DROP TABLE IF EXISTS {LOADED}")  # the rows no longer match the source
        x, row = quoted(column), quoted(self._row)
        self._keep("flagged", {"row_id": self._lists.rows(), "flag": flags})
        self._db.execute(f"ALTER TABLE rows ADD COLUMN {x} BOOLEAN")
        self._db.execute(f"UPDATE rows SET {x} = flagged.flag FROM flagged WHERE flagged.row_id = rows.{row}")
        self._db.execute("DROP TABLE flagged")
        self._types[column], self._numbers[column] = "boolean", len(self._numbers)

    def set_codes(self, column: str, values: Array, codes: Ints) -> None:
        self._keep(f"code_{self._numbers[column]}", {"value": values, "code": codes.astype(np.int32)})
        self._coded[column] = int(codes.max(initial=-1)) + 2

    # -- lists of codes --------------------------------------------------------------------------------------

    @property
    def _lists(self) -> CodeListRows:
        return CodeListRows(self._db, self._row)

    def code_texts(self, column: str, separator: str) -> CodeTexts:
        found = self._lists.texts(column, separator)
        return CodeTexts(found.texts, np.searchsorted(self._lists.rows(), found.record), found.text)

    def visit_texts(self, column: str, separator: str, between: str) -> CodeTexts:
        return self._lists.visits(column, separator, between)

    def set_record_codes(self, column: str, codes: Ints) -> None:
        self.set_codes(column, self._lists.rows(), codes)

    def record_codes(self, column: str) -> Ints:
        found = self._db.execute(f"SELECT code FROM code_{self._numbers[column]} ORDER BY value").fetchnumpy()
        return ints(found["code"])

    def record_classes(self) -> Ints:
        return self._lists.classes()

    # -- combinations ----------------------------------------------------------------------------------------

    def prepare(self, quasi: Sequence[str], sensitive: Sequence[str]) -> None:
        self._quasi, self._sensitive = words_of(quasi, self._coded), list(sensitive)
        self._keys = [f"k{i}" for i in range(len(self._quasi))]
        self._make_coded(sensitive, self._quasi)

    def combinations(
        self, *, by_record: bool = False, parts: Parts = 0, part: int = 0, classes: range | None = None
    ) -> Combinations:
        by = ["coded." + key for key in (*self._keys, *(["row_id"] if by_record else []))]
        among = "" if classes is None else f" AND class >= {classes.start} AND class < {classes.stop}"
        found = self._figures(by, f"FROM coded WHERE {within(parts, part, self._coded_as)}{among}")
        self._by = {name: found[name] for name in (["row_id"] if by_record else self._keys)}
        self._keep("combination", {"combination": np.arange(len(found["n"])), **self._by})
        self._numbered = "combination.combination", f"coded JOIN combination USING ({', '.join(self._by)})"
        return combinations_of(found, unpacked(found, self._quasi, self._coded), self._sensitive)

    def record_rows(self) -> Ints:
        order = ", ".join([*self._keys, "row_id"])
        found = self._db.execute(f"SELECT row_id FROM coded ORDER BY {order}").fetchnumpy()["row_id"]
        return np.argsort(np.argsort(found))

    def each_part(self, parts: Parts) -> Combinations:
        self._numbered = number_of(parts, self._coded_as), "coded"
        return combinations_of(self._figures([f"{self._numbered[0]} AS part"], "FROM coded"), {}, self._sensitive)

    def count_codes(self, column: str, parts: Parts) -> tuple[Ints, Ints, Ints]:
        return self._counts.codes(column, parts)

    def count_combinations(self, parts: Parts) -> Mapping[int, int]:
        return self._counts.combinations(parts)

    @property
    def _counts(self) -> CoarseCounts:
        keys = [f"coded.{key}" for key in self._keys]
        return CoarseCounts(lambda sql: self._db.execute(sql).fetchnumpy(), "coded", self._coded_as, keys)

    def _figures(self, by: Sequence[str], rows: str) -> Mapping[str, Array]:
        """Records grouped by these, and for every sensitive number the extremes of its values and of its codes."""
        numbers = [(f"v{self._numbers[name]}", self._code(name)) for name in self._sensitive]
        found: Mapping[str, Array] = self._db.execute(figures_sql(by, rows, numbers)).fetchnumpy()
        return found

    def _make_coded(self, sensitive: Sequence[str], words: Sequence[Sequence[str]]) -> None:
        """One row per person with codes in place of values (and the value itself where a hull is needed), and the
        quasi-identifiers packed into few numbers, for grouping, sorting and joining.
        """
        names = list(self._coded)
        made = [self._coded_part(names[i : i + AT_ONCE], sensitive) for i in range(0, max(1, len(names)), AT_ONCE)]
        # Joining hundreds of columns in one statement would need memory for all of them at once.
        for number, part in enumerate(made[1:], 1):
            self._db.execute(f"CREATE OR REPLACE TABLE coded_{number} AS {part}")
        whole = f"({made[0]})" + "".join(f" JOIN coded_{number} USING (row_id)" for number in range(1, len(made)))
        keys = "".join(f", {packed(word, self._coded, self._code)} AS k{i}" for i, word in enumerate(words))
        self._db.execute(f"CREATE TABLE coded AS SELECT *{keys} FROM {whole}")
        for number in range(1, len(made)):
            self._db.execute(f"DROP TABLE coded_{number}")

    def _coded_part(self, names: Sequence[str], sensitive: Sequence[str]) -> str:
        """Rows with the codes of some columns, and the values of those where a hull is needed."""
        parts, joins = [f"r.{self._row} AS row_id"], []
        for name in names:
            i = self._numbers[name]
            parts.append(f"COALESCE(m{i}.code, -1) AS x{i}")
            joins.append(f"LEFT JOIN code_{i} m{i} ON m{i}.value = {self._axis(name, 'r.')}")
            if name in sensitive:
                parts.append(f"CAST({self._axis(name, 'r.')} AS DOUBLE) AS v{i}")
        return f"SELECT {', '.join(parts)} FROM {self._made_of} r {' '.join(joins)}"

    def counts_by_combination(self, column: str) -> tuple[Ints, Ints, Ints]:
        number, rows = self._numbered
        found = self._db.execute(
            f"SELECT {number} AS combination, {self._code(column)} AS code, COUNT(*) AS n FROM {rows} "
            "GROUP BY ALL ORDER BY ALL"
        ).fetchnumpy()
        return ints(found["combination"]), ints(found["code"]), ints(found["n"])

    # -- classes and cells -------------------------------------------------------------------------------------

    def add_classes(self, classes: Ints) -> None:
        given = {**self._by, "class": classes.astype(np.int32)}
        rows = f"SELECT coded.*, given.class FROM coded JOIN given USING ({', '.join(self._by)}) WHERE given.class >= 0"
        self._keep("classed", given, rows, more=True)

    def seal_classes(self) -> None:
        self._by = {}
        self._db.execute("DROP TABLE coded")
        self._db.execute("ALTER TABLE classed RENAME TO coded")
        if self._carried is None:
            self._db.execute(f"{_ROW_CLASS} SELECT row_id, CAST(class AS BIGINT) AS class FROM coded ORDER BY row_id")
            return
        [(last,)] = self._db.execute("SELECT COALESCE(MAX(class), -1) FROM coded").fetchall()
        numbers = self._carried.numbers(int(last) + 1)
        self._keep("numbered", {"class": np.arange(numbers.size), "number": numbers})
        self._db.execute(
            f"{_ROW_CLASS} SELECT s.row_id, COALESCE(made.number, s.class) AS class FROM {SAME} s "
            "LEFT JOIN (SELECT row_id, number FROM coded JOIN numbered USING (class)) made ON made.row_id = s.row_id "
            "ORDER BY s.row_id"
        )
        self._db.execute("DROP TABLE numbered")

    @property
    def _classed(self) -> ClassedRows:
        columns = CodedColumns(self._types, self._coded, self._code, partial(self._axis, prefix="r."))
        return ClassedRows(self._db, columns, (self._made_of, self._row), self._made_checks)

    def class_sizes(self) -> Ints:
        return self._classed.class_sizes()

    def of_classes(self, classes: range) -> ClassedRows:
        return self._classed.within(classes)

    def class_codes(self, column: str) -> tuple[Ints, Ints, Ints]:
        return self._classed.class_codes(column)

    def cells(self, columns: Sequence[str]) -> tuple[Ints, Mapping[str, Ints], Ints]:
        return self._classed.cells(columns)

    def keep_policy(self, text: str) -> None:
        self._db.execute("CREATE OR REPLACE TABLE policy (body VARCHAR)")
        self._db.execute("INSERT INTO policy VALUES (?)", [text])

    def members(self, columns: Sequence[str], coded: Sequence[str] = ()) -> pa.Table:
        named = [f"r.{quoted(name)} AS v{i}" for i, name in enumerate(columns)]
        named += [f"coded.{self._code(name)} AS c{i}" for i, name in enumerate(coded)]
        joined = f"{self._made_of} r JOIN coded ON coded.row_id = r.{self._row}"
        found: pa.Table = self._db.sql(
            f"SELECT coded.class, {', '.join(named)} FROM {joined} ORDER BY ALL"
        ).to_arrow_table()
        return found.rename_columns(["class", *columns, *coded])

    # -- checks on what was made -------------------------------------------------------------------------------

    def _made_checks(self) -> Checks:
        """Raw rows and classes, read back from the vault."""
        if self._judged is None:
            judged = [name for name in self._coded if self._types[name] != "codes"]
            numeric = [name for name in judged if self._types[name] not in ("boolean", "category")]
            axes = {name: self._axis(name, "r.") for name in judged}
            self._judged = Checks(DuckDBEngine(self._db), self._row, axes, numeric, self._made_of)
        return self._judged

    def intervals_off(self, column: str, classes: Ints, low: Array, high: Array, null: Array, counts: Ints) -> int:
        return self._classed.intervals_off(column, classes, low, high, null, counts)

    def sets_off(
        self, column: str, classes: Ints, sets: Ints, counts: Ints, members: tuple[Ints, Ints], texts: Sequence[str]
    ) -> int:
        return self._classed.sets_off(column, classes, sets, counts, members, texts)

    def class_values(self, column: str) -> tuple[Ints, Array, Ints]:
        return self._classed.class_values(column)

    def class_hulls(self, column: str) -> tuple[Ints, Floats, Floats]:
        return self._classed.class_hulls(column)

    def raw_counts(
        self, columns: Sequence[str], *, by: Literal["combination", "class"]
    ) -> tuple[Ints, Mapping[str, Array], Ints]:
        classed, (number, rows) = self._classed, self._numbered
        if by == "class":
            return classed.raw_counts(columns)
        joined = f"{rows} JOIN {self._made_of} r ON r.{self._row} = coded.row_id"
        return count_raw(self._db, classed.columns, columns, number, joined)

    def raw_column(self, column: str) -> RawColumn:
        axis = f"CAST({quoted(column)} AS VARCHAR)" if self._types[column] == "codes" else self._axis(column)
        sql = f"SELECT {axis} AS v FROM rows ORDER BY {self._row}"
        return read_column(self._db, sql, is_number=self._types[column] in NUMERIC)

    # -- beside earlier versions -------------------------------------------------------------------------------

    def attached(
        self, files: Mapping[str, Path], *, read_only: bool = True
    ) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """Other files in the engine of these tables."""
        return attached(self._db, files, read_only=read_only)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._types)

    def meet(self, past: Past, keeping: OverlapRule) -> DuckDBVersionOverlap:
        """The rows of which classes are made, beside the people of earlier versions."""
        if self._carried is None:
            return DuckDBVersionOverlap(self._db, past, keeping)
        return DuckDBVersionOverlap(
            self._db, past, keeping, only=partial(made_anew, carried=self._carried, staged=True)
        )

    def carry(self, version: int, rows: int) -> CarriedClasses | None:
        """From now on classes are made of rows that are not in classes of an earlier version that stay as they were; it
        is attached as v1, v2 ... and has so many rows. None where all have to be made.
        """
        self._carried = carry(self._db, version, rows)
        return self._carried

    def carry_nothing(self) -> None:
        """All classes are to be made, as if none had been found."""
        self.forget_classes()
        forget(self._db)
        self._carried = None

    @property
    def _made_of(self) -> str:
        """The rows of which classes are made."""
        return "rows" if self._carried is None else CHANGED

    def forget_classes(self) -> None:
        for table in ("row_class", *_MAKING):
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
        self._judged = None

    def close(self) -> None:
        try:
            for table in (*_MAKING, *_CARRYING, LOADED, *(f"code_{self._numbers[name]}" for name in self._coded)):
                self._db.execute(f"DROP TABLE IF EXISTS {table}")
            self._db.execute("CHECKPOINT")
        finally:
            self._db.close()
            self.is_open = False

    # -- helpers -----------------------------------------------------------------------------------------------

    def _axis(self, column: str, prefix: str = "") -> str:
        if self._types[column] == "codes":
            return prefix + self._row  # each list is coded separately
        return _AXIS[self._types[column]].format(x=prefix + quoted(column))

    def _code(self, column: str) -> str:
        return f"x{self._numbers[column]}"

    def _coded_as(self, column: str) -> str:
        return f"coded.{self._code(column)}"

    def _keep(
        self, table: str, columns: Mapping[str, Array], wanted: str = "SELECT * FROM given", *, more: bool = False
    ) -> None:
        """Stores arrays, or a selection from them, as a table; replaces it, unless rows are to be appended."""
        self._db.register("given", pa.table({name: arrow_array(values) for name, values in columns.items()}))
        if more:
            self._db.execute(f"CREATE TABLE IF NOT EXISTS {table} AS {wanted} LIMIT 0")
            self._db.execute(f"INSERT INTO {table} {wanted}")
        else:
            self._db.execute(f"CREATE OR REPLACE TABLE {table} AS {wanted}")
        self._db.unregister("given")
