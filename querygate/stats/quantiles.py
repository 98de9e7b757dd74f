"""Quantiles: `quantile_disc`, `quantile_cont`, `median`. Proof: docs/explanation/proofs/quantiles.md.

Discrete: one threshold, found in a histogram and then in one bin. Interpolated: adding a record above the quantile can
lower it ({0, 10} at p = 0.1 gives 1; with a 1 added 0.2), so the number of selected records S has to be scanned. For a
fixed S the largest extras dominate every order statistic at once, and only a window of ranks is ever needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from querygate.core.types import Bools, Cells, Floats, Ints, Range
from querygate.stats.numerics import ADDABLE, GRID, UNIT, are_within, down, exact_sum
from querygate.stats.registry import statistic

_PROOF = "quantiles.md"
_BINS, _BINNED = 8192, 20_000  # a histogram is worth it from this many cells
_SCAN = 2**21  # numbers of records considered one by one; more than this are taken in blocks


# -- discrete --------------------------------------------------------------------------------------------


@statistic("quantile_disc", proof=_PROOF, result="value", summary="quantile, one of the values", parameters=("p",))
def quantile_disc(cells: Cells, p: float | Fraction) -> Range:
    """Range of the value at rank max(1, ceil(p S)), the way `quantile_disc` counts.

    Requires: 0 <= p <= 1. A float is read as the decimal it prints as, which is how SQL reads the literal.
    Ensures:  sharp, and no rounding at all.
    """
    share = _share(p)
    low = -_threshold(-cells.low, cells, lambda above, all_: above <= all_ - 1 - _rank(all_, share))
    high = _threshold(cells.high, cells, lambda below, all_: below <= _rank(all_, share))
    return Range(low, high, low, high)


def _share(p: float | Fraction) -> Fraction:
    share = Fraction(str(p))
    if not 0 <= share <= 1:
        raise ValueError("a quantile needs 0 <= p <= 1")
    return share


def _rank(records: int, share: Fraction) -> int:
    """Number of records sorted before the quantile."""
    return max(1, math.ceil(records * share)) - 1


def _threshold(ends: Floats | Ints, cells: Cells, reachable: Callable[[int, int], bool]) -> int | float:
    """The largest end t such that `reachable(below, S)`, with `least` of what lies below t and `most` of the rest.

    Lowering t takes records from below and adds records in all, so `reachable` changes once, and bisection finds where.
    """
    bins = _binned(ends)
    below = np.concatenate([[0], np.cumsum(np.bincount(bins, cells.least))]).astype(np.int64)
    above = np.append(np.cumsum(np.bincount(bins, cells.most)[::-1])[::-1], 0).astype(np.int64)
    bin_ = _last(above.size - 1, lambda j: reachable(int(below[j]), int(below[j] + above[j])))
    here = bins == bin_
    order = np.argsort(ends[here])
    sorted_ends = ends[here][order]
    passed = np.concatenate([[0], np.cumsum(cells.least[here][order])]) + below[bin_]
    left = np.cumsum(cells.most[here][order][::-1])[::-1] + above[bin_ + 1]

    def fits(i: int) -> bool:
        first = int(np.searchsorted(sorted_ends, sorted_ends[i]))  # equal ends go together
        return reachable(int(passed[first]), int(passed[first] + left[first]))

    found: int | float = sorted_ends[_last(sorted_ends.size, fits)].item()
    return found


def _last(size: int, holds: Callable[[int], bool]) -> int:
    """The last index at which a condition holds that holds at 0 and stops holding once."""
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _binned(values: Floats | Ints) -> Ints:
    """A bin per value, in the order of the values. Few, equal or infinite ends all share one bin."""
    if values.size < _BINNED:
        return np.zeros(values.size, dtype=np.int64)
    doubles = values.astype(np.float64)
    bottom, width = float(doubles.min()), float(doubles.max()) - float(doubles.min())
    if not 0.0 < width < math.inf or not math.isfinite(_BINS / width):
        return np.zeros(values.size, dtype=np.int64)
    return np.minimum((doubles - bottom) * (_BINS / width), _BINS - 1).astype(np.int64)


# -- interpolated ----------------------------------------------------------------------------------------


class _Neighbours(NamedTuple):
    """The two order statistics that the quantile lies between, and how far along, for several numbers of records."""

    lower: Floats
    upper: Floats
    along: Floats

    def values(self) -> Floats:
        return np.where(self.lower == self.upper, self.lower, self.lower + (self.upper - self.lower) * self.along)

    def margins(self) -> Floats:
        """How far interpolation may be off, here and in the database together: 0 where it is exact.

        On multiples of 1/1024 below 2^38 and with eighths every product and sum is a double.
        """
        size = np.maximum(np.abs(self.lower), np.abs(self.upper))
        eighths = self.along * 8.0 == np.floor(self.along * 8.0)
        on_grid = eighths & (size < 2.0**38) & _on_grid(self.lower) & _on_grid(self.upper)
        return np.where(on_grid | (self.along == 0.0), 0.0, 12.0 * UNIT * size + 1e-320)


def _on_grid(values: Floats) -> Bools:
    return np.equal(values * GRID, np.floor(values * GRID))


def on_edges(cells: Cells) -> Cells:
    """Moves ends that are barely inside a multiple of 1/1024 to that multiple, which interpolation does not round: the
    interval of a bin below 10 ends at the double before 10. This loses less than the margin that it saves."""
    return replace(cells, low=_snapped(cells.low, np.floor), high=_snapped(cells.high, np.ceil))


def _snapped(ends: Floats | Ints, outward: Callable[[Floats], Floats]) -> Floats | Ints:
    if np.issubdtype(ends.dtype, np.integer):
        return ends
    with np.errstate(over="ignore", invalid="ignore"):
        on_grid = outward(ends.astype(np.float64) * GRID) / GRID
        return np.where(np.abs(on_grid - ends) <= 4.0 * UNIT * np.abs(ends), on_grid, ends)


@statistic("quantile_cont", proof=_PROOF, result="number", summary="interpolated quantile (type 7)", parameters=("p",))
def quantile_cont(cells: Cells, p: float | Fraction) -> Range:
    """Range of the quantile interpolated at position p (S - 1), as `quantile_cont` does.

    Requires: 0 <= p <= 1; ends below 10^300 in magnitude, or the neighbours of the quantile are all that is bounded.
    Ensures:  sharp up to the rounding of one interpolation; sound but not sharp where more than 2^21 numbers of
              records are possible.
    """
    share = float(_share(p))
    first, last = max(exact_sum(cells.least), 1), exact_sum(cells.most)
    step = -(-(last - first + 1) // _SCAN)
    counts = np.arange(first, last + 1, step, dtype=np.int64)
    ends = np.minimum(counts + step - 1, last)
    if not are_within(ADDABLE, cells.low, cells.high):  # no interpolation without overflow: take the neighbours
        low, high = _block_bottoms(cells, counts, ends, share), _block_tops(cells, counts, ends, share)
        return Range(float(low.lower.min()), float(high.upper.max()), None, None, sharp=False)
    high, low = _tops(cells, counts, share), _bottoms(cells, counts, share)
    attained_low, attained_high = float(low.values().min()), float(high.values().max())
    if step > 1:
        low, high = _block_bottoms(cells, counts, ends, share), _block_tops(cells, counts, ends, share)
    floor, ceiling = _smallest(low.values(), low.margins()), -_smallest(-high.values(), high.margins())
    sharp = step == 1 or (floor == attained_low and ceiling == attained_high)
    return Range(floor, ceiling, attained_low, attained_high, sharp=sharp)


def _smallest(values: Floats, margins: Floats) -> float:
    """The smallest value less its margin, rounded down where there is one."""
    at = int(np.argmin(values - margins))
    smallest = float(values[at] - margins[at])
    return down(smallest) if margins[at] else smallest


@statistic("median", proof=_PROOF, result="number", summary="interpolated median")
def median(cells: Cells) -> Range:
    """Range of `quantile_cont` at one half.

    Ensures: as `quantile_cont`.
    """
    return quantile_cont(cells, 0.5)


def _position(counts: Ints, share: float) -> tuple[Ints, Ints, Floats]:
    """Ranks below and above the quantile and the fraction between, in the arithmetic the database uses."""
    position = (counts - 1).astype(np.float64) * share
    below = np.floor(position)
    return below.astype(np.int64), np.ceil(position).astype(np.int64), position - below


def _tops(cells: Cells, counts: Ints, share: float) -> _Neighbours:
    """For each number of records the largest order statistics: counted from the top, rank r is number S - r."""
    below, above, along = _position(counts, share)
    both, certain = np.stack([below, above]), exact_sum(cells.least)
    lower, upper = _kth_largest(cells.high, cells, counts - both, certain - both)
    return _Neighbours(lower, upper, along)


def _bottoms(cells: Cells, counts: Ints, share: float) -> _Neighbours:
    """The same from below."""
    below, above, along = _position(counts, share)
    both, free = np.stack([below, above]) + 1, counts - exact_sum(cells.least)
    lower, upper = -_kth_largest(-cells.low, cells, both, both - free)
    return _Neighbours(lower, upper, along)


def _block_tops(cells: Cells, first: Ints, last: Ints, share: float) -> _Neighbours:
    """A bound of the quantile for first <= S <= last: the upper neighbour, each rank at its best, with one to spare."""
    certain = exact_sum(cells.least)
    ranks = first - _position(first, share)[1] - 1
    top = _kth_largest(cells.high, cells, ranks, certain - _position(last, share)[1] - 1)
    return _Neighbours(top, top, np.zeros(top.size))


def _block_bottoms(cells: Cells, first: Ints, last: Ints, share: float) -> _Neighbours:
    """The mirror image, with the lower neighbour."""
    free = last - exact_sum(cells.least)
    bottom = -_kth_largest(-cells.low, cells, _position(first, share)[0], _position(last, share)[0] - free)
    return _Neighbours(bottom, bottom, np.zeros(bottom.size))


def _kth_largest(ends: Floats | Ints, cells: Cells, ranks: Ints, certain_ranks: Ints) -> Floats:
    """The k-th largest value when S records are selected and the S - L extras are the largest there are.

    It is the smaller of the k-th largest of all and the (k - (S - L))-th largest of the certain ones, which says
    nothing where that rank is not positive.
    """
    bins = _binned(ends)
    found = _look_up(ends, bins, cells.most, np.maximum(ranks, 1))
    bound = certain_ranks > 0
    if bound.any():
        certain = _look_up(ends, bins, cells.least, np.maximum(certain_ranks, int(certain_ranks[bound].min())))
        found = np.where(bound, np.minimum(found, certain), found)
    return found


def _look_up(ends: Floats | Ints, bins: Ints, weights: Ints, ranks: Ints) -> Floats:
    """Values at ranks counted from the top. Only the bins that hold the ranks asked for are sorted."""
    first, last = int(ranks.min()), int(ranks.max())
    totals = np.append(np.cumsum(np.bincount(bins, weights)[::-1])[::-1], 0).astype(np.int64)  # in this bin or above
    highest = int(np.searchsorted(-totals, -first, side="right")) - 1
    lowest = int(np.searchsorted(-totals, -last, side="right")) - 1
    here = np.flatnonzero((bins >= lowest) & (bins <= highest) & (weights > 0))
    here = here[np.argsort(-ends[here])]
    values = ends[here].astype(np.float64)
    reached = np.cumsum(weights[here]) + int(totals[highest + 1])
    if last - first > 2 * _SCAN:
        found: Floats = values[np.searchsorted(reached, ranks)]
    else:
        inside = np.concatenate([[first - 1], np.clip(reached, first - 1, last)])
        found = np.repeat(values, inside[1:] - inside[:-1])[ranks - first]
    return found
