"""What each mechanism shows, as textbooks have it: distribution functions in floats, written apart from the product."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import chisquare, dlaplace, kstest, laplace, norm

from tests.unit.methods.dp.empirical import Floats

Cdf = Callable[[Floats], Floats]


def discrete_laplace(value: int, scale: float) -> Cdf:
    return lambda x: dlaplace.cdf(np.floor(x) - value, 1 / scale)


def discrete_gaussian(value: int, sigma: float) -> Cdf:
    z = np.arange(-math.ceil(40 * sigma) - 2, math.ceil(40 * sigma) + 3)
    weights = np.exp(-((z / sigma) ** 2) / 2)
    total = np.cumsum(weights) / weights.sum()
    return lambda x: np.where(x < value + z[0], 0.0, total[np.clip(np.floor(x).astype(int) - value - z[0], 0, None)])


def continuous_laplace(value: float, scale: float) -> Cdf:
    return lambda x: laplace.cdf(x, value, scale)


def continuous_gaussian(value: float, sigma: float) -> Cdf:
    return lambda x: norm.cdf(x, value, sigma)


def truncated(cdf: Cdf, lower: float, upper: float) -> Cdf:
    return lambda x: np.where(x < lower, 0.0, np.where(x >= upper, 1.0, cdf(x)))


def folded(cdf: Cdf, lower: float, upper: float, *, whole: bool) -> Cdf:
    """P(shown <= x): every mirror image of [lower, x], 50 periods to each side."""
    period, unit = 2 * (upper - lower), 1.0 if whole else 0.0

    def shown(x: Floats) -> Floats:
        images = np.zeros_like(x)
        for turn in range(-50, 51):
            # of [lower, x] and its mirror image [2 lower - x, lower), both moved by whole periods
            images += cdf(x + turn * period) - cdf(2 * lower - x - unit + turn * period)
        return np.where(x < lower, 0.0, np.where(x >= upper, 1.0, images))

    return shown


def snapped(cdf: Cdf, snap: float) -> Cdf:
    """Rounded to the nearest multiple."""
    return lambda x: cdf(np.floor(x / snap) * snap + snap / 2)


def p_value_of_atoms(drawn: Floats, cdf: Cdf, atoms: Floats) -> float:
    """Chi-square over outcomes, those that are rare taken together at each end."""
    heights = np.diff(np.concatenate([[0.0], cdf(atoms[:-1]), [1.0]])) * len(drawn)
    counts = np.bincount(np.searchsorted(atoms, drawn), minlength=len(atoms)).astype(float)
    assert len(counts) == len(atoms)
    assert np.isin(drawn, atoms).all()
    common = np.flatnonzero(heights >= 10)
    first, last = common[0], common[-1]
    keep = slice(first, last + 1)
    expected, seen = heights[keep].copy(), counts[keep].copy()
    expected[0] += heights[:first].sum()
    expected[-1] += heights[last + 1 :].sum()
    seen[0] += counts[:first].sum()
    seen[-1] += counts[last + 1 :].sum()
    return float(chisquare(seen, expected * (seen.sum() / expected.sum())).pvalue)


def p_value_of_continuous(drawn: Floats, cdf: Cdf) -> float:
    """Kolmogorov and Smirnov."""
    return float(kstest(drawn, cdf).pvalue)
