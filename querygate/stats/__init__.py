"""Ranges of statistics over interval data: what every data set consistent with the cells can give.

For people: one function per statistic, on lists, NumPy, pandas or Arrow; see `querygate.stats.api`.

>>> from querygate import stats
>>> stats.mean([40, 50], [49, 59], counts=[5, (0, 3)])
mean: 40 .. 52.8, sharp

For the gate: the registry, on cells.

>>> import numpy as np
>>> from querygate.core.types import Cells
>>> cells = Cells(np.array([40, 50]), np.array([49, 59]), np.array([5, 0]), np.array([5, 3]), integer=True)
>>> STATISTICS.get("avg").range(cells)
Range(low=40.0, high=52.75, attained_low=40.0, attained_high=52.75, sharp=True, may_be_null=False)
"""

from __future__ import annotations

from querygate.stats import (
    association,
    comparison,
    distinct,
    distribution,
    evenness,
    extent,
    inference,
    knowledge,
    location,
    means,
    quantiles,
    shape,
    spread,
    tables,
    variation,
)
from querygate.stats.api import (
    avg,
    bounds,
    corr,
    count,
    covar_pop,
    covar_samp,
    cv,
    exceedance,
    geometric_mean,
    harmonic_mean,
    iqr,
    max,
    mean,
    median,
    min,
    pair_bounds,
    quantile_cont,
    quantile_disc,
    range,
    ratio_of_sums,
    regr_intercept,
    regr_r2,
    regr_slope,
    std,
    stddev_pop,
    stddev_samp,
    sum,
    var,
    var_pop,
    var_samp,
)
from querygate.stats.api_shape import (
    count_distinct,
    entropy,
    kurtosis,
    kurtosis_pop,
    mean_ci_high,
    mean_ci_low,
    skewness,
)
from querygate.stats.enclosure import Enclosure
from querygate.stats.pairs import PAIR_STATISTICS, PairCells, PairStatistic
from querygate.stats.registry import STATISTICS, Statistic

__all__ = [
    "PAIR_STATISTICS",
    "STATISTICS",
    "PairCells",
    "PairStatistic",
    "Statistic",
    "Enclosure",
    "bounds",
    "pair_bounds",
    "association",
    "comparison",
    "distinct",
    "distribution",
    "evenness",
    "extent",
    "inference",
    "knowledge",
    "location",
    "means",
    "quantiles",
    "shape",
    "spread",
    "tables",
    "variation",
    # one function per statistic
    "avg",
    "corr",
    "count",
    "count_distinct",
    "covar_pop",
    "covar_samp",
    "cv",
    "entropy",
    "exceedance",
    "geometric_mean",
    "harmonic_mean",
    "iqr",
    "kurtosis",
    "kurtosis_pop",
    "max",
    "mean",
    "mean_ci_high",
    "mean_ci_low",
    "median",
    "min",
    "quantile_cont",
    "quantile_disc",
    "range",
    "ratio_of_sums",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "skewness",
    "std",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var",
    "var_pop",
    "var_samp",
]
