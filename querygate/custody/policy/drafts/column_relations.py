"""How much one column tells about another, over the sampled records that have both."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Bools, Floats, Ints

MOST_PARTS = 100
"""A column of more values is taken in so many parts of about equal size."""

RECORDS_A_PART = 5
"""With fewer records for each value of a column, it seems to tell whatever it is laid beside."""

FEWEST = 20


def follows(known: Floats, other: Floats) -> float:
    """By how much knowing a column lowers the mistakes in guessing the other: 0 for not at all, 1 for all of them.

    Goodman and Kruskal's lambda. 0 where there are too few records to say.

    >>> a = np.arange(400.0) % 4
    >>> follows(a, a // 2), follows(a // 2, a) < 0.5
    (1.0, True)
    """
    both = ~np.isnan(known) & ~np.isnan(other)
    if both.sum() < FEWEST:
        return 0.0
    return _lambda(_parts(known[both]), np.unique(other[both], return_inverse=True)[1])


def rank_correlation(one: Floats, two: Floats) -> float:
    """Spearman's; 0 where there are too few records, or one of the two is constant."""
    both = ~np.isnan(one) & ~np.isnan(two)
    if both.sum() < FEWEST:
        return 0.0
    x, y = (_mean_ranks(column[both]) for column in (one, two))
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum()) / size if size else 0.0


def untold(column: Floats, cells: Ints) -> Bools:
    """Records in whose cell everybody has the same value, or none has any."""
    size = int(cells.max(initial=0)) + 1
    value = np.unique(np.nan_to_num(column, nan=np.inf), return_inverse=True)[1]
    least, most = np.full(size, value.size), np.full(size, -1)
    np.minimum.at(least, cells, value)
    np.maximum.at(most, cells, value)
    found: Bools = (least == most)[cells]
    return found


def _lambda(part: Ints, value: Ints) -> float:
    if part.size < RECORDS_A_PART * (part.max(initial=0) + 1):
        return 0.0
    values = int(value.max(initial=0)) + 1
    if values > MOST_PARTS:
        return 0.0
    table = np.bincount(part * values + value, minlength=(int(part.max()) + 1) * values).reshape(-1, values)
    usual = int(table.sum(axis=0).max())
    return float(table.max(axis=1).sum() - usual) / (part.size - usual) if usual < part.size else 0.0


def _parts(numbers: Floats) -> Ints:
    """The values, or parts of about equal size in their order."""
    values, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    found: Ints = place
    if values.size > MOST_PARTS:
        most = min(MOST_PARTS, numbers.size // RECORDS_A_PART)
        before = np.cumsum(counts) - counts
        found = np.unique((before * most // numbers.size)[place], return_inverse=True)[1]
    return found


def _mean_ranks(numbers: Floats) -> Floats:
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    mean: Floats = (np.cumsum(counts) - counts / 2)[place]
    return mean
