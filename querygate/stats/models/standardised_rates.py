"""Directly standardised rates of groups, as ranges. Proof: models.md.

A group's rate is the mean of its rates in strata, weighted by a standard population: weights that were given, or how
many records of all groups together there are in each stratum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from querygate.core.types import Range
from querygate.stats.models.coefficient_table import NORMAL
from querygate.stats.models.mantel_haenszel import Counted, largest_quotient
from querygate.stats.models.verified_numbers import Intervals
from querygate.stats.numerics import enclose


@dataclass(frozen=True, slots=True)
class GroupStratum:
    """Records of one group in one stratum, with the outcome and without it."""

    events: Counted
    others: Counted

    @property
    def is_exact(self) -> bool:
        return self.events.least == self.events.most and self.others.least == self.others.most

    @property
    def may_be_empty(self) -> bool:
        return self.events.least + self.others.least == 0

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The least and the largest share of events in a stratum that is not empty."""
        (least, most), (fewest, many) = self.events, self.others
        return Fraction(least, (least + many) or 1), Fraction(most, (most + fewest) or 1)


Weight = tuple[Fraction, Fraction]
"""The least and the largest weight of a stratum: equal where weights were given."""


@dataclass(frozen=True, slots=True)
class StandardisedRate:
    """For one group: the rate, its standard error, and the crude share of events. `exact` says that all counts and
    weights are known."""

    rate: Range
    error: Intervals
    crude: Range
    exact: bool


def own_weights(groups: Sequence[Sequence[GroupStratum]]) -> list[Weight]:
    """How many records there are in each stratum, in all groups."""
    found = []
    for parts in zip(*groups, strict=True):
        least = sum(part.events.least + part.others.least for part in parts)
        found.append((Fraction(least), Fraction(sum(part.events.most + part.others.most for part in parts))))
    return found


def standardised_rate(strata: Sequence[GroupStratum], weights: Sequence[Weight]) -> StandardisedRate | None:
    """None if the group may have no records in a stratum with a weight: then there is no rate.

    Ensures: sharp where weights are given; otherwise sound, and exact where all counts are.
    """
    used = [(part, weight) for part, weight in zip(strata, weights, strict=True) if weight[1] > 0]
    if not used or any(part.may_be_empty for part, _ in used):
        return None
    high = largest_quotient([[(w * part.rates[1], w) for w in weight] for part, weight in used], sign=1)
    low = largest_quotient([[(w * part.rates[0], w) for w in weight] for part, weight in used], sign=-1)
    if low is None or high is None:
        return None
    fixed = all(least == most for _, (least, most) in used)
    rate = Range(low, high, low if fixed else None, high if fixed else None, sharp=fixed)
    return StandardisedRate(rate, _error(used), _crude(strata), fixed and all(part.is_exact for part in strata))


def _error(used: Sequence[tuple[GroupStratum, Weight]]) -> Intervals:
    """sqrt(sum w^2 r (1 - r) / n) / sum w."""
    rates = _intervals([part.rates for part, _ in used])
    records = _intervals(
        [(part.events.least + part.others.least, part.events.most + part.others.most) for part, _ in used]
    )
    weights = _intervals([weight for _, weight in used])
    one = Intervals.of(np.ones(len(used)))
    spread = (rates * (one - rates)).at_least(0.0)
    spread = Intervals(spread.low, np.minimum(spread.high, 0.25))
    return (weights.square() * spread.over(records)).total().at_least(0.0).sqrt().over(weights.total())


def _intervals(pairs: Sequence[tuple[Fraction, Fraction] | tuple[int, int]]) -> Intervals:
    ends = [(enclose(Fraction(low)).low, enclose(Fraction(high)).high) for low, high in pairs]
    return Intervals(np.array([low for low, _ in ends]), np.array([high for _, high in ends]))


def _crude(strata: Sequence[GroupStratum]) -> Range:
    parts = [(part.events, part.others) for part in strata]
    whole = GroupStratum(
        Counted(sum(e.least for e, _ in parts), sum(e.most for e, _ in parts)),
        Counted(sum(o.least for _, o in parts), sum(o.most for _, o in parts)),
    )
    low, high = enclose(whole.rates[0]).low, enclose(whole.rates[1]).high
    return Range(low, high, low, high)


# -- limits and comparisons ------------------------------------------------------------------------------------


def rate_limits(found: StandardisedRate) -> tuple[Range, Range]:
    """95 % confidence limits of a rate, by the normal distribution."""
    rate, away = _interval(found.rate), found.error * Intervals.of(np.array(NORMAL)).wider(1e-12)
    return _range(rate - away, sharp=found.exact), _range(rate + away, sharp=found.exact)


def rate_ratio(found: StandardisedRate, reference: StandardisedRate) -> tuple[Range, Range, Range]:
    """The ratio of two groups' rates with 95 % confidence limits on the scale of logarithms."""
    rate, other = _interval(found.rate), _interval(reference.rate)
    ratio = rate.over(other)
    ratio = Intervals(np.maximum(ratio.low, 0.0), ratio.high)
    variance = (found.error.over(rate)).square() + (reference.error.over(other)).square()
    away = variance.sqrt() * Intervals.of(np.array(NORMAL)).wider(1e-12)
    sharp = all(one.rate.sharp for one in (found, reference))
    exact = found.exact and reference.exact
    low, high = (ratio * (-away).exp()).at_least(0.0), (ratio * away.exp()).at_least(0.0)
    return _range(ratio, sharp=sharp), _range(low, sharp=exact), _range(high, sharp=exact)


def rate_difference(found: StandardisedRate, reference: StandardisedRate) -> Range:
    sharp = all(one.rate.sharp for one in (found, reference))
    return _range(_interval(found.rate) - _interval(reference.rate), sharp=sharp)


def _interval(found: Range) -> Intervals:
    low, high = (math.nan if end is None else float(end) for end in (found.low, found.high))
    return Intervals(np.array(low), np.array(high))


def _range(found: Intervals, *, sharp: bool) -> Range:
    return Range(float(found.low), float(found.high), None, None, sharp=sharp)
