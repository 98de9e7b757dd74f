"""From the answer to a model's statement to what is known of each covariate pattern.

An answer leaves out groups that cannot hold as many records as the policy asks of one, so a pattern that is not in it
may still have fewer. A group that is only possible may not be there. Both are counted in: a model must hold for every
table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Lookup
from querygate.core.plan import GroupKey, Plan
from querygate.core.predicate import And, Atom, Predicate
from querygate.core.types import Answer, Column, Floats, Group, Range, Scalar
from querygate.sql.model_statement import ModelStatement
from querygate.stats.models.verified_numbers import Intervals

MOST_PATTERNS = 1_000

_MEAN = 3
"""The place of the mean among the aggregates of a linear model; where there is nobody it does not matter."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """The keys of one covariate pattern, and the ends of what was counted or summed in it, by aggregate."""

    keys: tuple[Scalar, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    likely: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Patterns:
    """All patterns that may have records, of a statement."""

    statement: ModelStatement
    rows: tuple[Pattern, ...]
    levels: tuple[tuple[Scalar, ...], ...]

    def counted(self, place: int) -> Intervals:
        """One aggregate of all patterns."""
        low = np.array([row.low[place] for row in self.rows])
        return Intervals(low, np.array([row.high[place] for row in self.rows]))

    def likely(self, place: int) -> Floats | None:
        found = [row.likely[place] for row in self.rows if row.likely is not None]
        return np.array(found) if len(found) == len(self.rows) else None

    @property
    def records(self) -> tuple[int, int]:
        """How many records the model is of, at least and at most; of sums what is expected of."""
        place = {"shares": 2, "sums": 1, "moments": 0}[self.statement.counts]
        return math.floor(sum(row.low[place] for row in self.rows)), math.ceil(
            sum(row.high[place] for row in self.rows)
        )

    @property
    def is_exact(self) -> bool:
        return all(row.low == row.high for row in self.rows)

    @property
    def size(self) -> int:
        return len(self.rows)


def read_patterns(statement: ModelStatement, answer: Answer, plan: Plan, min_group: int) -> Patterns:
    """What the answer tells of each pattern without missing keys, and what it leaves open of the others."""
    read = _moments if statement.counts == "moments" else _shown
    shown = {group.keys: read(group) for group in answer.groups}
    where = plan.measures[0].where
    every = [tuple(one for one in key.values if one is not None and _may_be(key, one, where)) for key in plan.keys]
    if math.prod(map(len, every)) > MOST_PATTERNS:
        raise UnsupportedSQL(
            "QG218",
            f"The model has more than {MOST_PATTERNS:,} covariate patterns.",
            "Use fewer factors, or bands() of numeric columns.",
        )
    rows = [row for keys, row in shown.items() if None not in keys]
    if min_group > 1:
        rows += [_hidden(keys, statement, min_group - 1) for keys in itertools.product(*every) if keys not in shown]
    rows = [row for row in rows if any(row.low[:2]) or any(row.high[:2])]
    levels = tuple(_levels(statement, place, values, rows) for place, values in enumerate(every))
    return Patterns(statement, tuple(rows), levels)


def _may_be(key: GroupKey, level: Scalar, where: Predicate) -> bool:
    """False where the condition leaves out every value of a category that is this level: nobody is hidden there."""
    by = key.by
    if not isinstance(by, Lookup) or not by.of_category or key.type != "category":
        return True
    parts = where.parts if isinstance(where, And) else (where,)
    said = [part for part in parts if isinstance(part, Atom) and part.column == by.column]
    values = [value for value, result in zip((*by.values, None), by.results, strict=True) if result == level]
    return not values or any(all(part.at(value) == "true" for part in said) for value in values)


def _moments(group: Group) -> Pattern:
    """How many there are, which may be nobody; moments do not matter then."""
    parts = [_part(group.ranges[0], group), *map(_ends, group.ranges[1:])]
    numbers = [float(value) for value in _likely(group) if value is not None]
    low, high = tuple(low for low, _ in parts), tuple(high for _, high in parts)
    return Pattern(group.keys, low, high, tuple(numbers) if len(numbers) == len(parts) else None)


def _shown(group: Group) -> Pattern:
    parts = [_part(found, group) for found in group.ranges[:_MEAN]]
    parts += [_ends(found) for found in group.ranges[_MEAN:]]
    numbers = [float(value) for value in _likely(group) if value is not None]
    low, high = tuple(low for low, _ in parts), tuple(high for _, high in parts)
    if len(parts) == 4:  # a variance becomes a sum of squares
        spread = Intervals(np.array(low[1]), np.array(high[1])) * Intervals(np.array(low[2]), np.array(high[2]))
        low = (*low[:2], max(0.0, float(spread.low)), low[3])
        high = (*high[:2], float(spread.high), high[3])
        numbers = [*numbers[:2], numbers[1] * numbers[2], numbers[3]] if len(numbers) == 4 else numbers
    return Pattern(group.keys, low, high, tuple(numbers) if len(numbers) == len(parts) else None)


def _likely(group: Group) -> list[int | float | None]:
    """An estimate of each aggregate, or its value where that is known. What is NULL is a sum of nothing."""
    known = [0 if found.is_null else found.low if found.is_exact else None for found in group.ranges]
    told = [estimate.value for estimate in group.estimates] or [None] * len(known)
    return [exact if exact is not None else value for exact, value in zip(known, told, strict=True)]


def _ends(found: Range) -> tuple[float, float]:
    return (0.0, 0.0) if found.low is None or found.high is None else (float(found.low), float(found.high))


def _part(found: Range, group: Group) -> tuple[float, float]:
    """Nothing where it is NULL, and perhaps nothing where it may be or where the group may not be there."""
    low, high = _ends(found)
    return (low, high) if group.certain and not found.may_be_null else (min(low, 0.0), max(high, 0.0))


def _hidden(keys: tuple[Scalar, ...], statement: ModelStatement, most: int) -> Pattern:
    """A pattern that was not shown, of at most so many records."""
    if statement.counts == "shares":
        return Pattern(keys, (0.0,) * 3, (float(most),) * 3, (0.0,) * 3)
    outcome, time = statement.summed
    low, high = _domain(outcome)
    if statement.counts == "moments":
        domains = [(low, high), *(_domain(column) for column in statement.covariates)]
        widths = [high - low for low, high in domains]
        moments = [a * b / 4 for i, a in enumerate(widths) for b in widths[i:]]
        places = [i == j for i in range(len(widths)) for j in range(i, len(widths))]
        least = [0.0 if same else -moment for moment, same in zip(moments, places, strict=True)]
        ends = (0.0, *(low for low, _ in domains), *least), (float(most), *(high for _, high in domains), *moments)
        return Pattern(keys, *ends, None)
    others = _domain(time)[1] * most if time is not None else float(most)
    ends = (min(low, 0.0) * most, 0.0, 0.0, low), (max(high, 0.0) * most, others, (high - low) ** 2 / 4 * most, high)
    size = 4 if statement.has_variance else 2
    return Pattern(keys, ends[0][:size], ends[1][:size], (0.0,) * size)


def _domain(column: Column | None) -> tuple[float, float]:
    if column is None or column.low is None or column.high is None:
        raise UnsupportedSQL(
            "QG219",
            "Some covariate patterns are not shown because they are small, so nothing bounds their sums.",
            "Use a column as the outcome, or coarser factors.",
        )
    return float(column.low), float(column.high)


def _levels(
    statement: ModelStatement, place: int, values: Sequence[Scalar], rows: Sequence[Pattern]
) -> tuple[Scalar, ...]:
    """In the order of bands, or of the dataset's values; those that nobody has are not there."""
    there = {row.keys[place] for row in rows}
    order = statement.factors[place].levels or values
    return tuple(level for level in order if level in there)
