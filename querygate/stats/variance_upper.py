"""The largest variance: V = min over m of mean (x - m)^2, so every m gives a bound (weak duality).

The problem is NP-hard in general (Ferson, Ginzburg, Kreinovich, Longpre and Aviles 2002), but its relaxation is not:
the bound at the best m exceeds the largest variance by at most R^2 / (4 S^2). The search for m need not be trusted, the
bound at what it finds is certified. Small cohorts, where the gap could be seen, are enumerated.
Proof: docs/explanation/proofs/spread.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.stats.numerics import exact_sum, gamma, tree_sum, up
from querygate.stats.ratio import largest_mean

_STEPS = 100
_SAMPLE = 20_000
_VERTICES = 4096  # data sets with all values at ends that are looked at one by one


class Boxes(NamedTuple):
    """Cells moved to a centre, ends rounded outwards."""

    low: Floats
    high: Floats
    least: Ints
    most: Ints

    def part(self, chosen: Bools | slice) -> Boxes:
        """Some of the cells."""
        return Boxes(self.low[chosen], self.high[chosen], self.least[chosen], self.most[chosen])


class Corner(NamedTuple):
    """The selection and the ends that are farthest from m; `value` is their mean square distance from m."""

    taken: Ints
    ends: Floats
    value: float
    mean: float


class Upper(NamedTuple):
    """No variance exceeds `bound`; `reached` is one, and the largest one where `sharp`."""

    bound: float
    reached: float
    sharp: bool


def largest_variance(boxes: Boxes, ddof: int) -> Upper:
    """The largest variance of more than ddof records.

    Requires: more than ddof records can be selected; finite ends.
    Ensures:  as `Upper` says.
    """
    exact = _enumerated(boxes, ddof)
    if exact is not None:
        return exact
    if exact_sum(boxes.least) <= ddof:
        return _few_certain(boxes, ddof)
    low, high = _bracket(boxes, ddof)
    bound = min(_bound(boxes, centre, ddof) for centre in {low, high})
    reached = min(_reached(boxes, low, high, ddof), bound)
    return Upper(bound, reached, bound - reached <= 1e-9 * bound)


def _bound(boxes: Boxes, centre: float, ddof: int) -> float:
    """The certified bound at m: square distances to the far ends, rounded up."""
    far = np.maximum(np.nextafter(boxes.high - centre, np.inf), np.nextafter(centre - boxes.low, np.inf))
    return largest_mean(np.nextafter(far * far, np.inf), boxes.least, boxes.most, ddof).bound


def _corner(boxes: Boxes, centre: float, ddof: int, level: float) -> Corner:
    """The data set farthest from m; `level` starts the search for the mean square distance."""
    right = boxes.high - centre >= centre - boxes.low
    ends = np.where(right, boxes.high, boxes.low)
    squares = (ends - centre) ** 2
    uncertain = not np.array_equal(boxes.least, boxes.most)
    taken, value = boxes.most, level
    for _ in range(_STEPS):
        if uncertain:
            taken = np.where(squares > level, boxes.most, boxes.least)
        value = tree_sum(taken * squares)[0] / (exact_sum(taken) - ddof)
        if not uncertain or abs(value - level) <= 1e-13 * value:
            break
        level = value
    return Corner(taken, ends, value, _mean(taken, ends))


def _mean(taken: Ints, ends: Floats) -> float:
    return tree_sum(taken * ends)[0] / max(exact_sum(taken), 1)


def _bracket(boxes: Boxes, ddof: int) -> tuple[float, float]:
    """Two neighbouring m between which the bound is least: there the farthest data set has its mean at m.

    The mean of the farthest data set falls as m rises (the bound is convex), so there is one crossing. A sample of the
    cells says where to look first.
    """
    low, high = float(boxes.low.min()), float(boxes.high.max())
    if boxes.low.size > 4 * _SAMPLE:
        step = boxes.low.size // _SAMPLE
        sample = boxes.part(slice(None, None, step))
        if exact_sum(sample.least) > ddof:
            guess = sum(_bracket(sample, ddof)) / 2
            return _narrow(boxes, ddof, low, high, guess, 1e-3 * (high - low))
    return _narrow(boxes, ddof, low, high, (low + high) / 2, high - low)


def _narrow(boxes: Boxes, ddof: int, low: float, high: float, guess: float, stride: float) -> tuple[float, float]:
    """Root finding: probe around the guess, then by the secant with bisection as a safeguard."""
    level, at_low, at_high = 0.0, math.inf, -math.inf
    for turn in range(_STEPS):
        if not low < guess < high:
            break
        corner = _corner(boxes, guess, ddof, level)
        level, gap = corner.value, corner.mean - guess
        if gap * gap <= 1e-11 * corner.value:
            return guess, guess
        if gap > 0.0:
            low, at_low = guess, gap
        else:
            high, at_high = guess, gap
        if math.isinf(at_low) or math.isinf(at_high):
            guess = min(max(guess + math.copysign(stride, gap), (low + guess) / 2), (guess + high) / 2)
            stride *= 8.0
        elif turn % 8 == 7:
            guess = (low + high) / 2
        else:
            guess = low + (high - low) * at_low / (at_low - at_high)
    return low, high


def _reached(boxes: Boxes, low: float, high: float, ddof: int) -> float:
    """The best variance on the way from the data set farthest from one m to that farthest from the other.

    They differ in few cells, those that tie. One is changed after the other, and the last one record by record.
    """
    start = _corner(boxes, low, ddof, 0.0)
    end = _corner(boxes, high, ddof, start.value) if high > low else start
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


def _few_certain(boxes: Boxes, ddof: int) -> Upper:
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
    return Upper(bound, min(max(reached, 0.0), bound), bound - reached <= 1e-9 * bound)


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


def _enumerated(boxes: Boxes, ddof: int) -> Upper | None:
    """The exact maximum over all data sets with every value at an end, where there are few of them."""
    size = 1 if boxes.most.size < _VERTICES else math.inf
    for least, most in zip(boxes.least.tolist(), boxes.most.tolist(), strict=True):
        size *= (most + 1) * (most + 2) // 2 - least * (least + 1) // 2
        if size > _VERTICES:
            return None
    sums = np.zeros((3, 1))
    for low, high, least, most in zip(*(column.tolist() for column in boxes), strict=True):
        options = [
            (n, j * high + (n - j) * low, j * high * high + (n - j) * low * low)
            for n in range(least, most + 1)
            for j in range(n + 1)
        ]
        sums = (sums[:, :, None] + np.array(options).T[:, None, :]).reshape(3, -1)
    reached = float(_variances(sums, ddof).max())
    records, reach = exact_sum(boxes.most), max(-float(boxes.low.min()), float(boxes.high.max()), 0.0)
    margin = 4 * gamma(2 * records + 16) * reach * reach * records
    return Upper(up(reached + margin) if margin else 0.0, max(reached, 0.0), True)
