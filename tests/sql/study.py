"""One small study for everything that is tested on SQL: its catalog, its rows, the same rows in DuckDB, and the corpus.

A corpus file holds statements that end with `;` at the end of a line. Lines `# key: value` before a statement say
what is expected of it.
"""

from __future__ import annotations

import atexit
import datetime as dt
import functools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from querygate.core.types import Catalog, Column

HERE = Path(__file__).parent
EPOCH = dt.date(1970, 1, 1)
CITIES = ("", "Graz", "Linz", "O'Brien", "Wien", "graz", "Ähren")

CATALOG = Catalog(
    dataset="patients",
    version=1,
    title="",
    k=5,
    rows=80,
    columns=(
        Column("age", 0, "quasi-identifier", "integer", False, 0, 120),
        Column("sbp", 1, "sensitive", "integer", True, 40, 300),
        Column("weight", 2, "sensitive", "number", True, -1.0, 500.0),
        Column("born", 3, "quasi-identifier", "date", True, -40_000, 20_000),
        Column("sex", 4, "quasi-identifier", "category", False, values=("F", "M", "X")),
        Column("city", 5, "quasi-identifier", "category", True, values=CITIES),
        Column("smoker", 6, "sensitive", "boolean", True, values=("false", "true")),
        Column("pulse", 7, "sensitive", "integer", False, -(2**62), 2**62),
    ),
)
TYPES = {"integer": "BIGINT", "number": "DOUBLE", "date": "DATE", "category": "VARCHAR", "boolean": "BOOLEAN"}
CREATE = f"CREATE TABLE patients ({', '.join(f'{c.name} {TYPES[c.type]}' for c in CATALOG.columns)})"

POOLS: dict[str, list[Any]] = {
    "age": [0, 16, 39, 40, 40, 41, 120],
    "sbp": [None, 40, 119, 120, 121, 300],
    "weight": [None, -0.5, 0.0, 0.1, math.nextafter(0.1, 1), 0.5, 70.5],
    "born": [None, dt.date(1900, 1, 1), EPOCH, dt.date(1999, 12, 31), dt.date(2020, 2, 29)],
    "sex": ["F", "F", "M", "M", "M", "X"],
    "city": [None, *CITIES],
    "smoker": [None, True, False],
    "pulse": [-(2**62), -1, 0, 1, 2**53, 2**53 + 1, 2**62],
}


def _rows() -> tuple[dict[str, Any], ...]:
    """Rows that meet each other in as many ways as possible, always the same."""
    rng = random.Random(20)
    return tuple({name: rng.choice(pool) for name, pool in POOLS.items()} for _ in range(CATALOG.rows))


ROWS = _rows()


def on_axis(value: Any) -> Any:
    """A raw value as the gate knows it: a date is its day number, a boolean its text."""
    if isinstance(value, bool):
        return str(value).lower()
    return (value - EPOCH).days if isinstance(value, dt.date) else value


AXIS_ROWS: tuple[dict[str, Any], ...] = tuple({name: on_axis(value) for name, value in row.items()} for row in ROWS)


@functools.cache
def raw() -> duckdb.DuckDBPyConnection:
    """The study in DuckDB, with the number of each row."""
    connection = duckdb.connect()
    connection.execute(CREATE)
    connection.executemany(
        f"INSERT INTO patients VALUES ({', '.join('?' * len(POOLS))})", [list(row.values()) for row in ROWS]
    )
    return connection


@functools.cache
def empty() -> duckdb.DuckDBPyConnection:
    """The same table without rows: for what DuckDB has to say about a statement before it meets data."""
    connection = duckdb.connect()
    connection.execute(CREATE)
    return connection


atexit.register(raw.cache_clear)
atexit.register(empty.cache_clear)


# -- the corpus ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """One statement of the corpus and what is expected of it."""

    where: str
    sql: str
    expected: dict[str, str]


def samples(folder: str) -> list[Sample]:
    """All statements of a folder of the corpus."""
    return [sample for path in sorted((HERE / folder).glob("*.sql")) for sample in _read(path)]


def _read(path: Path) -> Iterator[Sample]:
    lines: list[str] = []
    expected: dict[str, str] = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not lines and line.startswith("# "):
            key, _, value = line[2:].partition(": ")
            expected[key] = value
        elif lines or (line.strip() and not line.startswith("-- ")):
            lines.append(line)
            if line.endswith(";"):
                yield Sample(f"{path.parent.name}/{path.name}:{number}", "\n".join(lines).removesuffix(";"), expected)
                lines, expected = [], {}
    assert not lines, f"{path.name}: the last statement does not end with ;"
