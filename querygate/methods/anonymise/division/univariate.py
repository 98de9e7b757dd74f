"""The optimal partition of one number: runs of at least k records, least total of size times width.

No partition of the values gives a narrower range of the mean, since that range is the total divided by the records.
Equal values are never parted.

A run that falls into two runs, both of them allowed, is never better than the two: together they have the same records
and none is wider. So a run that ends at j begins behind r(r(j)), with r(j) the last place where a run to j may begin:
without equal values these are the runs of k to 2k - 1 records. Size times width is a product of two figures that grow
with the run and are additive at its ends, so it satisfies the quadrangle inequality, and the best place to begin never
moves back as j moves on (Yao, STOC 1980). Both facts hold with a least width as well, because r never falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.anonymise.clusters.merge import merge_until_kept
from querygate.methods.anonymise.division.mondrian import Progress, canonical, check_feasible
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import NULL, Attribute, Infeasible, Table

SHORT = 24
"""Up to so many places to begin on average, plain numbers are faster than arrays."""

LEAF = 32
"""Rows of a block whose places to begin are all compared; more are halved first."""


class Unsuitable(ValueError):
    """The method cannot divide such a table at all, whatever its values."""


def univariate(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each combination of a table with one number as its only quasi-identifier, at least cost.

    Public cuts come first: the pieces between them that hold k records are divided each by itself. Missing values are a
    class of their own where there are k of them and that is best, else they join the run that it costs least. Guards
    come last: neighbours are joined until every one holds, so with guards the result is good, not optimal.

    Raises Unsuitable for other tables and Infeasible if the table as a whole does not keep a promise.
    """
    if k < 1:
        raise ValueError("k is at least 1")
    if len(table.attributes) != 1 or not table.attributes[0].ordered:
        raise Unsuitable("the univariate method divides one quasi-identifier that is a number or a date")
    check_feasible(table, k, guards)
    attribute = table.attributes[0]
    class_of_code = _classes(attribute, np.bincount(attribute.codes + 1, table.counts, attribute.size + 1), k)
    labels = merge_until_kept(table, class_of_code[attribute.codes + 1], k, guards)
    if progress:
        progress(1.0)
    return canonical(table, labels)


def optimal_runs(values: Floats, counts: Ints, k: int, least_width: float = 0.0, upper: Floats | None = None) -> Ints:
    """Where each run begins, for values in strictly rising order that occur `counts` times.

    Every run holds at least k records and is at least `least_width` wide. With `upper` a value stands for an interval
    from `values[i]` to `upper[i]`. Raises Infeasible if even one run of everything is too small or too narrow.

    >>> optimal_runs(np.array([1.0, 2, 3, 50, 51, 90]), np.ones(6, dtype=int), 2)
    array([0, 3])
    >>> optimal_runs(np.array([1.0, 2, 3, 50, 51, 90]), np.array([1, 1, 1, 2, 1, 2]), 2)
    array([0, 3, 5])
    """
    costs = _costs(values, values if upper is None else upper, counts, k, least_width)
    if not np.isfinite(costs.total[-1]):
        raise Infeasible(f"{k}-anonymity" if int(counts.sum()) < k else f"a width of {least_width:g}")
    return costs.starts(values.size)


@dataclass(frozen=True)
class _Costs:
    """Least cost of the first j values, and where the last run to j begins (-1: no run may end there)."""

    total: Floats
    begin: Ints

    def starts(self, end: int) -> Ints:
        """The runs of the first `end` values."""
        starts = []
        begin = self.begin.tolist()
        while end > 0:
            end = begin[end]
            starts.append(end)
        return np.array(starts[::-1], dtype=np.int64)


def _costs(lower: Floats, upper: Floats, counts: Ints, k: int, least_width: float) -> _Costs:
    size = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    last = _last_begin(lower, upper, size, k, least_width)
    first = np.where(last >= 0, last[last] + 1, 0)  # behind it, what lies before the last run is a run itself
    if int((last - first)[last >= 0].sum()) <= SHORT * lower.size:
        return _by_value(lower, upper, size, first, last)
    return _by_block(lower, upper, size.astype(np.float64), first, last)


def _last_begin(lower: Floats, upper: Floats, size: Ints, k: int, least_width: float) -> Ints:
    """For each end j the last place where an allowed run may begin, -1 if there is none."""
    by_size = np.searchsorted(size, size - max(k, 1), side="right") - 1
    by_width = np.append(-1, np.searchsorted(lower, upper - least_width, side="right") - 1)
    last: Ints = np.minimum(np.minimum(by_size, by_width), np.arange(size.size) - 1)
    while True:  # the difference of two floats may fall below the least width by rounding
        known = np.flatnonzero(last >= 0)
        narrow = known[upper[known - 1] - lower[last[known]] < least_width]
        if not narrow.size:
            return last
        last[narrow] -= 1


def _by_value(lower: Floats, upper: Floats, size: Ints, first: Ints, last: Ints) -> _Costs:
    """One end after the other."""
    total, begin = [0.0], [-1]
    low, sizes = lower.tolist(), size.tolist()
    for high, records, a, b in zip(upper.tolist(), sizes[1:], first[1:].tolist(), last[1:].tolist(), strict=True):
        best, at = np.inf, -1
        for i in range(a, b + 1):
            cost = total[i] + (records - sizes[i]) * (high - low[i])
            if cost < best:
                best, at = cost, i
        total.append(best)
        begin.append(at)
    return _Costs(np.array(total), np.array(begin, dtype=np.int64))


def _by_block(lower: Floats, upper: Floats, size: Floats, first: Ints, last: Ints) -> _Costs:
    """All ends together whose runs begin where the cost is known already: about k at a time."""
    total, begin = np.full(size.size, np.inf), np.full(size.size, -1)
    total[0] = 0.0

    def fill(rows: slice, a: int, b: int) -> None:
        """The best beginning of each end in `rows`, looked for from a to b."""
        if rows.stop - rows.start > LEAF:
            middle = (rows.start + rows.stop) // 2
            fill(slice(middle, middle + 1), a, b)
            at = int(begin[middle])
            fill(slice(rows.start, middle), a, b if at < 0 else at)
            fill(slice(middle + 1, rows.stop), max(a, at), b)
            return
        b = min(b, int(last[rows.stop - 1]))
        if b < a:
            return
        ends, begins = np.arange(rows.start, rows.stop)[:, None], np.arange(a, b + 1)
        cost = total[begins] + (size[ends] - size[begins]) * (upper[ends - 1] - lower[begins])
        cost[begins > last[ends]] = np.inf
        at = cost.argmin(axis=1)
        total[rows] = cost[np.arange(at.size), at]
        begin[rows] = np.where(np.isfinite(total[rows]), at + a, -1)

    start = 1
    while start < size.size:
        stop = int(np.searchsorted(last, start))  # r never falls, and is below j: at least one end fits
        fill(slice(start, stop), int(first[start]), int(last[stop - 1]))
        start = stop
    return _Costs(total, begin)


# -- codes of an attribute ---------------------------------------------------------------------------------------------


def _classes(attribute: Attribute, counts: Ints, k: int) -> Ints:
    """The class of each code, the missing value first; -1 for a code that does not occur."""
    occurs = np.flatnonzero(counts[1:])
    lower, upper = (edges[occurs] for edges in attribute.edges)
    classes = np.full(attribute.size + 1, -1)
    line = _Line(lower, upper, counts[1:][occurs].astype(np.int64), attribute.span or 1.0)
    missing = int(counts[0])
    starts, with_missing = line.divided(_pieces(attribute, occurs, line, k), missing, k)
    run = np.zeros(occurs.size, dtype=np.int64)
    run[starts[1:]] = 1
    classes[occurs + 1] = np.cumsum(run)
    if missing:
        classes[NULL + 1] = starts.size if with_missing < 0 else with_missing
    return classes


def _pieces(attribute: Attribute, occurs: Ints, line: _Line, k: int) -> Ints:
    """Bounds of the pieces between public cuts, those of fewer than k records joined to their neighbours."""
    if not attribute.cuts or not occurs.size:
        return np.array([0, occurs.size])
    bounds = np.unique(np.concatenate(([0], np.searchsorted(occurs, attribute.cuts))))
    bounds = bounds[bounds < occurs.size]
    counts = np.add.reduceat(line.counts, bounds)
    if int(counts.sum()) < k:
        return np.array([0, occurs.size])
    ends = np.append(bounds[1:], occurs.size) - 1
    starts = optimal_runs(line.lower[bounds], counts, k, upper=line.upper[ends])
    return np.append(bounds[starts], occurs.size)


@dataclass(frozen=True)
class _Line:
    """The values that occur, in order. `span` is the width that missing values give to the run they join."""

    lower: Floats
    upper: Floats
    counts: Ints
    span: float

    def divided(self, bounds: Ints, missing: int, k: int) -> tuple[Ints, int]:
        """Beginnings of the runs of every piece, and the run that missing values join (-1: none)."""
        pieces = [self._piece(a, b, missing, k) for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]
        alone = np.sum([p.alone for p in pieces])
        extra = [p.beside - p.alone if np.isfinite(p.alone) else -np.inf for p in pieces]
        chosen = -1
        if missing and not (missing >= k and np.isfinite(alone)):
            chosen = int(np.argmin(extra))
        starts = [p.starts if i != chosen else p.starts_beside for i, p in enumerate(pieces)]
        joined = -1
        if chosen >= 0:
            joined = int(np.searchsorted(np.concatenate(starts), pieces[chosen].joined))
        return np.concatenate(starts), joined

    def _piece(self, a: int, b: int, missing: int, k: int) -> _Piece:
        lower, upper, counts = self.lower[a:b], self.upper[a:b], self.counts[a:b]
        ahead = _costs(lower, upper, counts, k, 0.0)
        starts = ahead.starts(b - a) + a if np.isfinite(ahead.total[-1]) else np.zeros(0, dtype=np.int64)
        if not missing:
            return _Piece(float(ahead.total[-1]), starts, np.inf, starts, -1)
        behind = _costs(-upper[::-1], -lower[::-1], counts[::-1], k, 0.0)
        cost, begin, end = self._beside(ahead.total, behind.total[::-1], counts, missing, k)
        after = b - behind.starts(b - a - end)[::-1]  # a run of the mirror image begins where one ends
        ends = np.concatenate(([end + a], after[after < b])) if end < b - a else after[:0]
        starts_beside = np.concatenate((ahead.starts(begin) + a, [begin + a], ends)).astype(np.int64)
        return _Piece(float(ahead.total[-1]), starts, cost, starts_beside, begin + a)

    def _beside(self, ahead: Floats, behind: Floats, counts: Ints, missing: int, k: int) -> tuple[float, int, int]:
        """Least cost, begin and end of the run that missing values join.

        Their run costs (records + missing) times the span, so for each end the best begin is a running minimum.
        """
        size = np.concatenate(([0], np.cumsum(counts)))
        saved = ahead - size * self.span
        place = np.arange(size.size)
        best = np.minimum.accumulate(saved)
        at = np.maximum.accumulate(np.where(saved == best, place, 0))
        last = np.minimum(np.searchsorted(size, size + missing - k, side="right") - 1, place - 1)
        cost = np.where(last >= 0, best[last] + (size + missing) * self.span + behind, np.inf)
        end = int(cost.argmin())
        return float(cost[end]), int(at[last[end]]), end


@dataclass(frozen=True)
class _Piece:
    """A piece between public cuts: runs and cost without missing values, and with them in the run `joined`."""

    alone: float
    starts: Ints
    beside: float
    starts_beside: Ints
    joined: int
