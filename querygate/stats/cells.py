"""Cells prepared for an algorithm: checked, and without those that cannot be selected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from querygate.core.types import Cells, Floats, Ints, Range


def selectable(cells: Cells) -> Cells:
    """The cells with most >= 1, ends checked; whole-number ends as int64 where the column is one of integers.

    Requires: least <= most, least >= 0, low <= high, no NaN; a ValueError says which does not hold.
    """
    least, most = np.asarray(cells.least, dtype=np.int64), np.asarray(cells.most, dtype=np.int64)
    low, high = _ends(cells.low, np.ceil, cells.integer), _ends(cells.high, np.floor, cells.integer)
    kept = np.flatnonzero(most > 0)
    if len(kept) < len(most):
        low, high, least, most = low[kept], high[kept], least[kept], most[kept]
    if np.any(least > most) or np.any(least < 0):
        raise ValueError("cells need 0 <= least <= most")
    if not np.all(low <= high):
        raise ValueError("cells need low <= high")
    return Cells(low, high, least, most, cells.integer)


def _ends(ends: Floats | Ints, inward: np.ufunc, integer: bool) -> Floats | Ints:
    """Ends as doubles, or as int64 on an integer column, where a fractional end is moved to the whole number inside the
    interval."""
    if not integer:
        return np.asarray(ends, dtype=np.float64)
    if np.issubdtype(ends.dtype, np.integer):
        return np.asarray(ends, dtype=np.int64)
    if not np.all(np.abs(ends) < 2.0**63):
        raise ValueError("integer columns need ends that fit into 64 bits")
    whole: Ints = inward(ends).astype(np.int64)
    return whole


def merged(cells: Cells) -> Cells:
    """Merges cells with the same interval: they allow the same data sets, and fewer cells are bounded faster.

    >>> merged(Cells(np.array([1, 5, 1]), np.array([2, 9, 2]), np.array([1, 0, 2]), np.array([1, 3, 4]), True)).most
    array([5, 3])
    """
    order = np.lexsort((cells.high, cells.low))
    low, high = cells.low[order], cells.high[order]
    new = np.ones(low.size, dtype=np.bool_)
    new[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    starts = np.flatnonzero(new)
    if starts.size == low.size:
        return cells
    least, most = (np.add.reduceat(counts[order], starts) for counts in (cells.least, cells.most))
    return Cells(low[starts], high[starts], least, most, cells.integer)


def leaning_up(
    values: Floats | Ints, least: Ints, most: Ints, place: Ints, totals: tuple[Ints, Ints]
) -> tuple[Ints, Ints]:
    """Least and most of each row, such that in each place the largest values are taken first, as many as `totals`
    allow.

    Any other choice takes as many smaller values, so a statistic that grows with the values is no larger.

    >>> nobody, place = np.array([0, 0]), np.array([0, 0])
    >>> least, most = leaning_up(np.array([3, 9]), nobody, np.array([4, 4]), place, (np.array([5]), np.array([6])))
    >>> least.tolist(), most.tolist()
    ([1, 4], [2, 4])
    """
    order = np.lexsort((-values, place))
    at, spare = place[order], (most - least)[order]
    taken = np.bincount(place, least, totals[0].size).astype(np.int64)
    before = np.cumsum(spare) - spare
    before = before - before[at.searchsorted(at)]
    found = []
    for total in totals:
        more = np.minimum(np.maximum((total - taken)[at] - before, 0), spare)
        counts = least.copy()
        counts[order] += more
        found.append(counts)
    return found[0], found[1]


def meet(found: Range, other: Range | None) -> Range:
    """The intersection of two ranges of one statistic. Ends that moved are not known to be attained.

    >>> meet(Range(1, 9, 1, 9), Range(0, 5)).high
    5
    """
    if other is None or found.low is None or found.high is None or other.low is None or other.high is None:
        return found
    low, high = max(found.low, other.low), min(found.high, other.high)
    if low > high:  # both hold, so the value lies where they nearly meet: they differ only by rounding
        return found
    null = found.may_be_null and other.may_be_null
    if (low, high) == (found.low, found.high):
        return found if null == found.may_be_null else replace(found, may_be_null=null)
    return replace(
        found, low=low, high=high, attained_low=None, attained_high=None, sharp=low == high, may_be_null=null
    )


def mirrored(cells: Cells) -> Cells:
    """The cells of -x, so that a lower end is the upper end of the mirror image."""
    return Cells(-cells.high, -cells.low, cells.least, cells.most, cells.integer)
