"""One test for covariance, correlation and slope: prove that a Var(A) - b Var(B) <= T for every data set.

A and B are linear in (x, y). For every point (mx, my), with m = A(mx, my) and c = B(mx, my),
    a Var(A) - b Var(B) <= phi + b (E_B - c)^2,   phi = largest mean of q = a (A - m)^2 - b (B - c)^2,
so if phi < T, all data sets with |E_B - c| <= sqrt((T - phi) / b) are proved. The range of E_B is covered by such
intervals. q is a quadratic form in (x - mx, y - my); its maximum over a box is at a corner or on an edge.
Proof: docs/explanation/proofs/association.md.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.stats.numerics import UNIT, exact_sum, tree_sum
from querygate.stats.ratio import largest_mean

_PIECE = 8192
_PASSES = 4  # for m, which converges in one to three
_POINTS = 200  # intervals tried before a proof is given up
_FINE = 20_000  # cells from which on a coarser plane is tried first
_GRID = 48


class Plane(NamedTuple):
    """Boxes in the plane, moved to a centre, ends rounded outwards."""

    x_low: Floats
    x_high: Floats
    y_low: Floats
    y_high: Floats
    least: Ints
    most: Ints

    def sample(self, step: int) -> Plane:
        """Each n-th box."""
        ends = self.x_low[::step], self.x_high[::step], self.y_low[::step], self.y_high[::step]
        return Plane(*ends, self.least[::step], self.most[::step])


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


def best_values(plane: Plane, form: Form, mx: float, my: float) -> Floats:
    """The largest value of the form over each box: four corners, and on edges along which it is concave the highest
    point. The interior never wins, since the form has a positive direction. In pieces that fit into the cache."""
    values = np.empty(plane.x_low.size)
    for start in range(0, values.size, _PIECE):
        piece = slice(start, start + _PIECE)
        options = (_value(form, x, y) for x, y in _candidates(plane, piece, form, mx, my))
        values[piece] = reduce(np.maximum, options)
    return values


def best_points(plane: Plane, form: Form, mx: float, my: float) -> Best:
    """The same, and where it is."""
    best = Best(*np.empty((3, plane.x_low.size)))
    for start in range(0, best.values.size, _PIECE):
        piece = slice(start, start + _PIECE)
        (x, y), *others = _candidates(plane, piece, form, mx, my)
        value = _value(form, x, y)
        for other_x, other_y in others:
            other = _value(form, other_x, other_y)
            better = other > value
            value, x, y = np.maximum(value, other), np.where(better, other_x, x), np.where(better, other_y, y)
        best.values[piece], best.x[piece], best.y[piece] = value, x, y
    return best


def _value(form: Form, x: Floats, y: Floats) -> Floats:
    if form.xx == 0.0 and form.yy == 0.0:
        return form.xy * x * y
    return x * (form.xx * x + form.xy * y) + form.yy * y * y


def _candidates(plane: Plane, piece: slice, form: Form, mx: float, my: float) -> list[tuple[Floats, Floats]]:
    """Points of each box, from (mx, my), one of which is the best."""
    left, right = plane.x_low[piece] - mx, plane.x_high[piece] - mx
    bottom, top = plane.y_low[piece] - my, plane.y_high[piece] - my
    found = [(x, y) for x in (left, right) for y in (bottom, top)]
    if form.xx < 0.0:
        found += [(np.clip(y * (-0.5 * form.xy / form.xx), left, right), y) for y in (bottom, top)]
    if form.yy < 0.0:
        found += [(x, np.clip(x * (-0.5 * form.xy / form.yy), bottom, top)) for x in (left, right)]
    return found


def coarsened(plane: Plane) -> list[Plane]:
    """The plane and, before it, a coarser one: boxes grown to a grid and merged. What is proved on it holds on both."""
    return [plane] if plane.x_low.size < _FINE else [_merged(plane, _GRID), plane]


def _merged(plane: Plane, steps: int) -> Plane:
    """Ends moved outwards to a grid, boxes that became equal made one; numbers of records add up."""
    columns, edges = [], []
    for low, high in ((plane.x_low, plane.x_high), (plane.y_low, plane.y_high)):
        grid = np.linspace(float(low.min()), float(high.max()), steps + 1)
        columns += [np.searchsorted(grid, low, side="right") - 1, np.minimum(np.searchsorted(grid, high), steps)]
        edges.append(grid)
    keys = np.ravel_multi_index(columns, (steps + 1,) * 4)
    distinct, places = np.unique(keys, return_inverse=True)
    x_low, x_high, y_low, y_high = np.unravel_index(distinct, (steps + 1,) * 4)
    counts = (np.bincount(places, column).astype(np.int64) for column in (plane.least, plane.most))
    return Plane(edges[0][x_low], edges[0][x_high], edges[1][y_low], edges[1][y_high], *counts)


class Proved(NamedTuple):
    """All data sets with E_B within `radius` of `centre` are proved; `middle` is the m that did it."""

    centre: float
    radius: float
    middle: float


def is_proved(planes: list[Plane], claim: Claim, mx: float, my: float) -> bool:
    """Cover the range of E_B, starting at the point given and walking outwards both ways."""
    low, high = _mean_range(planes[-1], claim)
    centre = min(max(claim.bx * mx + claim.by * my, low), high)
    start = _proved(planes[-1], claim, centre, claim.ax * mx + claim.ay * my)
    return start is not None and all(_walk(planes, claim, start, end) for end in (low, high))


def _walk(planes: list[Plane], claim: Claim, last: Proved, end: float) -> bool:
    """Prove everything from the start to one end of the range of E_B: far from the optimum a coarse plane will do."""
    side = 1.0 if end >= last.centre else -1.0
    reached, stride = last.centre + side * last.radius, last.radius
    for _ in range(_POINTS):
        if side * (end - reached) <= 0.0:
            return True
        guess = reached + side * 0.8 * stride
        for plane in planes:
            found = _proved(plane, claim, guess, last.middle)
            if found is not None and side * (reached - found.centre) + found.radius >= 0.0:
                break
        if found is None:
            return False
        if side * (reached - found.centre) + found.radius < 0.0:  # a gap is left: come nearer
            stride *= 0.5
        else:
            last, stride = found, max(found.radius, 0.25 * stride)
            reached = found.centre + side * found.radius
    return False


def _proved(plane: Plane, claim: Claim, centre: float, middle: float) -> Proved | None:
    """How far around c the claim is proved; None where no m proves anything."""
    determinant = claim.ax * claim.by - claim.ay * claim.bx
    if determinant == 0.0:  # A and B lost their difference to rounding
        return None
    for _ in range(_PASSES):
        mx = (middle * claim.by - centre * claim.ay) / determinant
        my = (centre * claim.ax - middle * claim.bx) / determinant
        margin, blur = _margins(plane, claim, mx, my)
        top = largest_mean(best_values(plane, claim.form, mx, my) + margin, plane.least, plane.most)
        room = claim.target - top.bound
        if room > 0.0:
            radius = math.sqrt(room / claim.b) * (1.0 - 8 * UNIT) - blur
            return Proved(claim.bx * mx + claim.by * my, radius, middle) if radius > 0.0 else None
        best = best_points(plane, claim.form, mx, my)
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
