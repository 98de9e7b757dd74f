"""The whole distribution: the cumulative share as a band (a p-box), and a histogram with a range per bin.

Proof: docs/explanation/proofs/distribution.md. A single share is `exceedance` in `querygate.stats.transformed_means`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from querygate.core.registry import Registry
from querygate.core.types import Cells, Floats, Ints, Range
from querygate.stats.cells import selectable
from querygate.stats.numerics import EXACT, exact_sum
from querygate.stats.registry import PROOFS

Algorithm = TypeVar("Algorithm", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Distribution:
    """A description of the whole distribution: what computes it over cells, and where the proof is."""

    name: str
    describe: Callable[..., object]
    proof: str
    summary: str
    parameters: tuple[str, ...] = ()


DISTRIBUTIONS: Registry[Distribution] = Registry("description of a distribution")


def _distribution(name: str, summary: str, parameters: tuple[str, ...] = ()) -> Callable[[Algorithm], Algorithm]:
    def register(algorithm: Algorithm) -> Algorithm:
        DISTRIBUTIONS.register(name, Distribution(name, algorithm, f"{PROOFS}/distribution.md", summary, parameters))
        return algorithm

    return register


@dataclass(frozen=True, slots=True)
class PBox:
    """Bounds of F(t) = share of records with x <= t: from at[i] up to the next one they are low[i] and high[i].

    Before at[0] the share is 0. Each point of the two curves is attained, but a whole curve need not be the
    distribution of any one data set.
    """

    at: Floats | Ints
    low: Floats
    high: Floats
    may_be_null: bool = False

    def share(self, t: float) -> Range:
        """Range of the share of records with x <= t."""
        if not self.at.size:
            return Range.null()
        step = int(np.searchsorted(self.at, _comparable(np.array([t]), self.at), side="right")[0]) - 1
        low, high = (float(self.low[step]), float(self.high[step])) if step >= 0 else (0.0, 0.0)
        return Range(low, high, low, high, may_be_null=self.may_be_null)


@_distribution("ecdf", "cumulative share of the records, at every value")
def ecdf(cells: Cells) -> PBox:
    """The cumulative share at every end of a cell; in between it cannot change its bounds.

    Requires: fewer than 2^53 records.
    Ensures:  for every consistent, non-empty selection and every t the share the database computes (one division) is
              in the band at t; both bounds are attained at each t.

    >>> ecdf(Cells(np.array([0, 5]), np.array([9, 6]), np.array([1, 0]), np.array([1, 1]))).share(5)
    Range(low=0.0, high=1.0, attained_low=0.0, attained_high=1.0, sharp=True, may_be_null=False)
    """
    cells = selectable(cells)
    if exact_sum(cells.most) >= EXACT:
        raise ValueError("a distribution needs fewer than 2^53 records")
    at = np.unique(np.concatenate([cells.low, cells.high]))
    below, optional_above = _split(cells.low, at, cells.most, cells.least)
    certain, possible_above = _split(cells.high, at, cells.least, cells.most)
    high = _shares(below, optional_above, empty=0.0)
    low = _shares(certain, possible_above, empty=1.0)
    return PBox(at, low, high, may_be_null=not cells.least.any())


def _split(ends: Floats | Ints, at: Floats | Ints, upto: Ints, beyond: Ints) -> tuple[Ints, Ints]:
    """For each point: `upto` summed over the ends at or below it, `beyond` over those above it."""
    order = np.argsort(ends)
    passed = np.searchsorted(ends[order], at, side="right")
    counted = np.concatenate([[0], np.cumsum(upto[order])])[passed]
    left = exact_sum(beyond) - np.concatenate([[0], np.cumsum(beyond[order])])[passed]
    return counted, left


def _shares(counted: Ints, left: Ints, empty: float) -> Floats:
    """counted / (counted + left). With no records at all somebody has to be selected; `empty` is the share then."""
    whole = counted + left
    return np.where(whole > 0, counted / np.maximum(whole, 1), empty)


@_distribution("histogram", "number of records in each bin", parameters=("boundaries",))
def histogram(cells: Cells, boundaries: Sequence[float]) -> tuple[Range, ...]:
    """Range of the number of records per bin; bin j holds boundaries[j - 1] < x <= boundaries[j], as SQL counts, and
    there is one bin more for what is above the last.

    Requires: boundaries in ascending order.
    Ensures:  each range is sharp. They hold together, but not all at their ends at once: counts add up to the total.

    >>> cells = Cells(np.array([0, 5]), np.array([9, 6]), np.array([2, 3]), np.array([2, 3]))
    >>> [(found.low, found.high) for found in histogram(cells, [4, 8])]
    [(0, 2), (3, 5), (0, 2)]
    """
    cells = selectable(cells)
    edges = np.array(boundaries, dtype=np.float64)
    if np.isnan(edges).any() or np.any(edges[1:] < edges[:-1]):
        raise ValueError("boundaries must ascend")
    if cells.integer:
        edges = np.floor(edges)  # x <= 3.5 means x <= 3, and nothing lies between 3.2 and 3.8
    first, last = _bins(edges, cells.low), _bins(edges, cells.high)
    size = edges.size + 1
    inside = first == last
    low = _tally(first[inside], cells.least[inside], size)
    high = np.cumsum(_tally(first, cells.most, size + 1) - _tally(last + 1, cells.most, size + 1))[:size]
    high[1:-1][edges[1:] == edges[:-1]] = 0  # nothing lies between equal boundaries
    return tuple(Range(a, b, a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True))


def _bins(edges: Floats, values: Floats | Ints) -> Ints:
    """The bin of each value."""
    return np.searchsorted(_comparable(edges, values), values, side="left")


def _comparable(points: Floats, values: Floats | Ints) -> Floats | Ints:
    """The points in the type of the values: rounded down to whole numbers where the values are, since not all of these
    are doubles."""
    if not np.issubdtype(values.dtype, np.integer):
        return points
    whole = [math.floor(min(max(point, -(2.0**63)), 2.0**63)) for point in points.tolist()]
    return np.array([min(point, 2**63 - 1) for point in whole], dtype=np.int64)


def _tally(bins: Ints, counts: Ints, size: int) -> Ints:
    """Counts summed per bin, without rounding."""
    totals = np.zeros(size, dtype=np.int64)
    np.add.at(totals, bins, counts)
    return totals
