"""A small study with code lists: raw rows, the same rows in DuckDB, and what is published of them.

The truth about a test of codes is DuckDB's own, on the raw lists: the macros are those of docs/reference/codes.md.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.block import MISSING, Block, CodeColumn, CodeSets, Dictionary, NumberColumn, SetColumn
from querygate.core.types import Catalog, Column
from tests.engine import scratch
from tests.places import ROOT

PAGE = ROOT / "docs" / "reference" / "codes.md"
CODES = ("250.00", "250.01", "401.1", "401.9", "402", "4021", "493.00", "V10")
SEXES = ("F", "M")
CATALOG = Catalog(
    dataset="t",
    version=1,
    title="",
    k=2,
    rows=60,
    columns=(
        Column("age", 0, "quasi-identifier", "integer", False, 0, 120),
        Column("sex", 1, "quasi-identifier", "category", False, values=SEXES),
        Column("dx", 2, "codes", "codes", False, values=CODES),
        Column("sbp", 3, "public", "integer", True, 80, 200),
    ),
)
STATEMENTS = (
    "SELECT COUNT(*) FROM t WHERE has_code(dx, '401.1')",
    "SELECT COUNT(*), AVG(sbp) FROM t WHERE NOT has_code(dx, '401.1')",
    "SELECT COUNT(*) FROM t WHERE has_any(dx, '401.1', '250.00', 'V10')",
    "SELECT COUNT(*) FROM t WHERE has_any(dx, '401.1') OR has_any(dx, '401.9')",
    "SELECT COUNT(*) FROM t WHERE has_all(dx, '401.1', '250.00')",
    "SELECT COUNT(*) FROM t WHERE has_code_under(dx, '401')",
    "SELECT COUNT(*) FROM t WHERE has_code_under(dx, '40') AND NOT has_code(dx, '402')",
    "SELECT COUNT(*) FROM t WHERE has_code_under(dx, '25.0')",
    "SELECT COUNT(*) FROM t WHERE has_code(dx, '402') AND NOT has_code_under(dx, '402')",
    "SELECT COUNT(*) FROM t WHERE has_code(dx, '402') OR NOT has_code(dx, '402')",
    "SELECT COUNT(*) FROM t WHERE (has_code(dx, '401.1') AND age < 40) OR (NOT has_code(dx, '401.1') AND age >= 60)",
    "SELECT COUNT(*) FROM t WHERE has_code(dx, '401.1') IS NOT TRUE",
    "SELECT COUNT(*) FROM t WHERE has_code(dx, 'V10') IS NULL",
    "SELECT COUNT(*) FILTER (WHERE has_code(dx, '493.00')), COUNT(*) FROM t",
    "SELECT AVG(sbp) FILTER (WHERE has_any(dx, '250.00', '250.01')) FROM t",
    "SELECT AVG(CASE WHEN has_code_under(dx, '250') THEN 1.0 ELSE 0.0 END) FROM t",
    "SELECT SUM(CASE WHEN has_code(dx, '401.1') THEN sbp ELSE age END) FROM t",
    "SELECT COUNT_IF(has_code(dx, '401.1')), MAX(age) FROM t",
    "SELECT sex, COUNT(*), AVG(age) FROM t WHERE has_code_under(dx, '401') GROUP BY sex",
    "SELECT has_code(dx, '250.00') AS diabetic, COUNT(*), AVG(sbp) FROM t GROUP BY diabetic",
    "SELECT CASE WHEN has_code_under(dx, '250') THEN 'yes' WHEN has_any(dx, 'V10') THEN 'other' ELSE 'no' END AS g, "
    "COUNT(*) FROM t GROUP BY g",
    "SELECT COUNT(*) FROM (SELECT dx AS codes, age FROM t WHERE age < 70) WHERE has_code(codes, '401.9')",
    "SELECT AVG(age) FROM (SELECT has_code(dx, '402') AS ill, age FROM t) WHERE ill",
    "WITH a AS (SELECT age FROM t WHERE has_code(dx, '402') UNION ALL SELECT age FROM t WHERE NOT has_code(dx, '402')) "
    "SELECT COUNT(*), MIN(age) FROM a",
    "SELECT COUNT(*), MAX(n) FROM (SELECT sex, COUNT(*) FILTER (WHERE has_code(dx, '402')) AS n FROM t GROUP BY sex) "
    "WHERE n > 3",
    'SELECT COUNT(*) FROM t WHERE HAS_CODE("DX", \'401.1\') AND Has_Any((t.dx), \'402\')',
)  # fmt: skip

Row = dict[str, Any]


def random_rows(rng: random.Random, rows: int = CATALOG.rows) -> list[Row]:
    """Lists of none to four codes, some missing, some with a code twice or a NULL among them."""
    return [
        {
            "age": rng.choice([18, 30, 41, 59, 60, 75]),
            "sex": rng.choice(SEXES),
            "dx": rng.choice([None, [None, "V10"], *(rng.choices(CODES, k=rng.randint(0, 4)) for _ in range(8))]),
            "sbp": rng.choice([None, 110, 120, 145]),
        }
        for _ in range(rows)
    ]


def macros() -> list[str]:
    """The macros that the documentation gives."""
    return re.findall(r"^CREATE MACRO.*?;", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def raw(rows: Sequence[Row]) -> duckdb.DuckDBPyConnection:
    connection = scratch()
    for macro in macros():
        connection.execute(macro)
    connection.execute("CREATE TABLE t (age BIGINT, sex VARCHAR, dx VARCHAR[], sbp BIGINT)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [list(row.values()) for row in rows])
    return connection


# -- what is published -------------------------------------------------------------------------------------------------


def random_items(rng: random.Random) -> list[int]:
    """The item of each code, some suppressed."""
    drawn = [rng.choice([MISSING, 0, 1, 2, 3, 4]) for _ in CODES]
    number = {item: i for i, item in enumerate(dict.fromkeys(item for item in drawn if item != MISSING))}
    return [number.get(item, MISSING) for item in drawn]


EXACT = list(range(len(CODES)))


@dataclass(frozen=True)
class Published:
    """Rows with their code lists generalised, grouped to cells, as a block and as the tables of a store."""

    sets: CodeSets
    cells: list[tuple[int, int, int, int | None, int]]  # age, place of sex, set of items, sbp, records

    @property
    def block(self) -> Block:
        age, sex, items, sbp, n = (list(part) for part in zip(*self.cells, strict=True))
        ages, known = np.array(age), np.array([0 if value is None else value for value in sbp])
        missing = np.array([2 if value is None else 0 for value in sbp])
        columns = {
            "age": NumberColumn(ages, ages, np.zeros_like(ages)),
            "sex": SetColumn(np.array(sex) + 1, Dictionary.singletons(SEXES)),
            "dx": CodeColumn(np.array(items), self.sets),
            "sbp": NumberColumn(known, known, missing),
        }
        return Block(np.array(n), columns)

    @property
    def tables(self) -> Mapping[str, pa.Table]:
        age, sex, items, sbp, n = (list(part) for part in zip(*self.cells, strict=True))
        number, wide = pa.int32(), pa.int64()
        cells = {
            "class": pa.array([0] * len(n), wide), "class_n": pa.array([sum(n)] * len(n), wide),
            "c0_lo": pa.array(age, wide), "c0_hi": pa.array(age, wide), "c1_set": pa.array(sex, number),
            "c2_items": pa.array(items, number), "c3_lo": pa.array(sbp, wide), "c3_hi": pa.array(sbp, wide),
            "c3_null": pa.array([2 if value is None else 0 for value in sbp], pa.int8()), "n": pa.array(n, wide),
        }  # fmt: skip
        places = pa.array([0, 1], number)
        sexes = {"column_id": pa.array([1, 1], number), "set_id": places, "value_id": places}
        texts = {"column_id": pa.array([1, 1], number), "value_id": places, "text": pa.array(SEXES)}
        return {"cells": pa.table(cells), "set_value": pa.table(sexes), "value_text": pa.table(texts)}


def publish(rows: Sequence[Row], items: Sequence[int]) -> Published:
    """The anonymiser of this study: every code becomes its item, by the given mapping."""
    numbers: dict[tuple[int, ...], int] = {(): 0}
    cells: Counter[tuple[int, int, int, int | None]] = Counter()
    for row in rows:
        held = {items[CODES.index(code)] for code in row["dx"] or () if code is not None}
        key = tuple(sorted(held - {MISSING}))
        place = numbers.setdefault(key, len(numbers))
        cells[row["age"], SEXES.index(row["sex"]), place, row["sbp"]] += 1
    sets = CodeSets.of(CODES, items, list(numbers))
    return Published(sets, [(*cell, n) for cell, n in cells.items()])
