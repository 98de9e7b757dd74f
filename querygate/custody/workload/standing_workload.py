"""The standing workload: what an ordinary paper would ask of a dataset, made from its schema alone.

Counts; of every sensitive number mean, median and standard deviation; of every sensitive category how common its values
are; correlations and odds ratios of pairs. Each for everybody, by each categorical quasi-identifier and by each pair of
them; each again under conditions on an ordered quasi-identifier, whose ends follow public cuts (aligned) or do not
(free); each with and without one category fixed. What is drawn is drawn by a fixed seed: every publication is asked the
same.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from querygate.core.types import Catalog, Column
from querygate.custody.policy import Policy
from querygate.custody.policy.column_policy import Number
from querygate.custody.policy.interval_edges import exact, round_step
from querygate.sql.name_text import name_text

Kind = Literal["count", "prevalence", "mean", "median", "sd", "correlation", "odds ratio"]
Ends = Literal["none", "aligned", "free"]

SEED = 20060627
CONDITIONS = 4
"""So many conditions with aligned ends, and as many with free ones, on each ordered quasi-identifier."""

NARROWEST, WIDEST = 0.1, 0.5
"""Of the domain, between free ends."""

MOST_QUESTIONS = 4_000
"""Of more, so many are drawn."""

MOST_VALUES = 50
"""Categories with more values are not queried value by value."""

TRIES = 20
PARTS = 10

DIGITS = 6
"""Of a free end that is no whole number: nobody writes more."""


@dataclass(frozen=True, slots=True)
class Question:
    """One statistic by group. `records` counts, by the same groups, the records that it is of; both are SQL.

    `columns` are those that the statistic is of, and `quasi` those that groups and conditions are of.
    """

    kind: Kind
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    quasi: frozenset[str]
    ends: Ends
    sql: str
    records: str


@dataclass(frozen=True, slots=True)
class _Statistic:
    kind: Kind
    columns: tuple[str, ...]
    sql: str
    known: str = "*"
    """A record counts if this expression is not NULL."""


@dataclass(frozen=True, slots=True)
class _Condition:
    ends: Ends = "none"
    column: str = ""
    sql: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    statistic: _Statistic
    keys: tuple[Column, ...]
    conditions: tuple[_Condition, _Condition]
    """On an ordered column, and on a category."""


def standing_workload(
    catalog: Catalog,
    cuts: Mapping[str, Sequence[Number]],
    *,
    seed: int = SEED,
    conditions: int = CONDITIONS,
    most: int = MOST_QUESTIONS,
) -> tuple[Question, ...]:
    """The questions in a fixed order; `cuts` are the public cuts of ordered quasi-identifiers."""
    rng = np.random.default_rng(seed)
    quasi = [column for column in catalog.columns if column.role == "quasi-identifier"]
    categories = [column for column in quasi if _is_category(column)]
    groupings = [(), *combinations(categories, 1), *combinations(categories, 2)]
    asked_of = [_Condition()]
    for column in quasi:
        if column.is_numeric and column.low is not None and column.high is not None and column.low < column.high:
            asked_of += _aligned(rng, column, cuts.get(column.name, ()), conditions)
            asked_of += _free(rng, column, cuts.get(column.name, ()), conditions)
    asked = [
        _Asked(statistic, keys, (condition, fixed))
        for condition in asked_of
        for keys in groupings
        for fixed in (_Condition(), *_fixed(rng, [column for column in categories if column not in keys]))
        for statistic in _statistics(catalog)
    ]
    kept = sorted(rng.permutation(len(asked))[:most].tolist())
    return tuple(_question(catalog.dataset, asked[place]) for place in kept)


def mean_questions(catalog: Catalog) -> list[Question]:
    """The mean of every number over everybody, of quasi-identifiers too: the same question of every version."""
    shown = [column for column in catalog.columns if column.role in ("quasi-identifier", "sensitive")]
    numbers = [(column.name, name_text(column.name)) for column in shown if column.type in ("integer", "number")]
    means = [_Statistic("mean", (column,), f"AVG({name})", name) for column, name in numbers]
    return [_question(catalog.dataset, _Asked(mean, (), (_Condition(), _Condition()))) for mean in means]


def public_cuts(policy: Policy) -> dict[str, tuple[Number, ...]]:
    """Where conditions on ordered quasi-identifiers are likely to end: as the policy says, or at round numbers."""
    found: dict[str, tuple[Number, ...]] = {}
    for column in policy.named("quasi-identifier"):
        if not column.is_numeric or column.low is None or column.high is None or column.low >= column.high:
            continue
        found[column.name] = column.cuts or tuple(_round_numbers(column.low, column.high, column.type != "number"))
    return found


def _round_numbers(low: Number, high: Number, whole: bool) -> Iterator[Number]:
    step = exact(round_step(low, low + (high - low) * 50 / PARTS, whole=whole))
    place = (exact(low) // step + 1) * step
    while place < exact(high):
        yield int(place) if whole else float(place)
        place += step


# -- statistics ----------------------------------------------------------------------------------------------------


def _statistics(catalog: Catalog) -> Iterator[_Statistic]:
    yield _Statistic("count", (), "COUNT(*)")
    sensitive = [column for column in catalog.columns if column.role == "sensitive"]
    numbers = [column for column in sensitive if column.type in ("integer", "number")]
    categories = [column for column in sensitive if _is_category(column)]
    functions: tuple[tuple[Kind, str], ...] = (("mean", "AVG"), ("median", "MEDIAN"), ("sd", "STDDEV_SAMP"))
    for column in numbers:
        name = name_text(column.name)
        for kind, function in functions:
            yield _Statistic(kind, (column.name,), f"{function}({name})", name)
    for column in categories:
        name = name_text(column.name)
        for value in _told_values(column):
            has = f"{name} = {_literal(column, value)}"
            share = f"1.0 * COUNT(*) FILTER (WHERE {has}) / NULLIF(COUNT({name}), 0)"
            yield _Statistic("prevalence", (column.name,), share, name)
    for x, y in combinations(numbers, 2):
        names = name_text(x.name), name_text(y.name)
        yield _Statistic("correlation", (x.name, y.name), f"CORR({names[0]}, {names[1]})", f"{names[0]} + {names[1]}")
    for x, y in combinations([column for column in categories if len(column.values) == 2], 2):
        first, second = (f"{name_text(c.name)} = {_literal(c, c.values[-1])}" for c in (x, y))
        both = f"CASE WHEN {name_text(x.name)} IS NOT NULL AND {name_text(y.name)} IS NOT NULL THEN 1 END"
        yield _Statistic("odds ratio", (x.name, y.name), f"ODDS_RATIO({first}, {second})", both)


def _is_category(column: Column) -> bool:
    return not column.is_numeric and not column.is_codes and 0 < len(column.values) <= MOST_VALUES


def _told_values(column: Column) -> tuple[str, ...]:
    """Only one of two values, since it implies the other."""
    return column.values[-1:] if len(column.values) == 2 else column.values


# -- conditions ----------------------------------------------------------------------------------------------------


def _aligned(rng: np.random.Generator, column: Column, cuts: Sequence[Number], number: int) -> Iterator[_Condition]:
    """From a cut or an end of the domain up to a later one; never the whole domain."""
    low, high = _domain(column)
    edges = [low, *(cut for cut in cuts if low < cut < high), high]
    pairs = [pair for pair in combinations(range(len(edges)), 2) if pair != (0, len(edges) - 1)]
    for place in sorted(rng.permutation(len(pairs))[:number].tolist()):
        begin, end = pairs[place]
        tests = [f"{name_text(column.name)} >= {_number(column, edges[begin])}"] if begin else []
        tests += [f"{name_text(column.name)} < {_number(column, edges[end])}"] if end < len(edges) - 1 else []
        yield _Condition("aligned", column.name, " AND ".join(tests))


def _free(rng: np.random.Generator, column: Column, cuts: Sequence[Number], number: int) -> Iterator[_Condition]:
    """Ends drawn uniformly; not both at the ends of an aligned condition. None if the domain is too small."""
    low, high = _domain(column)
    step = 1 if column.is_discrete else 0
    edges = {low, *cuts, high + step}
    found = 0
    for _ in range(TRIES * number):
        width = (high - low) * float(rng.uniform(NARROWEST, WIDEST))
        begin: Number = low + (high - low - width) * float(rng.uniform())
        end: Number = begin + width
        if column.is_discrete:
            begin, end = math.ceil(begin), math.floor(end)
        else:
            begin, end = (float(f"{one:.{DIGITS}g}") for one in (begin, end))
        if begin > end or {begin, end + step} <= edges or found == number:
            continue
        found += 1
        name = name_text(column.name)
        yield _Condition("free", column.name, f"{name} BETWEEN {_number(column, begin)} AND {_number(column, end)}")


def _fixed(rng: np.random.Generator, others: Sequence[Column]) -> list[_Condition]:
    if not others:
        return []
    column = others[int(rng.integers(len(others)))]
    value = column.values[int(rng.integers(len(column.values)))]
    return [_Condition("none", column.name, f"{name_text(column.name)} = {_literal(column, value)}")]


def _domain(column: Column) -> tuple[Number, Number]:
    if column.low is None or column.high is None:
        raise ValueError(f"{column.name} has no domain")
    return column.low, column.high


# -- SQL -----------------------------------------------------------------------------------------------------------


def _question(dataset: str, asked: _Asked) -> Question:
    statistic = asked.statistic
    keys = ", ".join(name_text(key.name) for key in asked.keys)
    conditions = [condition for condition in asked.conditions if condition.sql]
    where = " AND ".join(condition.sql for condition in conditions)
    rest = f" FROM {name_text(dataset)}" + (f" WHERE {where}" if where else "") + (f" GROUP BY {keys}" if keys else "")
    told = "SELECT " + (f"{keys}, " if keys else "")
    return Question(
        statistic.kind,
        statistic.columns,
        tuple(key.name for key in asked.keys),
        frozenset((*(key.name for key in asked.keys), *(condition.column for condition in conditions))),
        asked.conditions[0].ends,
        f"{told}{statistic.sql} AS x{rest}",
        f"{told}COUNT({statistic.known}) AS records{rest}",
    )


def _literal(column: Column, value: str) -> str:
    return value.upper() if column.type == "boolean" else "'" + value.replace("'", "''") + "'"


def _number(column: Column, value: Number) -> str:
    """A value of an ordered column; days and microseconds as dates and timestamps."""
    if column.type == "date":
        return f"DATE '{dt.date(1970, 1, 1) + dt.timedelta(days=int(value))}'"
    if column.type == "timestamp":
        return f"TIMESTAMP '{dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=int(value))}'"
    return str(int(value)) if column.type == "integer" else repr(float(value))
