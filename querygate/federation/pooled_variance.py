"""The variance over all members, from each member's count, mean and variance.

With weights w of the members' records, the variance of all is the least over c of the weighted mean of
v + (m - c)^2. So any c gives an upper end, the best c the one that is told, and the lower end is the least over c of
the least weighted mean with each mean as near to c as it may be, found by halving the line of c until nothing is open.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from querygate.client.answer import Range
from querygate.federation.pooled_range import NOTHING, ROUNDING, Pooled

STEPS = 200
"""Of either search: an end that is not the sharpest after them is still an end."""


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """What one member tells: records that have a value, their mean, and their variance over all of them (VAR_POP)."""

    count: Range
    mean: Range
    variance: Range


@dataclass(frozen=True, slots=True)
class _Spread:
    """The ends of one member, as numbers."""

    least: float
    most: float
    mean_low: float
    mean_high: float
    variance_low: float
    variance_high: float

    def farthest(self, c: float) -> float:
        apart = max(abs(self.mean_low - c), abs(self.mean_high - c))
        return self.variance_high + apart * apart

    def nearest(self, low: float, high: float) -> float:
        """For any c of an interval."""
        apart = max(self.mean_low - high, low - self.mean_high, 0.0)
        return self.variance_low + apart * apart


def pool_variances(parts: Sequence[VarianceParts], *, sample: bool, root: bool) -> Pooled:
    """VAR_POP, or VAR_SAMP with `sample`; their roots with `root`."""
    spreads = [_spread(part) for part in parts if part.mean.low is not None and part.count.high]
    if not spreads:
        return NOTHING
    records_low = sum(part.count.low for part in parts)  # type: ignore[misc]
    records_high = sum(part.count.high for part in parts)  # type: ignore[misc]
    needed = 2 if sample else 1
    if records_high < needed:
        return NOTHING
    low, high = _lower_end(spreads), _upper_end(spreads)
    low, high = max(low * (1 - 8 * ROUNDING), 0.0), high * (1 + 8 * ROUNDING)
    if sample:
        fewest = max(records_low, needed)
        low, high = low * records_high / (records_high - 1), high * fewest / (fewest - 1)
    if root:
        low, high = math.nextafter(math.sqrt(low), 0.0), math.nextafter(math.sqrt(high), math.inf)
    estimate = _estimate(parts, sample=sample, root=root)
    clamped = None if estimate is None else min(max(estimate, low), high)
    return Pooled(low, high, clamped, sharp=False, may_be_null=records_low < needed)


def _spread(part: VarianceParts) -> _Spread:
    variance_low, variance_high = part.variance.low or 0.0, part.variance.high
    ends: list[Any] = [part.count.low, part.count.high, part.mean.low, part.mean.high, variance_low, variance_high]
    return _Spread(*(math.inf if end is None else float(end) for end in ends))


def _weighted(spreads: Sequence[_Spread], values: Sequence[float], *, largest: bool) -> float:
    """The largest or least mean of values whose weights are numbers of records: all of the best may be there, and no
    more of the others than must be."""
    order = sorted(zip(values, spreads, strict=True), key=lambda one: -one[0] if largest else one[0])
    weight = sum(spread.least for spread in spreads)
    total = sum(spread.least * value for value, spread in order)
    if not weight:
        return order[0][0]
    for value, spread in order:
        more = spread.most - spread.least
        if more and (value > total / weight) == largest and value != total / weight:
            total, weight = total + more * value, weight + more
    return total / weight


def _upper_end(spreads: Sequence[_Spread]) -> float:
    def at(c: float) -> float:
        return _weighted(spreads, [spread.farthest(c) for spread in spreads], largest=True)

    low, high = min(spread.mean_low for spread in spreads), max(spread.mean_high for spread in spreads)
    most = max(spread.variance_high for spread in spreads)
    if not all(map(math.isfinite, (low, high, most, (high - low) * (high - low)))):
        return math.inf
    best = min(at(low), at(high))
    for _ in range(STEPS):  # `at` has one valley
        first, second = low + (high - low) / 3, high - (high - low) / 3
        here, there = at(first), at(second)
        best = min(best, here, there)
        low, high = (low, second) if here <= there else (first, high)
    return best


def _lower_end(spreads: Sequence[_Spread]) -> float:
    low, high = min(spread.mean_low for spread in spreads), max(spread.mean_high for spread in spreads)
    if not all(map(math.isfinite, (low, high, (high - low) * (high - low)))):
        return min(spread.variance_low for spread in spreads)

    def over(low: float, high: float) -> float:
        return _weighted(spreads, [spread.nearest(low, high) for spread in spreads], largest=False)

    open_parts = [(over(low, high), low, high)]
    for _ in range(STEPS):
        _, low, high = heapq.heappop(open_parts)
        middle = low + (high - low) / 2
        for part in ((low, middle), (middle, high)):
            heapq.heappush(open_parts, (over(*part), *part))
    return open_parts[0][0]


def _estimate(parts: Sequence[VarianceParts], *, sample: bool, root: bool) -> float | None:
    told = [(part.count.estimate, part.mean.estimate, part.variance.estimate) for part in parts if part.count.high]
    if any(one is None for part in told for one in part):
        return None
    records: float = sum(count for count, _, _ in told)  # type: ignore[misc]
    if records <= (1 if sample else 0):
        return None
    mean = sum(count * mean for count, mean, _ in told) / records  # type: ignore[misc, operator]
    total = sum(count * (variance + (its - mean) * (its - mean)) for count, its, variance in told)  # type: ignore[misc, operator]
    found: float = total / (records - 1 if sample else records)
    return math.sqrt(found) if root else found
