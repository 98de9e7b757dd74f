"""From columns to the numbers a model is fitted to: response, and one column per coefficient.

Categories become treatment-coded dummies: one per level but the first. The caller fixes the levels, from the original
data, so that the same coefficients are asked of every extract.

>>> from querygate.core.extracts.extract_spec import RecipientModel
>>> from querygate.core.extracts.model_formula import parse_formula
>>> columns = {"y": np.array([1.0, 2.0, 3.0]), "sex": np.array(["F", "M", None], dtype=object)}
>>> made = design(parse_formula(RecipientModel.of("linear: y ~ sex")), columns, {"sex": ("F", "M")})
>>> made.names, made.matrix.tolist(), made.left_out
(('sex[M]',), [[0.0], [1.0]], 1)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from querygate.core.extracts.model_formula import Factor, Formula, Term, Threshold
from querygate.core.types import Array, Bools, Floats

Columns: TypeAlias = Mapping[str, Array]
"""By name: numbers (NaN is missing), or texts (None or an empty text is missing)."""

Levels: TypeAlias = Mapping[str, tuple[str, ...]]


MOST_COEFFICIENTS = 500


class Unfit(Exception):
    """The model cannot be fitted to these records. `reason` says why, and names no value of a record."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class DesignMatrix:
    """The records that have everything the model needs. `status` is the event of a Cox model, none elsewhere."""

    names: tuple[str, ...]
    matrix: Floats
    response: Floats
    status: Bools | None
    left_out: int


def design(formula: Formula, columns: Columns, levels: Levels) -> DesignMatrix:
    """Response and matrix of the records without missing values; Unfit where the columns do not allow it."""
    status = None if formula.status is None else _event(formula.status, columns, levels)
    if formula.threshold is not None:
        response = _beyond(_numbers(formula.response, columns), formula.threshold)
    elif formula.family == "logistic":
        response = _event(formula.response, columns, levels)
    else:
        response = _numbers(formula.response, columns)
    if sum(_width(term, columns, levels) for term in formula.terms) > MOST_COEFFICIENTS:
        raise Unfit(f"there are more than {MOST_COEFFICIENTS} coefficients")
    parts = [_dummies(term, columns, levels) for term in formula.terms]
    names = tuple(name for part, _ in parts for name in part)
    matrix = np.column_stack([np.empty((response.size, 0)), *(values for _, values in parts)])
    known = np.isfinite(matrix).all(axis=1) & np.isfinite(response)
    if status is not None:
        known &= np.isfinite(status)
    events = None if status is None else status[known] == 1
    return DesignMatrix(names, matrix[known], response[known], events, int((~known).sum()))


def missing(values: Array) -> Bools:
    """Which values are not there."""
    if is_numeric(values):
        return np.asarray(~np.isfinite(values.astype(np.float64)))
    return np.array([value is None or value == "" or value != value for value in values], dtype=np.bool_)


def is_numeric(values: Array) -> bool:
    return values.dtype.kind in "biuf"


def texts(values: Array) -> Array:
    """Values as texts of levels: a number as briefly as it can be written (2, not 2.0); a missing one as it is."""
    if not is_numeric(values):
        return values
    different, place = np.unique(values.astype(np.float64), return_inverse=True)
    return np.array([f"{value:.12g}" for value in different], dtype=object)[place]


def indicators(column: str, values: Array, wanted: Sequence[str]) -> Floats:
    """One column of 0 and 1 per level, NaN in each where the value is missing; Unfit if a value is not a level."""
    gone = missing(values)
    text = texts(values)
    hits = np.stack([(text == level) for level in wanted], axis=1) if wanted else np.zeros((values.size, 0))
    if not (hits.any(axis=1) | gone).all():
        raise Unfit(f"{column} has values that the original does not have")
    return np.where(gone[:, None], np.nan, hits)


def _is_category(factor: Factor, values: Array) -> bool:
    return factor.function == "C" or (factor.function is None and not is_numeric(values))


def _dummies(term: Term, columns: Columns, levels: Levels) -> tuple[list[str], Floats]:
    """Names and values of a term: every combination of the columns of its factors."""
    names, product = [""], np.ones((columns[term.factors[0].column].size, 1))
    for factor in term.factors:
        own, values = _factor(factor, columns, levels)
        names = [f"{name}:{one}" if name else one for name in names for one in own]
        product = (product[:, :, None] * values[:, None, :]).reshape(len(product), -1)
    return names, product


def _width(term: Term, columns: Columns, levels: Levels) -> int:
    """How many columns a term will have: known before they take memory."""
    kinds = ((factor.column, _is_category(factor, columns[factor.column])) for factor in term.factors)
    return math.prod(len(levels[name]) - 1 if is_category else 1 for name, is_category in kinds)


def _factor(factor: Factor, columns: Columns, levels: Levels) -> tuple[list[str], Floats]:
    values = columns[factor.column]
    if _is_category(factor, values):
        known = levels[factor.column]
        _check(len(known) > 1, f"{factor.column} has only one value")
        dummies = indicators(factor.column, values, known)[:, 1:]
        return [f"{factor}[{level}]" for level in known[1:]], dummies
    numbers = _numbers(factor.column, columns)
    if factor.function == "log":
        _check(bool((numbers[np.isfinite(numbers)] > 0).all()), f"{factor} of values that are not positive")
        numbers = np.log(numbers)
    if factor.function == "sqrt":
        _check(bool((numbers[np.isfinite(numbers)] >= 0).all()), f"{factor} of negative values")
        numbers = np.sqrt(numbers)
    return [str(factor)], numbers[:, None]


def _numbers(column: str, columns: Columns) -> Floats:
    values = columns[column]
    _check(is_numeric(values), f"{column} is not a number")
    numbers = values.astype(np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _beyond(numbers: Floats, threshold: Threshold) -> Floats:
    """1 where the comparison is true, 0 where it is false; a missing number is neither."""
    compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[threshold.comparison]
    return np.where(np.isfinite(numbers), compare(numbers, threshold.number), np.nan)


def _event(column: str, columns: Columns, levels: Levels) -> Floats:
    """0 and 1: of a number as it is, of a category with two levels whether it is the second."""
    values = columns[column]
    if is_numeric(values):
        numbers = _numbers(column, columns)
        _check(bool(np.isin(numbers[~np.isnan(numbers)], (0, 1)).all()), f"{column} has values other than 0 and 1")
        return numbers
    known = levels[column]
    _check(len(known) == 2, f"{column} does not have exactly two values")
    return indicators(column, values, known)[:, 1]


def _check(good: bool, reason: str) -> None:
    if not good:
        raise Unfit(reason)
