"""Two groups compared, and tables of exposure and outcome.

Groups are given by how many records of each interval are in the first and in the second: numbers, pairs (least, most),
or columns of True and False. No record is in both. Where a record may be in either, `sizes` says how many there are of
each interval; if left out, each interval has as many as the two groups need.

>>> from querygate import stats
>>> stats.mean_difference([40, 50, 30, 35], [44, 54, 39, 40], first=[1, 1, 0, 0], second=[0, 0, 1, 1])
mean_difference: 5.5 .. 16.5, sharp

Tables count classes of `sizes` members (one each if left out), of whom so many are `exposed` and so many have the
`outcome`. Which of the exposed have the outcome need not be known. `counts` says how many of the members are selected,
all of them if left out.

>>> stats.risk_difference(exposed=[8, 2], outcome=[7, (1, 2)], sizes=[10, 10])
risk_difference: 0.099 .. 0.901, sharp
"""

from __future__ import annotations

from querygate.stats.comparison import GROUP_STATISTICS
from querygate.stats.enclosure import Enclosure
from querygate.stats.exposure_tables import TABLE_STATISTICS
from querygate.stats.inputs import Column, Counts, read_groups, read_table

# -- two groups --------------------------------------------------------------------------------------------


def group_bounds(
    name: str,
    lo: Column,
    hi: Column = None,
    *,
    first: Counts,
    second: Counts,
    sizes: Counts = None,
    integer: bool = False,
) -> Enclosure:
    """The comparison of two groups registered under `name`.

    >>> group_bounds("mean_difference", [40, 50], [44, 54], first=[0, 2], second=[3, 0])
    mean_difference: 6 .. 14, sharp
    """
    cells = read_groups(lo, hi, first, second, sizes, integer=integer)
    return Enclosure(name, GROUP_STATISTICS.get(name).range(cells), cells)


def mean_difference(
    lo: Column, hi: Column = None, *, first: Counts, second: Counts, sizes: Counts = None, integer: bool = False
) -> Enclosure:
    """Mean of the first group minus mean of the second.

    >>> mean_difference([40, 50], [44, 54], first=[(0, 2), 2], second=[(0, 2), 1], sizes=[2, 3])
    mean_difference: -9 .. 10.7, sharp
    """
    return group_bounds("mean_difference", lo, hi, first=first, second=second, sizes=sizes, integer=integer)


def mann_whitney(
    lo: Column, hi: Column = None, *, first: Counts, second: Counts, sizes: Counts = None, integer: bool = False
) -> Enclosure:
    """Mann-Whitney's U of the first group: the pairs in which it is larger, ties counted as half.

    >>> mann_whitney([40, 50], [52, 54], first=[0, 2], second=[3, 0])
    mann_whitney: 0 .. 6, sharp
    """
    return group_bounds("mann_whitney", lo, hi, first=first, second=second, sizes=sizes, integer=integer)


def superiority(
    lo: Column, hi: Column = None, *, first: Counts, second: Counts, sizes: Counts = None, integer: bool = False
) -> Enclosure:
    """Probability that a record of the first group is larger than one of the second, ties by half: U / (n1 n2).

    >>> 0.8 in superiority([40, 50, 60], [49, 59, 69], first=[0, 1, 1], second=[1, 1, 0])
    True
    """
    return group_bounds("superiority", lo, hi, first=first, second=second, sizes=sizes, integer=integer)


def welch_t(
    lo: Column, hi: Column = None, *, first: Counts, second: Counts, sizes: Counts = None, integer: bool = False
) -> Enclosure:
    """Welch's t of the two groups.

    >>> 19.0 in welch_t([1, 2, 7, 8], [1.1, 2.1, 7.1, 8.1], first=[0, 0, 3, 3], second=[3, 3, 0, 0])
    True
    """
    return group_bounds("welch_t", lo, hi, first=first, second=second, sizes=sizes, integer=integer)


def welch_p(
    lo: Column, hi: Column = None, *, first: Counts, second: Counts, sizes: Counts = None, integer: bool = False
) -> Enclosure:
    """Two-sided p-value of Welch's t.

    >>> welch_p([1, 2, 7, 8], [1.1, 2.1, 7.1, 8.1], first=[0, 0, 3, 3], second=[3, 3, 0, 0]).high < 0.001
    True
    """
    return group_bounds("welch_p", lo, hi, first=first, second=second, sizes=sizes, integer=integer)


# -- exposure and outcome ----------------------------------------------------------------------------------


def table_bounds(name: str, exposed: Counts, outcome: Counts, sizes: Counts = None, counts: Counts = None) -> Enclosure:
    """The statistic of a two-by-two table registered under `name`.

    >>> table_bounds("proportion", exposed=[True, True, False], outcome=[True, False, True])
    proportion: 0.5 exactly
    """
    cells = read_table(exposed, outcome, sizes, counts)
    return Enclosure(name, TABLE_STATISTICS.get(name).range(cells), cells)


def proportion(exposed: Counts, outcome: Counts, sizes: Counts = None, counts: Counts = None) -> Enclosure:
    """Share with the outcome among the exposed.

    >>> proportion(exposed=[8, 5], outcome=[6, (1, 2)], sizes=[10, 10])
    proportion: 0.307 .. 0.616, sharp
    """
    return table_bounds("proportion", exposed, outcome, sizes, counts)


def risk_difference(exposed: Counts, outcome: Counts, sizes: Counts = None, counts: Counts = None) -> Enclosure:
    """Share with the outcome among the exposed minus that among the unexposed.

    >>> risk_difference(exposed=[10, 0], outcome=[6, (1, 2)], sizes=[10, 10])
    risk_difference: 0.399 .. 0.501, sharp
    """
    return table_bounds("risk_difference", exposed, outcome, sizes, counts)


def risk_ratio(exposed: Counts, outcome: Counts, sizes: Counts = None, counts: Counts = None) -> Enclosure:
    """Share with the outcome among the exposed divided by that among the unexposed.

    >>> risk_ratio(exposed=[10, 0], outcome=[6, (1, 2)], sizes=[10, 10])
    risk_ratio: 2.99 .. 6.01, sharp
    """
    return table_bounds("risk_ratio", exposed, outcome, sizes, counts)


def odds_ratio(exposed: Counts, outcome: Counts, sizes: Counts = None, counts: Counts = None) -> Enclosure:
    """Odds of the outcome among the exposed divided by those among the unexposed.

    >>> odds_ratio(exposed=[10, 0], outcome=[6, (1, 2)], sizes=[10, 10])
    odds_ratio: 5.99 .. 13.51, sharp
    """
    return table_bounds("odds_ratio", exposed, outcome, sizes, counts)


def chi_square(exposed: Counts, outcome: Counts, sizes: Counts = None, counts: Counts = None) -> Enclosure:
    """Pearson's chi-square of exposure and outcome, without correction.

    >>> chi_square(exposed=[10, 0], outcome=[6, (1, 2)], sizes=[10, 10])
    chi_square: 3.33 .. 5.5, sharp
    """
    return table_bounds("chi_square", exposed, outcome, sizes, counts)
