"""The columns of a model: an intercept, and for each term its levels but the reference, as R and patsy code them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Floats, Scalar
from querygate.gate.models.model_patterns import Patterns

MOST_COEFFICIENTS = 60


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One column of the model: its term, the level it stands for, and how many records may have it."""

    term: str
    level: str
    records: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Design:
    columns: tuple[Coefficient, ...]
    rows: Floats


def make_design(patterns: Patterns, reference: Mapping[str, str]) -> Design:
    """A row for each pattern."""
    statement = patterns.statement
    columns, parts = [Coefficient("(intercept)", "", patterns.records)], [np.ones(patterns.size)]
    for term in statement.terms:
        name = ":".join(statement.factors[place].name for place in term)
        for choice in itertools.product(*(_codes(patterns, place, reference) for place in term)):
            values: Floats = np.prod([part for _, part in choice], axis=0)
            columns.append(Coefficient(name, " : ".join(level for level, _ in choice), records_of(patterns, values)))
            parts.append(values)
    if len(columns) > MOST_COEFFICIENTS:
        raise UnsupportedSQL(
            "QG218",
            f"The model has {len(columns)} coefficients; the limit is {MOST_COEFFICIENTS}.",
            "Use fewer factors, or factors with fewer levels.",
        )
    return Design(tuple(columns), np.stack(parts, axis=1))


def reference_level(patterns: Patterns, place: int, reference: Mapping[str, str]) -> Scalar:
    """The level that others are compared with: the stated one, or the first."""
    factor, levels = patterns.statement.factors[place], patterns.levels[place]
    if not levels:
        raise UnsupportedSQL(
            "QG219", f"{factor.name}: no record has a value for it.", "Select other records, or leave it out."
        )
    stated = reference.get(factor.name)
    if stated is None:
        return levels[0]
    found = next((level for level in levels if level_text(level) == stated), None)
    if found is None:
        raise UnsupportedSQL(
            "QG218",
            f"reference: this is not a level of {factor.name}.",
            f"Levels: {', '.join(map(level_text, levels))}.",
        )
    return found


def level_text(level: Scalar) -> str:
    return str(level)


def _codes(patterns: Patterns, place: int, reference: Mapping[str, str]) -> list[tuple[str, Floats]]:
    """A number as it is, or 0 and 1 for each level but the reference."""
    keys = [row.keys[place] for row in patterns.rows]
    if patterns.statement.factors[place].numeric:
        return [("per unit", np.array([float(key) for key in keys if key is not None]))]
    first = reference_level(patterns, place, reference)
    return [
        (level_text(level), np.array([float(key == level) for key in keys]))
        for level in patterns.levels[place]
        if level != first
    ]


def records_of(patterns: Patterns, values: Floats) -> tuple[int, int]:
    there = [row for row, value in zip(patterns.rows, values.tolist(), strict=True) if value]
    return Patterns(patterns.statement, tuple(there), patterns.levels).records
