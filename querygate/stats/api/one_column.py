"""Statistics of interval data without a server: one function per statistic, named as in SQL.

>>> from querygate import stats
>>> stats.mean([40, 50, 60], [49, 59, 69], [5, 3, 4])
mean: 49.16 .. 58.17, sharp
>>> stats.var([40, 50, 60], [49, 59, 69], [5, 3, 4])
var: 22 .. 163, sharp

Every function takes
    lo, hi    the ends of the intervals: lists, NumPy arrays, pandas Series or Arrow arrays, or a pandas IntervalArray
              as `lo` alone;
    counts    how many records each interval stands for (one each if left out), or pairs (least, most) where it is not
              certain how many of them belong;
    integer   True if all values are whole numbers, which can make ranges narrower;
and returns an `Enclosure`: its `low` and `high` are guaranteed for every data set that the intervals allow, each record
with a value of its own. Anything that is not an interval (unknown, NaN, reversed) raises a ValueError.

Statistics of two columns take `x` and `y`, each a pair (lo, hi) or an IntervalArray, and `counts`.
"""

from __future__ import annotations

from querygate.stats.enclosure import Enclosure
from querygate.stats.inputs import Column, Counts, read_cells, read_pairs
from querygate.stats.pairs import PAIR_STATISTICS
from querygate.stats.registry import STATISTICS


def bounds(
    name: str,
    lo: Column,
    hi: Column = None,
    counts: Counts = None,
    *,
    integer: bool = False,
    **parameters: float,
) -> Enclosure:
    """The statistic registered under `name`, with its parameters by name.

    >>> bounds("quantile_cont", [1, 2, 3], [2, 3, 4], p=0.5)
    quantile_cont: 2 .. 3, sharp
    """
    return _enclose(name, name, lo, hi, counts, integer, parameters)


def _enclose(
    shown_as: str, name: str, lo: Column, hi: Column, counts: Counts, integer: bool, parameters: dict[str, float]
) -> Enclosure:
    statistic = STATISTICS.get(name)
    if set(parameters) != set(statistic.parameters):
        raise TypeError(f"{name} accepts the parameters: {', '.join(statistic.parameters) or 'none'}")
    cells = read_cells(lo, hi, counts, integer=integer)
    return Enclosure(shown_as, statistic.range(cells, *(parameters[p] for p in statistic.parameters)), cells)


# -- how many, how much ------------------------------------------------------------------------------------


def count(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Number of records.

    >>> count([40, 50], [49, 59], [5, (0, 3)])
    count: 5 .. 8, sharp
    """
    return bounds("count", lo, hi, counts, integer=integer)


def sum(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Sum of the values.

    >>> sum([40, 50], [49, 59], [5, 3], integer=True)
    sum: 350 .. 422, sharp
    """
    return bounds("sum", lo, hi, counts, integer=integer)


# -- where the values are ----------------------------------------------------------------------------------


def mean(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Mean of the values, `avg` in SQL. Sum and count use the same records, so it is never the quotient of two ranges.

    >>> mean([40, 50], [49, 59], [5, (0, 3)])
    mean: 40 .. 52.8, sharp
    """
    return _enclose("mean", "avg", lo, hi, counts, integer, {})


def avg(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Mean of the values, by its name in SQL.

    >>> avg([1, 2], [2, 4])
    avg: 1.5 .. 3, sharp
    """
    return bounds("avg", lo, hi, counts, integer=integer)


def geometric_mean(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Geometric mean; may be undefined where an interval reaches to 0.

    >>> geometric_mean([1, 4], [4, 16])
    geometric_mean: 1.99 .. 8.01, sharp
    """
    return bounds("geometric_mean", lo, hi, counts, integer=integer)


def harmonic_mean(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Harmonic mean; without bounds where an interval reaches to 0.

    >>> harmonic_mean([1, 3], [2, 6])
    harmonic_mean: 1.49 .. 3.01, sharp
    """
    return bounds("harmonic_mean", lo, hi, counts, integer=integer)


def min(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Smallest value.

    >>> min([40, 50], [49, 59], [(0, 5), 3], integer=True)
    min: 40 .. 59, sharp
    """
    return bounds("min", lo, hi, counts, integer=integer)


def max(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Largest value.

    >>> max([40, 50], [49, 59], [5, (0, 3)], integer=True)
    max: 40 .. 59, sharp
    """
    return bounds("max", lo, hi, counts, integer=integer)


def median(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Median, interpolated between the two middle values.

    >>> median([40, 50, 60], [49, 59, 69], [5, 3, 4])
    median: 50 .. 59, sharp
    """
    return bounds("median", lo, hi, counts, integer=integer)


def quantile_cont(
    lo: Column, hi: Column = None, counts: Counts = None, *, p: float, integer: bool = False
) -> Enclosure:
    """Quantile with interpolation, 0 <= p <= 1, as NumPy's default (type 7 of Hyndman and Fan).

    >>> quantile_cont([40, 50, 60], [49, 59, 69], [5, 3, 4], p=0.75)
    quantile_cont: 60 .. 69, sharp
    """
    return bounds("quantile_cont", lo, hi, counts, integer=integer, p=p)


def quantile_disc(
    lo: Column, hi: Column = None, counts: Counts = None, *, p: float, integer: bool = False
) -> Enclosure:
    """Quantile that is one of the values, 0 <= p <= 1.

    >>> quantile_disc([40, 50, 60], [49, 59, 69], [5, 3, 4], p=0.25, integer=True)
    quantile_disc: 40 .. 49, sharp
    """
    return bounds("quantile_disc", lo, hi, counts, integer=integer, p=p)


def exceedance(
    lo: Column, hi: Column = None, counts: Counts = None, *, threshold: float, integer: bool = False
) -> Enclosure:
    """Share of the values above a threshold.

    >>> exceedance([120, 135, 150], [134, 149, 165], [4, 2, 2], threshold=140)
    exceedance: 0.25 .. 0.5, sharp
    """
    return bounds("exceedance", lo, hi, counts, integer=integer, threshold=threshold)


# -- how far they spread -----------------------------------------------------------------------------------


def var(lo: Column, hi: Column = None, counts: Counts = None, *, ddof: int = 0, integer: bool = False) -> Enclosure:
    """Variance, divided by n - ddof (0 or 1), in NumPy's spelling.

    >>> var([0], [1], [2], ddof=1)
    var: 0 .. 0.501, sharp
    """
    return _enclose("var", ("var_pop", "var_samp")[_is_sample(ddof)], lo, hi, counts, integer, {})


def std(lo: Column, hi: Column = None, counts: Counts = None, *, ddof: int = 0, integer: bool = False) -> Enclosure:
    """Standard deviation, divided by n - ddof (0 or 1), in NumPy's spelling.

    >>> std([40, 50, 60], [49, 59, 69], [5, 3, 4])
    std: 4.73 .. 12.76, sharp
    """
    return _enclose("std", ("stddev_pop", "stddev_samp")[_is_sample(ddof)], lo, hi, counts, integer, {})


def _is_sample(ddof: int) -> bool:
    if ddof not in (0, 1):
        raise ValueError("ddof must be 0 or 1")
    return ddof == 1


def var_pop(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Variance divided by n.

    >>> var_pop([0, 0], [1, 1], [1, 1])
    var_pop: 0 .. 0.251, sharp
    """
    return bounds("var_pop", lo, hi, counts, integer=integer)


def var_samp(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Variance divided by n - 1; undefined below two records.

    >>> var_samp([0, 0], [1, 1], [1, (0, 1)])
    var_samp: 0 .. 0.501, sharp, may be undefined
    """
    return bounds("var_samp", lo, hi, counts, integer=integer)


def stddev_pop(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Standard deviation with the divisor n.

    >>> stddev_pop([0, 0], [1, 1])
    stddev_pop: 0 .. 0.501, sharp
    """
    return bounds("stddev_pop", lo, hi, counts, integer=integer)


def stddev_samp(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Standard deviation with the divisor n - 1; undefined below two records.

    >>> stddev_samp([0], [1])
    stddev_samp: undefined
    """
    return bounds("stddev_samp", lo, hi, counts, integer=integer)


def cv(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Coefficient of variation, standard deviation over mean; without bounds where the mean can be 0.

    >>> 0.125 in cv([40, 50, 60], [49, 59, 69], [5, 3, 4])
    True
    """
    return bounds("cv", lo, hi, counts, integer=integer)


def range(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Largest minus smallest value.

    >>> range([40, 50, 60], [49, 59, 69], integer=True)
    range: 11 .. 29, sharp
    """
    return bounds("range", lo, hi, counts, integer=integer)


def iqr(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Interquartile range, the interpolated upper quartile minus the lower.

    >>> iqr([40, 50, 60], [40, 50, 60], [5, 3, 4])
    iqr: 20 exactly
    """
    return bounds("iqr", lo, hi, counts, integer=integer)


# -- two columns -------------------------------------------------------------------------------------------


def pair_bounds(name: str, x: Column, y: Column, counts: Counts = None) -> Enclosure:
    """The statistic of two columns registered under `name`.

    >>> pair_bounds("ratio_of_sums", ([1, 2], [2, 3]), ([1, 1], [2, 2]))
    ratio_of_sums: 0.74 .. 2.51, sharp
    """
    cells = read_pairs(x, y, counts)
    return Enclosure(name, PAIR_STATISTICS.get(name).range(cells), cells)


def covar_pop(x: Column, y: Column, counts: Counts = None) -> Enclosure:
    """Covariance divided by n.

    >>> 0.25 in covar_pop(([0, 1], [0.1, 1.1]), ([0, 1], [0.1, 1.1]))
    True
    """
    return pair_bounds("covar_pop", x, y, counts)


def covar_samp(x: Column, y: Column, counts: Counts = None) -> Enclosure:
    """Covariance divided by n - 1; undefined below two records.

    >>> 0.5 in covar_samp(([0, 1], [0.1, 1.1]), ([0, 1], [0.1, 1.1]))
    True
    """
    return pair_bounds("covar_samp", x, y, counts)


def corr(x: Column, y: Column, counts: Counts = None) -> Enclosure:
    """Pearson's correlation; undefined where a column can be constant.

    >>> 0.98 in corr(([0, 1, 2], [0.1, 1.1, 2.1]), ([0, 1, 2], [0.2, 1.2, 2.2]))
    True
    """
    return pair_bounds("corr", x, y, counts)


def spearman(x: Column, y: Column, counts: Counts = None) -> Enclosure:
    """Spearman's correlation: that of midranks; undefined where a column can be constant.

    >>> 0.9 in spearman(([0, 2, 4], [1, 3, 5]), ([0, 2, 4], [3, 3, 9]))
    True
    """
    return pair_bounds("spearman", x, y, counts)


def kendall(x: Column, y: Column, counts: Counts = None) -> Enclosure:
    """Kendall's tau-b, by the order of each pair of records; undefined where a column can be constant.

    >>> 0.8 in kendall(([0, 2, 4], [1, 3, 5]), ([0, 2, 4], [3, 3, 9]))
    True
    """
    return pair_bounds("kendall", x, y, counts)


def regr_slope(x: Column, y: Column, counts: Counts = None) -> Enclosure:
    """Slope of the line of y on x by least squares; SQL writes `regr_slope(y, x)`.

    >>> 1.0 in regr_slope(([0, 1, 2], [0.1, 1.1, 2.1]), ([0, 1, 2], [0.2, 1.2, 2.2]))
    True
    """
    return pair_bounds("regr_slope", x, y, counts)


def regr_intercept(x: Column, y: Column, counts: Counts = None) -> Enclosure:
    """Intercept of the line of y on x by least squares; SQL writes `regr_intercept(y, x)`.

    >>> 0.0 in regr_intercept(([0, 1, 2], [0.1, 1.1, 2.1]), ([0, 1, 2], [0.2, 1.2, 2.2]))
    True
    """
    return pair_bounds("regr_intercept", x, y, counts)


def regr_r2(x: Column, y: Column, counts: Counts = None) -> Enclosure:
    """Share of the variance of y that the line on x explains; SQL writes `regr_r2(y, x)`.

    >>> 0.98 in regr_r2(([0, 1, 2], [0.1, 1.1, 2.1]), ([0, 1, 2], [0.2, 1.2, 2.2]))
    True
    """
    return pair_bounds("regr_r2", x, y, counts)


def ratio_of_sums(x: Column, y: Column, counts: Counts = None) -> Enclosure:
    """sum(x) / sum(y) over the same records; without bounds where y can be 0.

    >>> ratio_of_sums(([1, 2], [2, 4]), ([1, 1], [1, 1]))
    ratio_of_sums: 1.49 .. 3.01, sharp
    """
    return pair_bounds("ratio_of_sums", x, y, counts)


def weighted_mean(x: Column, y: Column, counts: Counts = None) -> Enclosure:
    """sum(y x) / sum(y), the mean of x with weights y; without bounds where y can be 0.

    >>> weighted_mean(([1, 2], [1, 2]), ([1, 1], [1, 3]))
    weighted_mean: 1.499 .. 1.751, sharp
    """
    return pair_bounds("weighted_mean", x, y, counts)
