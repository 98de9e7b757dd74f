"""One test for covariance, correlation and slope: prove that a Var(A) - b Var(B) <= T for every data set.

A and B are linear in (x, y). For every point (mx, my), with m = A(mx, my) and c = B(mx, my),
    a Var(A) - b Var(B) <= phi + b (E_B - c)^2,   phi = largest mean of q = a (A - m)^2 - b (B - c)^2,
so if phi < T, all data sets with |E_B - c| <= sqrt((T - phi) / b) are proved. The range of E_B is covered by such
intervals. q is a quadratic form in (x - mx, y - my); its maximum over a box is at a corner or on an edge.
Proof: docs/explanation/proofs/association.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.stats.numerics import UNIT, exact_sum, tree_sum
from querygate.stats.ratio import largest_mean

_PASSES = 4  # for m, which converges in one to three
_POINTS = 200  # intervals tried before a proof is given up


class Plane(NamedTuple):
    """Boxes in the plane, moved to a centre, ends rounded outwards."""

    x_low: Floats
    x_high: Floats
    y_low: Floats
    y_high: Floats
    least: Ints
    most: Ints


class Form(NamedTuple):
    """q(dx, dy) = xx dx^2 + xy dx dy + yy dy^2."""

    xx: float
    xy: float
    yy: float


class Best(NamedTuple):
    """The largest q per box and where it is."""

    values: Floats
    x: Floats
    y: Floats


class Claim(NamedTuple):
    """a Var(A) - b Var(B) <= target, with A = ax x + ay y and B = bx x + by y; `form` is a A^2 - b B^2."""

    form: Form
    a: float
    ax: float
    ay: float
    b: float
    bx: float
    by: float
    target: float


def best_points(plane: Plane, form: Form, mx: float, my: float) -> Best:
    """Maximise the form over each box: four corners, and on edges along which it is concave the highest point.

    The interior never wins, since the form is not negative definite there: al A^2 has a positive coefficient.
    """
    left, right = plane.x_low - mx, plane.x_high - mx
    down_, up_ = plane.y_low - my, plane.y_high - my
    candidates = [(x, y) for x in (left, right) for y in (down_, up_)]
    if form.xx < 0.0:
        candidates += [(np.clip(y * (-0.5 * form.xy / form.xx), left, right), y) for y in (down_, up_)]
    if form.yy < 0.0:
        candidates += [(x, np.clip(x * (-0.5 * form.xy / form.yy), down_, up_)) for x in (left, right)]
    best, at_x, at_y = np.full(left.size, -np.inf), left, down_
    for x, y in candidates:
        value = x * (form.xx * x + form.xy * y) + form.yy * y * y
        better = value > best
        best = np.where(better, value, best)
        at_x, at_y = np.where(better, x, at_x), np.where(better, y, at_y)
    return Best(best, at_x, at_y)


def is_proved(plane: Plane, claim: Claim, mx: float, my: float) -> bool:
    """Cover the range of E_B, starting at the point given and walking outwards both ways."""
    low, high = _mean_range(plane, claim)
    centre = min(max(claim.bx * mx + claim.by * my, low), high)
    middle = claim.ax * mx + claim.ay * my
    start = _radius(plane, claim, centre, middle)
    if start is None:
        return False
    budget = [_POINTS]
    return all(_walk(plane, claim, centre, *start, end, budget) for end in (low, high))


def _walk(
    plane: Plane, claim: Claim, centre: float, radius: float, middle: float, end: float, budget: list[int]
) -> bool:
    """Prove everything from the centre to one end of the range of E_B."""
    side = 1.0 if end >= centre else -1.0
    reached = centre + side * radius
    stride = radius
    for _ in range(_POINTS):
        if side * (end - reached) <= 0.0:
            return True
        guess = reached + side * 0.8 * stride
        found = _radius(plane, claim, guess, middle)
        if found is None:
            return False
        radius, middle = found
        if side * (reached - (guess - side * radius)) < 0.0:  # a gap is left: come nearer
            stride *= 0.5
            continue
        reached, stride = guess + side * radius, radius
    return False


def _radius(plane: Plane, claim: Claim, centre: float, middle: float) -> tuple[float, float] | None:
    """How far around c the claim is proved, and the m that was best; None where no m proves anything."""
    determinant = claim.ax * claim.by - claim.ay * claim.bx
    for _ in range(_PASSES):
        mx = (middle * claim.by - centre * claim.ay) / determinant
        my = (centre * claim.ax - middle * claim.bx) / determinant
        best = best_points(plane, claim.form, mx, my)
        margin, blur = _margins(plane, claim, mx, my)
        top = largest_mean(best.values + margin, plane.least, plane.most)
        room = claim.target - top.bound
        if room > 0.0:
            return max(0.0, math.sqrt(room / claim.b) * (1.0 - 8 * UNIT) - blur), middle
        taken = np.where(best.values > top.reached, plane.most, plane.least)
        mean = _mean_of(taken, best, claim.ax, claim.ay) + middle
        if top.reached - claim.a * (mean - middle) ** 2 > claim.target or mean == middle:
            return None
        middle = mean
    return None


def _mean_of(taken: Ints, best: Best, along_x: float, along_y: float) -> float:
    """Mean of a linear function of (dx, dy) over the data set found."""
    records = max(exact_sum(taken), 1)
    return (along_x * tree_sum(taken * best.x)[0] + along_y * tree_sum(taken * best.y)[0]) / records


def _margins(plane: Plane, claim: Claim, mx: float, my: float) -> tuple[float, float]:
    """What a value of q may be off by, and c."""
    size_x = max(-float(plane.x_low.min()), float(plane.x_high.max()), 0.0) + abs(mx)
    size_y = max(-float(plane.y_low.min()), float(plane.y_high.max()), 0.0) + abs(my)
    reach_a = abs(claim.ax) * size_x + abs(claim.ay) * size_y
    reach_b = abs(claim.bx) * size_x + abs(claim.by) * size_y
    return 48 * UNIT * (claim.a * reach_a**2 + claim.b * reach_b**2), 16 * UNIT * reach_b


def _mean_range(plane: Plane, claim: Claim) -> tuple[float, float]:
    """The range of E_B over all data sets, outwards."""
    size = _margins(plane, claim, 0.0, 0.0)[1]
    ends = []
    for side in (1.0, -1.0):
        along_x, along_y = side * claim.bx, side * claim.by
        x = plane.x_high if along_x >= 0.0 else plane.x_low
        y = plane.y_high if along_y >= 0.0 else plane.y_low
        ends.append(side * (largest_mean(along_x * x + along_y * y + size, plane.least, plane.most).bound + size))
    return ends[1], ends[0]
