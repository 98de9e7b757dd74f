"""Coefficients with standard errors, 95 % confidence limits and p-values, each as a range. Proof: models.md.

The variance of an estimated function g of the coefficients is g' (sum w x x')^-1 g. It falls as any weight rises,
because inverses of positive definite matrices are ordered the other way round; so its ends are those of the least and
the most weights, each by a verified inverse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # loaded when it is first needed

from querygate.core.types import Floats, Range
from querygate.stats.models.logistic_and_poisson import IDENTITY, GroupedCounts, Link, Root, likely_root
from querygate.stats.models.verified_numbers import Intervals, inverse_diagonal
from querygate.stats.models.wald import tails, wald_p

NORMAL = 1.959963984540054  # scipy.special.ndtri(0.975), which is slow to load
"""The 97.5 % normal quantile: 95 % confidence limits are this many standard errors away."""

_QUANTILE = 1e-12  # assumed relative error of quantiles
SOFTWARE = 1e-8
"""In standard errors: how far from the maximum a fitting program may stop."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its guaranteed range, and its likely value; None where that is not known."""

    range: Range
    likely: float | None = None


FIGURES = ("coefficient", "standard_error", "low95", "high95", "p_value")
RATIOS = ("ratio", "ratio_low95", "ratio_high95")


@dataclass(frozen=True, slots=True)
class Scatter:
    """For a linear model, by pattern: the sum of squares within it, its mean, and the likely value of the former."""

    within: Intervals
    means: Intervals
    likely: Floats | None


def regression_figures(
    table: GroupedCounts,
    root: Root,
    likely: tuple[Floats, Floats] | None,
    *,
    exact: bool,
    scatter: Scatter | None = None,
) -> list[dict[str, Figure]] | None:
    """The figures of each coefficient, by name; None where a standard error cannot be bounded.

    `likely` are likely events and totals. `exact` says that the table is known, so that ranges are sharp.
    """
    weights = table.totals.at_least(0.0) * table.link.slope(root.predictor).at_least(0.0)
    most = inverse_diagonal(table.design, np.maximum(weights.low, 0.0), upper=True)
    least = inverse_diagonal(table.design, weights.high, upper=False)
    if most is None or least is None:
        return None
    variance = Intervals(np.maximum(least, 0.0), most)
    steps, freedom = Intervals.of(np.array(NORMAL)).wider(_QUANTILE * NORMAL), None
    if scatter is not None:
        freedom = table.totals.total() - Intervals.of(np.array(float(table.design.shape[1])))
        if not freedom.low >= 0.5:
            return None
        variance = variance * residual_variance(table, root, scatter, freedom)
        near, far = (float(scipy.special.stdtrit(float(df), 0.975)) for df in (freedom.high, freedom.low))
        steps = Intervals(np.array(near), np.array(far)).wider(_QUANTILE * far)
    error = variance.sqrt()
    slack = SOFTWARE * np.where(np.isfinite(error.high), error.high, error.low) + 1e-12 * root.box.magnitude
    coefficient, error = root.box.wider(slack), error.wider(slack).at_least(0.0)
    p_value = wald_p(coefficient, error, freedom)
    ends = coefficient - steps * error, coefficient + steps * error
    made = _columns((coefficient, error, *ends, p_value), table.link)
    points = likely_columns(table, likely, scatter)
    return [
        {name: _figure(values, points.get(name), k, exact=exact) for name, values in made.items()}
        for k in range(table.design.shape[1])
    ]


def _columns(figures: Sequence[Intervals], link: Link) -> dict[str, Intervals]:
    made = dict(zip(FIGURES, figures, strict=True))
    coefficient, _, low, high, _ = figures
    if link is not IDENTITY:
        made |= dict(zip(RATIOS, (coefficient.exp(), low.exp(), high.exp()), strict=True))
    return made


def _figure(values: Intervals, likely: Floats | None, k: int, *, exact: bool) -> Figure:
    low, high = float(values.low[k]), float(values.high[k])
    point = None if likely is None or not math.isfinite(likely[k]) else min(max(float(likely[k]), low), high)
    return Figure(Range(low, high, None, None, sharp=exact), point)


# -- linear models ---------------------------------------------------------------------------------------------


def residual_variance(table: GroupedCounts, root: Root, scatter: Scatter, freedom: Intervals) -> Intervals:
    """The sum of squared residuals is the sum within patterns plus that of the patterns' means about the line.

    Least squares minimise it, so it is at most that of the coefficients in the middle.
    """
    middle = (Intervals.of(table.design) * Intervals.of(root.centre)).total()
    best, other = (table.others * (scatter.means - line).square() for line in (root.predictor, middle))
    rest = Intervals(best.low, np.minimum(best.high, other.high)).total()
    return (scatter.within.total() + rest).at_least(0.0).over(freedom).at_least(0.0)


# -- what is likely --------------------------------------------------------------------------------------------


def likely_columns(
    table: GroupedCounts, likely: tuple[Floats, Floats] | None, scatter: Scatter | None
) -> dict[str, Floats]:
    """The same figures of the likely table, in doubles; none where there is no such table or it has no maximum."""
    if likely is None or (scatter is not None and scatter.likely is None):
        return {}
    events, totals = likely
    centre = likely_root(table.design, events, totals, table.link)
    if centre is None:
        return {}
    mean, slope = table.link.grows(table.design @ centre)
    try:
        variance = np.diag(np.linalg.inv((table.design * (totals * slope)[:, None]).T @ table.design))
    except np.linalg.LinAlgError:
        return {}
    steps, freedom = NORMAL, None
    if scatter is not None and scatter.likely is not None:
        freedom = float(totals.sum()) - table.design.shape[1]
        if freedom <= 0:
            return {}
        means = np.divide(events, totals, out=np.zeros_like(events), where=totals > 0)
        variance = variance * float((scatter.likely + totals * (means - mean) ** 2).sum()) / freedom
        steps = float(scipy.special.stdtrit(freedom, 0.975))
    if not (variance >= 0).all():
        return {}
    error = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_value = tails(np.abs(centre / error), freedom)
    ends = (centre, error, centre - steps * error, centre + steps * error, p_value)
    found = dict(zip(FIGURES, ends, strict=True))
    if table.link is not IDENTITY:
        with np.errstate(over="ignore"):
            found |= dict(zip(RATIOS, (np.exp(centre), np.exp(ends[2]), np.exp(ends[3])), strict=True))
    return found
