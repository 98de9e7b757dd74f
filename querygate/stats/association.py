"""Covariance, correlation and regression of two columns. Proof: docs/explanation/proofs/association.md.

For each upper end a value that is reached is found first, by letting every cell respond to the gradient of the
statistic. Then a slightly larger bound is proved by covering (`cover_proof.py`); if the proof fails, a larger one is
tried. Lower ends are upper ends of the mirror image.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Range
from querygate.stats.ascent import Gradient, PairMoments, Value, climb
from querygate.stats.association_error import VarianceRanges, correlation_error, covariance_error, slope_error
from querygate.stats.cover_proof import Claim, Form, Means, Plane, is_proved, mean_ranges, next_centre
from querygate.stats.numerics import UNIT, RealBounds, are_within, centred, exact_sum, gamma, up
from querygate.stats.pairs import PairCells, pair_statistic
from querygate.stats.sums_and_means import avg
from querygate.stats.variance.largest import Boxes
from querygate.stats.variance.spread import real_variance
from querygate.stats.variance.welford import deviation_error

_PROOF = "association.md"
_STEPS = (1e-4, 1e-3, 4e-3, 0.016, 0.064, 0.25, 1.0)  # added to a reached value, in units of the statistic
_FINE = (1e-12, 1e-10, 1e-8, 1e-6)  # tried first where there is only one data set: then only rounding matters
_HALVINGS = 3
_STRIPS = 120  # intervals of sy / sx tried before a proof is abandoned


class AssociationData(NamedTuple):
    """The boxes, and where the means of both columns are."""

    plane: Plane
    means: Means

    @property
    def mirrored(self) -> AssociationData:
        """The same for (x, -y)."""
        plane, (low, high) = self.plane, self.means.y
        mirror = plane._replace(y_low=-plane.y_high, y_high=-plane.y_low)
        return AssociationData(mirror, self.means._replace(y=RealBounds(-high, -low)))

    def is_proved(self, claim: Claim, at: PairMoments) -> bool:
        """Whether a claim can be proved, starting from a data set that nearly refutes it."""
        return is_proved(self.plane, self.means, claim, at.mean_x, at.mean_y)


class AssociationBound(NamedTuple):
    """No value exceeds `bound`; `reached` is one."""

    bound: float
    reached: float


Proof = Callable[[float, PairMoments], bool]


# -- the statistics --------------------------------------------------------------------------------------


@pair_statistic("covar_pop", proof=_PROOF, summary="covariance, divided by n")
def covar_pop(cells: PairCells) -> Range:
    """Range of the population covariance as the database computes it.

    Requires: finite ends.
    Ensures:  sound; the attained values say how tight it is.
    """
    if not is_moderate(cells):
        return _unbounded()
    ground = _ground(cells)
    spread = _spread(cells, ground.plane, lower="")
    high, low = _covariance(ground, spread), _covariance(ground.mirrored, spread)
    return _range(high, low, covariance_error(spread))


def real_covariance(cells: PairCells) -> RealBounds:
    """Bounds of the population covariance in real arithmetic.

    Requires: ends below 10^70.
    """
    ground = _ground(cells)
    spread = _spread(cells, ground.plane, lower="")
    return RealBounds(-_covariance(ground.mirrored, spread).bound, _covariance(ground, spread).bound)


@pair_statistic("covar_samp", proof=_PROOF, summary="covariance, divided by n - 1", needs=2)
def covar_samp(cells: PairCells) -> Range:
    """Range of the sample covariance: the population covariance times n / (n - 1), which is least for the most records.

    Ensures: sound.
    """
    return as_sample(covar_pop(cells), exact_sum(cells.least), exact_sum(cells.most))


def as_sample(found: Range, least: int, most: int) -> Range:
    """The sample covariance for this range of numbers of records, from the population covariance."""
    if found.low is None or found.high is None or not math.isfinite(found.high - found.low):
        return found
    fewest = max(least, 2)
    factors = (most / (most - 1) * (1 - 4 * UNIT), fewest / (fewest - 1) * (1 + 4 * UNIT))
    low = found.low * factors[1 if found.low < 0 else 0]
    high = found.high * factors[1 if found.high > 0 else 0]
    if fewest == most and found.attained_low is not None and found.attained_high is not None:
        factor = most / (most - 1)
        return Range(low, high, found.attained_low * factor, found.attained_high * factor, sharp=False)
    return Range(low, high, None, None, sharp=False)


@pair_statistic("corr", proof=_PROOF, summary="Pearson correlation")
def corr(cells: PairCells) -> Range:
    """Range of the correlation as the database computes it, NULL where a column is constant.

    Ensures: sound. Where a column can be nearly constant: [-1, 1], up to a billionth, for whole numbers; for others no
             bound, because a database leaves [-1, 1] where values differ by rounding errors only.
    """
    end = 1.0 + 1e-9 if _is_tame(cells) else math.inf
    anything = Range(-end, end, None, None, sharp=False, may_be_null=True)
    if not is_moderate(cells):
        return anything
    ground = _ground(cells)
    spread = _spread(cells, ground.plane, lower="xy")
    error = correlation_error(spread)
    if not error < 1.0:
        return anything
    high, low = _correlation(ground, spread), _correlation(ground.mirrored, spread)
    return _range(high, low, error)


@pair_statistic("regr_slope", proof=_PROOF, summary="slope of the regression of y on x")
def regr_slope(cells: PairCells) -> Range:
    """Range of covar_pop(y, x) / var_pop(x) as the database computes it.

    Ensures: sound where x cannot be nearly constant; otherwise there is no bound.
    """
    if not is_moderate(cells):
        return _unbounded()
    ground = _ground(cells)
    spread = _spread(cells, ground.plane, lower="x")
    error = slope_error(spread)
    if not math.isfinite(error):
        return _unbounded()
    high, low = _slope(ground, spread), _slope(ground.mirrored, spread)
    return _range(high, low, error)


@pair_statistic("regr_intercept", proof=_PROOF, summary="intercept of the regression of y on x")
def regr_intercept(cells: PairCells) -> Range:
    """Range of avg(y) - slope * avg(x), by interval arithmetic about the middle of x.

    Ensures: sound, not sharp.
    """
    return intercept_of(regr_slope(cells), avg(cells.x), avg(cells.y))


def intercept_of(slope: Range, mean_x: Range, mean_y: Range) -> Range:
    """From the ranges of slope and means."""
    ends = [slope.low, slope.high, mean_x.low, mean_x.high, mean_y.low, mean_y.high]
    if any(end is None or not math.isfinite(end) for end in ends):
        return _unbounded()
    b0, b1, x0, x1, y0, y1 = (float(end) for end in ends if end is not None)
    products = [b * x for b in (b0, b1) for x in (x0, x1)]
    slack = 8 * UNIT * (max(abs(p) for p in products) + abs(y0) + abs(y1))
    return Range(y0 - max(products) - slack, y1 - min(products) + slack, None, None, sharp=False)


@pair_statistic("regr_r2", proof=_PROOF, summary="share of variance explained, corr squared")
def regr_r2(cells: PairCells) -> Range:
    """Range of the squared correlation; 1 where y is constant and x is not, NULL where x is constant.

    Ensures: sound, as `corr`.
    """
    found = squared(corr(cells))
    if found.high is None:
        return found
    if float(cells.y_low.max()) <= float(cells.y_high.min()) or exact_sum(cells.least) < 2:
        return replace(found, high=max(found.high, up(1.0, 8)))
    return found


def squared(found: Range) -> Range:
    """The square of a correlation."""
    if found.low is None or found.high is None:
        return found
    low = 0.0 if found.low <= 0.0 <= found.high else min(abs(found.low), abs(found.high)) ** 2
    high = max(abs(found.low), abs(found.high)) ** 2
    return Range(low * (1 - 8 * UNIT), high * (1 + 8 * UNIT), None, None, sharp=False, may_be_null=found.may_be_null)


# -- upper ends ------------------------------------------------------------------------------------------


def _covariance(ground: AssociationData, spread: VarianceRanges) -> AssociationBound:
    cap = math.sqrt(spread.x_high * spread.y_high) * (1 + 8 * UNIT)

    def proof(target: float, at: PairMoments) -> bool:
        scale = math.sqrt(_ratio(at, spread))
        return ground.is_proved(_claim(scale, Form(0.0, 1.0, 0.0), 0.25, 0.25, target), at)

    return _search(ground.plane, lambda m: m.covariance, lambda _: Form(0.0, 1.0, 0.0), proof, cap, cap)


def _slope(ground: AssociationData, spread: VarianceRanges) -> AssociationBound:
    """b is an upper end if Cov(x, y - b x) <= 0: the same claim with y - b x in place of y."""
    cap = math.sqrt(spread.y_high / spread.x_low) * (1 + 8 * UNIT)

    def proof(target: float, at: PairMoments) -> bool:
        scale = math.sqrt(_ratio(at, spread))
        claim = _claim(scale, Form(-target, 1.0, 0.0), 0.25, 0.25, 0.0)
        claim = claim._replace(ax=claim.ax - target / scale, bx=claim.bx + target / scale)
        return ground.is_proved(claim, at)

    value: Value = lambda m: m.covariance / m.var_x if m.var_x > 0 else -math.inf  # noqa: E731
    return _search(ground.plane, value, lambda m: Form(-m.covariance / m.var_x, 1.0, 0.0), proof, cap, cap)


def _correlation(ground: AssociationData, spread: VarianceRanges) -> AssociationBound:
    def gradient(m: PairMoments) -> Form:
        rho, ratio = value(m), math.sqrt(m.var_y / m.var_x)
        return Form(-rho / 2 * ratio, 1.0, -rho / 2 / ratio)

    def value(m: PairMoments) -> float:
        return m.covariance / math.sqrt(m.var_x * m.var_y) if m.var_x * m.var_y > 0 else -math.inf

    def proof(target: float, at: PairMoments) -> bool:
        return _is_correlation_proved(ground, spread, target, at)

    return _search(ground.plane, value, gradient, proof, 1.0, 1.0)


def _is_correlation_proved(ground: AssociationData, spread: VarianceRanges, target: float, at: PairMoments) -> bool:
    """2 C <= r (l Vx + Vy / l) proves rho <= r cosh(w) wherever |ln(sy / sx) - ln l| <= w.

    For r <= 0 one l is enough, since l Vx + Vy / l >= 2 sx sy. Otherwise strips of ln(sy / sx) are proved from that of
    the data set reached outwards; like the intervals of a covering they get wider with their distance.
    """

    def holds(log_ratio: float, width: float) -> bool:
        r = target / math.cosh(width) * (1 - 8 * UNIT) if target > 0 else target
        scale = math.exp(log_ratio)
        claim = _claim(math.sqrt(scale), Form(-r * scale, 2.0, -r / scale), (1 - r) / 2, (1 + r) / 2, 0.0)
        return ground.is_proved(claim, at)

    centre = math.log(_ratio(at, spread))
    if target <= 0.0:
        return holds(centre, 0.0)
    low = 0.5 * math.log(spread.y_low / spread.x_high) - 1e-12
    high = 0.5 * math.log(spread.y_high / spread.x_low) + 1e-12
    narrow = 0.7 * math.sqrt(2 * max(target - at.covariance / math.sqrt(at.var_x * at.var_y), 1e-9) / target)
    narrow = min(narrow, max(high - centre, centre - low))
    least = narrow / 4
    while not holds(centre, narrow * (1 + 1e-9)):
        narrow /= 2
        if narrow < least:
            return False
    right = _are_strips_proved(lambda at, width: holds(centre + at, width), narrow, least, high - centre)
    return right and _are_strips_proved(lambda at, width: holds(centre - at, width), narrow, least, centre - low)


def _are_strips_proved(holds: Callable[[float, float], bool], start: float, least: float, goal: float) -> bool:
    """Prove strips from the distance `start` to the goal, none of them narrower than twice the least."""
    reached, part = start, 1.0
    for _ in range(_STRIPS):
        if reached >= goal:
            return True
        if is_time_up():
            return False
        width = part * (next_centre(start, reached, 0.5, 0.9) - reached)
        end = min(reached + 2 * width, goal)
        if holds((reached + end) / 2, (end - reached) / 2 * (1 + 1e-9)):
            reached, part = end, min(1.0, 2 * part)
        elif width < least:
            return False
        else:
            part /= 2
    return False


def _claim(scale: float, form: Form, a: float, b: float, target: float) -> Claim:
    """A = scale x + y / scale, B = scale x - y / scale."""
    return Claim(form, a, scale, 1 / scale, b, scale, -1 / scale, target)


def _ratio(at: PairMoments, spread: VarianceRanges) -> float:
    """sy / sx of a data set, or a guess where one of them is 0."""
    if at.var_x > 0.0 and at.var_y > 0.0:
        return math.sqrt(at.var_y / at.var_x)
    return math.sqrt((spread.y_high or 1.0) / (spread.x_high or 1.0))


def _search(plane: Plane, value: Value, gradient: Gradient, proof: Proof, unit: float, cap: float) -> AssociationBound:
    """Reach a value, then prove the least of a ladder of targets above it; `cap` holds without proof."""
    if is_time_up():
        return AssociationBound(cap, -math.inf)
    reached, at = climb(plane, value, gradient, unit)
    if at is None:
        return AssociationBound(cap, -math.inf)
    failed = reached
    steps = (*_FINE, *_STEPS) if plane.is_one_data_set else _STEPS
    for step in steps:
        target = reached + step * unit
        if target >= cap or is_time_up():
            break
        if proof(target, at):
            proved = target
            for _ in range(_HALVINGS if step > steps[0] and not is_time_up() else 0):
                middle = (failed + proved) / 2
                failed, proved = (failed, middle) if proof(middle, at) else (middle, proved)
            return AssociationBound(proved, reached)
        failed = target
    return AssociationBound(cap, reached)


# -- what the database computes --------------------------------------------------------------------------


def _spread(cells: PairCells, plane: Plane, lower: str) -> VarianceRanges:
    """`lower` names the columns whose least variance matters; for the others it is taken to be 0."""
    x = real_variance(Boxes(plane.x_low, plane.x_high, plane.least, plane.most), "x" in lower)
    y = real_variance(Boxes(plane.y_low, plane.y_high, plane.least, plane.most), "y" in lower)
    records = exact_sum(cells.most)
    shift_x, shift_y = (
        deviation_error(records, float(max(abs(low.min()), abs(high.max()))), float(high.max()) - float(low.min()))
        for low, high in ((cells.x_low, cells.x_high), (cells.y_low, cells.y_high))
    )
    return VarianceRanges(*x, *y, shift_x, shift_y, gamma(2 * records + 16))


def _range(high: AssociationBound, low: AssociationBound, error: float) -> Range:
    reached = [end if math.isfinite(end) else None for end in (-low.reached, high.reached)]
    return Range(-low.bound - error, high.bound + error, reached[0], reached[1], sharp=False)


def is_moderate(cells: PairCells) -> bool:
    """Whether fourth powers neither overflow nor, where they matter, underflow."""
    return are_within(1e70, cells.x_low, cells.x_high, cells.y_low, cells.y_high)


def _is_tame(cells: PairCells) -> bool:
    """Whole numbers, few and small enough that rounding is negligible beside the least deviation of a column that is
    not constant: its variance is at least (n - 1) / n^2, and n additions of values up to s err by at most n s units."""
    if not cells.whole:
        return False
    size = max(float(np.abs(ends).max(initial=0.0)) for ends in (cells.x_low, cells.x_high, cells.y_low, cells.y_high))
    return bool(float(exact_sum(cells.most)) ** 1.5 * size * UNIT < 1e-11)


def _unbounded() -> Range:
    return Range(-math.inf, math.inf, None, None, sharp=False, may_be_null=True)


def _ground(cells: PairCells) -> AssociationData:
    """The boxes about the middle of both columns."""
    middle_x = float(cells.x_low.min()) / 2 + float(cells.x_high.max()) / 2
    middle_y = float(cells.y_low.min()) / 2 + float(cells.y_high.max()) / 2
    plane = Plane(
        centred(cells.x_low, middle_x, -math.inf),
        centred(cells.x_high, middle_x, math.inf),
        centred(cells.y_low, middle_y, -math.inf),
        centred(cells.y_high, middle_y, math.inf),
        cells.least,
        cells.most,
        np.flatnonzero(cells.most > cells.least),
    )
    return AssociationData(plane, mean_ranges(plane))
