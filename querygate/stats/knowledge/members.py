"""Extreme members of classes: a short list for each, so that a largest mean is one over these lists.

A list leans up: it has `outer` members at the upper end, one special member, and the others at the lower end. For every
s its s largest members have the largest sum that s members can have. That function of s is concave, so the ordinary
algorithms, which take the largest first, need not know that the members belong together. Proof:
docs/explanation/proofs/knowledge.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.stats.knowledge.classes import Classes
from querygate.stats.numerics import INT64_SAFE, UNIT, centred, dot_bounds, exact_sum, gamma, up


class LeaningList(NamedTuple):
    """The list that leans up: `outer` members at the upper end, one in [low, top], the others at the lower end."""

    outer: Ints
    low: Floats | Ints
    top: Floats | Ints


class Runs(NamedTuple):
    """Equal members: value, and how many of them are selected at least and at most."""

    values: Floats | Ints
    least: Ints
    most: Ints


def leaning(classes: Classes) -> LeaningList:
    """The list of each class that leans up.

    Requires: at least one member per class.
    """
    low, high, size = classes.low, classes.high, classes.size
    point = low == high
    if classes.tight:
        special = np.where((size > 1) & ~point, low, high)
        return LeaningList(size - 1, special, special)
    if classes.sum_low is None:
        return LeaningList(size - 1, high, high)
    first, last = classes.sums
    width = np.where(point, 1, high - low)
    count = np.clip((last - size * low) // width, 0, size - 1).astype(np.int64)
    rest = count * high + (size - count - 1) * low
    # A double is off by a few roundings of numbers of this size; whole numbers are not off at all.
    margin = 0 if classes.integer else 16 * UNIT * classes.reach * size
    top = last - rest + margin
    bottom = np.where(rest + low >= first, low, first - rest - margin)
    return LeaningList(np.where(point, size - 1, count), np.where(point, high, bottom), np.where(point, high, top))


def make_runs(values: list[Floats | Ints], counts: list[Ints], least: Ints, most: Ints) -> Runs:
    """Runs of each class in the order in which they are taken: the first `least` members are, up to `most` can be."""
    start = np.zeros(least.size, dtype=np.int64)
    taken: list[tuple[Ints, Ints]] = []
    for number in counts:
        taken.append((np.clip(least - start, 0, number), np.clip(most - start, 0, number)))
        start = start + number
    every: Floats = np.concatenate(values)  # or whole numbers, if all of them are
    lower, upper = (np.concatenate([pair[side] for pair in taken]) for side in (0, 1))
    kept = upper > 0
    return Runs(every[kept], lower[kept], upper[kept])


def upper_runs(classes: Classes) -> Runs:
    """The lists that give the largest mean and the largest sum, whatever is known."""
    if classes.squares_high is None or classes.whole.all():
        return _listed(classes)
    listed, spread = _listed(classes.part(classes.whole)), _spread(classes.part(~classes.whole))
    values = np.concatenate([listed.values.astype(np.float64), spread.values.astype(np.float64)])
    least, most = np.concatenate([listed.least, spread.least]), np.concatenate([listed.most, spread.most])
    return Runs(values, least, most)


def _listed(classes: Classes) -> Runs:
    found = leaning(classes)
    counts = [found.outer, np.ones_like(found.outer), classes.size - found.outer - 1]
    return make_runs([classes.high, found.top, classes.low], counts, classes.least, classes.most)


def _spread(classes: Classes) -> Runs:
    """With sums of squares s members have a sum of at most f(s), and f is concave: its increments are the members.

    f(s) = min(s b, T - (m - s) a, s M + sd sqrt(s (m - s))).
    """
    chosen = np.repeat(np.arange(classes.size.size), classes.most)
    start = np.cumsum(classes.most) - classes.most
    number = np.arange(chosen.size) - start[chosen] + 1
    size, total = classes.size[chosen], classes.sums[1][chosen].astype(np.float64)
    low, high = classes.low[chosen].astype(np.float64), classes.high[chosen].astype(np.float64)
    deviation = deviations(classes)[1][chosen]

    def largest(s: Ints) -> Floats:
        moments = s * (total / size) + deviation * np.sqrt(s * (size - s))
        found: Floats = np.minimum(np.minimum(s * high, total - (size - s) * low), moments)
        return np.where(s == 0, 0.0, found)

    rise: Floats = largest(number) - largest(number - 1) + 32 * UNIT * classes.reach * size
    return Runs(rise, (number <= classes.least[chosen]).astype(np.int64), np.ones_like(number))


def deviations(classes: Classes) -> tuple[Floats, Floats]:
    """Standard deviation of each class from its sum and sum of squares, rounded down and up.

    m Q - T^2 is exact where it fits into 64 bits; otherwise the cancellation is covered by a margin.
    """
    (sums, _), (small, large), size = classes.sums, classes.squares, classes.size
    if classes.integer and float(np.max(large, initial=0)) * float(np.max(size, initial=1)) < INT64_SAFE:
        lower, upper = ((size * squares - sums * sums).astype(np.float64) for squares in (small, large))
        margin = np.zeros(size.size)
    else:
        ends = (squares.astype(np.float64) * size - sums.astype(np.float64) ** 2 for squares in (small, large))
        lower, upper = ends
        margin = 8 * UNIT * large.astype(np.float64) * size
    low: Floats = np.sqrt(np.maximum(lower - margin, 0.0)) / size * (1.0 - 8 * UNIT)
    high: Floats = np.sqrt(np.maximum(upper + margin, 0.0)) / size * (1.0 + 8 * UNIT)
    return low, high


def moved(values: Floats | Ints, middle: float, side: float) -> Floats:
    """values - middle, rounded towards `side`. Whole numbers are doubles here: their sums stay below 2^53."""
    return centred(values.astype(np.float64), middle, side)


def largest_computed_sum(runs: Runs) -> tuple[float, float]:
    """Bound and attained value of the sum of doubles that a database computes in an order of its own."""
    values = runs.values.astype(np.float64)
    inflated = np.nextafter(values + np.abs(values) * gamma(exact_sum(runs.most)), np.inf)
    taken = np.where(inflated >= 0.0, runs.most, runs.least)
    if not taken.any():
        return float(inflated.max()), float(values.max())
    bound = up(dot_bounds(taken, inflated).high)
    return (math.inf if math.isnan(bound) else bound), float(np.add.reduce(taken * values))
