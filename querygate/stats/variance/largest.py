"""The largest variance: V = min over m of mean (x - m)^2, so every m gives a bound (weak duality).

The problem is NP-hard in general (Ferson, Ginzburg, Kreinovich, Longpré and Aviles 2002), but its relaxation is not:
the bound at the best m exceeds the largest variance by at most R^2 / (4 S^2). The search for m need not be trusted, the
bound at what it finds is certified. Small cohorts, where the gap could be seen, are enumerated.
Proof: docs/explanation/proofs/spread.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.stats.largest_mean import Largest, largest_mean
from querygate.stats.numerics import TINY, UNIT, dot_bounds, exact_sum, gamma, pieces, tree_sum, up

_STEPS = 100
SAMPLE = 20_000  # cells in the sample that shows where to look first
_TIE = 1e-12  # relative difference below which square distances count as equal
_VERTICES = 4096  # data sets with all values at ends that are enumerated


class Boxes(NamedTuple):
    """Cells moved to a centre, ends rounded outwards."""

    low: Floats
    high: Floats
    least: Ints
    most: Ints

    @property
    def spare(self) -> Ints:
        """The cells with optional records."""
        return np.flatnonzero(self.most > self.least)

    def part(self, chosen: Bools | Ints | slice) -> Boxes:
        """Some of the cells."""
        return Boxes(self.low[chosen], self.high[chosen], self.least[chosen], self.most[chosen])


class Corner(NamedTuple):
    """The selection and the ends that are farthest from m."""

    taken: Ints
    ends: Floats


class VarianceBound(NamedTuple):
    """No variance exceeds `bound`; `reached` is one, and the largest one where `sharp`."""

    bound: float
    reached: float
    sharp: bool


def largest_variance(boxes: Boxes, ddof: int) -> VarianceBound:
    """The largest variance of more than ddof records.

    Requires: more than ddof records can be selected; finite ends.
    Ensures:  as `VarianceBound` says.
    """
    exact = _enumerated(boxes, ddof)
    if exact is not None:
        return exact
    if exact_sum(boxes.least) <= ddof:
        return _few_certain(boxes, ddof)
    low, high = _bracket(boxes, ddof)
    bound = min(_bound(boxes, centre, ddof) for centre in {low, high})
    reached = min(_reached(boxes, low, high, ddof), bound)
    return VarianceBound(bound, reached, bound - reached <= 1e-9 * bound)


def largest_pooled_mean(values: Floats, least: Ints, most: Ints, spare: Ints, ddof: int = 0) -> Largest:
    """As `largest_mean`, where `spare` are the cells with least < most: all certain records count as one cell that has
    their mean, rounded up, so that only the optional ones have to be compared with each other."""
    certain = exact_sum(least)
    if certain <= ddof:
        return largest_mean(values, least, most, ddof)
    mean = up(dot_bounds(least, values).high / certain, 3)
    free = most[spare] - least[spare]
    none = np.zeros_like(free)
    return largest_mean(np.append(values[spare], mean), np.append(none, certain), np.append(free, certain), ddof)


def _bound(boxes: Boxes, centre: float, ddof: int) -> float:
    """The certified bound at m: square distances to the far ends, with their three roundings rounded up."""
    far = np.maximum(boxes.high - centre, centre - boxes.low)
    squares = far * far * (1.0 + 8 * UNIT) + TINY
    return largest_pooled_mean(squares, boxes.least, boxes.most, boxes.spare, ddof).bound


class _Search:
    """The data set farthest from m, for one m after the other; nothing here need be trusted."""

    def __init__(self, boxes: Boxes, ddof: int) -> None:
        spare, self.ddof = boxes.part(boxes.spare), ddof
        self.low, self.high, self.least = boxes.low, boxes.high, boxes.least.astype(np.float64)
        self.spare_low, self.spare_high, self.free = spare.low, spare.high, (spare.most - spare.least).astype(float)
        self.certain = float(exact_sum(boxes.least))
        self.level = 0.0  # its mean square distance from m

    def gap(self, centre: float) -> float:
        """Its mean minus m; 0 where that is negligible beside its deviation."""
        base = signed_base = 0.0
        for piece in pieces(self.low.size):
            far, signed = _far(self.low[piece], self.high[piece], centre)
            weighted = self.least[piece] * far
            base, signed_base = base + float(weighted @ far), signed_base + float(self.least[piece] @ signed)
        far, signed = _far(self.spare_low, self.spare_high, centre)
        squares, free, records = far * far, self.free, self.certain
        for _ in range(_STEPS):
            free = self.free * (squares > self.level)
            records = self.certain + tree_sum(free)[0]
            level, self.level = self.level, (base + tree_sum(free * squares)[0]) / (records - self.ddof)
            if not free.size or abs(self.level - level) <= 1e-13 * self.level:
                break
        gap = (signed_base + tree_sum(free * signed)[0]) / records
        return gap if gap * gap > 1e-11 * self.level else 0.0


def _far(low: Floats, high: Floats, centre: float) -> tuple[Floats, Floats]:
    """Distance to the far end of each box, and the same with its sign."""
    right, left = high - centre, centre - low
    far = np.maximum(right, left)
    return far, np.copysign(far, right - left)


def _corner(boxes: Boxes, centre: float, ddof: int, bias: float) -> Corner:
    """The data set farthest from m; records that tie are in it for a negative bias, not for a positive one."""
    search = _Search(boxes, ddof)
    search.gap(centre)
    far, signed = _far(boxes.low, boxes.high, centre)
    ends = np.where(signed >= 0.0, boxes.high, boxes.low)
    taken, spare = boxes.least.copy(), boxes.spare
    wanted = spare[far[spare] ** 2 > search.level * (1.0 + bias)]
    taken[wanted] = boxes.most[wanted]
    return Corner(taken, ends)


def _bracket(boxes: Boxes, ddof: int) -> tuple[float, float]:
    """Two neighbouring m between which the bound is least: there the farthest data set has its mean at m.

    The mean of the farthest data set falls as m rises (the bound is convex), so there is one crossing. A sample of the
    cells says where to look first.
    """
    low, high = float(boxes.low.min()), float(boxes.high.max())
    guess, stride = (low + high) / 2, high - low
    if boxes.low.size > 4 * SAMPLE:
        sample = boxes.part(slice(None, None, boxes.low.size // SAMPLE))
        if exact_sum(sample.least) > ddof:
            guess, stride = sum(_bracket(sample, ddof)) / 2, 1e-3 * (high - low)
    return falling_root(_Search(boxes, ddof).gap, low, high, guess, stride)


def falling_root(
    function: Callable[[float], float], low: float, high: float, guess: float, stride: float
) -> tuple[float, float]:
    """Where a falling function changes its sign: twice its zero, or the two neighbouring doubles.

    Probes around the guess, then the secant, with bisection as a safeguard.
    """
    at_low, at_high = math.inf, -math.inf
    for turn in range(_STEPS):
        if not low < guess < high:
            break
        value = function(guess)
        if value == 0.0:
            return guess, guess
        if value > 0.0:
            low, at_low = guess, value
        else:
            high, at_high = guess, value
        if math.isinf(at_low) or math.isinf(at_high):
            guess = min(max(guess + math.copysign(stride, value), (low + guess) / 2), (guess + high) / 2)
            stride *= 8.0
        elif turn % 8 == 7:
            guess = (low + high) / 2
        else:
            guess = low + (high - low) * at_low / (at_low - at_high)
    return low, high


def _reached(boxes: Boxes, low: float, high: float, ddof: int) -> float:
    """The best variance on the way from a data set farthest from one m to one farthest from the other."""
    if low == high:
        corner = _corner(boxes, low, ddof, 0.0)
        return _best_between(corner, corner, ddof)
    ways = ((_corner(boxes, low, ddof, bias), _corner(boxes, high, ddof, -bias)) for bias in (_TIE, -_TIE))
    return max(_best_between(start, end, ddof) for start, end in ways)


def _best_between(start: Corner, end: Corner, ddof: int) -> float:
    """The two differ in the few cells that tie. These are changed one by one, and the last record by record."""
    ties = np.flatnonzero((start.taken != end.taken) | (start.ends != end.ends))
    kept = start.taken * start.ends
    base = np.array([exact_sum(start.taken), tree_sum(kept)[0], tree_sum(kept * start.ends)[0]])
    change = _powers(end.taken[ties], end.ends[ties]) - _powers(start.taken[ties], start.ends[ties])
    steps = base[:, None] + np.concatenate([np.zeros((3, 1)), np.cumsum(change, axis=1)], axis=1)
    values = _variances(steps, ddof)
    best = int(np.argmax(values))
    found = float(values[best])
    for step in (best - 1, best):
        if 0 <= step < ties.size:
            parts = _parts(start, end, int(ties[step]))
            found = max(found, float(_variances(steps[:, [step]] + change[:, [step]] * parts, ddof).max()))
    return found


def _parts(start: Corner, end: Corner, cell: int) -> Floats:
    """The fractions of the way along which a cell can be changed by whole records."""
    before, after = int(start.taken[cell]), int(end.taken[cell])
    if before == after:
        records = before
    elif start.ends[cell] == end.ends[cell]:
        records = abs(after - before)
    else:
        records = 1
    return np.rint(np.linspace(0.0, records, min(records, 1000) + 1)) / max(records, 1)


def _few_certain(boxes: Boxes, ddof: int) -> VarianceBound:
    """No more than ddof certain records: the bound is reached by adding the farthest records, two at most.

    What matters is the certain record, if any, and the outermost ends among records that can be added.
    """
    free = boxes.most - boxes.least
    spare, certain = np.flatnonzero(free), np.flatnonzero(boxes.least)
    top, bottom = spare[np.argmax(boxes.high[spare])], spare[np.argmin(boxes.low[spare])]
    highest, lowest = float(boxes.high[top]), float(boxes.low[bottom])
    own = [float(end[certain[0]]) for end in (boxes.low, boxes.high)] if certain.size else []

    def spread(centre: float) -> float:
        added = max(highest - centre, centre - lowest)
        return (ddof + 1 - len(own) // 2) * added**2 + max(((end - centre) ** 2 for end in own), default=0.0)

    low, high = min([lowest, *own]), max([highest, *own])
    for _ in range(_STEPS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if spread(left) <= spread(right) else (left, high)
    bound = _bound(boxes, (low + high) / 2, ddof)
    pairs = [[highest, lowest]] if top != bottom or free[top] > 1 else []
    data = [[highest], [lowest], *pairs]
    data = [[end, *added] for end in own for added in data] if own else data
    reached = max((_variance_of(values, ddof) for values in data), default=0.0)
    return VarianceBound(bound, min(max(reached, 0.0), bound), bound - reached <= 1e-9 * bound)


def _variance_of(values: list[float], ddof: int) -> float:
    sums = np.array([[len(values)], [math.fsum(values)], [math.fsum(v * v for v in values)]])
    return float(_variances(sums, ddof)[0])


def _powers(taken: Ints, ends: Floats) -> Floats:
    """Count, sum and sum of squares per cell."""
    return np.stack([taken.astype(np.float64), taken * ends, taken * ends * ends])


def _variances(sums: Floats, ddof: int) -> Floats:
    """Variance from count, sum and sum of squares; -1 where there are too few records."""
    count, first, second = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        value = (second - first * first / count) / (count - ddof)
    return np.where(count > ddof, value, -1.0)


def _enumerated(boxes: Boxes, ddof: int) -> VarianceBound | None:
    """The exact maximum over all data sets with every value at an end, where there are few of them."""
    sums = vertex_sums(boxes)
    if sums is None:
        return None
    reached = float(_variances(sums, ddof).max())
    records, reach = exact_sum(boxes.most), max(-float(boxes.low.min()), float(boxes.high.max()), 0.0)
    margin = 4 * gamma(2 * records + 16) * reach * reach * records
    return VarianceBound(up(reached + margin) if margin else 0.0, max(reached, 0.0), True)


def vertex_sums(boxes: Boxes) -> Floats | None:
    """Count, sum and sum of squares of all data sets with every value at an end, where there are few of them."""
    size: float = 1 if boxes.most.size <= _VERTICES else math.inf
    for least, most in zip(boxes.least.tolist(), boxes.most.tolist(), strict=True):
        size *= (most + 1) * (most + 2) // 2 - least * (least + 1) // 2
        if size > _VERTICES:
            return None
    sums = np.zeros((3, 1))
    for low, high, least, most in zip(*(column.tolist() for column in boxes), strict=True):
        counts = [(n, j) for n in range(least, most + 1) for j in range(n + 1)]
        options = np.array([(n, j * high + (n - j) * low, j * high * high + (n - j) * low * low) for n, j in counts])
        sums = (sums[:, :, None] + options.T[:, None, :]).reshape(3, -1)
    return sums
