"""The largest variance on lists of extreme members, by weak duality.

For every m the farthest members of a class are those of the list that leans away from m, and their mean square distance
from m bounds the variance. The search for m need not be trusted, the bound at what it finds is certified.
Proof: docs/explanation/proofs/knowledge.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.stats.knowledge.classes import Classes
from querygate.stats.knowledge.members import LeaningList, Runs, leaning, make_runs, moved
from querygate.stats.largest_mean import largest_mean
from querygate.stats.numerics import exact_sum, tree_sum
from querygate.stats.variance.largest import Boxes

_STEPS = 60
_SECTIONS = 32


class LeaningLists(NamedTuple):
    """Classes moved to a centre, with the list that leans up and the one that leans down (outer members at `low`)."""

    low: Floats
    high: Floats
    size: Ints
    least: Ints
    most: Ints
    rising: LeaningList
    falling: LeaningList


class Farthest(NamedTuple):
    """The selection farthest from m: its mean square distance, its mean and its variance."""

    value: float
    mean: float
    variance: float


def make_lists(classes: Classes, middle: float, points: Boxes | None) -> LeaningLists:
    """The lists of all classes, and further records with values in boxes."""
    up, down = leaning(classes), leaning(classes.mirrored())
    down = LeaningList(down.outer, -down.top, -down.low)
    low, high = moved(classes.low, middle, -math.inf), moved(classes.high, middle, math.inf)
    rising, falling = (_centred(found, middle) for found in (up, down))
    if points is None:
        return LeaningLists(low, high, classes.size, classes.least, classes.most, rising, falling)
    size = np.concatenate([classes.size, points.most])
    ends = np.concatenate([low, points.low]), np.concatenate([high, points.high])
    rising = _appended(rising, points.most - 1, points.high)
    falling = _appended(falling, points.most - 1, points.low)
    least, most = np.concatenate([classes.least, points.least]), np.concatenate([classes.most, points.most])
    return LeaningLists(*ends, size, least, most, rising, falling)


def _centred(found: LeaningList, middle: float) -> LeaningList:
    return LeaningList(found.outer, moved(found.low, middle, -math.inf), moved(found.top, middle, math.inf))


def _appended(found: LeaningList, outer: Ints, end: Floats) -> LeaningList:
    """All members at one end: the list of a class about which no more is known."""
    special = np.concatenate([found.low, end]), np.concatenate([found.top, end])
    return LeaningList(np.concatenate([found.outer, outer]), *special)


def _far_runs(lists: LeaningLists, m: float) -> Runs:
    """The members farthest from m, farthest first: far end, then the special member and the near end."""
    right = lists.high - m >= m - lists.low
    far, near = np.where(right, lists.high, lists.low), np.where(right, lists.low, lists.high)
    outer = np.where(right, lists.rising.outer, lists.falling.outer)
    low = np.where(right, lists.rising.low, lists.falling.low)
    top = np.where(right, lists.rising.top, lists.falling.top)
    special = np.where(top - m >= m - low, top, low)
    first = np.abs(special - m) >= np.abs(near - m)
    one, others = np.ones_like(outer), lists.size - outer - 1
    values = [far, np.where(first, special, near), np.where(first, near, special)]
    counts = [outer, np.where(first, one, others), np.where(first, others, one)]
    return make_runs(values, counts, lists.least, lists.most)


def _bound(lists: LeaningLists, m: float, ddof: int) -> float:
    """The certified bound at m."""
    runs = _far_runs(lists, m)
    distance = np.nextafter(np.abs(runs.values - m), np.inf)
    return largest_mean(np.nextafter(distance * distance, np.inf), runs.least, runs.most, ddof).bound


def _farthest(lists: LeaningLists, m: float, ddof: int, level: float) -> Farthest:
    """Dinkelbach on the square distances from m; `level` starts it."""
    runs = _far_runs(lists, m)
    values = runs.values.astype(np.float64)
    squares = (values - m) ** 2
    taken = runs.most
    for _ in range(_STEPS):
        taken = np.where(squares > level, runs.most, runs.least)
        value = tree_sum(taken * squares)[0] / (exact_sum(taken) - ddof)
        if abs(value - level) <= 1e-13 * value:
            break
        level = value
    records = exact_sum(taken)
    mean = tree_sum(taken * values)[0] / records
    return Farthest(level, mean, tree_sum(taken * (values - mean) ** 2)[0] / (records - ddof))


def largest(lists: LeaningLists, ddof: int) -> tuple[float, float | None]:
    """A bound that no variance exceeds, and one that is reached, if one is known.

    The mean of the farthest selection falls as m rises; the bound is least where it crosses m.
    """
    if exact_sum(lists.least) <= ddof:
        return _largest_of_few(lists, ddof), None
    low, high = float(lists.low.min()), float(lists.high.max())
    best, reached, level = math.inf, 0.0, 0.0
    m, at_low, at_high = _start(lists), math.inf, -math.inf
    for turn in range(_STEPS):
        found = _farthest(lists, m, ddof, level)
        level, gap = found.value, found.mean - m
        best, reached = min(best, found.value), max(reached, found.variance)
        if best - reached <= 1e-12 * best:
            break
        low, at_low, high, at_high = (m, gap, high, at_high) if gap > 0.0 else (low, at_low, m, gap)
        m = (low + high) / 2
        if turn % 3 and math.isfinite(at_low) and math.isfinite(at_high):
            m = low + (high - low) * at_low / (at_low - at_high)
        if not low < m < high or (high - low) ** 2 <= 1e-14 * best:  # what m misses costs its square
            break
    bound = min(_bound(lists, at, ddof) for at in {low, m, high})
    return bound, min(reached, bound)


def _start(lists: LeaningLists) -> float:
    """The mean over all members of the lists: the exact answer where all classes are whole with known sums."""
    weights = lists.least / lists.size
    rising = lists.rising
    total = rising.outer * lists.high + (rising.low + rising.top) / 2 + (lists.size - rising.outer - 1) * lists.low
    return tree_sum(weights * total)[0] / exact_sum(lists.least)


def _largest_of_few(lists: LeaningLists, ddof: int) -> float:
    """No more than ddof certain records: the bound at the best of the m tried by golden section; each is sound."""
    low, high = float(lists.low.min()), float(lists.high.max())
    for _ in range(_SECTIONS):
        left, right = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, right) if _bound(lists, left, ddof) <= _bound(lists, right, ddof) else (left, high)
    return _bound(lists, (low + high) / 2, ddof)
