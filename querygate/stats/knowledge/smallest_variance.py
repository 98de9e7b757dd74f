"""The smallest variance with knowledge about the classes, on narrower boxes.

Whatever the selected members of a class are, moving all of them to their mean keeps the sum of the class and lowers the
variance. So the knowledge restricts where one point can be, and the ordinary algorithm does the rest. Proof:
docs/explanation/proofs/knowledge.md.
"""

from __future__ import annotations

import math

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.stats.knowledge.classes import Classes
from querygate.stats.knowledge.members import Runs, deviations, moved
from querygate.stats.numerics import UNIT, exact_sum, tree_sum
from querygate.stats.variance.largest import Boxes
from querygate.stats.variance.smallest import Lower, smallest_variance

_LAYERS = 8


def smallest(classes: Classes, points: Boxes | None, middle: float, ddof: int) -> tuple[float, float | None]:
    """A bound, and the variance of a data set that comes near to it, if one is known. `points` are further records."""
    boxes = _joined([_boxes(classes, middle), *([] if points is None else [points])])
    if exact_sum(boxes.least) <= ddof:
        return 0.0, 0.0 if ddof == 0 else None
    found = smallest_variance(boxes, ddof)
    aims = {found.centre}
    if classes.integer:
        aims = {round_(found.centre + middle) - middle for round_ in (math.floor, math.ceil)}
    reached = [_variance(_nearest(classes, middle, found, aim), points, ddof) for aim in aims]
    return found.bound, min((value for value in reached if value is not None), default=None)


def _joined(parts: list[Boxes]) -> Boxes:
    low, high, least, most = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Boxes(low, high, least, most).part(most > 0)


def _boxes(classes: Classes, middle: float) -> Boxes:
    """Where the selected members of each class can be, as boxes for the ordinary algorithm."""
    if classes.tight:
        return _split(classes, middle)
    if classes.sum_low is None:
        return _centred(classes.low, classes.high, classes.least, classes.most, middle)
    balanced = classes.whole & np.equal(*classes.sums) & classes.integer
    return _joined([*_layers(classes.part(~balanced), middle), _balanced(classes.part(balanced), middle)])


def _layers(classes: Classes, middle: float) -> list[Boxes]:
    """The certain members at one point, and further ones in a few layers.

    The more members are selected the narrower the place that all of them can share, so the j-th one costs no less than
    its distance from the place of j members. A layer takes several j together, with the place of its first.
    """
    certain, span = classes.least, classes.most - classes.least
    low, high = _common_points(classes, np.maximum(certain, 1))
    layers = [_centred(low, high, certain, certain, middle)]
    for layer in range(_LAYERS):
        first, last = certain + span * layer // _LAYERS + 1, certain + span * (layer + 1) // _LAYERS
        used = classes.part(last >= first)
        number = (last - first + 1)[last >= first]
        low, high = _common_points(used, first[last >= first])
        layers.append(_centred(low, high, np.zeros_like(number), number, middle))
    return layers


def _centred(low: Floats | Ints, high: Floats | Ints, least: Ints, most: Ints, middle: float) -> Boxes:
    return Boxes(moved(low, middle, -math.inf), moved(high, middle, math.inf), least, most)


def _common_points(classes: Classes, number: Ints) -> tuple[Floats, Floats]:
    """Where `number` members can all be, if the others can make up the sum.

    It shrinks as the number grows, so with the least number it holds for every number of selected members.
    """
    (first, last), size = classes.sums, classes.size
    margin = 0.0 if classes.integer else 16 * UNIT * classes.reach * size
    low: Floats = np.maximum(classes.low, np.nextafter((first - (size - number) * classes.high) / number, -np.inf))
    high: Floats = np.minimum(classes.high, np.nextafter((last - (size - number) * classes.low) / number, np.inf))
    if classes.squares_low is not None:
        mean, reach = first / size, deviations(classes)[1] * np.sqrt((size - number) / number)
        slack = 16 * UNIT * (classes.reach + reach)
        low, high = np.maximum(low, mean - reach - slack), np.minimum(high, mean + reach + slack)
    low, high = np.maximum(low - margin, classes.low), np.minimum(high + margin, classes.high)
    return np.minimum(low, high), np.maximum(low, high)


def _balanced(classes: Classes, middle: float) -> Boxes:
    """Whole numbers with a given sum are least spread when they differ by one at most, wherever the mean is."""
    sums, size = classes.sums[0], classes.size
    base = sums // size
    above = (sums - base * size).astype(np.int64)
    values, counts = np.concatenate([base, base + 1]), np.concatenate([size - above, above])
    return _centred(values, values, counts, counts, middle)


def _split(classes: Classes, middle: float) -> Boxes:
    """Tight classes: one member at each end, the others anywhere between.

    Ends are optional points where all others can be selected without them; a single member that must be at one end or
    the other counts as anywhere (sound, not sharp).
    """
    low, high, size, least, most = classes.low, classes.high, classes.size, classes.least, classes.most
    wide = low < high
    both, either = wide & (least == size), wide & (least == size - 1)
    inner_least = np.where(both, size - 2, least)
    inner_most = np.where(both, size - 2, np.where(either, size - 1, np.where(wide, np.minimum(most, size - 2), most)))
    ends = both | (either & (most == size)) | (wide & (least <= size - 2) & (most >= size - 1))
    inner = _centred(low, high, inner_least, inner_most, middle)
    certain, possible = both[ends].astype(np.int64), np.ones(int(ends.sum()), dtype=np.int64)
    outer = [_centred(end[ends], end[ends], certain, possible, middle) for end in (low, high)]
    return _joined([inner, *outer])


# -- a data set near to the bound --------------------------------------------------------------------------


def _nearest(classes: Classes, middle: float, found: Lower, aim: float) -> Runs:
    """Members as near to the target as the knowledge allows, as runs of centred values."""
    target = aim + middle
    if classes.tight:
        return _nearest_tight(classes, middle, found, target)
    if classes.sum_low is None:
        number = np.where(_is_near(classes.low, classes.high, middle, found), classes.most, classes.least)
    else:
        number = _best_numbers(classes, found.centre + middle, found.level)
    kept = classes.part(number > 0)
    number = number[number > 0]
    bottom, top = number * kept.low, number * kept.high
    if kept.sum_low is not None:
        first, last = kept.sums
        bottom = np.maximum(bottom, first - (kept.size - number) * kept.high)
        top = np.minimum(top, last - (kept.size - number) * kept.low)
    if not kept.integer:
        total: Floats | Ints = np.clip(number * target, bottom, top)
        return Runs(total / number - middle, number, number)
    total = np.clip(np.rint(number * target).astype(np.int64), bottom, top)
    base = total // number
    above = total - base * number
    values, counts = np.concatenate([base, base + 1]), np.concatenate([number - above, above])
    return Runs(values - middle, counts, counts)


def _best_numbers(classes: Classes, centre: float, level: float) -> Ints:
    """How many members to select, of a few numbers tried: that with the least s (d(s)^2 - level)."""
    best, least = classes.least, np.full(classes.size.size, np.inf)
    for layer in range(_LAYERS + 1):
        number = classes.least + (classes.most - classes.least) * layer // _LAYERS
        low, high = _common_points(classes, np.maximum(number, 1))
        distance = np.maximum(np.maximum(low - centre, centre - high), 0.0)
        cost = number * (distance * distance - level)
        best, least = np.where(cost < least, number, best), np.minimum(cost, least)
    return best


def _is_near(low: Floats | Ints, high: Floats | Ints, middle: float, found: Lower) -> Bools:
    """Boxes near enough to the centre for their optional records to lower the variance."""
    centre = found.centre + middle
    distance = np.maximum(np.maximum(low - centre, centre - high), 0.0)
    near: Bools = np.less(distance * distance, found.level)
    return near


def _nearest_tight(classes: Classes, middle: float, found: Lower, target: float) -> Runs:
    low, high, size = classes.low, classes.high, classes.size
    wide = low < high
    nearer = np.where(np.abs(low - target) <= np.abs(high - target), low, high)
    farther = low + high - nearer
    wanted = np.where(_is_near(low, high, middle, found), np.where(wide, size - 2, size), 0)
    wanted = wanted + (wide & (wanted == size - 2) & _is_near(nearer, nearer, middle, found))
    wanted = wanted + (wide & (wanted == size - 1) & _is_near(farther, farther, middle, found))
    number = np.clip(wanted, classes.least, classes.most)
    inner = np.where(wide, np.minimum(number, size - 2), number)
    values = np.concatenate([np.clip(target, low, high), nearer, farther]) - middle
    counts = np.concatenate([inner, (wide & (number >= size - 1)), (wide & (number == size))]).astype(np.int64)
    return Runs(values, counts, counts)


def _variance(data: Runs, points: Boxes | None, ddof: int) -> float | None:
    values, counts = data.values.astype(np.float64), data.most
    if points is not None:
        values = np.concatenate([values, (points.low + points.high) / 2])
        counts = np.concatenate([counts, points.most])
    records = exact_sum(counts)
    if records <= ddof:
        return None
    mean = tree_sum(counts * values)[0] / records
    return tree_sum(counts * (values - mean) ** 2)[0] / (records - ddof)
