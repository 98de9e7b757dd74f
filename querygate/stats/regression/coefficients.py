"""Multiple regression by least squares: a guaranteed range for each coefficient. Proof: regression.md.

First all coefficients are enclosed in a box by a verified solution of the normal equations in residual form (Krawczyk,
Rump). Where x is exact and membership certain that is already sharp, because coefficients are linear in y. Elsewhere
each side of the box is moved inwards by weak duality: for every v, the sum of (v . x)(y - x . b) vanishes at the
coefficients b, so b cannot be where its largest value is negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np

from querygate.core.registry import Registry
from querygate.core.types import Floats, Range
from querygate.stats.association import regr_slope
from querygate.stats.numerics import are_within, enclose, exact_sum, gamma, to_float, up
from querygate.stats.pairs import PairCells
from querygate.stats.registry import PROOFS
from querygate.stats.regression.box_design import BoxDesign, RegressionCells, largest_sum, make_design
from querygate.stats.regression.coefficient_ascent import ReachedValue, climb
from querygate.stats.regression.coefficient_box import Start, start

_REACH = 1e100
_ROUNDS = 4
_WORK = 2**27  # boxes times corners beyond which the box is left as it is
_WORTHWHILE = 0.97  # relative size to which a further round must shrink the box
_SLACK = 1e-9  # relative: within this, an attained value counts as the end


@dataclass(frozen=True, slots=True)
class RegressionModel:
    """A statistic of many columns with several numbers as its answer."""

    name: str
    ranges: Callable[[RegressionCells, bool], list[Range]]
    proof: str
    summary: str


MODELS: Registry[RegressionModel] = Registry("model")
"""Statistics of many columns."""


def coefficient_ranges(cells: RegressionCells, intercept: bool = True) -> list[Range]:
    """Range of each coefficient of the regression of y on the columns of x, the intercept first where there is one.

    Requires: finite ends; 0 <= least <= most.
    Ensures:  the exact coefficients of every consistent data set are inside; sharp where x is exact and membership
              certain. Where some data set might not determine them: no bound, `may_be_null`.
    """
    keep = cells.most > 0
    if not keep.all():
        kept = (cells.x_low[:, keep], cells.x_high[:, keep], cells.y_low[keep], cells.y_high[keep])
        cells = RegressionCells(*kept, cells.least[keep], cells.most[keep])
    number = cells.x_low.shape[0] + intercept
    if exact_sum(cells.most) < number:
        return [Range.null()] * number
    ends = (cells.x_low, cells.x_high, cells.y_low, cells.y_high)
    if not are_within(_REACH, *(end for end in ends if end.size)):
        return [_unbounded()] * number
    design = make_design(cells, intercept)
    begun = start(design)
    if begun is None:
        return [_unbounded()] * number
    return _ranges(cells, design, begun, intercept)


MODELS.register(
    "regression",
    RegressionModel(
        "regression", coefficient_ranges, f"{PROOFS}/regression.md", "coefficients of a multiple regression"
    ),
)


def _unbounded() -> Range:
    return Range(-math.inf, math.inf, None, None, sharp=False, may_be_null=True)


# -- bounds ------------------------------------------------------------------------------------------------


class Target(NamedTuple):
    """A linear function of the coefficients, with a range."""

    functional: Floats
    low: float
    high: float

    def mirrored(self) -> Target:
        return self._replace(low=-self.high, high=-self.low)


def _ranges(cells: RegressionCells, design: BoxDesign, begun: Start, intercept: bool) -> list[Range]:
    """The coefficients of the scaled columns, then the intercept before anything was moved; in units of the data."""
    functionals = list(np.eye(design.columns))
    if intercept:
        functionals.append(np.append(1.0, -np.array(design.centres[1:]) / np.array(design.scales[1:])))
    targets = [Target(g, *begun.range(design, g)) for g in functionals]
    uncertain = bool(design.loose) or not np.array_equal(design.least, design.most)
    mirror = design.mirrored()
    above, below = ([climb(side, g) for g in functionals] for side in (design, mirror))
    if uncertain and intercept and design.columns == 2:
        targets[1] = _as_simple(cells, design, targets[1])
    if uncertain:
        targets = _tightened([(design, above), (mirror, below)], targets)
    wanted = [len(targets) - 1, *range(1, design.columns)] if intercept else range(design.columns)
    return [_in_units(design, k, targets[k], below[k], above[k]) for k in wanted]


def _as_simple(cells: RegressionCells, design: BoxDesign, target: Target) -> Target:
    """For one column there is a separate proof that leaves almost no gap."""
    pairs = PairCells(cells.x_low[0], cells.x_high[0], cells.y_low, cells.y_high, cells.least, cells.most)
    found, factor = regr_slope(pairs), Fraction(design.scales[1]) / Fraction(design.y_scale)
    if found.low is None or found.high is None or not math.isfinite(found.high - found.low):
        return target
    low, high = enclose(Fraction(found.low) * factor).low, enclose(Fraction(found.high) * factor).high
    return target._replace(low=max(low, target.low), high=min(high, target.high))


def _tightened(sides: list[tuple[BoxDesign, list[ReachedValue | None]]], targets: list[Target]) -> list[Target]:
    """Moves each end inwards as far as the others allow, in turn."""
    columns = sides[0][0].columns
    if sides[0][0].y.size << (columns - 1) > _WORK:
        return targets
    for _ in range(_ROUNDS):
        before = _widths(targets[:columns])
        for turn, (design, reached) in enumerate(sides):
            for k, found in enumerate(reached):
                if found is not None:
                    signed = [t.mirrored() for t in targets] if turn else targets
                    high = min(signed[k].high, _upper_end(design, signed[:columns], signed[k], found))
                    targets[k] = targets[k]._replace(low=-high) if turn else targets[k]._replace(high=high)
        if _widths(targets[:columns]) > _WORTHWHILE * before:
            break
    return targets


def _widths(targets: list[Target]) -> float:
    return math.prod(t.high - t.low for t in targets)


def _upper_end(design: BoxDesign, box: list[Target], target: Target, reached: ReachedValue) -> float:
    """T such that no data set with its other coefficients in the box has more: sum (v . x)(y - x . b) is 0 at the
    coefficients b, and falls with the target, one coefficient (the pivot) being moved, at a rate known to be positive.
    """
    g = target.functional
    parts = [abs(weight) * max(side.high - side.low, 1e-300) for weight, side in zip(g, box, strict=True)]
    pivot = int(np.argmax(parts))
    unit = np.zeros(design.columns)
    unit[pivot] = -1.0 / g[pivot]
    rate = -largest_sum(design, -reached.row, unit, with_y=False)
    if not rate > 0.0:
        return math.inf
    others = [k for k in range(design.columns) if k != pivot]
    corners = [np.array(corner) for corner in product(*((box[k].low, box[k].high) for k in others))]

    def end_from(guess: float) -> tuple[float, float]:
        """A bound proved by the value of the sum at a guess, and that value."""
        excess, size = 0.0, abs(guess)
        for corner in corners:
            b = np.zeros(design.columns)
            b[others] = corner
            b[pivot] = (guess - float(g[others] @ corner)) / g[pivot]
            size = max(size, abs(guess) + 2 * float(np.abs(g[others]) @ np.abs(corner)))
            excess = max(excess, largest_sum(design, reached.row, b))
        # the pivot was rounded: the target may differ from the guess by this much
        return up(up(guess + up(excess / rate)) + up(gamma(2 * design.columns + 8) * size)), excess

    first, excess = end_from(reached.value)
    return min(first, end_from(reached.value + excess)[0]) if math.isfinite(excess) else first


# -- in the units of the data --------------------------------------------------------------------------------


def _in_units(
    design: BoxDesign, k: int, target: Target, below: ReachedValue | None, above: ReachedValue | None
) -> Range:
    """Scaled back, the intercept with its y moved back."""
    is_intercept = k == design.columns
    factor = Fraction(design.y_scale) / Fraction(design.scales[0 if is_intercept else k])
    moved = Fraction(design.y_centre) if is_intercept else Fraction(0)

    def back(value: float) -> Fraction:
        return Fraction(value) * factor + moved

    if not (math.isfinite(target.low) and math.isfinite(target.high)):
        return _unbounded()
    low, high = enclose(back(target.low)).low, enclose(back(target.high)).high
    attained = [
        None if found is None else to_float(back(sign * found.value)) for sign, found in ((-1, below), (1, above))
    ]
    ends = [None if value is None else min(max(value, low), high) for value in attained]
    slack = _SLACK * max(abs(low), abs(high), high - low)
    sharp = all(value is not None and abs(value - end) <= slack for value, end in zip(ends, (low, high), strict=True))
    return Range(low, high, ends[0], ends[1], sharp=sharp)
