"""Entropy of the values, in bits: how evenly records are spread over different values.

Most even: the densest run of places is filled evenly, taken out, and so on. Least even: no value can have a larger
share than some bound, and entropy is least when as many values as can be have it.
Proof: docs/explanation/proofs/shape.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from querygate.core.types import Cells, Ints, Range
from querygate.stats.distinct import count_distinct, crowds, narrow_cells, places
from querygate.stats.numerics import UNIT, exact_sum
from querygate.stats.registry import statistic

_PLACES = 256  # over which records are spread one by one
_VALUES = 64  # that a concentrated data set may need


@statistic("entropy", proof="shape.md", result="number", summary="entropy of the values, in bits", needs=0)
def entropy(cells: Cells) -> Range:
    """Range of the entropy of the frequencies of the values; 0 for no records at all.

    Ensures: sound. The high end is sharp where all records can differ, or where it is certain who is selected and the
             cells that can be crowded have few places; the low end where one value can be shared by all, and where
             nothing is uncertain.
    """
    low, high, records = places(cells.low), places(cells.high), exact_sum(cells.most)
    certain = np.array_equal(cells.least, cells.most)
    if certain and np.array_equal(low, high):
        bits = _bits(_tally(low, cells.most))
        least, most = Bits(bits, bits), Bits(bits, bits)
    else:
        distinct = count_distinct(cells)
        least = _least_even(cells, low, high, int(distinct.low or 0))
        most = _most_even(cells, low, high, int(distinct.high or 1), certain)
    margin = 8 * UNIT * (records + 16) * (math.log2(records) + 1.0)
    sharp = all(end.reached is not None and abs(end.bound - end.reached) <= 1e-9 for end in (least, most))
    return Range(least.bound - margin, most.bound + margin, least.reached, most.reached, sharp=sharp)


class Bits(NamedTuple):
    """A bound of the entropy, and an entropy that is reached, if one is known."""

    bound: float
    reached: float | None


def _bits(counts: Ints, single: int = 0) -> float:
    """Entropy of values with these frequencies, and of so many more that occur once."""
    counts = counts[counts > 0]
    records = exact_sum(counts) + single
    return max(0.0, math.log2(records) - float(np.sum(counts * np.log2(counts))) / records)


def _tally(at: Ints, counts: Ints) -> Ints:
    """How many records there are at each place."""
    _, which = np.unique(at, return_inverse=True)
    totals = np.zeros(int(which.max()) + 1, dtype=np.int64)
    np.add.at(totals, which, counts)
    return totals


# -- most even -------------------------------------------------------------------------------------------


def _most_even(cells: Cells, low: Ints, high: Ints, distinct: int, certain: bool) -> Bits:
    """All different if they can be; else spread evenly where the selection is certain; else by the number of values."""
    records = exact_sum(cells.most)
    if distinct == records:
        return Bits(math.log2(records), math.log2(records))
    if certain:
        starts, ends, held, roomy = narrow_cells(low, high, cells.most)
        loads = _even_loads(starts, ends, held)
        if loads is not None:
            bits = _bits(loads, roomy)
            return Bits(bits, bits)
    return Bits(math.log2(distinct), None)


def _even_loads(starts: list[int], ends: list[int], held: list[int]) -> Ints | None:
    """Numbers of records per place when they are spread as evenly as they can be.

    The run of places with the most records per place that have nowhere else to go is filled evenly, up to one record,
    and taken out of the line; what is left is spread in the same way.
    """
    used = sorted({place for a, b in zip(starts, ends, strict=True) for place in range(a, min(b, a + _PLACES) + 1)})
    if len(used) > _PLACES:
        return None
    line = {place: index for index, place in enumerate(used)}
    first = np.array([line[a] for a in starts])
    last = np.array([line[b] for b in ends])
    counts, size = np.array(held, dtype=np.int64), len(used)
    loads: list[int] = []
    while counts.size:
        inside = np.zeros((size, size), dtype=np.int64)
        np.add.at(inside, (first, last), counts)
        inside = np.cumsum(np.cumsum(inside[::-1], axis=0)[::-1], axis=1)  # records of cells within places p to q
        length = np.arange(size)[None, :] - np.arange(size)[:, None] + 1
        density = np.where(length > 0, inside / np.maximum(length, 1), -1.0)
        p, q = (int(index) for index in np.unravel_index(int(np.argmax(density)), density.shape))
        total, width = int(inside[p, q]), q - p + 1
        loads += [total // width + (place < total % width) for place in range(width)]
        left = (first < p) | (last > q)
        first, last, counts = first[left], last[left], counts[left]
        first = np.where(first > q, first - width, np.minimum(first, p))
        last = np.where(last > q, last - width, np.minimum(last, p - 1))
        size -= width
    return np.array(loads, dtype=np.int64)


# -- least even ------------------------------------------------------------------------------------------


def _least_even(cells: Cells, low: Ints, high: Ints, fewest: int) -> Bits:
    """If no value can have more than the share p, entropy is at least that of shares p, p, ..., and what is left."""
    at = np.sort(low)
    can, must = crowds(at, low, high, cells.most), crowds(at, low, high, cells.least)
    share = float(np.max(can / (can + exact_sum(cells.least) - must)))
    if share >= 1.0:
        return Bits(0.0, 0.0)
    full = math.floor(1.0 / share)
    rest = max(0.0, 1.0 - full * share)
    bound = -full * share * math.log2(share) - (rest * math.log2(rest) if rest > 0.0 else 0.0)
    return Bits(bound * (1.0 - 1e-12), _concentrated(cells, low, high) if fewest <= _VALUES else None)


def _concentrated(cells: Cells, low: Ints, high: Ints) -> float | None:
    """The entropy if one value after another takes all the certain records it can; the first also takes the optional
    ones."""
    order = np.argsort(low)
    low, high, left, most = low[order], high[order], cells.least[order], cells.most[order]
    counts: list[int] = []
    while left.any():
        if len(counts) == _VALUES:
            return None
        known = np.flatnonzero(left)
        there = crowds(low[known], low[known], high[known], left[known])
        at = low[known][int(np.argmax(there))]
        here = (low <= at) & (at <= high)
        counts.append(exact_sum((left if counts else most)[here]))
        left[here] = 0
    return _bits(np.array(counts))
