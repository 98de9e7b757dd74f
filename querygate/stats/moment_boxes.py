"""Boxes in the search for moments: where a polynomial is largest in each, and how many boxes are merged into few.

Proof: docs/explanation/proofs/shape.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats
from querygate.stats.numerics import exact_sum
from querygate.stats.variance.largest import Boxes

_GRID, _SKETCHED = 32, 300  # more boxes than these are merged on a grid while t and k are searched for
_FINE, _WIDENED = 128, 3000  # more boxes than these are widened to a grid of 1/128 where that suffices for a proof


class Goal(NamedTuple):
    """The quantity to maximise: sign C_degree / V^power."""

    degree: int
    sign: float
    power: float

    def polynomial(self, z: Floats, t: Floats, k: Floats) -> Floats:
        """sign z^p - t z^2 - k z."""
        leading = self.sign * (z if self.degree == 3 else z * z)
        value: Floats = ((leading - t) * z - k) * z
        return value

    def of(self, variance: Floats, moment: Floats) -> Floats:
        """The value at given moments; -inf where the variance vanishes."""
        with np.errstate(divide="ignore", invalid="ignore"):
            value = self.sign * moment / variance**self.power
        return np.where((variance > 0.0) | (self.power == 0.0), value, -np.inf)


def best_values(boxes: Boxes, goal: Goal, e: Floats, t: Floats, k: Floats) -> Floats:
    """Per cell and box the largest P(x - E): at an end, or where P is level."""
    e, t, k = e[:, None], t[:, None], k[:, None]
    left, right = boxes.low - e, boxes.high - e
    value: Floats = np.maximum(goal.polynomial(left, t, k), goal.polynomial(right, t, k))
    for level in _level_places(goal, t, k):
        inside = (left < level) & (level < right)
        if inside.any():
            np.maximum(value, goal.polynomial(level, t, k), out=value, where=inside)
    return value


def best_places(boxes: Boxes, goal: Goal, e: Floats, t: Floats, k: Floats) -> tuple[Floats, Floats]:
    """The same, and an x that has it."""
    e, t, k = e[:, None], t[:, None], k[:, None]
    left, right = boxes.low - e, boxes.high - e
    value, at_right = goal.polynomial(left, t, k), goal.polynomial(right, t, k)
    better = at_right > value
    value, place = np.where(better, at_right, value), np.where(better, right, left)
    for level in _level_places(goal, t, k):
        inside = (left < level) & (level < right)
        if inside.any():
            there = goal.polynomial(level, t, k)
            better = inside & (there > value)
            value, place = np.where(better, there, value), np.where(better, level, place)
    return value, place + e


def _level_places(goal: Goal, t: Floats, k: Floats) -> list[Floats]:
    """Where P can have a local maximum, among others; NaN where there is no such place.

    A superfluous place does no harm, so near the border between the formulas both are used.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        if goal.degree == 3:
            return [(t - np.sqrt(t * t + 3.0 * k)) / 3.0]
        # 4 sign z^3 - 2 t z - k = 0, that is z^3 + a z + b = 0
        a, b = -goal.sign * t / 2.0, -goal.sign * k / 4.0
        radius = 2.0 * np.sqrt(-a / 3.0)
        angle = np.arccos(np.clip(3.0 * b / (a * radius), -1.0, 1.0)) / 3.0
        roots = [radius * np.cos(angle - 2.0 * math.pi * j / 3.0) for j in range(3)]
        if goal.sign > 0:
            return [roots[1]]
        root = np.sqrt(np.maximum(b * b / 4.0 + a**3 / 27.0, 0.0))
        return [roots[0], roots[2], np.cbrt(-b / 2.0 + root) + np.cbrt(-b / 2.0 - root)]


def largest_means(values: Floats, boxes: Boxes) -> Floats:
    """Per row a number that no mean over a selection exceeds (Dinkelbach; see location.md)."""
    certain, spare = exact_sum(boxes.least), boxes.spare
    if certain == 0:
        top: Floats = values.max(axis=1)
        return top
    base = values @ boxes.least.astype(np.float64)
    mean: Floats = base / certain
    if not spare.size:
        return mean
    free, values = (boxes.most[spare] - boxes.least[spare]).astype(np.float64), values[:, spare]
    for _ in range(6):
        gain = np.maximum(values - mean[:, None], 0.0)
        step = (gain @ free + (base - certain * mean)) / (certain + (gain > 0.0) @ free)
        mean = mean + step
        if np.all(step <= 1e-14 * np.abs(mean)):
            break
    gain = np.maximum(values - mean[:, None], 0.0) @ free + (base - certain * mean)
    return mean + np.maximum(gain, 0.0) / certain


def selected(values: Floats, boxes: Boxes) -> Floats:
    """Per row who is selected where the mean of the values is largest."""
    if np.array_equal(boxes.least, boxes.most):
        return np.broadcast_to(boxes.most.astype(np.float64), values.shape)
    mean = largest_means(values, boxes)
    taken = np.where(values > mean[:, None], boxes.most, boxes.least).astype(np.float64)
    return np.where(taken.sum(axis=1, keepdims=True) > 2.0, taken, boxes.most)


def moments(places: Floats, taken: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean and central moments per row."""
    records = taken.sum(axis=1)
    mean = (taken * places).sum(axis=1) / records
    away = places - mean[:, None]
    square = away * away
    second, third, fourth = (
        (taken * power).sum(axis=1) / records for power in (square, square * away, square * square)
    )
    return mean, second, third, fourth


def sketch_of(boxes: Boxes) -> Boxes:
    """Boxes that are nearly equal replaced by their average, which keeps the range of the mean: no bound is taken from
    it, but it is good enough to find t and k."""
    if boxes.low.size <= _SKETCHED:
        return boxes
    low, high = np.floor((boxes.low + 1.0) * _GRID / 2), np.floor((boxes.high + 1.0) * _GRID / 2)
    sure = (boxes.least == boxes.most).astype(np.float64)
    _, which = np.unique((low * (_GRID + 2) + high) * 2 + sure, return_inverse=True)
    least, most = (np.bincount(which, counts) for counts in (boxes.least, boxes.most))
    low, high = (np.bincount(which, boxes.most * ends) / most for ends in (boxes.low, boxes.high))
    return Boxes(low, high, least.astype(np.int64), most.astype(np.int64))


def widened_boxes(boxes: Boxes) -> Boxes:
    """Boxes widened to a grid and merged: what is proved of these is proved of the boxes."""
    if boxes.low.size <= _WIDENED:
        return boxes
    low, high = np.floor((boxes.low + 1.0) * _FINE), np.ceil((boxes.high + 1.0) * _FINE)
    keys, which = np.unique(low * (4 * _FINE) + high, return_inverse=True)
    least, most = (np.bincount(which, counts).astype(np.int64) for counts in (boxes.least, boxes.most))
    return Boxes(keys // (4 * _FINE) / _FINE - 1.0, keys % (4 * _FINE) / _FINE - 1.0, least, most)
