"""Frequent and distinct values, shape, confidence limits, with the same arguments."""

from __future__ import annotations

from querygate.stats.api.one_column import bounds
from querygate.stats.enclosure import Enclosure
from querygate.stats.inputs import Column, Counts


def count_distinct(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Number of different values, COUNT(DISTINCT x) in SQL.

    >>> count_distinct([40, 50], [44, 59], [5, (0, 3)], integer=True)
    count_distinct: 1 .. 8, sharp
    """
    return bounds("count_distinct", lo, hi, counts, integer=integer)


def entropy(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Entropy of the frequencies of the values, in bits.

    >>> entropy([1, 2, 4], [2, 2, 5], integer=True)
    entropy: 0.918 .. 1.585, sharp
    """
    return bounds("entropy", lo, hi, counts, integer=integer)


def mode(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Most frequent value; of several equally frequent ones each is possible.

    >>> mode([1, 3, 3, 7], [5, 3, 4, 9], [2, 3, 1, (0, 2)], integer=True)
    mode: 3 .. 4, sharp
    """
    return bounds("mode", lo, hi, counts, integer=integer)


def mad(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Median absolute deviation, the median of the distances from the median.

    >>> mad([40, 50, 60], [49, 59, 69], [5, 3, 4], integer=True)
    mad: 1 .. 14.5, sharp
    """
    return bounds("mad", lo, hi, counts, integer=integer)


def skewness(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Skewness of a sample.

    >>> skewness([1, 2, 3, 9], [1, 2, 4, 10], integer=True)
    skewness: 1.33 .. 1.764, sharp
    """
    return bounds("skewness", lo, hi, counts, integer=integer)


def kurtosis(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Excess kurtosis of a sample.

    >>> kurtosis([1, 2, 3, 9], [1, 2, 4, 10], integer=True)
    kurtosis: 1.49 .. 3.23, sharp
    """
    return bounds("kurtosis", lo, hi, counts, integer=integer)


def kurtosis_pop(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Enclosure:
    """Excess kurtosis, without correction for the size of the sample.

    >>> kurtosis_pop([1, 2, 3, 9], [1, 2, 4, 10], integer=True)
    kurtosis_pop: -1.001 .. -0.769, sharp
    """
    return bounds("kurtosis_pop", lo, hi, counts, integer=integer)


def mean_ci_low(
    lo: Column, hi: Column = None, counts: Counts = None, *, level: float, integer: bool = False
) -> Enclosure:
    """Lower confidence limit of the mean, by Student's t.

    >>> mean_ci_low([40, 50, 60], [49, 59, 69], level=0.95)
    mean_ci_low: 16.4 .. 41.3, sharp
    """
    return bounds("mean_ci_low", lo, hi, counts, integer=integer, level=level)


def mean_ci_high(
    lo: Column, hi: Column = None, counts: Counts = None, *, level: float, integer: bool = False
) -> Enclosure:
    """Upper confidence limit of the mean, by Student's t.

    >>> mean_ci_high([40, 50, 60], [49, 59, 69], level=0.95)
    mean_ci_high: 67.7 .. 92.6, sharp
    """
    return bounds("mean_ci_high", lo, hi, counts, integer=integer, level=level)
