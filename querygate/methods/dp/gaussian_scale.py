"""How much Gaussian noise keeps (epsilon, delta): the analytic calibration, and what whole steps change about it.

`sigma_per_unit` is for real numbers and sensitivity 1 (Balle and Wang 2018, theorem 8). On a lattice the curve of
delta is a sum in place of an integral (Canonne, Kamath and Steinke 2020, theorem 7). `lattice_sigma` starts from the
analytic sigma and widens it until the sum is within delta; so sigma never falls below the analytic one, nor does rho
rise above 1 / (2 sigma²) of sensitivity 1 (theorem 4 there).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import scipy  # loaded when it is first needed

MARGIN = 1e-6
"""Sigma is calibrated to a delta smaller by this part, which is far above the errors of the floats below."""

LEAST_EPSILON, LEAST_DELTA, MOST_EPSILON = 1e-4, 1e-15, 50.0
"""Outside of these the two terms of delta may cancel in floats; no policy has use for them."""

SUMMED = 2**18
"""Up to this sigma, in steps, delta on the lattice is added up; beyond it is bounded."""


def check_gaussian(epsilon: float, delta: float) -> None:
    """Is there a calibration for these? A ValueError says what there is one for."""
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise ValueError(f"epsilon of Gaussian noise is between {LEAST_EPSILON} and {MOST_EPSILON:g}, not {epsilon}")
    if not LEAST_DELTA <= delta < 1:
        raise ValueError(f"delta of Gaussian noise is at least {LEAST_DELTA} and below 1, not {delta}")


def delta_of(sigma: float, epsilon: float) -> float:
    """The least delta for which Gaussian noise of this sigma, on real numbers with sensitivity 1, keeps epsilon.

    Phi(1/(2 sigma) - epsilon sigma) - exp(epsilon) Phi(-1/(2 sigma) - epsilon sigma), by logarithms.
    """
    first = float(scipy.special.log_ndtr(0.5 / sigma - epsilon * sigma))
    second = epsilon + float(scipy.special.log_ndtr(-0.5 / sigma - epsilon * sigma))
    return -math.exp(first) * math.expm1(second - first)


@lru_cache(maxsize=256)
def sigma_per_unit(epsilon: float, delta: float) -> float:
    """The least sigma for sensitivity 1, up to rounding upward.

    >>> round(sigma_per_unit(1.0, 1e-5), 4)
    3.7306
    """
    check_gaussian(epsilon, delta)
    target = delta * (1 - MARGIN)
    low, high = 1e-3, 1.0
    while delta_of(high, epsilon) > target:
        high *= 2
    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if delta_of(middle, epsilon) <= target else (middle, high)
    return high


@lru_cache(maxsize=256)
def lattice_sigma(steps: int, epsilon: float, delta: float) -> Fraction:
    """The sigma, in steps, of discrete Gaussian noise that keeps (epsilon, delta) if values differ by up to `steps`."""
    sigma, growth = steps * sigma_per_unit(epsilon, delta), 1e-6
    while _lattice_delta(sigma, steps, epsilon) > delta:
        sigma, growth = sigma * (1 + growth), min(2 * growth, 0.01)
    return Fraction(sigma)


def _lattice_delta(sigma: float, steps: int, epsilon: float) -> float:
    """At least the delta of discrete Gaussian noise at this epsilon, in floats whose errors are within the margin.

    Neighbours nearer than `steps` have less (their loss is a Gaussian of smaller mean and variance).
    """
    if sigma > SUMMED:
        # A sum over whole numbers is off the integral by at most an eighth of the variation of the derivative
        # (Cruz-Uribe and Neugebauer 2002). That of max(0, p(x) - exp(epsilon) p(x + steps)) varies by no more than
        # 5 (1 + exp(epsilon)) max|p'|, and max|p'| = 0.242 / sigma².
        return delta_of(sigma / steps, epsilon) + 0.152 * (1 + math.exp(epsilon)) / sigma**2
    first = math.floor(epsilon * sigma**2 / steps - steps / 2)
    reach = math.ceil(12 * sigma) + steps  # beyond, exp(-72) of the whole
    x = np.arange(max(first, -reach), max(first, 0) + reach, dtype=np.float64)
    lost = -np.expm1(np.minimum(0.0, epsilon - (2 * x * steps + steps**2) / (2 * sigma**2)))
    weights = np.exp(-((x / sigma) ** 2) / 2)
    around = np.arange(-reach, reach + 1, dtype=np.float64)
    return float((weights * lost).sum() / np.exp(-((around / sigma) ** 2) / 2).sum())
