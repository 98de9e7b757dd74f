"""A version in the making inside Spark: rows, codes, parts, classes and counts are tables there, and stay there.

Rows are read, typed and divided into classes by Spark's workers. What comes to this process are the values of single
columns with their counts, counts by coarse part, the boxes of classes and the cells: nothing that tells two values of
one record together, before they are published together.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import functions
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError, QueryGateError
from querygate.core.publications.coarse_parts import Parts, numbers_of
from querygate.core.publications.vault_ports import (
    AS_IT_IS,
    CodedCombinations,
    Combinations,
    JoinedTable,
    Profile,
    ReadAs,
    Source,
    ValueCount,
)
from querygate.core.types import NUMERIC, Array, Floats, Ints
from querygate_adapters.sources.files import quoted
from querygate_adapters.sources.spark_table import SparkTable, plainly_named
from querygate_adapters.store.column_arrays import ints
from querygate_adapters.vault.coarse_counts import CoarseCounts, number_of
from querygate_adapters.vault.code_words import packed, unpacked, words_of
from querygate_adapters.vault.combination_figures import combinations_of, figures_sql
from querygate_adapters.vault.free_names import free_name
from querygate_adapters.vault.spark.parquet_vault import ParquetVault
from querygate_adapters.vault.spark.part_tables import PartLayout, PartTables
from querygate_adapters.vault.spark.spark_engine import SparkEngine, asking
from querygate_adapters.vault.spark.spark_gaps import SparkGaps, refused
from querygate_adapters.vault.spark.typed_rows import TypedRows
from querygate_adapters.vault.verifier_counts import Checks

T = TypeVar("T")

_AXIS = {
    "integer": "{x}",
    "number": "{x}",
    "date": "CAST({x} - DATE '1970-01-01' AS BIGINT)",
    "timestamp": "unix_micros(CAST({x} AS TIMESTAMP))",
    "boolean": "CAST({x} AS STRING)",
    "category": "{x}",
}

PART_BYTES = 64 << 20
"""Memory for the arrays of one part, in each worker: about 250,000 combinations of five quasi-identifiers."""


@dataclass(frozen=True, slots=True)
class _PartClasses:
    """The classes of one part, and where those of all parts before it end."""

    part: int
    begin: int


class SparkStagingTables(SparkGaps):
    """Staging tables whose heavy work is done by Spark, over Parquet in the folder of the version."""

    def __init__(self, vault: ParquetVault) -> None:
        self._vault, self._engine = vault, SparkEngine(vault.making)
        self.room_bytes = PART_BYTES
        self.matched: Mapping[str, int] = {}
        self._types: dict[str, str] = {}
        self._numbers: dict[str, int] = {}  # column name -> number in physical names
        self._coded: dict[str, int] = {}  # column name -> number of codes, including the one for missing values
        self._without: set[str] = set()  # coded columns that have no value
        self._quasi: list[list[str]] = []
        self._sensitive: list[str] = []
        self._parts: Parts = 0
        self._begins: list[_PartClasses] = []
        self._judged: Checks | None = None
        self._row, self._is_sealed = "row_id", False

    # -- loading ---------------------------------------------------------------------------------------------

    def load(
        self,
        source: Source,
        columns: Mapping[str, str],
        joins: Sequence[JoinedTable] = (),
        read_as: ReadAs = AS_IT_IS,
    ) -> int:
        if not isinstance(source, SparkTable):
            raise ConfigError(
                "QG802",
                "A vault in Spark needs a source that Spark reads.",
                "Write --source 'spark:#schema.table' or --source spark:FOLDER, or leave out --vault.",
            )
        if joins or not set(columns.values()) <= set(_AXIS):
            refused("other tables are joined, or there are lists of codes or texts")
        self._types, self._numbers = dict(columns), {name: i for i, name in enumerate(columns)}
        self._row = free_name("row_id", columns)
        with source.reading():
            typed = TypedRows(dict(columns), read_as, to_arrow_schema(source.rows.schema))
            read = plainly_named(source.selection(typed.needed)).mapInArrow(
                typed.of, from_arrow_schema(typed.result, prefer_timestamp_ntz=True)
            )
            numbered = read.select(functions.monotonically_increasing_id().alias(self._row), "*")
            place = self._vault.making / "read" if typed.marks else self._vault.rows
            numbered.write.parquet(f"file://{place}")
        self._engine.open("rows", place)
        if typed.marks:
            self._check_read(typed.marks)
            listed = ", ".join([self._row, *map(quoted, columns)])
            self._engine.put("rows", self._engine.rows(f"SELECT {listed} FROM rows"), self._vault.rows)
        return int(self._engine.query("SELECT COUNT(*) AS n FROM rows")["n"][0])

    def _check_read(self, marks: Mapping[str, str]) -> None:
        """Check that every value could be read. The error never quotes one."""
        sums = ", ".join(f"COUNT(*) FILTER (WHERE {mark}) AS {mark}" for mark in marks.values())
        found = self._engine.query(f"SELECT {sums} FROM rows")
        problems = [
            f"column {name}: {counted(int(found[mark][0]), 'value')} cannot be read as {self._types[name]}"
            for name, mark in marks.items()
            if found[mark][0]
        ]
        if problems:
            raise ConfigError(
                "QG802", "; ".join(problems) + ".", "Correct the source, or the column's type in the policy."
            )

    def keep_policy(self, text: str) -> None:
        self._vault.policy.write_text(text, encoding="utf-8")

    # -- profiles and codes ----------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._types)

    def profile(self, column: str) -> Profile:
        found = self._engine.table(f"SELECT {self._axis(column)} AS v, COUNT(*) AS n FROM rows GROUP BY 1")
        rising = pa.table(dict(found)).sort_by("v")  # missing ones come last
        known = rising.num_rows - rising["v"].null_count
        values, n = rising["v"].slice(0, known).to_numpy(), rising["n"].to_numpy()
        return Profile(values, n[:known], int(n[known:].sum()))

    def count_values(self, columns: Iterable[str]) -> Mapping[str, ValueCount]:
        found = {}
        for name in columns:
            x = quoted(name)
            told = self._engine.query(f"SELECT COUNT({x}) AS known, COUNT(DISTINCT {x}) AS different FROM rows")
            found[name] = ValueCount(int(told["known"][0]), int(told["different"][0]))
        return found

    def count_source_values(self, source: Source, columns: Iterable[str]) -> Mapping[str, ValueCount]:
        found = {}
        for name in columns:
            if isinstance(source, SparkTable):
                with source.reading():
                    rows, x = source.selection([name]).toDF("x"), functions.col("x")
                    known, different = self._engine.figures(rows.select(functions.count(x), functions.countDistinct(x)))
                found[name] = ValueCount(int(known[0]), int(different[0]))
        return found

    def count_missing(self, columns: Sequence[str]) -> Mapping[str, int]:
        listed = ", ".join(["COUNT(*) AS n", *(f"COUNT({quoted(name)}) AS n{i}" for i, name in enumerate(columns))])
        found = self._engine.query(f"SELECT {listed} FROM rows")
        return {name: int(found["n"][0] - found[f"n{i}"][0]) for i, name in enumerate(columns)}

    def set_codes(self, column: str, values: Array, codes: Ints) -> None:
        self._coded[column] = int(codes.max(initial=-1)) + 2
        if not codes.size:
            self._without.add(column)
            return
        given = pa.array(values, pa.string() if values.dtype == object else None)
        self._engine.give(f"code_{self._numbers[column]}", pa.table({"value": given, "code": codes.astype(np.int32)}))

    # -- combinations and parts ------------------------------------------------------------------------------

    def prepare(self, quasi: Sequence[str], sensitive: Sequence[str]) -> None:
        self._quasi, self._sensitive = words_of(quasi, self._coded), list(sensitive)
        parts, joins = [f"r.{self._row} AS row_id"], []
        for name in self._coded:
            i, axis = self._numbers[name], self._axis(name, "r.")
            if name in self._without:
                parts.append(f"-1 AS x{i}")
            else:
                parts.append(f"COALESCE(m{i}.code, -1) AS x{i}")
                joins.append(f"LEFT JOIN code_{i} m{i} ON m{i}.value = {axis}")
            if name in sensitive:
                parts.append(f"CAST({axis} AS DOUBLE) AS v{i}")
        keys = "".join(f", {packed(word, self._coded, self._code)} AS k{i}" for i, word in enumerate(self._quasi))
        self._engine.keep(
            "coded", f"SELECT *{keys} FROM (SELECT {', '.join(parts)} FROM rows r {' '.join(joins)}) AS c"
        )

    def each_part(self, parts: Parts) -> Combinations:
        self._parts = parts
        numbers = [(f"v{self._numbers[name]}", self._code(name)) for name in self._sensitive]
        part = number_of(parts, self._coded_as)
        found = self._engine.query(figures_sql([f"{part} AS part"], "FROM coded", numbers))
        return combinations_of(found, {}, self._sensitive)

    def counts_by_combination(self, column: str) -> tuple[Ints, Ints, Ints]:
        part = number_of(self._parts, self._coded_as)
        found = self._engine.query(
            f"SELECT {part} AS combination, {self._code(column)} AS code, COUNT(*) AS n FROM coded "
            "GROUP BY ALL ORDER BY ALL"
        )
        return ints(found["combination"]), ints(found["code"]), ints(found["n"])

    def count_codes(self, column: str, parts: Parts) -> tuple[Ints, Ints, Ints]:
        return self._counts.codes(column, parts)

    def count_combinations(self, parts: Parts) -> Mapping[int, int]:
        return self._counts.combinations(parts)

    @property
    def _counts(self) -> CoarseCounts:
        return CoarseCounts(self._engine.query, "coded", self._coded_as, [f"coded.{key}" for key in self._keys])

    @property
    def _keys(self) -> list[str]:
        return [f"k{i}" for i in range(len(self._quasi))]

    # -- classes ---------------------------------------------------------------------------------------------

    def divide_parts(self, parts: Parts, work: Callable[[CodedCombinations], tuple[Ints, T]]) -> Sequence[T]:
        numbers = numbers_of(parts)
        layout = PartLayout(
            self._quasi, dict(self._coded), {name: self._code(name) for name in self._coded}, self._sensitive
        )

        def divide(rows: pa.Table) -> pa.Table:
            return _divided(layout, work, rows)

        schema = ", ".join(["part int", *(f"{key} bigint" for key in layout.keys), "class int", "told binary"])
        rows = self._engine.rows(self._grouped(parts))
        with asking(self._engine.session):  # a number of our own: Spark would put small parts together
            divided = rows.repartition(len(numbers), "part").groupBy("part").applyInArrow(divide, schema)
        self._engine.put("divided", divided)
        found = self._engine.table("SELECT part, told FROM divided WHERE told IS NOT NULL")
        told = dict(zip(found["part"].to_pylist(), map(pickle.loads, found["told"].to_pylist()), strict=True))
        made, self._begins, begin = [], [], 0
        for part in numbers:
            if isinstance(told[part], _Refusal):
                raise told[part].error()
            classes, left = told[part]
            self._begins.append(_PartClasses(part, begin))
            made.append(left)
            begin += classes
        return made

    def _grouped(self, parts: Parts) -> str:
        """SQL: the rows of each part by their codes, as `PartLayout` has them."""
        within = {name for word in self._quasi for name in word}
        codes = [self._code(name) for name in self._coded if name not in within]
        by = [f"{number_of(parts, self._coded_as)} AS part", *self._keys, *codes]
        return figures_sql(
            by, "FROM coded", [(f"v{self._numbers[name]}", self._code(name)) for name in self._sensitive]
        ).partition(" ORDER BY ")[0]

    def seal_classes(self) -> None:
        begins = {"part": [one.part for one in self._begins], "begin": [one.begin for one in self._begins]}
        self._engine.give("part_begin", pa.table(begins, schema=pa.schema({"part": pa.int32(), "begin": pa.int32()})))
        same = " AND ".join(f"d.{key} = coded.{key}" for key in self._keys)
        self._engine.keep(
            "classed",
            f"SELECT coded.*, d.class + b.begin AS class FROM coded JOIN divided d ON {same} "
            "JOIN part_begin b ON b.part = d.part",
        )
        classes = self._engine.rows("SELECT row_id, CAST(class AS BIGINT) AS class FROM classed")
        self._engine.put("row_class", classes, self._vault.classes)
        self._is_sealed = True

    def class_codes(self, column: str) -> tuple[Ints, Ints, Ints]:
        x = self._code(column)
        found = self._engine.query(
            f"SELECT class, MIN({x}) FILTER (WHERE {x} >= 0) AS low, MAX({x}) AS high, "
            f"COUNT(*) FILTER (WHERE {x} < 0) AS missing FROM classed GROUP BY class ORDER BY class"
        )
        return ints(found["low"]), ints(found["high"]), ints(found["missing"])

    def cells(self, columns: Sequence[str]) -> tuple[Ints, Mapping[str, Ints], Ints]:
        words = words_of(columns, self._coded)
        keyed = ", ".join(f"{packed(word, self._coded, self._code)} AS k{i}" for i, word in enumerate(words))
        found = self._engine.query(
            f"SELECT *, COUNT(*) AS n FROM (SELECT class, {keyed} FROM classed) AS c GROUP BY ALL ORDER BY ALL"
        )
        return ints(found["class"]), unpacked(found, words, self._coded), ints(found["n"])

    # -- checks on what was made -------------------------------------------------------------------------------

    @property
    def _checks(self) -> Checks:
        """Raw rows and classes, read back from the vault."""
        if self._judged is None:
            numeric = [name for name in self._coded if self._types[name] in NUMERIC]
            axes = {name: self._axis(name, "r.") for name in self._coded}
            self._judged = Checks(self._engine, self._row, axes, numeric)
        return self._judged

    def intervals_off(self, column: str, classes: Ints, low: Array, high: Array, null: Array, counts: Ints) -> int:
        return self._checks.intervals_off(column, classes, low, high, null, counts)

    def sets_off(
        self, column: str, classes: Ints, sets: Ints, counts: Ints, members: tuple[Ints, Ints], texts: Sequence[str]
    ) -> int:
        return self._checks.sets_off(column, classes, sets, counts, members, texts)

    def class_hulls(self, column: str) -> tuple[Ints, Floats, Floats]:
        return self._checks.hulls(column)

    def close(self) -> None:
        """Nothing of a version that was not made is kept: whoever publishes removes its folder."""
        if self._is_sealed:
            self._vault.settle()

    # -- helpers -----------------------------------------------------------------------------------------------

    def _axis(self, column: str, prefix: str = "") -> str:
        return _AXIS[self._types[column]].format(x=prefix + quoted(column))

    def _code(self, column: str) -> str:
        return f"x{self._numbers[column]}"

    def _coded_as(self, column: str) -> str:
        return f"coded.{self._code(column)}"


# -- in a worker -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A coded error on its way back: Spark would put it between lines of its own."""

    code: str
    detail: str
    remedy: str

    def error(self) -> ConfigError:
        return ConfigError(self.code, self.detail, self.remedy)


def _divided(layout: PartLayout, work: Callable[[CodedCombinations], tuple[Ints, Any]], rows: pa.Table) -> pa.Table:
    """The class of each combination of a part; its first row also says what else was made."""
    tables = PartTables(layout, rows)
    try:
        labels, left = work(tables)
        told: object = (int(labels.max()) + 1, left)
    except QueryGateError as error:
        labels, told = tables.combinations().counts * 0, _Refusal(error.code, error.detail, error.remedy)
    keyed = tables.keyed(labels)
    tables.close()
    message = [pickle.dumps(told), *[None] * (keyed.num_rows - 1)]
    part = pa.array([rows["part"][0].as_py()] * keyed.num_rows, pa.int32())
    return keyed.add_column(0, "part", part).append_column("told", pa.array(message, pa.binary()))
