"""Wald's test that a coefficient is zero, two-sided, as a range. Proof: models.md.

The p-value falls as the distance of the coefficient from zero grows, rises with the standard error, and, for Student's
distribution, falls as the degrees of freedom grow. So its ends come from the ends of all three, whatever the dependence
between them.
"""

from __future__ import annotations

import numpy as np
import scipy  # loaded when it is first needed

from querygate.core.types import Floats
from querygate.stats.models.verified_numbers import Intervals

_TAIL = 1e-9
"""Assumed relative error of the tails of distributions."""

_TINY = 5e-324


def wald_p(value: Intervals, error: Intervals, freedom: Intervals | None = None) -> Intervals:
    """P(|Z| > |value / error|), with Z normal, or of Student's distribution with the given degrees of freedom.

    >>> found = wald_p(Intervals(np.array([1.9]), np.array([2.1])), Intervals(np.array([1.0]), np.array([1.0])))
    >>> bool(found.low[0] < 0.0455 < found.high[0]), bool(found.high[0] < 0.06)
    (True, True)
    """
    nearest = np.where((value.low <= 0) & (value.high >= 0), 0.0, np.minimum(np.abs(value.low), np.abs(value.high)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        least, most = np.nextafter(nearest / error.high, -np.inf), np.nextafter(value.magnitude / error.low, np.inf)
    least = np.where(np.isnan(least), 0.0, np.maximum(least, 0.0))
    most = np.where(np.isnan(most) | ~(error.low > 0), np.inf, most)
    low = tails(most, None if freedom is None else freedom.high) * (1 - _TAIL) - _TINY
    high = tails(least, None if freedom is None else freedom.low) * (1 + _TAIL) + _TINY
    return Intervals(np.maximum(low, 0.0), np.minimum(high, 1.0))


def tails(away: Floats, freedom: Floats | float | None) -> Floats:
    """The probability of both tails beyond the given number of standard errors."""
    one = scipy.special.ndtr(-away) if freedom is None else scipy.special.stdtr(freedom, -away)
    both: Floats = np.asarray(2.0 * one, dtype=np.float64)
    return both
