"""What a model says of the original, and what it says of the extract (Gal, Tucker, Gangopadhyay, Chen 2014).

Three shares of the coefficients: those that became significant or ceased to be; of the significant ones, those whose
sign changed; those that left the original's 95 % interval. The intercept is no finding and is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from querygate.core.types import Floats
from querygate.methods.model_fit.fitter import INTERCEPT, LEVEL, Fit


@dataclass(frozen=True, slots=True)
class TermComparison:
    """One coefficient before and after, with both 95 % intervals. Over repetitions: means, and shares of what changed.

    What could not be estimated after is NaN, and left out of the means.
    """

    term: str
    before: float
    before_low: float
    before_high: float
    before_p: float
    after: float
    after_low: float
    after_high: float
    after_p: float
    significance: float
    sign: float
    outside: float

    @property
    def is_significant(self) -> bool:
        """Was it, before?"""
        return self.before_p < LEVEL


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """Shares from 0 to 1, and the coefficients they are of. `unfit`: repetitions to which the model was not fitted."""

    significance: float
    sign: float
    outside: float
    terms: tuple[TermComparison, ...]
    repetitions: int = 1
    unfit: int = 0


def compare(before: Fit, after: Fit | None) -> ModelComparison:
    """What changed. Without a fit (Unfit) the recipient has lost every significant coefficient and every estimate."""
    if after is not None and after.terms != before.terms:
        raise ValueError("both fits are of the same terms")
    significant = before.p < LEVEL
    nothing = np.full(len(before.terms), np.nan)
    if after is None:
        changed, turned, outside = significant, np.zeros_like(significant), np.ones_like(significant)
        estimates: tuple[Floats, ...] = (nothing, nothing, nothing, nothing)
    else:
        changed = significant != (after.p < LEVEL)
        turned = significant & (np.sign(before.coefficients) != np.sign(after.coefficients))
        outside = (after.coefficients < before.low) | (after.coefficients > before.high)
        estimates = (after.coefficients, after.low, after.high, after.p)
    figures = (before.coefficients, before.low, before.high, before.p, *estimates, changed, turned, outside)
    terms = (TermComparison(name, *map(float, row)) for name, *row in zip(before.terms, *figures, strict=True))
    return _of(tuple(term for term in terms if term.term != INTERCEPT), 1, int(after is None))


def average(many: Sequence[ModelComparison]) -> ModelComparison:
    """Several repetitions as one."""
    if not many or len({tuple(term.term for term in one.terms) for one in many}) > 1:
        raise ValueError("at least one repetition, all of the same terms")
    weights = np.array([one.repetitions for one in many], dtype=np.float64)
    terms = tuple(_average(rows, weights) for rows in zip(*(one.terms for one in many), strict=True))
    return _of(terms, sum(one.repetitions for one in many), sum(one.unfit for one in many))


def _of(terms: tuple[TermComparison, ...], repetitions: int, unfit: int) -> ModelComparison:
    significant = [term for term in terms if term.is_significant]
    return ModelComparison(
        _mean([term.significance for term in terms]),
        _mean([term.sign for term in significant]),
        _mean([term.outside for term in terms]),
        terms,
        repetitions,
        unfit,
    )


def _average(rows: Sequence[TermComparison], weights: Floats) -> TermComparison:
    figures = {}
    for field in fields(TermComparison)[1:]:
        values = np.array([getattr(row, field.name) for row in rows])
        known = ~np.isnan(values)
        figures[field.name] = float(np.average(values[known], weights=weights[known])) if known.any() else np.nan
    return TermComparison(rows[0].term, **figures)


def _mean(shares: Sequence[float]) -> float:
    return float(np.mean(shares)) if shares else 0.0
