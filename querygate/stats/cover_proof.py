"""One test for covariance, correlation and slope: prove that a Var(A) - b Var(B) <= T for every data set.

A and B are linear in (x, y). For every point (mx, my), with m = A(mx, my) and c = B(mx, my),
    a Var(A) - b Var(B) <= phi + b (E_B - c)^2,   phi = largest mean of q = a (A - m)^2 - b (B - c)^2,
so if phi < T, all data sets with |E_B - c| <= sqrt((T - phi) / b) are proved. The range of E_B is covered by such
intervals, which get wider with their distance from the optimum. q is a quadratic form in (x - mx, y - my); its maximum
over a box is on an edge. Proof: docs/explanation/proofs/association.md.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import NamedTuple

import numpy as np

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Floats, Ints
from querygate.stats.largest_mean import Largest
from querygate.stats.numerics import TINY, UNIT, RealBounds, exact_sum, pieces, tree_sum
from querygate.stats.variance.largest import largest_pooled_mean

_PASSES = 6  # for m, which converges in one to three
_POINTS = 60  # intervals tried on one side before a proof is abandoned
_TRUST = 0.95  # fraction of a predicted radius that is relied on
_LEAST_TRUST = 0.05  # below which a proof is abandoned
_BEND = 0.35  # assumed growth of radii before any is known


class Plane(NamedTuple):
    """Boxes in the plane, moved to a centre, ends rounded outwards; `spare` are those with least < most."""

    x_low: Floats
    x_high: Floats
    y_low: Floats
    y_high: Floats
    least: Ints
    most: Ints
    spare: Ints

    @property
    def is_one_data_set(self) -> bool:
        """Every box a point, up to the rounding of its centre, and every record selected."""
        if self.spare.size:
            return False
        widths = ((self.x_high - self.x_low, self.x_high), (self.y_high - self.y_low, self.y_high))
        return all(bool((width <= 4 * UNIT * np.max(np.abs(ends), initial=0.0)).all()) for width, ends in widths)

    def sample(self, step: int) -> Plane:
        """Each n-th box."""
        ends = self.x_low[::step], self.x_high[::step], self.y_low[::step], self.y_high[::step]
        least, most = self.least[::step], self.most[::step]
        return Plane(*ends, least, most, np.flatnonzero(most > least))

    def selection(self, values: Floats, level: float) -> Ints:
        """Most records of the boxes with values above a level, least of the others."""
        taken = self.least.copy()
        taken[self.spare] = np.where(values[self.spare] > level, self.most[self.spare], self.least[self.spare])
        return taken

    def largest_mean(self, values: Floats) -> Largest:
        """The largest mean of one value per box, over all selections."""
        return largest_pooled_mean(values, self.least, self.most, self.spare)


class Means(NamedTuple):
    """The ranges of both means over all data sets."""

    x: RealBounds
    y: RealBounds


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


# -- the form over boxes ---------------------------------------------------------------------------------


def best_values(plane: Plane, form: Form, mx: float, my: float) -> Floats:
    """The largest value of the form over each box, in pieces that fit into the cache."""
    values = np.empty(plane.x_low.size)
    for piece in pieces(values.size):
        options = (_value(form, x, y) for x, y in _candidates(plane, piece, form, mx, my))
        values[piece] = reduce(np.maximum, options)
    return values


def best_points(plane: Plane, form: Form, mx: float, my: float) -> Best:
    """The same, and where it is."""
    best = Best(*np.empty((3, plane.x_low.size)))
    for piece in pieces(best.values.size):
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
    if form.yy == 0.0:
        return x * (form.xx * x + form.xy * y)
    return x * (form.xx * x + form.xy * y) + form.yy * y * y


def _candidates(plane: Plane, piece: slice, form: Form, mx: float, my: float) -> list[tuple[Floats, Floats]]:
    """Points of each box, from (mx, my), one of which is the best: where the form is concave along a coordinate, that
    coordinate follows the other one. The form has a positive direction."""
    left, right = plane.x_low[piece] - mx, plane.x_high[piece] - mx
    bottom, top = plane.y_low[piece] - my, plane.y_high[piece] - my
    if form.xx < 0.0:
        edges = [(_clipped(y * (-0.5 * form.xy / form.xx), left, right), y) for y in (bottom, top)]
        if form.yy >= 0.0:
            return edges
        return [(x, _clipped(x * (-0.5 * form.xy / form.yy), bottom, top)) for x, _ in edges]
    if form.yy < 0.0:
        return [(x, _clipped(x * (-0.5 * form.xy / form.yy), bottom, top)) for x in (left, right)]
    return [(x, y) for x in (left, right) for y in (bottom, top)]


def _clipped(values: Floats, low: Floats, high: Floats) -> Floats:
    clipped: Floats = np.minimum(np.maximum(values, low), high)  # faster than np.clip
    return clipped


# -- the covering ----------------------------------------------------------------------------------------


class ProvedDisc(NamedTuple):
    """All data sets with E_B within `radius` of `centre` are proved; `middle` is the m that proved it."""

    centre: float
    radius: float
    middle: float


def is_proved(plane: Plane, means: Means, claim: Claim, mx: float, my: float) -> bool:
    """Cover the range of E_B, starting at the point given and walking outwards both ways."""
    low, high = _mean_range(plane, means, claim)
    centre = min(max(claim.bx * mx + claim.by * my, low), high)
    start = _proved(plane, claim, centre, claim.ax * mx + claim.ay * my)
    return start is not None and all(_walk(plane, claim, start, end) for end in (low, high))


def next_centre(radius: float, reached: float, bend: float, trust: float) -> float:
    """How far from the start the next interval is centred so that it begins where the last one ended.

    At a distance d a radius of sqrt(radius^2 + bend d^2) is expected, and `trust` of it relied upon; bend < 1.
    """
    rest = 1.0 - bend * trust * trust
    return (reached + trust * math.sqrt(bend * reached * reached + rest * radius * radius)) / rest


def _walk(plane: Plane, claim: Claim, start: ProvedDisc, end: float) -> bool:
    """Prove everything from the start to one end of the range of E_B."""
    side = 1.0 if end >= start.centre else -1.0
    goal, reached, middle = side * (end - start.centre), start.radius, start.middle
    bend, trust = _BEND, _TRUST
    for _ in range(_POINTS):
        if reached >= goal:
            return True
        if trust < _LEAST_TRUST or is_time_up():
            break
        aim = min(next_centre(start.radius, reached, bend, trust), goal)
        found = _proved(plane, claim, start.centre + side * aim, middle)
        if found is not None:
            aim = side * (found.centre - start.centre)
            bend = min(max((found.radius**2 - start.radius**2) / aim**2, 0.0), _TRUST)
        if found is not None and aim - found.radius <= reached:
            reached, middle, trust = max(reached, aim + found.radius), found.middle, _TRUST
        else:  # a gap is left: move nearer
            trust *= 0.5
    return False


def _proved(plane: Plane, claim: Claim, centre: float, middle: float) -> ProvedDisc | None:
    """How far around c the claim is proved; None where no m proves anything."""
    determinant = claim.ax * claim.by - claim.ay * claim.bx
    if determinant == 0.0:  # rounding made A and B equal
        return None
    low, high = -math.inf, math.inf
    for _ in range(_PASSES):
        mx = (middle * claim.by - centre * claim.ay) / determinant
        my = (centre * claim.ax - middle * claim.bx) / determinant
        margin, blur = _margins(plane, claim, mx, my)
        top = plane.largest_mean(best_values(plane, claim.form, mx, my) + margin)
        room = claim.target - top.bound
        if room > 0.0:
            radius = math.sqrt(room / claim.b) * (1.0 - 8 * UNIT) - blur
            return ProvedDisc(claim.bx * mx + claim.by * my, radius, middle) if radius > 0.0 else None
        best = best_points(plane, claim.form, mx, my)
        step = _mean_of(plane.selection(best.values, top.reached), best, claim.ax, claim.ay)
        if top.reached - claim.a * step**2 > claim.target or step == 0.0:
            return None
        # phi is convex in m, and falls towards the mean of A over the data set found.
        low, high = (middle, high) if step > 0.0 else (low, middle)
        middle = middle + step if low < middle + step < high else (low + high) / 2
    return None


def _mean_of(taken: Ints, best: Best, along_x: float, along_y: float) -> float:
    """Mean of a linear function of (dx, dy) over the data set found."""
    records = max(exact_sum(taken), 1)
    return (along_x * tree_sum(taken * best.x)[0] + along_y * tree_sum(taken * best.y)[0]) / records


def _margins(plane: Plane, claim: Claim, mx: float, my: float) -> tuple[float, float]:
    """How far a value of q, and c, may be off."""
    size_x = max(-float(plane.x_low.min()), float(plane.x_high.max()), 0.0) + abs(mx)
    size_y = max(-float(plane.y_low.min()), float(plane.y_high.max()), 0.0) + abs(my)
    reach_a = abs(claim.ax) * size_x + abs(claim.ay) * size_y
    reach_b = abs(claim.bx) * size_x + abs(claim.by) * size_y
    return 64 * UNIT * (claim.a * reach_a**2 + claim.b * reach_b**2) + 64 * TINY, 16 * UNIT * reach_b


def mean_ranges(plane: Plane) -> Means:
    """Ranges of the two means, outwards."""
    ends = (plane.x_high, -plane.x_low, plane.y_high, -plane.y_low)
    right, left, top, bottom = (plane.largest_mean(end).bound for end in ends)
    return Means(RealBounds(-left, right), RealBounds(-bottom, top))


def _mean_range(plane: Plane, means: Means, claim: Claim) -> tuple[float, float]:
    """A range of E_B over all data sets, outwards."""
    blur = _margins(plane, claim, 0.0, 0.0)[1]
    along_x, along_y = ([k * end for end in ends] for k, ends in ((claim.bx, means.x), (claim.by, means.y)))
    return min(along_x) + min(along_y) - blur, max(along_x) + max(along_y) + blur
