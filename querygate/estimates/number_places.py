"""Where numbers lie in their intervals, estimated from the published sums of classes.

Values that the source had rounded lie at one side of every interval: creatinine in tenths, say, in intervals of a
tenth. All classes together show how far (a normal model of sums that are known as ranges, Heitjan 1989), and how much
values vary around that. An outermost cell of sums only says that the sum is no further inside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from querygate.core.types import Floats

SHIFTS = np.linspace(-1.0, 1.0, 81)
"""By how many half widths all values may lie away from their assumed place."""

BEFORE = np.where(SHIFTS == -1.0, SHIFTS.size - 1.0, 1.0)
"""The prior of each: that values are the low ends of their intervals, as rounded ones are, has the same weight as all
other cases together."""

SPREADS = np.array([1.0, 0.1, 0.01, 1e-4])
"""What part of the variance of the sums may remain, compared with values anywhere in their intervals."""

_DOUBT = 1e-9
"""The least likelihood of any class, so that a single one that does not fit decides nothing."""


@dataclass(frozen=True, slots=True)
class ClassSums:
    """By class: the sum that is likely so far, the least and the greatest that its intervals allow, its variance if
    values are anywhere in them, and the published range."""

    likely: Floats
    least: Floats
    greatest: Floats
    variance: Floats
    low: Floats
    high: Floats

    @classmethod
    def joined(cls, parts: Sequence[ClassSums]) -> ClassSums:
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    def moved(self, shift: float) -> Floats:
        """The sums if all values lay this many half widths away."""
        return np.clip(self.likely + shift * (self.greatest - self.least) / 2, self.least, self.greatest)


@dataclass(frozen=True, slots=True)
class CommonShift:
    """How far all values lie from their assumed place, in half widths, and what part of the variance of the sums
    remains."""

    by: float = 0.0
    spread: float = 1.0


def common_shift(sums: ClassSums) -> CommonShift:
    """The posterior mean of shift and spread, given what is published."""
    low = np.where(sums.low <= sums.least, -np.inf, sums.low)
    high = np.where(sums.high >= sums.greatest, np.inf, sums.high)
    told = (sums.variance > 0) & (np.isfinite(low) | np.isfinite(high))
    if not told.any():
        return CommonShift()
    low, high, variance = low[told], high[told], SPREADS[:, None] * sums.variance[told]
    ends = np.stack([high, low])[:, None]
    likelihood = np.zeros((SPREADS.size, SHIFTS.size))
    for place, shift in enumerate(SHIFTS.tolist()):
        centre, deviation = sums.moved(shift)[told], np.sqrt(variance)
        below_high, below_low = normal_share((ends - centre) / deviation)
        inside = below_high - below_low
        likelihood[:, place] = np.log(np.maximum(inside, 0.0) + _DOUBT).sum(axis=1)
    weight = BEFORE * np.exp(likelihood - likelihood.max())
    weight /= weight.sum()
    return CommonShift(float((weight.sum(axis=0) * SHIFTS).sum()), float((weight.sum(axis=1) * SPREADS).sum()))


_OVER = (
    3.52624965998911e-02, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871, 221.213596169931,
    220.206867912376,
)  # fmt: skip
_UNDER = (
    8.83883476483184e-02, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674, 637.333633378831,
    793.826512519948, 440.413735824752,
)  # fmt: skip
_FAR = 5 * math.sqrt(2)


def normal_share(x: Floats) -> Floats:
    """The share of a standard normal distribution below x, to 15 places (Hart 1968, as West 2005 has it). Loading
    scipy's would take a third of the time of the first question to a gate."""
    z = np.minimum(np.abs(x), 38.0)  # beyond this, no double is small enough
    near = np.polyval(_OVER, z) / np.polyval(_UNDER, z)
    far = 1.0 / (z + 1.0 / (z + 2.0 / (z + 3.0 / (z + 4.0 / (z + 0.65))))) / math.sqrt(2 * math.pi)
    tail = np.exp(-z * z / 2) * np.where(z < _FAR, near, far)
    return np.where(x > 0, 1.0 - tail, tail)


def likely_sums(sums: ClassSums, common: CommonShift) -> Floats:
    """The sum of each class: the likely sum from its intervals and the published range, weighted by their certainty."""
    spread, variance = sums.moved(common.by), common.spread * sums.variance
    middle, other = sums.low / 2 + sums.high / 2, (sums.high - sums.low) ** 2 / 12
    total = variance + other
    known = (total > 0) & (total < np.inf)
    mixed = np.divide(spread * other + middle * variance, total, out=middle.copy(), where=known)
    return np.clip(mixed, sums.low, sums.high)
