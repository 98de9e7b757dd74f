"""Sharper ranges from further public knowledge: sums, sums of squares, or attained ends of the classes.

A class has `size` members with values in [low, high], of which between `least` and `most` are selected by a condition
on other columns. The further knowledge is one of
    sums        the sum of the values of all members, exact or as a public cell (low, high),
    squares     exact sums, and the sums of the squares, exact or as cells,
    tight       both ends are values of members.
Each turns a class into a short list of extreme members, and the sharper range into an ordinary one over these lists.
Proof: docs/explanation/proofs/knowledge.md.

>>> classes = make_classes([110, 130], [120, 140], counts=[3, 3], sums=[344, 405], integer=True)
>>> mean(classes).width < 1e-12
True
>>> var(classes)
var: 103.4 .. 120.2, sharp
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from querygate.core.types import Cells, Range
from querygate.stats.enclosure import Enclosure
from querygate.stats.knowledge.classes import Classes, make_classes
from querygate.stats.knowledge.counts import members_above, members_between
from querygate.stats.knowledge.members import largest_computed_sum, upper_runs
from querygate.stats.knowledge.variance import variance_range
from querygate.stats.largest_mean import largest_computed_mean
from querygate.stats.numerics import exact_sum
from querygate.stats.sums_and_means import avg, sum_
from querygate.stats.variance.spread import var_pop, var_samp

_UNDERFLOW = 1e-140  # a reach whose square is still far from the subnormal numbers

__all__ = ["Classes", "make_classes", "mean", "members_above", "members_between", "sum", "var"]


def sum(classes: Classes) -> Enclosure:
    """Range of the sum.

    Ensures: every computed sum of a consistent, non-empty selection is in the range; ends attained up to rounding.
    """
    return Enclosure("sum", _range(classes, _largest_sum), classes.cells)


def mean(classes: Classes) -> Enclosure:
    """Range of the mean.

    Ensures: every computed mean of a consistent, non-empty selection is in the range; ends attained up to rounding,
             except for whole numbers with sums of squares in classes that are not selected whole.
    """
    return Enclosure("mean", _range(classes, _largest_mean), classes.cells)


def var(classes: Classes, *, ddof: int = 0) -> Enclosure:
    """Range of the variance, divided by n - ddof (0 or 1).

    Ensures: sound; sharp where every class is selected whole and sums are exact. Otherwise the range has the values
             that are attained.
    """
    if ddof not in (0, 1):
        raise ValueError("ddof must be 0 or 1")
    kept = classes.part(classes.most > 0)
    if exact_sum(kept.most) <= ddof:
        return Enclosure("var", Range.null(), classes.cells)
    plain = (var_pop, var_samp)[ddof](kept.cells)
    if float(kept.high.max()) - float(kept.low.min()) < _UNDERFLOW:
        unknown = replace(plain, attained_low=None, attained_high=None, sharp=False)
        return Enclosure("var", plain if plain.low == plain.high else unknown, classes.cells)
    found = variance_range(kept, ddof)
    if found.low is None or found.high is None or plain.low is None or plain.high is None:
        raise ArithmeticError("a range over enough records has ends")
    # For small cohorts the plain range is enumerated, unlike lists: both hold, so intersect them.
    narrowed = replace(found, low=max(found.low, plain.low), high=min(found.high, plain.high))
    return Enclosure("var", narrowed, classes.cells)


def _range(classes: Classes, largest: Callable[[Classes], tuple[float, float]]) -> Range:
    """Both ends: the lower one is the upper one of the mirror image."""
    kept = classes.part(classes.most > 0)
    if not kept.size.size:
        return Range.null()
    (high, attained_high), (low, attained_low) = largest(kept), largest(kept.mirrored())
    # Whether whole numbers with a given sum and sum of squares exist is a question of its own.
    known = not (kept.integer and kept.squares_low is not None and not kept.whole.all())
    may_be_null = not kept.least.any()
    if not known:
        return Range(-low, high, None, None, sharp=False, may_be_null=may_be_null)
    return Range(-low, high, -attained_low, attained_high, may_be_null=may_be_null)


def _largest_sum(classes: Classes) -> tuple[float, float]:
    runs = upper_runs(classes)
    if not np.issubdtype(runs.values.dtype, np.integer):
        return largest_computed_sum(runs)
    return _upper_end(sum_(Cells(runs.values, runs.values, runs.least, runs.most, integer=True)))


def _largest_mean(classes: Classes) -> tuple[float, float]:
    runs = upper_runs(classes)
    if not np.issubdtype(runs.values.dtype, np.integer):
        found = largest_computed_mean(runs.values.astype(np.float64), runs.least, runs.most)
        return found.bound, found.reached
    return _upper_end(avg(Cells(runs.values, runs.values, runs.least, runs.most, integer=True)))


def _upper_end(found: Range) -> tuple[float, float]:
    if found.high is None or found.attained_high is None:
        raise ArithmeticError("a range over records that can be selected has ends")
    return found.high, found.attained_high
