"""Upper bounds of a central moment, or of its ratio to a power of the variance, over all data sets of some boxes.

Let F = sign C_p / V^q with C_p the central moment of degree 3 or 4. For every data set with mean E and every t and k

    sign C_p - R V^q = mean P(x - E) + (t V - R V^q),      P(z) = sign z^p - t z^2 - k z,

because mean (x - E) = 0 and mean (x - E)^2 = V. So the largest mean of P plus the largest t V - R V^q bounds it (weak
duality), and F <= R is proved where that is not positive. E and V lie in known ranges, which are covered by cells; in a
cell the bound is that at its two edges plus a term of second order, because mean P + c E^2 is convex in E. Any t, k and
any cover are sound; a search that need not be trusted makes them good. Proof: docs/explanation/proofs/shape.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Bools, Floats, Ints
from querygate.stats.moment_boxes import (
    Goal,
    best_places,
    best_values,
    largest_means,
    moments,
    selected,
    sketch_of,
    widened_boxes,
)
from querygate.stats.numerics import UNIT, exact_sum
from querygate.stats.variance.largest import Boxes

_POINTS = 17  # means at which the search starts
_MANY, _TRIED = 20_000, 4  # with more boxes than this, only four data sets are considered at a time
_ELEMENTS = 1_500_000  # numbers in one array at a time
_AROUND = np.array(list(product((0.0, -1.0, 1.0), repeat=2))).T  # a point and its neighbours, itself first

_CHANGES = np.array([-2.0, -0.6, 0.0, 0.6, 2.0])
_SIZES = np.array([0.0, *(side * 10.0**power for side in (1.0, -1.0) for power in np.arange(-3.0, 1.1, 0.5))])

_CELLS = 400  # cells that may wait for a proof at a time
_LIMIT = 100.0  # of t and k; the relevant ones are far smaller

Deadline = Callable[[], bool]
"""True when time is up."""


class MomentBound(NamedTuple):
    """No value exceeds `bound`; `reached` is that of a data set with so many records, -inf if none is known."""

    bound: float
    reached: float
    records: int


class Region(NamedTuple):
    """Cells of means [e1, e2] and variances [v1, v2], with a t and a k for each."""

    e1: Floats
    e2: Floats
    v1: Floats
    v2: Floats
    t: Floats
    k: Floats

    def part(self, chosen: Bools | Ints | slice) -> Region:
        return Region(*(column[chosen] for column in self))

    def halves(self, across: Bools) -> Region:
        """Every cell split in two: in variance where `across`, else in mean."""
        e, v = (self.e1 + self.e2) / 2, (self.v1 + self.v2) / 2
        first = self._replace(e2=np.where(across, self.e2, e), v2=np.where(across, v, self.v2))
        second = self._replace(e1=np.where(across, self.e1, e), v1=np.where(across, v, self.v1))
        return Region(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))


@dataclass
class MomentSearch:
    """One maximisation. Boxes are scaled so that they lie in [-1, 1]; means and variances are in their ranges."""

    boxes: Boxes
    goal: Goal
    means: tuple[float, float]
    variances: tuple[float, float]
    gap: float
    passes: int
    round_to: Callable[[Floats], Floats]
    deadline: Deadline = is_time_up
    sketch: Boxes = field(init=False)
    outer: Boxes = field(init=False)
    reached: float = field(init=False, default=-math.inf)
    records: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.sketch, self.outer = sketch_of(self.boxes), widened_boxes(self.boxes)

    def run(self) -> MomentBound:
        """Prove the target that the search expects, and while that is far above the reached value, try a smaller
        one."""
        if self.deadline():
            return MomentBound(math.inf, -math.inf, 0)
        target, seeds = self._estimate(self._start())
        bound = self._proved(self._cover(seeds), target + self.gap)
        while self.passes > 0 and 2 * self.gap < bound - self.reached < math.inf and not self.deadline():
            target = self.reached + max(self.gap, 0.3 * (bound - self.reached))
            better = self._proved(self._cover(seeds), target)
            if better > bound - 0.2 * (bound - self.reached):
                bound = min(bound, better)
                break
            bound = better
        return MomentBound(float(bound), self.reached, self.records)

    def _proved(self, region: Region, target: float) -> float:
        """A bound of the value in all cells: the target where it can be proved; where not, more.

        A cell in which the proof fails is split, unless it is so small that splitting would not help: then what fails
        is that records are counted as real numbers, and the target is raised.
        """
        while True:
            self.passes -= 1
            region, excess = self._improved(region, target, rounds=5)
            self._attain(region)
            target = max(target, self.reached)
            bounds = target + self._per_variance(excess, region)
            in_mean, in_variance = self._errors(region, target)
            fine = np.maximum(in_mean, in_variance) < 0.2 * self.gap * region.v1**self.goal.power
            target = max(target, float(bounds[fine].max(initial=-math.inf)))
            left = (excess > 0.0) & ~fine
            if not left.any():
                return target
            if self.passes <= 0 or left.sum() > _CELLS or self.deadline():
                return max(target, float(bounds[left].max()))
            region = region.part(left).halves((in_variance > in_mean)[left])

    # -- the bound ---------------------------------------------------------------------------------------

    def _excess(self, boxes: Boxes, region: Region, target: float) -> Floats:
        """An upper bound of sign C_p - R V^q over all data sets of a cell."""
        step = max(1, _ELEMENTS // boxes.low.size)
        parts = []
        for start in range(0, region.t.size, step):
            part = region.part(slice(start, start + step))
            edges = [part.e1] if np.array_equal(part.e1, part.e2) else [part.e1, part.e2]
            tops = [largest_means(best_values(boxes, self.goal, e, part.t, part.k), boxes) for e in edges]
            parts.append(np.maximum.reduce(tops))
        size = 1.0 + np.maximum(np.abs(region.e1), np.abs(region.e2))
        largest = size**self.goal.degree + np.abs(region.t) * size**2 + np.abs(region.k) * size
        certain, records = max(1, exact_sum(boxes.least)), exact_sum(boxes.most)
        margin = 64 * UNIT * (boxes.low.size + 8) * largest * (1.0 + records / certain)
        bend = self._bend(region) * ((region.e2 - region.e1) / 2) ** 2
        slack = self._slack(region, target)
        return np.concatenate(parts) + (bend + slack) * (1.0 + np.sign(bend + slack) * 8 * UNIT) + 2 * margin

    def _bend(self, region: Region) -> Floats:
        """c such that mean P(x - E) + c E^2 is convex in the cell: minus half the least second derivative."""
        low, high = -1.0 - region.e2, 1.0 - region.e1
        if self.goal.degree == 3:
            least = 6.0 * low
        elif self.goal.sign > 0:
            least = np.zeros(region.t.size)
        else:
            least = -12.0 * np.maximum(low * low, high * high)
        return np.maximum(0.0, region.t - least / 2.0)

    def _slack(self, region: Region, target: float) -> Floats:
        """The largest t V - R V^q in a cell: at an end, or inside where it is concave."""
        power = self.goal.power
        best = np.maximum(*(region.t * v - target * v**power for v in (region.v1, region.v2)))
        if power > 0.0 and target > 0.0:
            with np.errstate(over="ignore"):
                top = (np.maximum(region.t, 0.0) / (target * power)) ** (1.0 / (power - 1.0))
            top = np.clip(top, region.v1, region.v2)
            best = np.maximum(best, region.t * top - target * top**power)
        size: Floats = np.abs(region.t) * region.v2 + abs(target) * region.v2**power
        return best + 16 * UNIT * size

    def _per_variance(self, excess: Floats, region: Region) -> Floats:
        """The excess, converted to units of the value."""
        with np.errstate(divide="ignore"):
            return np.where(excess > 0.0, excess / region.v1**self.goal.power, 0.0)

    def _errors(self, region: Region, target: float) -> tuple[Floats, Floats]:
        """What is lost by the width of a cell in mean, and in variance where t V - R V^q is convex."""
        in_mean = self._bend(region) * ((region.e2 - region.e1) / 2) ** 2
        if target >= 0.0 or self.goal.power == 0.0:
            return in_mean, np.zeros(region.t.size)
        middle = ((region.v1 + region.v2) / 2) ** self.goal.power
        chord = (region.v1**self.goal.power + region.v2**self.goal.power) / 2
        return in_mean, abs(target) * (chord - middle)

    # -- the search --------------------------------------------------------------------------------------

    def _start(self) -> Region:
        """Means to try first, with t and k as for the best known data set."""
        means = np.linspace(*self.means, _POINTS)
        low, high = (np.full(_POINTS, v) for v in self.variances)
        nothing = np.zeros(_POINTS)
        self._attain(Region(means, means, low, high, nothing, nothing))
        variance, power, best = (low + high) / 2, self.goal.power, max(self.reached, -1e3)
        t = best * power * variance ** (power - 1.0) if power else nothing
        k = 3.0 * variance if self.goal.degree == 3 else nothing
        return self._scanned(Region(means, means, low, high, t, k), self.sketch)

    def _scanned(self, region: Region, boxes: Boxes) -> Region:
        """The best of some t around that of the cell and of k of all sizes; near the ends of the means k is large."""
        spread = float(region.v2[0]) ** (self.goal.degree / 2 - 1.0)
        change, k = (part.ravel() for part in np.meshgrid(_CHANGES * max(spread, 1e-6), _SIZES))
        many = Region(*(np.repeat(column, k.size) for column in region))
        tiles = np.tile(change, region.t.size), np.tile(k, region.t.size)
        many = many._replace(t=many.t + tiles[0], k=np.where(tiles[1] == 0.0, many.k, tiles[1]))
        target = self.reached if math.isfinite(self.reached) else 0.0
        values = self._excess(boxes, many, target).reshape(region.t.size, k.size)
        best = np.argmin(values, axis=1) + np.arange(region.t.size) * k.size
        return many.part(best)

    def _estimate(self, seeds: Region) -> tuple[float, Region]:
        """The least target that the points can prove, nearly (Newton's method), with better t and k."""
        target = self.reached if math.isfinite(self.reached) else 0.0
        middle = max((self.variances[0] + self.variances[1]) / 2, 1e-300) ** self.goal.power
        for turn in range(min(6, 1 + self.passes // 4)):
            seeds, excess = self._improved(seeds, target, rounds=10 if turn == 0 else 5, full=False)
            self._attain(seeds)
            step = float(excess.max()) / middle
            target = max(target + step, self.reached)
            if abs(step) < 0.1 * self.gap:
                break
        return target, seeds

    def _cover(self, seeds: Region) -> Region:
        """The ranges of mean and variance as cells between neighbouring points."""
        if seeds.e1[0] == seeds.e1[-1]:
            return seeds.part(slice(0, 1))
        first, second = seeds.part(slice(0, -1)), seeds.part(slice(1, None))
        tame = np.abs(first.k) < np.abs(second.k)  # at the very ends of the means k may grow without limit
        t, k = np.where(tame, first.t, second.t), np.where(tame, first.k, second.k)
        return first._replace(e2=second.e1, t=t, k=k)

    def _improved(self, region: Region, target: float, rounds: int, full: bool = True) -> tuple[Region, Floats]:
        """Better t and k, found on the sketch, and the bounds they give on the boxes.

        Where the sketch promised a proof that the boxes do not give, the search is repeated on wider boxes.
        """
        region, promised = self._around(self.sketch, region, target, rounds)
        if not full or self.sketch is self.boxes:
            return region, promised
        excess = self._certified(region, target)
        again = np.flatnonzero((excess > 0.0) & (promised <= 0.0))
        if again.size:
            better, _ = self._around(self.outer, self._scanned(region.part(again), self.outer), target, 4)
            excess[again] = self._certified(better, target)
            for column, values in zip(region, better, strict=True):
                column[again] = values
        return region, excess

    def _certified(self, region: Region, target: float) -> Floats:
        """The bounds on the boxes, or on wider ones where these are enough for a proof."""
        excess = self._excess(self.outer, region, target)
        left = excess > 0.0
        if self.outer is not self.boxes and left.any():
            excess[left] = self._excess(self.boxes, region.part(left), target)
        return excess

    def _around(self, boxes: Boxes, region: Region, target: float, rounds: int) -> tuple[Region, Floats]:
        """Pattern search for t and k, all cells at once: a point moves to its best neighbour, or steps get smaller."""
        variance, power = (region.v1 + region.v2) / 2, self.goal.degree / 2
        steps = np.stack([variance ** (power - 1.0) * max(1.0, abs(target)), 2 * variance ** (power - 0.5)])
        place, size = np.stack([region.t, region.k]), region.t.size
        steps = 0.2 * np.maximum(steps, np.abs(place))
        lowest = np.full(size, math.inf)
        for _ in range(rounds):
            tried = np.clip(place[:, :, None] + steps[:, :, None] * _AROUND[:, None, :], -_LIMIT, _LIMIT)
            many = Region(*(np.repeat(column, 9) for column in region[:4]), *tried.reshape(2, -1))
            values = self._excess(boxes, many, target).reshape(size, 9)
            best = np.argmin(values, axis=1)
            place, lowest = tried[:, np.arange(size), best], values[np.arange(size), best]
            steps *= np.where(best == 0, 0.4, 1.5)
        return region._replace(t=place[0].copy(), k=place[1].copy()), lowest

    def _attain(self, region: Region) -> None:
        """Values of data sets that are best responses at the edges of cells, and of those they lead to.

        With very many boxes only those are tried that do well on the sketch.
        """
        chosen = region if region.t.size <= 2 * _POINTS else region.part(slice(None, None, region.t.size // _POINTS))
        first = (chosen.e1 + chosen.e2) / 2, chosen.t, chosen.k
        if self.boxes.low.size > _MANY:
            value = np.max([response[0] for response in self._responses(self.sketch, *first)], axis=0)
            best = np.argsort(-value)[:_TRIED]
        else:
            best = np.arange(min(chosen.t.size, max(1, _ELEMENTS // self.boxes.low.size)))
        for value, records in self._responses(self.boxes, *(column[best] for column in first)):
            top = int(np.argmax(value))
            if value[top] > self.reached:
                self.reached, self.records = float(value[top]), round(float(records[top]))

    def _responses(self, boxes: Boxes, e: Floats, t: Floats, k: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Values and numbers of records of best responses, and of the best responses to these."""
        for _ in range(3):
            values, places = best_places(boxes, self.goal, e, t, k)
            taken = selected(values, boxes)
            e, variance, third, fourth = moments(self.round_to(places), taken)
            value = self.goal.of(variance, third if self.goal.degree == 3 else fourth)
            yield value, taken.sum(axis=1)
            ratio = np.where(np.isfinite(value), value, 0.0)
            t = ratio * self.goal.power * variance ** max(self.goal.power - 1.0, 0.0) if self.goal.power else t
            k = 3.0 * variance if self.goal.degree == 3 else 4.0 * self.goal.sign * third
