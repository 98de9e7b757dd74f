"""Random logs over random tables: NULLs, ties, constants, one row or none, huge and tiny numbers, hostile statements.

Answers are those of a plain database; some are left out, some are ranges, some are NULL. What an auditor says of them
can therefore be held against the records themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.json_body import JsonValue
from querygate.custody.audit.audit import LogStatement
from tests.engine import scratch

Random = np.random.Generator

MEASURED = ("sbp", "dose", "same")
KNOWN = ("age", "sex", "day")
SECRET = (*MEASURED, "dx")
STATISTICS = (
    "COUNT(*)",
    "COUNT({x})",
    "SUM({x})",
    "AVG({x})",
    "MIN({x})",
    "MAX({x})",
    "MEDIAN({x})",
    "QUANTILE_CONT({x}, 0.9)",
    "VAR_POP({x})",
    "VAR_SAMP({x})",
    "STDDEV({x})",
    "STDDEV_POP({x})",
    "SUM(2 * {x} + 1)",
    "SUM({x}) FILTER (WHERE dx = 'hiv')",
    "AVG(CASE WHEN dx = 'flu' THEN {x} ELSE 0 END)",
    "AVG(CASE WHEN dx = 'flu' THEN {x} END)",
    "SUM(CASE WHEN dx IS NULL THEN 1 ELSE 0 END)",
    "SUM({x}) / COUNT(*)",
    "AVG({x}) * COUNT({x})",
    "ROUND(AVG({x}), 1)",
    "99 * SUM({x}) - 37 * SUM({x}) FILTER (WHERE sex = 'F')",
    "SUM({x}) - 100 * SUM({x}) FILTER (WHERE age > 41) - 100 * SUM({x}) FILTER (WHERE age < 43)",
    "AVG({x}), COUNT(*), STDDEV({x})",
    "SUM(sbp), SUM(dose), COUNT(*)",
)
HOSTILE = (
    "SELECT",
    "DROP TABLE people",
    "SELECT * FROM people",
    "SELECT AVG(sbp) FROM people, people AS other",
    "SELECT AVG(nothing) FROM people",
    "SELECT SUM(sbp) FROM people WHERE " + "NOT " * 400 + "age = 41",
    "SELECT SUM(dose * 1e308) FROM people WHERE age = 41",
    "SELECT SUM(sbp * 9000000000000000000) FROM people",
    "SELECT SUM(sbp * 1e99999999) FROM people WHERE age < 1e-99999999",
    "SELECT ROUND(AVG(sbp), 99999999) FROM people",
    "SELECT SUM(dx) FROM people",
    "SELECT AVG(sbp) FROM people WHERE age = CAST(sex AS INTEGER)",
    "SELECT MAX(dx), COUNT(*) FROM people GROUP BY dx",
    "SELECT \ud800 FROM people",
    "SELECT AVG(sbp) FROM people WHERE sex = 'Ω\u0000'",
)


@dataclass(frozen=True)
class RandomLog:
    """A table, what was asked of it, and k."""

    people: pa.Table
    entries: list[LogStatement]
    k: int


def random_log(random: Random, statements: int = 12) -> RandomLog:
    """A log of which some statements cannot be read, and some answers are ranges, NULL or not there."""
    people = random_people(random)
    database = scratch()
    database.register("people", people)
    entries = []
    for number in range(statements):
        sql = str(random.choice(HOSTILE)) if random.random() < 0.05 else random_statement(random)
        user = str(random.choice(["ann", "bob"], p=[0.8, 0.2]))
        time = "" if random.random() < 0.2 else f"2026-03-02T09:{number:02}:00Z"
        entries.append(LogStatement(f"q{number}", user, sql, time, random_answer(random, database, sql)))
    database.close()
    return RandomLog(people, entries, int(random.integers(2, 11)))


# -- people ------------------------------------------------------------------------------------------------------------


def random_people(random: Random) -> pa.Table:
    number = int(random.choice([0, 1, 2, 7, 25, 60], p=[0.02, 0.03, 0.1, 0.25, 0.4, 0.2]))
    ages = random.integers(40, 40 + int(random.integers(1, 12)), number)
    days = [date(2026, 1, 1) + timedelta(int(one)) for one in random.integers(0, 3, number)]
    columns: dict[str, tuple[list[Any], pa.DataType]] = {
        "age": (ages.tolist(), pa.int32()),
        "sex": (random.choice(["F", "M", "Ω'x"], number).tolist(), pa.string()),
        "day": (days, pa.date32()),
        "sbp": (random.integers(95, 190, number).tolist(), pa.int64()),
        "dose": (_numbers(random, number), pa.float64()),
        "same": ([7] * number, pa.int16()),
        "dx": (random.choice(["flu", "hiv", "007"], number).tolist(), pa.string()),
    }
    return pa.table(
        {name: pa.array(_with_missing(random, values), kind) for name, (values, kind) in columns.items()},
    )


def _numbers(random: Random, number: int) -> list[float]:
    """Whole numbers, ties, decimals, or as large and as small as they get."""
    makers: list[Callable[[], Any]] = [
        lambda: random.integers(0, 3, number).astype(float),
        lambda: random.normal(50, 20, number).round(1),
        lambda: random.choice([-1.0, 1.0], number) * 10.0 ** random.integers(-12, 13, number),
        lambda: random.choice([1e300, -1e300, 5e-324, 1.0], number),
    ]
    made: list[float] = makers[int(random.choice(4, p=[0.3, 0.4, 0.2, 0.1]))]().tolist()
    return made


def _with_missing(random: Random, values: list[Any]) -> list[Any]:
    share = random.choice([0, 0.1, 0.6, 1], p=[0.4, 0.35, 0.2, 0.05])
    return [None if random.random() < share else value for value in values]


# -- statements and answers --------------------------------------------------------------------------------------------


def random_statement(random: Random) -> str:
    listed = [str(random.choice(STATISTICS)).format(x=random.choice(MEASURED)) for _ in range(random.integers(1, 3))]
    key = str(random.choice(["", "", "", "sex", "age", "age % 3", "dx", "day"]))
    where = " AND ".join(random_conditions(random)) or "TRUE"
    having = f" HAVING COUNT(*) >= {random.integers(1, 5)}" if key and random.random() < 0.3 else ""
    shown, grouped = (f"{key}, ", f" GROUP BY {key}{having}") if key else ("", "")
    return f"SELECT {shown}{', '.join(listed)} FROM people WHERE {where}{grouped}"


def random_conditions(random: Random) -> Iterator[str]:
    first, last = sorted(random.integers(39, 53, 2).tolist())
    age = [f"age BETWEEN {first} AND {last}", f"age <= {last}", f"age = {first}", f"NOT (age > {first})"]
    other = ["sex = 'F'", "sex <> 'M'", "sex IS NULL", "day >= DATE '2026-01-02'", "age IN (40, 42) OR sex = 'M'"]
    secret = ["dx = 'hiv'", "sbp > 150", "dx IS NOT NULL", "(dx = 'flu' OR age = 41)", "dose IS NULL"]
    for listed, share in ((age, 0.8), (other, 0.3), (secret, 0.2)):
        if random.random() < share:
            yield str(random.choice(listed))


def random_answer(random: Random, database: duckdb.DuckDBPyConnection, sql: str) -> JsonValue:
    """What a plain database says, or a range around it, or nothing."""
    try:
        rows = database.execute(sql).fetchall() if random.random() < 0.85 else None
    except (duckdb.Error, RuntimeError, UnicodeError):
        rows = None
    if rows is None:
        return None
    ranges = random.random() < 0.3
    return [[_told(random, value, ranges=ranges) for value in row] for row in rows]


def _told(random: Random, value: Any, *, ranges: bool) -> JsonValue:
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, date):
        return value.isoformat()
    told = int(value) if isinstance(value, int) else float(value)
    if not ranges or not np.isfinite(told) or abs(told) > 1e100:
        return told
    wide = float(random.choice([0, 0.5, 10]))
    return {"low": told - wide, "high": told + wide}
