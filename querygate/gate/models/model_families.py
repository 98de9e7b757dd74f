"""What each family of models makes of covariate patterns: rows of ranges, or a refusal that says what would work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from querygate.core.errors import UnsupportedSQL
from querygate.core.model_question import Family, ModelQuestion
from querygate.core.types import Range, Scalar
from querygate.gate.models.model_design import Coefficient, level_text, make_design, records_of, reference_level
from querygate.gate.models.model_patterns import Patterns
from querygate.stats.models.coefficient_table import FIGURES, RATIOS, Figure, Scatter, regression_figures
from querygate.stats.models.logistic_and_poisson import (
    IDENTITY,
    LOGISTIC,
    POISSON,
    POISSON_SHARES,
    GroupedCounts,
    Link,
    find_root,
)  # fmt: skip
from querygate.stats.models.mantel_haenszel import PARTS, Counted, Stratum, limits, log_error, pooled_range
from querygate.stats.models.moment_regression import Moments, moment_figures, solve
from querygate.stats.models.standardised_rates import (
    GroupStratum,
    StandardisedRate,
    Weight,
    own_weights,
    rate_difference,
    rate_limits,
    rate_ratio,
    standardised_rate,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One line of a model's table: a term, a level of it, how many records may have it, and figures by name."""

    term: str
    level: str
    records: tuple[int, int]
    figures: dict[str, Figure]


RATIO_NAMES: dict[Family, str] = {"logistic": "odds_ratio", "poisson": "rate_ratio"}
_WIDER = "Follow the cuts of the dataset (bands(column) does), use fewer or coarser factors, or select fewer records."
_TROUBLES = {
    "separated": (
        "In some patterns the covariates may predict the outcome perfectly, so there is no finite maximum.",
        "Merge levels with few records, or leave out the factor that predicts the outcome.",
    ),
    "undetermined": (
        "Some coefficients may not be determined: a level or a combination may have no records.",
        "Merge levels with few records, or leave out an interaction or a factor that is determined by others.",
    ),
    "wide": ("The counts of covariate patterns are not known well enough to bound the coefficients.", _WIDER),
}


def trouble(kind: str, patterns: Patterns | None = None) -> UnsupportedSQL:
    """Why a model cannot be bounded, with a condition that may be in place of a category of several levels."""
    message, remedy = _TROUBLES[kind]
    return UnsupportedSQL("QG219", message, f"{remedy}{_condition(patterns) if patterns else ''}")


def _condition(patterns: Patterns) -> str:
    """The commonest level of the category with most levels against all others: rare levels are together then."""
    several = [
        (len(levels), place)
        for place, (factor, levels) in enumerate(zip(patterns.statement.factors, patterns.levels, strict=True))
        if len(levels) > 2 and not factor.numeric and not factor.levels
    ]
    if not several:
        return ""
    place = max(several)[1]
    factor, levels = patterns.statement.factors[place], patterns.levels[place]
    name = factor.sql if factor.sql == f'"{factor.name}"' else factor.name
    keys = [row.keys[place] for row in patterns.rows]
    most = max(levels, key=lambda one: records_of(patterns, np.array([float(key == one) for key in keys]))[1])
    return (
        f" To merge levels, use a condition: ({name} = {_literal(most)}) in place of {name} puts all others together."
    )


def _literal(level: Scalar) -> str:
    return "'" + level.replace("'", "''") + "'" if isinstance(level, str) else level_text(level)


def fit(question: ModelQuestion, patterns: Patterns) -> list[ModelRow]:
    """The table of a model."""
    if not patterns.rows:
        raise UnsupportedSQL("QG219", "No records can be used for this model.", "Select other records.")
    if question.family == "mantel-haenszel":
        return _mantel_haenszel(question, patterns)
    if question.family == "standardised":
        return _standardised(question, patterns)
    if patterns.statement.counts == "moments":
        return _with_numbers(question, patterns)
    return _regression(question, patterns)


# -- regression --------------------------------------------------------------------------------------------------


def _link(question: ModelQuestion, patterns: Patterns) -> Link:
    if question.family == "linear":
        return IDENTITY
    if question.family == "logistic":
        return LOGISTIC
    return POISSON_SHARES if patterns.statement.counts == "shares" else POISSON


def _regression(question: ModelQuestion, patterns: Patterns) -> list[ModelRow]:
    design, link = make_design(patterns, question.reference), _link(question, patterns)
    means = patterns.counted(3) if link is IDENTITY else None
    records = patterns.counted(2) if link.shares else None
    table = GroupedCounts(design.rows, patterns.counted(0), patterns.counted(1), link, means, records)
    root = find_root(table)
    if isinstance(root, str):
        raise trouble(root, patterns)
    first, second = patterns.likely(0), patterns.likely(1)
    likely = None if first is None or second is None else (first, first + second if link.shares else second)
    scatter = None if means is None else Scatter(patterns.counted(2), means, patterns.likely(2))
    found = regression_figures(table, root, likely, exact=patterns.is_exact, scatter=scatter)
    if found is None:
        raise trouble("wide", patterns)
    names = dict(zip(RATIOS, _ratio_columns(question.family), strict=True))
    rows = []
    for column, figures in zip(design.columns, found, strict=True):
        named = {names.get(name, name): figure for name, figure in figures.items()}
        rows.append(ModelRow(column.term, column.level, column.records, named))
    return rows


def _with_numbers(question: ModelQuestion, patterns: Patterns) -> list[ModelRow]:
    """Least squares with numeric covariates, from the moments of patterns."""
    design, statement = make_design(patterns, question.reference), patterns.statement
    numbers = len(statement.covariates) + 1
    at = {pair: numbers + 1 + k for k, pair in enumerate(combinations_with_replacement(range(numbers), 2))}
    table = [[at[min(a, b), max(a, b)] for b in range(numbers)] for a in range(numbers)]
    means = tuple(patterns.counted(place + 1) for place in range(numbers))
    covariances = tuple(tuple(patterns.counted(place) for place in row) for row in table)
    records = patterns.likely(0)
    likely = None
    if records is not None:
        every = [patterns.likely(place) for place in range(1, max(at.values()) + 1)]
        told = [one for one in every if one is not None]
        if len(told) == len(every):
            spread = [[told[place - 1] for place in row] for row in table]
            likely = solve(design.rows, records, told[:numbers], spread)
    moments = Moments(design.rows, patterns.counted(0), means, covariances)
    total = 0.0 if records is None else float(records.sum())
    found = moment_figures(moments, likely, total, exact=patterns.is_exact)
    if isinstance(found, str):
        raise trouble(found, patterns)
    columns = [*design.columns, *(Coefficient(one.name, "per unit", patterns.records) for one in statement.covariates)]
    return [
        ModelRow(column.term, column.level, column.records, figures)
        for column, figures in zip(columns, found, strict=True)
    ]


def _ratio_columns(family: Family) -> tuple[str, str, str]:
    name = RATIO_NAMES.get(family, "ratio")
    return name, f"{name}_low95", f"{name}_high95"


# -- strata ------------------------------------------------------------------------------------------------------


def _cells(
    patterns: Patterns,
) -> tuple[dict[tuple[Scalar, tuple[Scalar, ...]], GroupStratum], list[tuple[Scalar, ...]]]:
    """Counts by level of the group and by stratum; and all strata."""
    (group,), strata = patterns.statement.terms[0], patterns.statement.strata
    found = {}
    for row in patterns.rows:
        place = (row.keys[group], tuple(row.keys[stratum] for stratum in strata))
        events, others = (Counted(int(row.low[k]), int(row.high[k])) for k in range(2))
        found[place] = GroupStratum(events, others)
    order = {stratum: patterns.levels[stratum] for stratum in strata}
    every = sorted(
        {stratum for _, stratum in found},
        key=lambda keys: [order[place].index(key) for place, key in zip(strata, keys, strict=True)],
    )
    return found, every


_NOBODY = GroupStratum(Counted(0, 0), Counted(0, 0))


def _likely_cells(patterns: Patterns) -> dict[tuple[Scalar, tuple[Scalar, ...]], tuple[float, float]] | None:
    (group,), strata = patterns.statement.terms[0], patterns.statement.strata
    if any(row.likely is None for row in patterns.rows):
        return None
    return {
        (row.keys[group], tuple(row.keys[stratum] for stratum in strata)): (row.likely[0], row.likely[1])
        for row in patterns.rows
        if row.likely is not None
    }


def _group_rows(question: ModelQuestion, patterns: Patterns) -> tuple[int, Scalar]:
    group = patterns.statement.terms[0][0]
    if len(patterns.statement.terms[0]) != 1:
        raise UnsupportedSQL("QG218", "This family compares the levels of one factor.", "Leave out the interaction.")
    return group, reference_level(patterns, group, question.reference)


def _mantel_haenszel(question: ModelQuestion, patterns: Patterns) -> list[ModelRow]:
    group, reference = _group_rows(question, patterns)
    cells, strata = _cells(patterns)
    likely = _likely_cells(patterns)
    rows = []
    for level in patterns.levels[group]:
        if level == reference:
            continue
        tables = []
        for stratum in strata:
            exposed, other = cells.get((level, stratum), _NOBODY), cells.get((reference, stratum), _NOBODY)
            tables.append(Stratum((exposed.events, exposed.others), (other.events, other.others)))
        points = None if likely is None else _likely_pooled(likely, level, reference, strata)
        rows.append(
            ModelRow(patterns.statement.factors[group].name, level_text(level), _held(tables), _pooled(tables, points))
        )
    if not rows:
        raise UnsupportedSQL("QG219", "There is only one level to compare.", "Choose another factor or other records.")
    return rows


def _held(tables: Sequence[Stratum]) -> tuple[int, int]:
    """How many records of the level itself."""
    counts = [count for table in tables for count in table.exposed]
    return sum(count.least for count in counts), sum(count.most for count in counts)


def _pooled(tables: Sequence[Stratum], likely: dict[str, float] | None) -> dict[str, Figure]:
    figures: dict[str, Range] = {}
    exact = all(table.is_exact for table in tables)
    for measure in PARTS:
        figures[measure] = pooled_range(tables, measure)
        if measure != "risk_difference":
            error = log_error(tables, measure)
            figures[f"{measure}_low95"], figures[f"{measure}_high95"] = limits(figures[measure], error, exact=exact)
    return {name: _figure(found, (likely or {}).get(name)) for name, found in figures.items()}


def _likely_pooled(
    cells: dict[tuple[Scalar, tuple[Scalar, ...]], tuple[float, float]],
    level: Scalar,
    reference: Scalar,
    strata: Sequence[tuple[Scalar, ...]],
) -> dict[str, float]:
    """The same of the likely table, which is rounded to whole records: an estimate need not be better than that."""
    tables = []
    for stratum in strata:
        counts = [
            round(max(0.0, count)) for one in (level, reference) for count in cells.get((one, stratum), (0.0, 0.0))
        ]
        a, b, c, d = (Counted(count, count) for count in counts)
        tables.append(Stratum((a, b), (c, d)))
    return {name: figure.range.low for name, figure in _pooled(tables, None).items() if figure.range.low is not None}


def _figure(found: Range, likely: float | None) -> Figure:
    if likely is None or found.low is None or found.high is None or not math.isfinite(likely):
        return Figure(found)
    return Figure(found, min(max(likely, float(found.low)), float(found.high)))


# -- standardised rates --------------------------------------------------------------------------------------------


def _standardised(question: ModelQuestion, patterns: Patterns) -> list[ModelRow]:
    group, reference = _group_rows(question, patterns)
    cells, strata = _cells(patterns)
    levels = patterns.levels[group]
    tables = {level: [cells.get((level, stratum), _NOBODY) for stratum in strata] for level in levels}
    weights = _weights(question, strata, list(tables.values()))
    likely = _likely_rates(question, patterns, strata)
    found = {level: standardised_rate(table, weights) for level, table in tables.items()}
    rows = []
    for level, rate in found.items():
        if rate is None:
            raise trouble("undetermined")
        counts = [count for part in tables[level] for count in (part.events, part.others)]
        records = sum(count.least for count in counts), sum(count.most for count in counts)
        figures = _rate_figures(rate, found[reference])
        points = likely.get(level, {})
        named = {name: _figure(value, points.get(name)) for name, value in figures.items()}
        rows.append(ModelRow(patterns.statement.factors[group].name, level_text(level), records, named))
    return rows


def _rate_figures(rate: StandardisedRate, reference: StandardisedRate | None) -> dict[str, Range]:
    low, high = rate_limits(rate)
    error = Range(float(rate.error.low), float(rate.error.high), None, None, sharp=rate.exact)
    made = {"rate": rate.rate, "standard_error": error, "low95": low, "high95": high, "crude_rate": rate.crude}
    if reference is None:
        raise trouble("undetermined")
    if reference is rate:
        one, zero = Range.exact(1.0), Range.exact(0.0)
        return made | {"rate_ratio": one, "rate_ratio_low95": one, "rate_ratio_high95": one, "rate_difference": zero}
    ratio, ratio_low, ratio_high = rate_ratio(rate, reference)
    return made | {
        "rate_ratio": ratio,
        "rate_ratio_low95": ratio_low,
        "rate_ratio_high95": ratio_high,
        "rate_difference": rate_difference(rate, reference),
    }


def _weights(
    question: ModelQuestion, strata: Sequence[tuple[Scalar, ...]], groups: Sequence[Sequence[GroupStratum]]
) -> list[Weight]:
    if not question.weights:
        return own_weights(groups)
    names = [" : ".join(map(level_text, stratum)) for stratum in strata]
    if set(question.weights) != set(names):
        raise UnsupportedSQL(
            "QG218", "weights: must name every stratum and nothing else.", f"Strata: {', '.join(names)}."
        )
    given = [Fraction(question.weights[name]) for name in names]
    return [(weight, weight) for weight in given]


def _likely_rates(
    question: ModelQuestion, patterns: Patterns, strata: Sequence[tuple[Scalar, ...]]
) -> dict[Scalar, dict[str, float]]:
    """The figures of the likely table, rounded to whole records; none where it has no rates."""
    cells = _likely_cells(patterns)
    group = patterns.statement.terms[0][0]
    if cells is None:
        return {}
    tables = {}
    for level in patterns.levels[group]:
        counts = [[round(max(0.0, part)) for part in cells.get((level, stratum), (0.0, 0.0))] for stratum in strata]
        tables[level] = [GroupStratum(Counted(a, a), Counted(b, b)) for a, b in counts]
    weights = _weights(question, strata, list(tables.values()))
    rates = {level: standardised_rate(table, weights) for level, table in tables.items()}
    reference = rates[reference_level(patterns, group, question.reference)]
    if any(rate is None for rate in rates.values()):
        return {}
    return {
        level: {
            name: float(found.low) for name, found in _rate_figures(rate, reference).items() if found.low is not None
        }
        for level, rate in rates.items()
        if rate is not None
    }


COLUMNS: dict[Family, tuple[str, ...]] = {
    "linear": FIGURES,
    "logistic": (*FIGURES, *_ratio_columns("logistic")),
    "poisson": (*FIGURES, *_ratio_columns("poisson")),
    "mantel-haenszel": (
        *("odds_ratio", "odds_ratio_low95", "odds_ratio_high95"),
        *("risk_ratio", "risk_ratio_low95", "risk_ratio_high95", "risk_difference"),
    ),
    "standardised": (
        *("rate", "standard_error", "low95", "high95", "crude_rate"),
        *("rate_ratio", "rate_ratio_low95", "rate_ratio_high95", "rate_difference"),
    ),
}
"""The figures of each family, in their order."""
