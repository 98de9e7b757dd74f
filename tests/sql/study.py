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
from scipy.stats import t as student

from querygate.core.types import Catalog, Column
from querygate_adapters.store.duckdb_native import DuckDBNative

HERE = Path(__file__).parent
NATIVE = DuckDBNative()
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


MACROS = {
    "width_bucket(x, low, high, n)": """CASE WHEN x < low THEN 0 WHEN x >= high THEN n + 1
        ELSE CAST(FLOOR((x - low) * n / (high - low)) AS BIGINT) + 1 END""",
    "cv(x)": "stddev_pop(x) / avg(x)",
    "iqr(x)": "quantile_cont(x, 0.75) - quantile_cont(x, 0.25)",
    "value_range(x)": "max(x) - min(x)",
    "harmonic_mean(x)": "count(x) / sum(1 / x)",
    "geometric_mean(x)": "geomean(x)",
    "exceedance(x, t)": "avg(CASE WHEN x > t THEN 1.0 WHEN x <= t THEN 0.0 END)",
    "ci_reach(x, level)": "t_quantile((1 + level) / 2, count(x) - 1) * stddev_samp(x) / sqrt(count(x))",
    "ci_low(x, level := 0.95)": "avg(x) - ci_reach(x, level)",
    "ci_high(x, level := 0.95)": "avg(x) + ci_reach(x, level)",
    "mean_diff(x, a)": "avg(x) FILTER (WHERE a) - avg(x) FILTER (WHERE NOT a)",
    "part(x, a)": "var_samp(x) FILTER (WHERE a) / count(x) FILTER (WHERE a)",
    "welch_t(x, a)": "mean_diff(x, a) / sqrt(part(x, a) + part(x, NOT a))",
    "welch_df(x, a)": """power(part(x, a) + part(x, NOT a), 2) / (power(part(x, a), 2) / (count(x) FILTER (WHERE a) - 1)
        + power(part(x, NOT a), 2) / (count(x) FILTER (WHERE NOT a) - 1))""",
    "welch_p(x, a)": "t_two_sided(welch_t(x, a), welch_df(x, a))",
    "risk(a, b)": "count(*) FILTER (WHERE a AND b) / nullif(count(*) FILTER (WHERE a AND b IS NOT NULL), 0)",
    "risk_diff(a, b)": "risk(a, b) - risk(NOT a, b)",
    "risk_ratio(a, b)": "risk(a, b) / risk(NOT a, b)",
    "odds_ratio(a, b)": """(count(*) FILTER (WHERE a AND b) * count(*) FILTER (WHERE NOT a AND NOT b))
        / (count(*) FILTER (WHERE a AND NOT b) * count(*) FILTER (WHERE NOT a AND b))""",
    "margin(a, b)": "count(*) FILTER (WHERE a AND b IS NOT NULL)",
    "chi_square(a, b)": """(margin(a, b) + margin(NOT a, b))
        * power(count(*) FILTER (WHERE a AND b) * count(*) FILTER (WHERE NOT a AND NOT b)
        - count(*) FILTER (WHERE a AND NOT b) * count(*) FILTER (WHERE NOT a AND b), 2)
        / (margin(a, b) * margin(NOT a, b) * margin(b, a) * margin(NOT b, a))""",
}
"""What DuckDB lacks, as the reference defines it."""


def _with_macros(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    connection.create_function("t_quantile", _t_quantile, ["DOUBLE", "DOUBLE"], "DOUBLE", null_handling="special")
    connection.create_function("t_two_sided", _t_two_sided, ["DOUBLE", "DOUBLE"], "DOUBLE")
    for head, body in MACROS.items():
        connection.execute(f"CREATE MACRO {head} AS {body}")
    connection.execute(CREATE)
    return connection


def _t_quantile(p: float, df: float | None) -> float | None:
    return float(student.ppf(p, df)) if df is not None and df >= 1 else None


def _t_two_sided(t: float, df: float) -> float:
    return float(2 * student.sf(abs(t), df))


def on_axis(value: Any) -> Any:
    """A raw value as the gate knows it: a date is its day number, a boolean its text."""
    if isinstance(value, bool):
        return str(value).lower()
    return (value - EPOCH).days if isinstance(value, dt.date) else value


AXIS_ROWS: tuple[dict[str, Any], ...] = tuple({name: on_axis(value) for name, value in row.items()} for row in ROWS)


@functools.cache
def raw() -> duckdb.DuckDBPyConnection:
    """The study in DuckDB, with the number of each row."""
    connection = _with_macros(duckdb.connect())
    connection.executemany(
        f"INSERT INTO patients VALUES ({', '.join('?' * len(POOLS))})", [list(row.values()) for row in ROWS]
    )
    return connection


@functools.cache
def empty() -> duckdb.DuckDBPyConnection:
    """The same table without rows: for what DuckDB has to say about a statement before it meets data."""
    return _with_macros(duckdb.connect())


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
