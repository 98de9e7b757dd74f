"""Confidence limits of a mean, avg(x) -+ t stddev_samp(x) / sqrt(count(x)) with Student's t for the number of records.

Upper limit H = E + k sigma, k = t(S - 1) / sqrt(S - 1); the lower limit is the mirror image. The largest H is bounded
by weak duality (any centre and any scale give a bound), the smallest by the inequality of Cauchy and Schwarz (any
direction does). Small cohorts are enumerated. Proof: docs/explanation/proofs/inference.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy  # loaded when it is first needed

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Cells, Floats, Ints, Range
from querygate.stats.cells import mirrored
from querygate.stats.largest_mean import largest_mean
from querygate.stats.numerics import UNIT, dot_bounds, exact_sum, gamma, tree_sum, up
from querygate.stats.registry import statistic
from querygate.stats.sums_and_means import avg
from querygate.stats.variance.largest import Boxes, vertex_sums
from querygate.stats.variance.spread import centred_boxes, var_pop
from querygate.stats.variance.welford import deviation_error, mean_error

_PROOF = "inference.md"
_STEPS = 50
_RESPONSES = 8
_LARGE = 1e150  # whose square is still a double

QUANTILE = 1e-12
"""Assumed relative error of Student's quantile."""


@statistic(
    "mean_ci_high", proof=_PROOF, result="number", summary="upper confidence limit of the mean", needs=2,
    parameters=("level",),
)  # fmt: skip
def mean_ci_high(cells: Cells, level: float) -> Range:
    """Range of avg(x) + t stddev_samp(x) / sqrt(count(x)), t the quantile of Student's distribution at (1 + level) / 2.

    Requires: finite ends, 0 < level < 1.
    Ensures:  sound. The high end is close to what is attained, exact on small cohorts. The low end is sharp where it is
              certain who is selected and values are real; otherwise mean and deviation are bounded separately.
    """
    if not 0.0 < level < 1.0:
        raise ValueError("a confidence level must be between 0 and 1")
    bottom, top = float(cells.low.min()), float(cells.high.max())
    if not max(-bottom, top) < _LARGE:
        return Range(-math.inf, math.inf, None, None, sharp=False)
    boxes, records = centred_boxes(cells), exact_sum(cells.most)
    student = Student((1.0 + level) / 2.0)
    middle = bottom / 2 + top / 2
    if is_time_up():
        high, low = _apart(cells, student, middle)
    else:
        high, low = _largest(boxes, student), _smallest(cells, boxes, student, middle)
    reach, size, factor = top - bottom, max(abs(bottom), abs(top)), student.factor(max(2, exact_sum(cells.least)))
    noise = gamma(2 * records + 16) * reach + deviation_error(records, size, reach)
    slack = mean_error(records, size, reach) + 2 * factor * noise + 32 * UNIT * (size + factor * reach)
    slack += QUANTILE * factor * math.sqrt(float(var_pop(cells).high or 0.0))
    return Range(
        low.bound + middle - slack,
        high.bound + middle + slack,
        None if low.reached is None else low.reached + middle,
        None if high.reached is None else high.reached + middle,
        sharp=low.sharp and high.sharp,
    )


@statistic(
    "mean_ci_low", proof=_PROOF, result="number", summary="lower confidence limit of the mean", needs=2,
    parameters=("level",),
)  # fmt: skip
def mean_ci_low(cells: Cells, level: float) -> Range:
    """Range of avg(x) - t stddev_samp(x) / sqrt(count(x)): minus the upper limit of -x.

    Requires: as `mean_ci_high`.
    Ensures:  as `mean_ci_high`, with the ends exchanged.
    """
    found = mean_ci_high(mirrored(cells), level)
    ends = (found.high, found.low, found.attained_high, found.attained_low)
    low, high, attained_low, attained_high = (None if end is None else -end for end in ends)
    return replace(found, low=low, high=high, attained_low=attained_low, attained_high=attained_high)


class Student(NamedTuple):
    """Student's quantile at one probability."""

    probability: float

    def factor(self, records: int) -> float:
        """k in H = E + k sigma; it falls with the number of records."""
        return float(scipy.special.stdtrit(records - 1, self.probability)) / math.sqrt(records - 1)

    def standard(self, records: int) -> float:
        """t / sqrt(n), what a sample deviation is multiplied by; it falls with the number of records too."""
        return float(scipy.special.stdtrit(records - 1, self.probability)) / math.sqrt(records)

    def factors(self, records: Floats) -> Floats:
        factors: Floats = scipy.special.stdtrit(records - 1, self.probability) / np.sqrt(records - 1)
        return factors


class End(NamedTuple):
    """A bound, a limit that is reached if one is known, and whether they are equal."""

    bound: float
    reached: float | None
    sharp: bool


class Response(NamedTuple):
    """A data set: who is selected, at which ends, with its mean and its sum of squares about it."""

    taken: Ints
    values: Floats
    mean: float
    squares: float

    def limit(self, student: Student) -> float | None:
        """The upper limit of this data set."""
        records = exact_sum(self.taken)
        if records < 2:
            return None
        return self.mean + student.factor(records) * math.sqrt(self.squares / records)


def _data_set(taken: Ints, values: Floats) -> Response:
    mean = tree_sum(taken * values)[0] / max(exact_sum(taken), 1)
    return Response(taken, values, mean, tree_sum(taken * (values - mean) ** 2)[0])


def _apart(cells: Cells, student: Student, middle: float) -> tuple[End, End]:
    """Mean and deviation at their ends, each by itself."""
    mean, spread = avg(cells), var_pop(cells)
    factor, slack = student.factor(max(2, exact_sum(cells.least))), 8 * UNIT * abs(middle)
    high = float(mean.high or 0.0) - middle + factor * math.sqrt(float(spread.high or 0.0)) * (1.0 + 8 * UNIT) + slack
    return End(high, None, False), End(float(mean.low or 0.0) - middle - slack, None, False)


# -- the largest upper limit -----------------------------------------------------------------------------


def _largest(boxes: Boxes, student: Student) -> End:
    """H is convex in each value: small cohorts by their vertices, others by weak duality."""
    sums = vertex_sums(boxes)
    if sums is not None:
        count, first, second = sums[:, sums[0] >= 2]
        means, variances = first / count, np.maximum(second / count - (first / count) ** 2, 0.0)
        factors, reach = student.factors(count), max(-float(boxes.low.min()), float(boxes.high.max()))
        doubt = 8 * gamma(exact_sum(boxes.most) + 16) * reach  # of means, and times reach of variances
        bound = float(np.max(means + factors * np.sqrt(variances + doubt * reach))) + 2 * doubt
        best = float(np.max(means + factors * np.sqrt(variances)))
        return End(bound, best, bound - best <= 1e-10 * (1.0 + abs(best)))
    certain = max(2, exact_sum(boxes.least))
    scale = student.factor(certain) ** 2 * certain  # c = t^2 S / (S - 1)
    one, two = _bracket(boxes, scale)
    limits = [limit for limit in (one.limit(student), two.limit(student)) if limit is not None]
    reached = max(limits, default=None)
    bound = _along(boxes, scale, one, two, -math.inf if reached is None else reached)
    return End(bound, reached, reached is not None and bound - reached <= 1e-10 * abs(bound))


def _respond(boxes: Boxes, scale: float, threshold: float, taken: Ints | None = None) -> Response:
    """The best data set for one threshold: high ends above it, low ends below, and the records that raise the limit.

    `taken` is a selection to start from, such as the best one for a nearby threshold.
    """
    values = np.where(boxes.low + boxes.high > 2 * threshold, boxes.high, boxes.low)
    found = _data_set(boxes.most if taken is None else taken, values)
    if np.array_equal(boxes.least, boxes.most):
        return found
    for _ in range(_RESPONSES):
        tau = math.sqrt(scale * found.squares)
        gains = values + (scale / (2 * tau) * (values - found.mean) ** 2 if tau else 0.0)
        level = (tau / 2 + tree_sum(found.taken * gains)[0]) / exact_sum(found.taken)
        taken = np.where(gains > level, boxes.most, boxes.least)
        if exact_sum(taken) < 2 or np.array_equal(taken, found.taken):
            break
        found = _data_set(taken, values)
    return found


def _bracket(boxes: Boxes, scale: float) -> tuple[Response, Response]:
    """Data sets on both sides of the threshold that is consistent with its own best data set: p = m - tau / c."""
    middles = (boxes.low + boxes.high) / 2
    low, high = float(middles.min()) - 1.0, float(middles.max()) + 1.0
    below = _respond(boxes, scale, low)
    if below.mean - math.sqrt(below.squares / scale) <= low:
        return below, below  # as for all but small cohorts: the threshold lies below every box
    above = _respond(boxes, scale, high)
    for _ in range(_STEPS):
        threshold = (low + high) / 2
        if high - low < 1e-8 * (abs(low) + abs(high)):
            break
        found = _respond(boxes, scale, threshold, below.taken)
        if found.mean - math.sqrt(found.squares / scale) > threshold:
            low, below = threshold, found
        else:
            high, above = threshold, found
    return below, above


def _along(boxes: Boxes, scale: float, one: Response, two: Response, reached: float) -> float:
    """The least bound between two data sets: it is convex in centre and scale, so golden section finds it."""
    ratio, low, high = (math.sqrt(5.0) - 1.0) / 2.0, 0.0, 1.0

    def bound(part: float) -> float:
        centre = one.mean + part * (two.mean - one.mean)
        squares = math.sqrt(one.squares) + part * (math.sqrt(two.squares) - math.sqrt(one.squares))
        return _dual(boxes, scale, centre, math.sqrt(scale) * squares)

    best = min(bound(0.0), bound(1.0))
    if one is two or best - reached <= 1e-9 * abs(best):
        return best
    left, right = bound(1 - ratio), bound(ratio)
    best = min(best, left, right)
    for _ in range(_STEPS // 2):
        if left < right:
            high, right = low + ratio * (high - low), left
            left = bound(high - ratio * (high - low))
        else:
            low, left = high - ratio * (high - low), right
            right = bound(low + ratio * (high - low))
        best = min(best, left, right)
        if high - low < 1e-6:
            break
    return best


def _dual(boxes: Boxes, scale: float, centre: float, tau: float) -> float:
    """No H exceeds the largest (tau / 2 + sum of x + c (x - m)^2 / (2 tau)) / S, whatever m and tau > 0."""
    reach = float(boxes.high.max()) - float(boxes.low.min())
    tau = max(tau, 1e-9 * reach, 1e-300)
    slope = scale / (2 * tau)
    ends = np.stack([boxes.low, boxes.high])
    gains = np.maximum.reduce(ends + slope * (ends - centre) ** 2)
    size = float(np.abs(ends).max()) + abs(centre)
    base = float(gains.min())
    raised = gains - base + 32 * UNIT * (size + slope * size * size)
    if not boxes.least.any():
        first, second = _two_largest(raised, boxes.most)
        return up((tau / 2 + first + second) / 2 + base, 4)
    # tau / 2 enters as one more record that the divisor does not count
    values, one = np.append(raised, tau / 2), np.ones(1, dtype=np.int64)
    found = largest_mean(values, np.append(boxes.least, one), np.append(boxes.most, one), ddof=1)
    return up(found.bound + base, 4) + 4 * UNIT * abs(base)


def _two_largest(values: Floats, most: Ints) -> tuple[float, float]:
    """The two largest values of different records."""
    top = int(np.argmax(values))
    first = float(values[top])
    others = np.delete(values, top)
    return first, first if most[top] > 1 else float(others.max())


# -- the smallest upper limit ----------------------------------------------------------------------------


def _smallest(cells: Cells, boxes: Boxes, student: Student, middle: float) -> End:
    """By Cauchy-Schwarz where it is certain who is selected; otherwise least mean plus least deviation."""
    records = exact_sum(boxes.most)
    factor = student.factor(records)
    mean, variance = avg(cells), var_pop(cells)
    apart = float(mean.low or 0.0) - middle + factor * math.sqrt(float(variance.low or 0.0)) - 8 * UNIT * abs(middle)
    if not np.array_equal(boxes.least, boxes.most):
        chosen = np.where(boxes.low < float(mean.low or 0.0) - middle, boxes.most, boxes.least)
        limits = (_data_set(taken, boxes.low).limit(student) for taken in (chosen, boxes.least, boxes.most))
        return End(apart, min((limit for limit in limits if limit is not None), default=None), False)
    near = _nearest(boxes, factor)
    values = near.values
    if cells.integer:
        values = np.clip(np.rint(values + middle), cells.low, cells.high).astype(np.float64) - middle
    reached = _data_set(near.taken, values).limit(student)
    bound = max(apart, _tangent(boxes, near, factor))
    return End(bound, reached, reached is not None and reached - bound <= 1e-10 * (abs(reached) + abs(bound)))


def _nearest(boxes: Boxes, factor: float) -> Response:
    """All values as near as can be to one level m = E - sigma / k below the mean, which is where H is least."""
    low, high = float(boxes.low.min()), float(boxes.high.max())
    found = _data_set(boxes.most, boxes.low)
    records = exact_sum(boxes.most)
    if found.mean - math.sqrt(found.squares / records) / factor <= low:
        return found
    for _ in range(_STEPS):
        level = (low + high) / 2
        found = _data_set(boxes.most, np.clip(level, boxes.low, boxes.high))
        if found.mean - math.sqrt(found.squares / records) / factor > level:
            low = level
        else:
            high = level
    return found


def _tangent(boxes: Boxes, near: Response, factor: float) -> float:
    """H >= mean of y (1 + k v) for every direction v with mean 0 and mean square 1, and that is least at ends."""
    records = exact_sum(boxes.most)
    if near.squares == 0.0:
        return -math.inf
    direction = (near.values - near.mean) / math.sqrt(near.squares / records)
    drift = dot_bounds(boxes.most, direction)
    length = math.sqrt(dot_bounds(boxes.most, direction * direction, 1).high / records) * (1.0 + 4 * UNIT)
    size = max(-float(boxes.low.min()), float(boxes.high.max()))
    weights = 1.0 + factor / length * direction
    least = np.minimum(boxes.low * weights, boxes.high * weights)
    least -= 8 * UNIT * size * (1.0 + factor / length * np.abs(direction))
    lost = factor / length * max(abs(drift.low), abs(drift.high)) / records * size
    return dot_bounds(boxes.most, least).low / records * (1.0 + 4 * UNIT * (-1 if least.sum() > 0 else 1)) - lost
