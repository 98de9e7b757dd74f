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
    confidence_limits,
    deviation,
    distinct,
    distribution,
    evenness,
    exposure_tables,
    extent,
    knowledge,
    quantiles,
    rank_order,
    shape,
    sums_and_means,
    transformed_means,
)
from querygate.stats.api.multiple_regression import Regression, regression
from querygate.stats.api.one_column import (
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
    kendall,
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
    spearman,
    std,
    stddev_pop,
    stddev_samp,
    sum,
    var,
    var_pop,
    var_samp,
    weighted_mean,
)
from querygate.stats.api.shape_and_limits import (
    count_distinct,
    entropy,
    kurtosis,
    kurtosis_pop,
    mad,
    mean_ci_high,
    mean_ci_low,
    mode,
    skewness,
)
from querygate.stats.api.two_groups import (
    chi_square,
    group_bounds,
    mann_whitney,
    mean_difference,
    odds_ratio,
    proportion,
    risk_difference,
    risk_ratio,
    superiority,
    table_bounds,
    welch_p,
    welch_t,
)
from querygate.stats.api.whole_distribution import Band, Histogram, ecdf, histogram
from querygate.stats.comparison import GROUP_STATISTICS, GroupCells, GroupStatistic
from querygate.stats.distribution import DISTRIBUTIONS, Distribution
from querygate.stats.enclosure import Enclosure
from querygate.stats.exposure_tables import TABLE_STATISTICS, TableCells, TableStatistic
from querygate.stats.pairs import PAIR_STATISTICS, PairCells, PairStatistic
from querygate.stats.registry import STATISTICS, Statistic
from querygate.stats.regression.box_design import RegressionCells
from querygate.stats.regression.coefficients import MODELS, RegressionModel
from querygate.stats.variance import spread, variation

__all__ = [
    "DISTRIBUTIONS",
    "GROUP_STATISTICS",
    "MODELS",
    "PAIR_STATISTICS",
    "STATISTICS",
    "TABLE_STATISTICS",
    "Distribution",
    "GroupCells",
    "GroupStatistic",
    "RegressionModel",
    "RegressionCells",
    "PairCells",
    "PairStatistic",
    "Statistic",
    "TableCells",
    "TableStatistic",
    "Band",
    "Enclosure",
    "Histogram",
    "Regression",
    "bounds",
    "group_bounds",
    "pair_bounds",
    "table_bounds",
    "association",
    "comparison",
    "deviation",
    "distinct",
    "distribution",
    "evenness",
    "extent",
    "confidence_limits",
    "knowledge",
    "sums_and_means",
    "transformed_means",
    "quantiles",
    "shape",
    "spread",
    "exposure_tables",
    "variation",
    # one function per statistic
    "avg",
    "chi_square",
    "corr",
    "count",
    "count_distinct",
    "covar_pop",
    "covar_samp",
    "cv",
    "ecdf",
    "entropy",
    "exceedance",
    "geometric_mean",
    "harmonic_mean",
    "histogram",
    "iqr",
    "kurtosis",
    "kurtosis_pop",
    "mad",
    "max",
    "mean",
    "mean_ci_high",
    "mean_ci_low",
    "mean_difference",
    "median",
    "min",
    "mode",
    "odds_ratio",
    "proportion",
    "quantile_cont",
    "quantile_disc",
    "range",
    "ratio_of_sums",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regression",
    "risk_difference",
    "risk_ratio",
    "skewness",
    "std",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var",
    "var_pop",
    "var_samp",
    "weighted_mean",
    "welch_p",
    "mann_whitney",
    "superiority",
    "spearman",
    "kendall",
    "rank_order",
    "welch_t",
]
