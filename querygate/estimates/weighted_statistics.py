"""Statistics of weighted points: the aggregates of a statement on a likely table.

Each takes values and weights and gives a number, or None where the statistic has none. Weights add up to the number of
records; a point may be a small part of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import scipy  # loaded when it is first needed

from querygate.core.types import Floats
from querygate.estimates.column_pieces import added

Figure: TypeAlias = "float | None"

HALF = 0.5
"""A record is expected beyond a value if half a record is."""


def _mean(x: Floats, w: Floats) -> Figure:
    total = w.sum()
    return float((w * x).sum() / total) if total > 0 else None


def _moment(x: Floats, w: Floats, power: int) -> float:
    """A central moment, divided by n."""
    total = w.sum()
    middle = (w * x).sum() / total
    return float((w * (x - middle) ** power).sum() / total)


def _needs(records: float, formula: Callable[..., Figure]) -> Callable[..., Figure]:
    """NULL where there are fewer records."""

    def guarded(x: Floats, w: Floats, *parameters: float) -> Figure:
        return formula(x, w, *parameters) if w.sum() >= max(records, 1e-9) else None

    return guarded


def _sample(x: Floats, w: Floats) -> float:
    n = float(w.sum())
    return _moment(x, w, 2) * n / (n - 1) if n > 1 else math.nan


def _quantile(x: Floats, w: Floats, p: float) -> Figure:
    """The value below which a share p of the weight lies; points stand for the records around them."""
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[order]
    middle = np.cumsum(w) - w / 2
    return float(np.interp(p * w.sum(), middle, x)) if w.sum() > 0 else None


def _quantile_disc(x: Floats, w: Floats, p: float) -> Figure:
    order = np.argsort(x, kind="stable")
    place = int(np.searchsorted(np.cumsum(w[order]), p * w.sum() * (1 - 1e-12)))
    return float(x[order][min(place, x.size - 1)]) if w.sum() > 0 else None


def _largest(x: Floats, w: Floats) -> Figure:
    """The value above which half a record is expected."""
    if not w.sum() > 0:
        return None
    order = np.argsort(-x, kind="stable")
    place = int(np.searchsorted(np.cumsum(w[order]), min(HALF, float(w.sum()) / 2)))
    return float(x[order][min(place, x.size - 1)])


def _smallest(x: Floats, w: Floats) -> Figure:
    found = _largest(-x, w)
    return None if found is None else -found


def _by_value(x: Floats, w: Floats) -> tuple[Floats, Floats]:
    values, place = np.unique(x, return_inverse=True)
    return values, added(place.reshape(-1), w, values.size)


def present(w: Floats) -> Floats:
    """The probability that there is anybody, given the expected number."""
    return -np.expm1(-w)


def distinct(x: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Distinct values, each with the probability that it occurs."""
    values, weights = _by_value(x, w)
    return values, present(weights)


def _entropy(x: Floats, w: Floats) -> Figure:
    share = _by_value(x, w)[1] / w.sum()
    share = share[share > 0]
    return float(-(share * np.log2(share)).sum())


def _mode(x: Floats, w: Floats) -> Figure:
    values, weights = _by_value(x, w)
    return float(values[weights.argmax()]) if weights.any() else None


def _skewness(x: Floats, w: Floats) -> Figure:
    n, spread = float(w.sum()), _moment(x, w, 2)
    if n <= 2 or not spread > 0:
        return None
    return math.sqrt(n * (n - 1)) / (n - 2) * _moment(x, w, 3) / (spread * math.sqrt(spread))


def _kurtosis_pop(x: Floats, w: Floats) -> Figure:
    spread = _moment(x, w, 2)
    return _moment(x, w, 4) / spread**2 - 3 if spread > 0 else None


def _kurtosis(x: Floats, w: Floats) -> Figure:
    n, excess = float(w.sum()), _kurtosis_pop(x, w)
    return None if excess is None or n <= 3 else (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * excess + 6)


def _mad(x: Floats, w: Floats) -> Figure:
    middle = _quantile(x, w, 0.5)
    return None if middle is None else _quantile(np.abs(x - middle), w, 0.5)


def _limit(x: Floats, w: Floats, level: float) -> float:
    n = float(w.sum())
    return float(scipy.special.stdtrit(n - 1, (1 + level) / 2)) * math.sqrt(_sample(x, w) / n)


def _log_mean(x: Floats, w: Floats) -> Figure:
    if (x < 0).any():
        return None
    with np.errstate(divide="ignore"):
        return float(np.exp((w * np.log(x)).sum() / w.sum()))


def _harmonic(x: Floats, w: Floats) -> Figure:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(w.sum() / (w / x).sum())


OF_COLUMN: dict[str, Callable[..., Figure]] = {
    "count": lambda x, w: float(w.sum()),
    "sum": lambda x, w: float((w * x).sum()) if w.sum() > 0 else None,
    "avg": _mean,
    "min": _smallest,
    "max": _largest,
    "range": lambda x, w: None if not w.sum() > 0 else (_largest(x, w) or 0.0) - (_smallest(x, w) or 0.0),
    "median": lambda x, w: _quantile(x, w, 0.5),
    "quantile_cont": _quantile,
    "quantile_disc": _quantile_disc,
    "iqr": _needs(0, lambda x, w: (_quantile(x, w, 0.75) or 0.0) - (_quantile(x, w, 0.25) or 0.0)),
    "mad": _mad,
    "mode": _mode,
    "count_distinct": lambda x, w: float(distinct(x, w)[1].sum()),
    "entropy": _needs(0, _entropy),
    "var_pop": _needs(0, lambda x, w: _moment(x, w, 2)),
    "stddev_pop": _needs(0, lambda x, w: math.sqrt(_moment(x, w, 2))),
    "var_samp": _needs(2, _sample),
    "stddev_samp": _needs(2, lambda x, w: math.sqrt(_sample(x, w))),
    "cv": _needs(0, lambda x, w: math.sqrt(_moment(x, w, 2)) / m if (m := _mean(x, w)) else None),
    "skewness": _needs(3, _skewness),
    "kurtosis": _needs(4, _kurtosis),
    "kurtosis_pop": _needs(2, _kurtosis_pop),
    "geometric_mean": _needs(0, _log_mean),
    "harmonic_mean": _needs(0, _harmonic),
    "exceedance": lambda x, w, threshold: _mean((x > threshold).astype(np.float64), w),
    "mean_ci_low": _needs(2, lambda x, w, level: (_mean(x, w) or 0.0) - _limit(x, w, level)),
    "mean_ci_high": _needs(2, lambda x, w, level: (_mean(x, w) or 0.0) + _limit(x, w, level)),
}
"""By their names in the registry of statistics."""


def _covariance(x: Floats, y: Floats, w: Floats) -> float:
    n = w.sum()
    return float((w * (x - (w * x).sum() / n) * (y - (w * y).sum() / n)).sum() / n)


def _quotient(over: float, under: float) -> Figure:
    return over / under if under else None


def _correlation(x: Floats, y: Floats, w: Floats) -> Figure:
    return _quotient(_covariance(x, y, w), math.sqrt(_covariance(x, x, w) * _covariance(y, y, w)))


def _slope(x: Floats, y: Floats, w: Floats) -> Figure:
    return _quotient(_covariance(x, y, w), _covariance(x, x, w))


def _intercept(x: Floats, y: Floats, w: Floats) -> Figure:
    slope = _slope(x, y, w)
    return None if slope is None else (_mean(y, w) or 0.0) - slope * (_mean(x, w) or 0.0)


def _explained(x: Floats, y: Floats, w: Floats) -> Figure:
    found = _correlation(x, y, w)
    return None if found is None else found * found


def _sample_covariance(x: Floats, y: Floats, w: Floats) -> Figure:
    n = float(w.sum())
    return _covariance(x, y, w) * n / (n - 1) if n >= 2 else None


def _midranks(x: Floats, w: Floats) -> Floats:
    """How much weight is below each point, ties by half."""
    different, place = np.unique(x, return_inverse=True)
    held = np.bincount(place, weights=w, minlength=different.size)
    ranks: Floats = (np.cumsum(held) - held / 2)[place]
    return ranks


def _spearman(x: Floats, y: Floats, w: Floats) -> Figure:
    return _correlation(_midranks(x, w), _midranks(y, w), w)


MOST_COMPARED = 2_000
"""Points that are compared two by two."""


def _kendall(x: Floats, y: Floats, w: Floats) -> Figure:
    """Records of one point are tied."""
    if x.size > MOST_COMPARED:
        return None
    by_x, by_y = (np.sign(v[:, None] - v[None, :]) for v in (x, y))
    untied = [float(w @ (np.abs(signs) @ w)) for signs in (by_x, by_y)]
    return _quotient(float(w @ ((by_x * by_y) @ w)), math.sqrt(untied[0] * untied[1]))


OF_PAIR: dict[str, Callable[[Floats, Floats, Floats], Figure]] = {
    "covar_pop": _covariance,
    "covar_samp": _sample_covariance,
    "corr": _correlation,
    "regr_slope": _slope,
    "regr_intercept": _intercept,
    "regr_r2": _explained,
    "spearman": _spearman,
    "kendall": _kendall,
    "weighted_mean": lambda x, y, w: _quotient(float((w * y * x).sum()), float((w * y).sum())),
    "ratio_of_sums": lambda x, y, w: _quotient(float((w * x).sum()), float((w * y).sum())),
}


def of_pair(statistic: str, x: Floats, y: Floats, w: Floats) -> Figure:
    return OF_PAIR[statistic](x, y, w) if w.sum() > 0 else None


def of_groups(statistic: str, x: Floats, first: Floats, second: Floats) -> Figure:
    """A comparison of a group with another, by the weights that each has of the points."""
    means, sizes = [_mean(x, w) for w in (first, second)], [float(w.sum()) for w in (first, second)]
    if means[0] is None or means[1] is None:
        return None
    if statistic in ("mann_whitney", "superiority"):
        won = float((first * _midranks(x, second)).sum())
        return won if statistic == "mann_whitney" else won / (sizes[0] * sizes[1])
    difference = means[0] - means[1]
    if statistic == "mean_difference":
        return difference
    if min(sizes) < 2:
        return None
    errors = [_sample(x, w) / n for w, n in zip((first, second), sizes, strict=True)]
    if not sum(errors) > 0:
        return None
    if statistic == "welch_t":
        return difference / math.sqrt(sum(errors))
    freedom = sum(errors) ** 2 / sum(e * e / (n - 1) for e, n in zip(errors, sizes, strict=True))
    return 2 * float(scipy.special.stdtr(freedom, -abs(difference) / math.sqrt(sum(errors))))


def of_table(statistic: str, n11: float, n10: float, n01: float, n00: float) -> Figure:
    """A statistic of a two-by-two table: exposed or not, with the outcome or not."""
    exposed, others = n11 + n10, n01 + n00
    if statistic == "proportion":
        return _quotient(n11, exposed)
    if not exposed or not others:
        return None
    if statistic == "risk_difference":
        return n11 / exposed - n01 / others
    if statistic == "risk_ratio":
        return _quotient(n11 / exposed, n01 / others)
    if statistic == "odds_ratio":
        return _quotient(n11 * n00, n10 * n01)
    return _quotient((exposed + others) * (n11 * n00 - n10 * n01) ** 2, exposed * others * (n11 + n01) * (n10 + n00))


def of_values(present_in: Sequence[frozenset[int]], w: Floats) -> Figure:
    """The expected number of distinct values, for points that have one each."""
    totals: dict[int, float] = {}
    for values, weight in zip(present_in, w.tolist(), strict=True):
        for value in values:
            totals[value] = totals.get(value, 0.0) + weight
    return float(present(np.array(list(totals.values()))).sum())
