"""Rank statistics: Mann-Whitney's U, the probability of superiority, Spearman's and Kendall's correlations.

They count pairs of records by which value is larger, with ties as half or not at all. U and the probability have exact
ends where groups do not compete for records. The correlations have outer bounds: each pair of boxes is taken at its
best by itself, and ranks are intervals. Proof: docs/explanation/proofs/ranks.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Bools, Cells, Floats, Ints, Range
from querygate.stats.association import corr
from querygate.stats.comparison import GroupCells, comparison
from querygate.stats.numerics import exact_sum
from querygate.stats.pairs import PairCells, pair_statistic, places

RANKS = frozenset({"mann_whitney", "superiority"})
"""Comparisons of two groups by the order of values alone."""

_PROOF = "ranks.md"
_MOST_BOXES = 2_000
_MOST_VALUES = 3_000
_BLOCK = 256
_SLACK = 1e-12  # for numbers about 1: counts of pairs are exact to 16 digits, and so is software that uses them


# -- two groups ------------------------------------------------------------------------------------------------


@comparison("mann_whitney", "Mann-Whitney's U of the first group", needs=1, proof=_PROOF)
def mann_whitney(cells: GroupCells) -> Range:
    """Range of the number of pairs in which the first is larger, ties counted by half.

    Requires: finite ends.
    Ensures:  sharp if no class is too small for what both groups want of it, and neither group may be empty.
    """
    first, second = _merged_groups(cells)
    low = _won(first.low, first.least, second.high, second.least)
    high = _won(first.high, first.most, second.low, second.most)
    there = bool(first.least.any() and second.least.any())
    free = _is_free(cells)
    return Range(low, high, low if there else None, high if free else None, sharp=free and there)


@comparison("superiority", "probability that the first is larger, ties by half", needs=1, proof=_PROOF)
def superiority(cells: GroupCells) -> Range:
    """Range of U / (n1 n2).

    Requires: finite ends.
    Ensures:  sharp if no class is too small for what both groups want of it, and there are few different ends.
    """
    groups = _merged_groups(cells)
    few = all(np.unique(ends).size <= _MOST_VALUES for group in groups for ends in (group.low, group.high))
    high, low = _largest_share(*groups), 1.0 - _largest_share(*groups[::-1])
    low, high = max(0.0, low - _SLACK), min(1.0, high + _SLACK)
    return Range(low, high, None, None, sharp=_is_free(cells) and few)


def _merged_groups(cells: GroupCells) -> tuple[Cells, Cells]:
    """Both groups, each without cells that cannot be in it, with ranks as ends."""
    low, high = places(cells.low, cells.high)
    found = []
    for group in (cells.first, cells.second):
        there = group.most > 0
        found.append(Cells(low[there], high[there], group.least[there], group.most[there]))
    return found[0], found[1]


def _is_free(cells: GroupCells) -> bool:
    return not np.any(cells.first.most + cells.second.most > cells.size)


def _won(first: Floats | Ints, many: Ints, second: Floats | Ints, against: Ints) -> float:
    """How many pairs the first wins, ties as half: for each record the number of the others below it."""
    order = np.argsort(second, kind="stable")
    below = np.concatenate([[0], np.cumsum(against[order])])
    under, upto = (below[np.searchsorted(second[order], first, side)] for side in ("left", "right"))
    if exact_sum(many) * exact_sum(against) < 2**52:
        return float(np.dot(many, under + upto)) / 2.0
    return float(sum(int(n) * int(p) for n, p in zip(many, under + upto, strict=True)) / 2)


def _largest_share(first: Cells, second: Cells) -> float:
    """The first at their upper ends, the second at their lower ones. Whatever the second group is, records of the first
    with larger values win no fewer pairs. So the best first group takes all it can above some value, and only what it
    must below; the best second group takes all it can up to some value. All pairs of such values are tried."""
    high, taken = _by_value(np.asarray(first.high, np.float64), first, up=True)
    low, met = _by_value(np.asarray(second.low, np.float64), second, up=False)
    wins = (high[:, None] > low[None, :]) + 0.5 * (high[:, None] == low[None, :])
    (least_a, more_a), (least_b, more_b) = taken, met
    from_top = _sums(more_a[::-1])[::-1]  # taken beyond the least, from each value up
    to_bottom = _sums(more_b)
    over_first = np.vstack([np.cumsum((more_a[:, None] * wins)[::-1], axis=0)[::-1], np.zeros(low.size)])
    sure = least_a @ wins
    rows = sure[None, :] + over_first  # by threshold of the first, against each value of the second
    pairs = (rows @ least_b)[:, None] + np.hstack([np.zeros((rows.shape[0], 1)), np.cumsum(rows * more_b, axis=1)])
    sizes = (least_a.sum() + from_top)[:, None] * (least_b.sum() + to_bottom)[None, :]
    return float(np.max(np.divide(pairs, sizes, out=np.zeros_like(pairs), where=sizes > 0)))


def _by_value(values: Floats, cells: Cells, *, up: bool) -> tuple[Floats, tuple[Floats, Floats]]:
    """Distinct values with their least and additional records; if there are too many, rounded to some of them."""
    different = np.unique(values)
    if different.size > _MOST_VALUES:
        kept = different[np.linspace(0, different.size - 1, _MOST_VALUES).astype(int)]
        at = np.searchsorted(kept, values, "left") if up else np.searchsorted(kept, values, "right") - 1
        values, different = kept[at], kept
    place = np.searchsorted(different, values)
    least, most = (_counted(place, n, different.size) for n in (cells.least, cells.most))
    return different, (least, most - least)


def _counted(place: Ints, records: Ints, size: int) -> Floats:
    """Records by place."""
    found: Floats = np.bincount(place, weights=records, minlength=size).astype(np.float64)
    return found


def _sums(values: Floats) -> Floats:
    """Sums of the first 0, 1, ... values."""
    return np.concatenate([[0.0], np.cumsum(values)])


# -- two columns -----------------------------------------------------------------------------------------------


@pair_statistic("spearman", proof=_PROOF, summary="Spearman's rank correlation", needs=2, by_order=True)
def spearman(cells: PairCells) -> Range:
    """Range of the correlation of midranks; NULL where a column is constant.

    Ensures: sound: each record's rank is in an interval, and the correlation of numbers in these is bounded.
    """
    x, y = _ranks(cells.x), _ranks(cells.y)
    found = corr(PairCells(*x, *y, cells.least, cells.most, whole=True))
    if found.low is None or found.high is None:
        return found
    return _within_one(found.low, found.high, may_be_null=found.may_be_null)


def _ranks(cells: Cells) -> tuple[Ints, Ints]:
    """By cell the least and the largest (records below - records above), which is twice the rank but for a constant."""
    low, high = np.asarray(cells.low, np.float64), np.asarray(cells.high, np.float64)

    def weight(ends: Floats, at: Floats, many: Ints, side: str) -> Ints:
        order = np.argsort(ends, kind="stable")
        sums = np.concatenate([[0], np.cumsum(many[order])])
        return np.asarray(sums[np.searchsorted(ends[order], at, side)])  # type: ignore[call-overload]

    total = exact_sum(cells.most)
    wide = (high > low).astype(np.int64)
    # certainly below: their high end is below this low end; possibly above: their high end is above it, but oneself
    least = weight(high, low, cells.least, "left") - (total - weight(high, low, cells.most, "right") - wide)
    # possibly below: their low end is below this high end; certainly above: their low end is above it
    most = (weight(low, high, cells.most, "left") - wide) - (
        exact_sum(cells.least) - weight(low, high, cells.least, "right")
    )
    return least.astype(np.int64), most.astype(np.int64)


@pair_statistic("kendall", proof=_PROOF, summary="Kendall's tau-b", needs=2, by_order=True)
def kendall(cells: PairCells) -> Range:
    """Range of (concordant - discordant) / sqrt(pairs not tied in x * pairs not tied in y); NULL where a column is
    constant.

    Ensures: sound. Each pair of records is taken at its best independently.
    """
    boxes = _few_boxes(cells)
    above, below = _PairCounts.of(boxes), _PairCounts.of(boxes.mirrored)
    if above is None or below is None:
        return _within_one(-1.0, 1.0, may_be_null=True)
    if not above.most_x or not above.most_y:
        return Range.null()
    return _within_one(-below.largest(), above.largest(), may_be_null=not above.least_x or not above.least_y)


def _within_one(low: float, high: float, *, may_be_null: bool) -> Range:
    low, high = max(-1.0, low - _SLACK), min(1.0, high + _SLACK)
    return Range(low, high, None, None, sharp=False, may_be_null=may_be_null)


def _few_boxes(cells: PairCells) -> PairCells:
    """Boxes, with equal ones merged; if there are too many, widened to a grid, which leaves fewer."""
    ends = [np.asarray(end, np.float64) for end in (cells.x_low, cells.x_high, cells.y_low, cells.y_high)]
    lines = 512
    while True:
        different, place = np.unique(np.stack(ends, axis=1), axis=0, return_inverse=True)
        if different.shape[0] <= _MOST_BOXES or lines < 2:
            break
        for k, end in enumerate(ends):
            known = np.unique(np.concatenate(ends[:2] if k < 2 else ends[2:]))
            kept = known[np.linspace(0, known.size - 1, min(lines, known.size)).astype(int)]
            up = k % 2 == 1
            at = np.searchsorted(kept, end, "left") if up else np.searchsorted(kept, end, "right") - 1
            ends[k] = kept[at]
        lines //= 2
    place = place.ravel()
    least, most = (_counted(place, n, different.shape[0]).astype(np.int64) for n in (cells.least, cells.most))
    x_low, x_high, y_low, y_high = different.T
    return PairCells(x_low, x_high, y_low, y_high, least, most)


@dataclass(frozen=True, slots=True)
class _PairCounts:
    """Pairs of records: how many may be concordant, how many are certainly discordant, how many cannot be concordant
    and are certainly not tied in x, or in y; and the least and most that are not tied at all."""

    concordant: float
    discordant: float
    apart_x: float
    apart_y: float
    least_x: float
    most_x: float
    least_y: float
    most_y: float

    @classmethod
    def of(cls, boxes: PairCells) -> _PairCounts | None:
        """None if there is no time to count."""
        least, most = boxes.least.astype(np.float64), boxes.most.astype(np.float64)
        found = np.zeros(8)
        for begin in range(0, least.size, _BLOCK):
            if is_time_up():
                return None
            rows = slice(begin, begin + _BLOCK)
            found += [weights[rows] @ (met @ weights) / 2 for met, weights in _relations(boxes, rows, least, most)]
        inside = most * (most - 1) / 2
        wide_x, wide_y = boxes.x_low < boxes.x_high, boxes.y_low < boxes.y_high
        for place, kept in ((0, wide_x & wide_y), (5, wide_x), (7, wide_y)):
            alone = most * most / 2  # the pairs of each box with itself, which the block counted
            found[place] += float((inside - alone)[kept].sum())
        return cls(*map(float, found))

    def largest(self) -> float:
        """Of (C - D) / sqrt(Tx Ty): it rises with C and falls with the others, as long as it is above zero."""
        beyond = self.concordant - self.discordant
        if beyond >= 0:
            under = (self.concordant + self.apart_x) * (self.concordant + self.apart_y)
            return beyond / math.sqrt(under) if under > 0 else 1.0
        return beyond / math.sqrt(self.most_x * self.most_y)


def _relations(boxes: PairCells, rows: slice, least: Floats, most: Floats) -> list[tuple[Bools, Floats]]:
    """Which pairs of boxes, between some of them and all, are in each of the eight counts, with their weights."""

    def before(low: Floats | Ints, high: Floats | Ints) -> tuple[Bools, Bools, Bools, Bools]:
        """Certainly below, certainly above, possibly below, possibly above."""
        own_low, own_high = low[rows, None], high[rows, None]
        return own_high < low, high < own_low, own_low < high, low < own_high

    x_under, x_over, x_may_under, x_may_over = before(boxes.x_low, boxes.x_high)
    y_under, y_over, y_may_under, y_may_over = before(boxes.y_low, boxes.y_high)
    concordant = (x_may_under & y_may_under) | (x_may_over & y_may_over)
    return [
        (concordant, most),
        ((x_under & y_over) | (x_over & y_under), least),
        ((x_under | x_over) & ~concordant, least),
        ((y_under | y_over) & ~concordant, least),
        (x_under | x_over, least),
        (x_may_under | x_may_over, most),
        (y_under | y_over, least),
        (y_may_under | y_may_over, most),
    ]
