"""Skewness and kurtosis. Proof: docs/explanation/proofs/shape.md.

The ratio C_p / V^q is bounded by a search over cells of means (`querygate.stats.moment_bounds`). It stops when the gap
is small, after some passes, or at the deadline: it is sound whenever it stops, and the attained values show the
remaining gap. Statistics are alpha(n) C_p / V^q - beta(n) for n records. Small cohorts of whole numbers are enumerated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Array, Cells, Floats, Range
from querygate.stats.moment_bounds import Deadline, MomentBound, MomentSearch
from querygate.stats.moment_boxes import Goal
from querygate.stats.numerics import UNIT, exact_sum, tree_sum
from querygate.stats.registry import statistic
from querygate.stats.sums_and_means import avg
from querygate.stats.variance.largest import Boxes
from querygate.stats.variance.spread import centred_boxes, var_pop
from querygate.stats.variance.welford import deviation_error, mean_error

_PROOF = "shape.md"
_PASSES = 24
_DATA_SETS = 4096  # that are enumerated
_NARROW = 1e-60  # a reach whose fourth power is still far from the subnormal numbers


class ShapeMeasure(NamedTuple):
    """alpha(n) C_degree / V^power - beta(n) over at least `needs` records. Neither alpha nor beta rises with n."""

    degree: int
    power: float
    gap: float
    needs: int
    alpha: Callable[[Floats], Floats] = np.ones_like
    beta: Callable[[Floats], Floats] = np.zeros_like

    def largest(self, records: Floats) -> Floats:
        """An upper bound of C_p / V^q for this many records, whatever their values."""
        others = np.maximum(records - 1.0, 1.0)
        most = np.maximum(records - 2.0, 0.0) / np.sqrt(others)
        if self.degree == 4:
            most = np.maximum(1.0, records - 2.0 + 1.0 / others)
        return most * (1.0 + 16 * UNIT)

    def smallest(self, records: Floats) -> Floats:
        """A lower bound of the same."""
        if self.degree == 4:
            return np.full_like(records, 1.0 - 16 * UNIT)
        return -self.largest(records)


def _sample_skewness(n: Floats) -> Floats:
    factor: Floats = np.sqrt(n * (n - 1.0)) / (n - 2.0)
    return factor


def _kurtosis_factor(n: Floats) -> Floats:
    return (n - 1.0) * (n + 1.0) / ((n - 2.0) * (n - 3.0))


def _kurtosis_offset(n: Floats) -> Floats:
    return 3.0 * (n - 1.0) * (n - 1.0) / ((n - 2.0) * (n - 3.0))


SKEWNESS = ShapeMeasure(3, 1.5, 0.005, 3, alpha=_sample_skewness)
KURTOSIS = ShapeMeasure(4, 2.0, 0.01, 4, _kurtosis_factor, _kurtosis_offset)
KURTOSIS_POP = ShapeMeasure(4, 2.0, 0.01, 2, beta=lambda n: np.full_like(n, 3.0))


@statistic("skewness", proof=_PROOF, result="number", summary="skewness of a sample, G1", needs=3)
def skewness(cells: Cells, *, deadline: Deadline = is_time_up) -> Range:
    """Range of sqrt(n (n - 1)) / (n - 2) * C3 / V^1.5.

    Requires: finite ends.
    Ensures:  sound; within 0.005 of an attained value on large groups if time allows. NULL where all values may be
              equal; where they may be so on a column of reals there are no bounds, because rounding errors dominate.
    """
    return _range(cells, SKEWNESS, deadline)


@statistic("kurtosis", proof=_PROOF, result="number", summary="excess kurtosis of a sample, G2", needs=4)
def kurtosis(cells: Cells, *, deadline: Deadline = is_time_up) -> Range:
    """Range of (n - 1) ((n + 1) C4 / V^2 - 3 (n - 1)) / ((n - 2) (n - 3)).

    Requires: finite ends.
    Ensures:  as `skewness`, with a gap of 0.01.
    """
    return _range(cells, KURTOSIS, deadline)


@statistic("kurtosis_pop", proof=_PROOF, result="number", summary="excess kurtosis, C4 / V^2 - 3", needs=2)
def kurtosis_pop(cells: Cells, *, deadline: Deadline = is_time_up) -> Range:
    """Range of C4 / V^2 - 3.

    Requires: finite ends.
    Ensures:  as `skewness`, with a gap of 0.01.
    """
    return _range(cells, KURTOSIS_POP, deadline)


# -- from the ratio to the statistic ---------------------------------------------------------------------


def _range(cells: Cells, measure: ShapeMeasure, deadline: Deadline) -> Range:
    """The range of a statistic: enumerated, or by two searches and the envelope over the number of records."""
    reach, variance = float(cells.high.max()) - float(cells.low.min()), var_pop(cells)
    if not reach < 1 / _NARROW or variance.low is None or variance.high is None:
        return _unbounded()
    floor, ceiling, records = float(variance.low), float(variance.high), exact_sum(cells.most)
    may_be_constant = floor == 0.0
    if cells.integer:
        floor = max(floor, (records - 1) / records**2 * (1.0 - 8 * UNIT))  # the least of unequal whole numbers
    noise = float(_noise(cells, measure, np.sqrt([floor]))[0])
    if reach == 0.0:
        return _constant(cells)
    if reach < _NARROW or not math.isfinite(noise):
        return _unbounded()
    exact = None if deadline() else _enumerated(cells, measure)
    if exact is not None:
        return exact
    lower, upper = _search(cells, measure, (floor, ceiling), deadline)
    least = max(measure.needs, exact_sum(cells.least))
    first, last = _blocks(least, records)
    upper_ends = np.minimum(upper.bound, measure.largest(last)) + noise
    lower_ends = np.maximum(-lower.bound, measure.smallest(last)) - noise
    low, high = _envelope(measure, lower_ends, upper_ends, first, last)
    attained = (_attained(measure, lower, -1.0), _attained(measure, upper, 1.0))
    return Range(low, high, *attained, False, may_be_constant)


def _unbounded() -> Range:
    return Range(-math.inf, math.inf, None, None, sharp=False, may_be_null=True)


def _constant(cells: Cells) -> Range:
    """All values are the same. On doubles the database may still compute a spread, and the result is unknown."""
    return Range.null() if cells.integer else _unbounded()


def _envelope(measure: ShapeMeasure, lower: Floats, upper: Floats, first: Floats, last: Floats) -> tuple[float, float]:
    """Ends over all numbers of records, given those of the ratio in blocks: alpha and beta do not rise with n."""
    tops = np.where(upper > 0.0, measure.alpha(first), measure.alpha(last)) * upper - measure.beta(last)
    bottoms = np.where(lower < 0.0, measure.alpha(first), measure.alpha(last)) * lower - measure.beta(first)
    slack = 64 * UNIT * (float(np.max(np.abs(tops))) + float(np.max(np.abs(bottoms))) + 3.0)
    return float(bottoms.min()) - slack, float(tops.max()) + slack


def _blocks(first: int, last: int) -> tuple[Floats, Floats]:
    """Numbers of records one by one, and further on in blocks that grow."""
    single = np.arange(first, min(last, first + 2000) + 1, dtype=np.float64)
    if last <= first + 2000:
        return single, single
    edges = np.unique(np.append(np.round(np.geomspace(first + 2000, last, 200)), last))
    return np.concatenate([single, edges[:-1]]), np.concatenate([single, edges[1:]])


def _attained(measure: ShapeMeasure, found: MomentBound, sign: float) -> float | None:
    """The statistic of the best data set that was seen."""
    if found.records < measure.needs or not math.isfinite(found.reached):
        return None
    n = np.array([float(found.records)])
    return float(measure.alpha(n)[0] * sign * found.reached - measure.beta(n)[0])


# -- the two searches ------------------------------------------------------------------------------------


def _search(
    cells: Cells, measure: ShapeMeasure, variances: tuple[float, float], deadline: Deadline
) -> tuple[MomentBound, MomentBound]:
    """The largest of minus the ratio, and of the ratio, on boxes scaled by a power of two, which rounds nothing."""
    middle = float(cells.low.min()) / 2 + float(cells.high.max()) / 2
    boxes, mean = centred_boxes(cells), avg(cells)
    scale = 2.0 ** math.ceil(math.log2(max(-float(boxes.low.min()), float(boxes.high.max()))))
    boxes = _merged(Boxes(boxes.low / scale, boxes.high / scale, boxes.least, boxes.most))
    blur = 8 * UNIT * (1.0 + abs(middle) / scale)
    low = max(-1.0, (float(mean.low or 0.0) - middle) / scale - blur)
    high = min(1.0, (float(mean.high or 0.0) - middle) / scale + blur)
    span = variances[0] / scale**2 * (1.0 - 4 * UNIT), variances[1] / scale**2 * (1.0 + 4 * UNIT)
    # For few records more is not worthwhile: counting them as real numbers already loses as much.
    records = exact_sum(cells.most)
    passes = min(_PASSES, 3 + records // 2)
    gap = measure.gap + 0.5 / records
    goal = Goal(measure.degree, 1.0, measure.power)

    def run(boxes: Boxes, goal: Goal, means: tuple[float, float], middle: float) -> MomentBound:
        rounded = _rounding(scale, middle) if cells.integer else _as_it_is
        return MomentSearch(boxes, goal, means, span, gap, passes, rounded, deadline).run()

    upper = run(boxes, goal, (low, high), middle)
    if measure.degree == 4:
        return run(boxes, goal._replace(sign=-1.0), (low, high), middle), upper
    mirror = Boxes(-boxes.high, -boxes.low, boxes.least, boxes.most)
    return run(mirror, goal, (-high, -low), -middle), upper


def _as_it_is(places: Floats) -> Floats:
    return places


def _rounding(scale: float, middle: float) -> Callable[[Floats], Floats]:
    """The nearest whole numbers, in scaled coordinates."""
    return lambda places: (np.rint(places * scale + middle) - middle) / scale


def _merged(boxes: Boxes) -> Boxes:
    """Equal boxes as one with the counts added, which changes nothing."""
    order = np.lexsort((boxes.high, boxes.low))
    low, high = boxes.low[order], boxes.high[order]
    first = np.flatnonzero(np.append(True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])))
    least, most = (np.add.reduceat(counts[order], first) for counts in (boxes.least, boxes.most))
    return Boxes(low[first], high[first], least, most)


# -- data sets one by one --------------------------------------------------------------------------------


def _enumerated(cells: Cells, measure: ShapeMeasure) -> Range | None:
    """The exact range over every data set, where these are few: whole numbers, or cells of one value each."""
    points, reach = bool(np.all(cells.low == cells.high)), float(cells.high.max()) - float(cells.low.min())
    if points and np.array_equal(cells.least, cells.most):
        return _of_sums(_power_sums(cells), cells, measure)
    if (reach * exact_sum(cells.most)) ** 4 > 2.0**58 if cells.integer else not points:
        return None
    columns = [column.tolist() for column in (cells.low, cells.high, cells.least, cells.most)]
    size = 1 if cells.most.size < 64 > int(cells.most.max()) else math.inf
    for low, high, least, most in zip(*columns, strict=True):
        size *= sum(math.comb(int(high - low) + n, n) for n in range(least, most + 1)) if size < math.inf else 1
        if size > _DATA_SETS:
            return None
    base = min(columns[0])
    sums: Array = np.zeros((5, 1), dtype=cells.low.dtype)
    for low, high, least, most in zip(*columns, strict=True):
        values = [low - base + step for step in range(int(high - low) + 1)]
        chosen = [data for n in range(least, most + 1) for data in combinations_with_replacement(values, n)]
        options = np.array([[sum(v**j for v in data) for j in range(5)] for data in chosen], dtype=cells.low.dtype).T
        sums = (sums[:, :, None] + options[:, None, :]).reshape(5, -1)
    return _of_sums(sums, cells, measure)


def _power_sums(cells: Cells) -> Floats:
    """Power sums of the one data set there is, about its mean."""
    boxes, records = centred_boxes(cells), exact_sum(cells.most)
    away = boxes.low - tree_sum(cells.most * boxes.low)[0] / records
    return np.array([[float(records)], *([tree_sum(cells.most * away**j)[0]] for j in range(1, 5))])


def _of_sums(sums: Array, cells: Cells, measure: ShapeMeasure) -> Range | None:
    """The range over data sets given by their power sums. On whole numbers everything up to the last divisions is
    exact."""
    n, one, two, three, four = sums[:, sums[0] >= measure.needs]
    variance = (n * two - one * one) / (n * n)
    moment = (n * n * three - 3 * n * one * two + 2 * one**3) / (n * n * n)
    if measure.degree == 4:
        moment = (n**3 * four - 4 * n * n * one * three + 6 * n * one * one * two - 3 * one**4) / (n * n * n * n)
    reach = float(cells.high.max()) - float(cells.low.min())
    error = 0.0 if np.issubdtype(sums.dtype, np.integer) else 4096 * UNIT
    apart = variance > 4 * error * reach**2
    if not apart.any():
        return Range.null() if error == 0.0 else None
    moment, variance, n = moment[apart], variance[apart], n[apart].astype(np.float64)
    alpha, beta = measure.alpha(n), measure.beta(n)
    values = alpha * moment / variance**measure.power - beta
    noise = _noise(cells, measure, np.sqrt(variance))
    if error:
        noise = noise + 2 * error * (reach**measure.degree / variance**measure.power)
        noise = noise + 4 * error * np.abs(moment) * reach**2 / variance ** (measure.power + 1)
    margins = alpha * noise + 64 * UNIT * (np.abs(values) + beta)
    lowest, highest = int(np.argmin(values - margins)), int(np.argmax(values + margins))
    low, high = float(values.min()), float(values.max())
    sharp = all(margins[at] < 5e-10 * (1.0 + abs(values[at])) for at in (lowest, highest))
    return Range(
        float(values[lowest] - margins[lowest]),
        float(values[highest] + margins[highest]),
        low,
        high,
        sharp,
        not bool(apart.all()),
    )


# -- what the database computes --------------------------------------------------------------------------


def _noise(cells: Cells, measure: ShapeMeasure, sigma: Floats) -> Floats:
    """The error that updating formulas may add to C_p / V^q of data with a deviation of at least sigma."""
    bottom, top = float(cells.low.min()), float(cells.high.max())
    records, size, reach = max(2, exact_sum(cells.most)), max(abs(bottom), abs(top)), top - bottom
    e, log, root = mean_error(records, size, reach), math.log(records), math.sqrt(max(1.0, math.log2(records)))
    third = e * ((25 + 6 * log) * sigma**2 + 9 * reach * sigma * log * root) + 6 * e**2 * reach * root**2 * log
    fourth = e * reach * (50 + 75 * log) * sigma**2 + 18 * e * reach**2 * sigma * log * root
    fourth += 12 * e**2 * reach**2 * root**2 * log + 4 * reach * log * third
    moment = 2.0 * (third if measure.degree == 3 else fourth)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = deviation_error(records, size, reach) / sigma
        most = math.sqrt(records) if measure.degree == 3 else float(records)
        noise = 1.1 * moment / sigma**measure.degree + most * measure.power * (2.1 * tau + 8 * UNIT * records)
    return np.where(tau < 0.01, noise + 64 * UNIT * most, math.inf)
