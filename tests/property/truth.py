"""What DuckDB says on the raw rows, and whether an answer of the gate holds it.

DuckDB lacks some aggregates and WIDTH_BUCKET: here they are defined in its own SQL as the reference defines them. There
is no tolerance: a range holds the number DuckDB returned, or the promise is broken.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import duckdb
import sqlglot
from scipy import special
from sqlglot import exp

from querygate.core.types import Answer, Group, Range
from querygate.sql.parse import DIALECT
from tests.unit.sql.plan_reference import as_key, as_told

_TABLE = {
    "n11": "count(CASE WHEN a AND b THEN 1 END)",
    "n10": "count(CASE WHEN a AND NOT b THEN 1 END)",
    "n01": "count(CASE WHEN NOT a AND b THEN 1 END)",
    "n00": "count(CASE WHEN NOT a AND NOT b THEN 1 END)",
}
MACROS = {
    "width_bucket(x, low, high, n)": """CASE WHEN x < low THEN 0 WHEN x >= high THEN n + 1
        ELSE CAST(floor((x - low) * n / (high - low)) AS BIGINT) + 1 END""",
    "var(x)": "var_samp(x)",
    "cv(x)": "stddev_pop(x) / nullif(avg(x), 0)",
    "iqr(x)": "quantile_cont(x, 0.75) - quantile_cont(x, 0.25)",
    "value_range(x)": "max(x) - min(x)",
    "harmonic_mean(x)": "count(x) / nullif(sum(1 / x), 0)",
    "exceedance(x, threshold)": "avg(CASE WHEN x > threshold THEN 1 WHEN x <= threshold THEN 0 END)",
    "half_width(x, level)": "student(level, count(x)) * stddev_samp(x) / sqrt(count(x))",
    "ci_low(x, level := 0.95)": "avg(x) - half_width(x, level)",
    "ci_high(x, level := 0.95)": "avg(x) + half_width(x, level)",
    "mean_diff(x, c)": "avg(x) FILTER (WHERE c) - avg(x) FILTER (WHERE NOT c)",
    "error_of(x, c)": "var_samp(x) FILTER (WHERE c) / count(x) FILTER (WHERE c)",
    "welch_t(x, c)": "mean_diff(x, c) / sqrt(nullif(error_of(x, c) + error_of(x, NOT c), 0))",
    "welch_p(x, c)": """welch(mean_diff(x, c), error_of(x, c), error_of(x, NOT c), count(x) FILTER (WHERE c),
        count(x) FILTER (WHERE NOT c))""",
    "risk(a, b)": "{n11} / nullif({n11} + {n10}, 0)",
    "risk_of_others(a, b)": "{n01} / nullif({n01} + {n00}, 0)",
    "risk_diff(a, b)": "risk(a, b) - risk_of_others(a, b)",
    "risk_ratio(a, b)": "CASE WHEN {n11} > 0 OR {n01} > 0 THEN risk(a, b) / risk_of_others(a, b) END",
    "odds_ratio(a, b)": """CASE WHEN {n11} + {n10} > 0 AND {n01} + {n00} > 0 AND {n11} * {n00} + {n10} * {n01} > 0
        THEN ({n11} * {n00}) / ({n10} * {n01}) END""",
    "chi_square(a, b)": """({n11} + {n10} + {n01} + {n00}) * power({n11} * {n00} - {n10} * {n01}, 2)
        / nullif(({n11} + {n10}) * ({n01} + {n00}) * ({n11} + {n01}) * ({n10} + {n00}), 0)""",
}


def define(connection: duckdb.DuckDBPyConnection) -> None:
    """Give the connection what DuckDB lacks."""
    for function, takes in ((student, "DOUBLE BIGINT"), (welch, "DOUBLE DOUBLE DOUBLE BIGINT BIGINT")):
        connection.create_function(function.__name__, function, takes.split(), "DOUBLE", null_handling="special")
    for head, body in MACROS.items():
        connection.execute(f"CREATE MACRO {head} AS {body.format(**_TABLE)}")


def student(level: float | None, n: int | None) -> float | None:
    """The quantile of Student's distribution that a confidence level asks for."""
    if level is None or n is None:
        return None
    return float(special.stdtrit(n - 1, (1 + level) / 2)) if n > 1 else None


def welch(difference: float | None, one: float | None, two: float | None, n: int, m: int) -> float | None:
    """The two-sided p-value of Welch's t from the difference of means and the squared errors."""
    if difference is None or one is None or two is None or one + two <= 0:
        return None
    freedom = (one + two) ** 2 / (one**2 / (n - 1) + two**2 / (m - 1))
    return 2 * float(special.stdtr(freedom, -abs(difference) / math.sqrt(one + two)))


# -- the comparison ----------------------------------------------------------------------------------------------------


def holds(found: Range, value: Any) -> bool:
    """Is DuckDB's value inside the range? NaN is no value, and told as NULL."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return found.may_be_null
    if isinstance(value, dt.date):
        value = (value.date() if isinstance(value, dt.datetime) else value).toordinal() - dt.date(
            1970, 1, 1
        ).toordinal()
    return found.low is not None and found.high is not None and bool(found.low <= value <= found.high)


def quantiles_of(sql: str) -> list[int]:
    """How many columns of an answer each column of a statement is: one, or one for each of a list of quantiles.

    >>> quantiles_of("SELECT sex, QUANTILE_CONT(age, [0.25, 0.5, 0.75]) FROM t GROUP BY sex")
    [1, 3]
    """
    asked = (column.find(exp.Array) for column in sqlglot.parse_one(sql, dialect=DIALECT).selects)
    return [1 if quantiles is None else len(quantiles.expressions) for quantiles in asked]


def differences(given: Answer, rows: Sequence[tuple[Any, ...]], sql: str) -> list[str]:
    """What is wrong with an answer to a statement, given the true rows; empty where all of them are held.

    Grouping sets may give several rows one key, so rows are matched with groups: every row must find a group that holds
    it, and every certain group a row. If both can be done each by itself, they can be done at once (Mendelsohn and
    Dulmage 1958).
    """
    kinds = [column.kind for column in given.columns]
    rows = as_told(rows, [column.texts for column in given.columns], quantiles_of(sql))
    truths: dict[tuple[Any, ...], list[list[Any]]] = defaultdict(list)
    for row in rows:
        told = list(zip(row, kinds, strict=True))
        truths[tuple(as_key(v) for v, kind in told if kind == "key")].append([v for v, kind in told if kind == "range"])
    groups: dict[tuple[Any, ...], list[Group]] = defaultdict(list)
    for group in given.groups:
        groups[group.keys].append(group)
    wrong = [text for group in given.groups for text in estimates_outside(group)]
    for key in {**truths, **groups}:
        shown, true = groups.get(key, []), truths.get(key, [])
        fits = [[_fits(group, values) for group in shown] for values in true]
        certain = [[fits[j][i] for j in range(len(true))] for i, group in enumerate(shown) if group.certain]
        for what, table in (("a true row is not shown", fits), ("a certain group is not there", certain)):
            if not _can_be_matched(table):
                wrong.append(f"{what}: {key!r}\n  truth {true}\n  shown {[(g.certain, g.ranges) for g in shown]}")
    return wrong


def estimates_outside(group: Group) -> list[str]:
    """Estimates of a group that are not in their ranges, are of another type, or are missing without a reason."""
    wrong = []
    for found, estimate in zip(group.ranges, group.estimates, strict=True):
        value = estimate.value
        if value is None:
            held = bool(estimate.note)
        else:
            held = found.low is not None and found.high is not None and found.low <= value <= found.high
            held = held and not estimate.note
        if not held:
            wrong.append(f"{estimate} is no estimate for {found}")
    return wrong


def _fits(group: Group, values: list[Any]) -> bool:
    return all(holds(found, value) for found, value in zip(group.ranges, values, strict=True))


def _can_be_matched(fits: list[list[bool]]) -> bool:
    """Can every row of the table have a column of its own that fits? By augmenting paths (Kuhn 1955)."""
    taken: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in seen:
                seen.add(column)
                if column not in taken or place(taken[column], seen):
                    taken[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(fits)))
