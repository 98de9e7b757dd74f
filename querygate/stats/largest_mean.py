"""The largest mean that a selection can reach (Dinkelbach 1967): the basis of most statistics here.

max over least <= s <= most of sum(s v) / sum(s). For a guess t, F(t) = max_s sum(s (v - t)) is reached by taking `most`
where v > t and `least` elsewhere, and the largest mean is the root of F. Newton's method on F climbs to it in a few
passes, and every pass only needs the cells that still beat the guess. Proof: docs/explanation/proofs/location.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.stats.numerics import exact_dot, exact_sum, gamma, quiet_bounds, quiet_sum, tree_sum, up

_CLEAR = 1e-290
"""Far above the subnormal numbers."""


class Largest(NamedTuple):
    """A mean that is reached (up to rounding), and a number that no mean exceeds."""

    reached: float
    bound: float


def largest_mean_exact(values: Ints, least: Ints, most: Ints) -> Fraction:
    """The largest mean of whole numbers, without any rounding.

    Requires: at least one cell, most >= 1.
    Ensures:  the exact maximum over non-empty selections.

    >>> largest_mean_exact(np.array([1, 5]), np.array([1, 0]), np.array([2, 2]))
    Fraction(11, 3)
    """
    base_count = exact_sum(least)
    if base_count == 0:
        return Fraction(int(values.max()))
    base_sum = exact_dot(least, values)
    mean = Fraction(base_sum, base_count)
    extra = most - least
    while True:
        better = values > math.floor(mean)
        values, extra = values[better], extra[better]
        climbed = Fraction(base_sum + exact_dot(extra, values), base_count + exact_sum(extra))
        if climbed == mean:
            return mean
        mean = climbed


def largest_mean(values: Floats, least: Ints, most: Ints, ddof: int = 0) -> Largest:
    """The largest sum(s v) / (sum(s) - ddof) of doubles, with a bound that holds despite all rounding.

    Requires: at least one cell, most >= 1; with ddof = 1 values >= 0 and at least two records that can be selected.
    Ensures:  no quotient of more than ddof records exceeds `bound`.
    """
    base_count = exact_sum(least)
    if base_count > ddof:
        with np.errstate(over="ignore", invalid="ignore"):
            return quiet_largest_mean(Choices.of(values, least, most, base_count), ddof)
    if not np.isfinite(values).all():
        return Largest(math.inf, math.inf)
    return _fewest(values, least, most, ddof)


class Choices(NamedTuple):
    """Values, how many records of each are selected at least and at most, and what follows from these numbers."""

    values: Floats
    least: Ints
    most: Ints
    extra: Ints
    certain: int
    records: int

    @classmethod
    def of(cls, values: Floats, least: Ints, most: Ints, certain: int) -> Choices:
        return cls(values, least, most, most - least, certain, exact_sum(most))


def quiet_largest_mean(choices: Choices, ddof: int) -> Largest:
    """The same where more than ddof records are certain, for callers that have already silenced numpy's overflow
    warnings.

    A value that is not finite makes the first mean not finite, whether it is selected or not.
    """
    mean = _climb(choices, ddof)
    if not math.isfinite(mean):
        return Largest(math.inf, math.inf)
    return Largest(mean, _certify(choices, mean, ddof))


def _fewest(values: Floats, least: Ints, most: Ints, ddof: int) -> Largest:
    """With no more than ddof certain records the best is to add as few as possible: the largest ones.

    For ddof = 1, v >= 0: a third record v3 <= v1 + v2 lowers (v1 + v2) to at most (v1 + v2 + v3) / 2.
    """
    total, room = 0.0, ddof + 1
    for cell in np.flatnonzero(least):
        total, room = up(total + float(values[cell]) * int(least[cell])), room - int(least[cell])
    free = most - least
    spare = np.flatnonzero(free)
    if spare.size > room:
        spare = spare[np.argpartition(values[spare], -room)[-room:]]
    for cell in spare[np.argsort(-values[spare])]:
        taken = min(room, int(free[cell]))
        total, room = total + float(values[cell]) * taken, room - taken
    return Largest(total, total if ddof == 0 else up(total, 2))


def largest_computed_mean(values: Floats, least: Ints, most: Ints) -> Largest:
    """The largest mean that a database can compute when it adds doubles in an order of its own.

    Requires: at least one cell, most >= 1.
    Ensures:  with N records the computed sum is at most sum(x) + gamma(N - 1) sum|x|, so values inflated by that factor
              bound it; two more steps cover the division.
    """
    records = exact_sum(most)
    if records == 1:
        top = float(values.max())
        return Largest(top, top)
    with np.errstate(over="ignore", invalid="ignore"):
        inflated = np.nextafter(values + np.abs(values) * gamma(records - 1), np.inf)
    found = largest_mean(inflated, least, most)
    if not least.any() or not math.isfinite(found.reached):
        return Largest(found.reached if math.isinf(found.reached) else float(values.max()), up(found.bound, 2))
    taken = np.where(inflated > found.reached, most, least)
    return Largest(tree_sum(taken * values)[0] / exact_sum(taken), up(found.bound, 2))


def _climb(choices: Choices, ddof: int) -> float:
    """Newton steps in double arithmetic; where they end need not be trusted."""
    values, extra = choices.values, choices.extra
    base_sum, base_count = quiet_sum(choices.least * values)[0], choices.certain - ddof
    mean = base_sum / base_count
    while True:
        better = (values > mean).nonzero()[0]
        values, extra = values[better], extra[better]
        climbed = (base_sum + quiet_sum(extra * values)[0]) / (base_count + exact_sum(extra))
        if not climbed > mean:
            return mean
        mean = climbed


def _certify(choices: Choices, mean: float, ddof: int) -> float:
    """A number t >= mean with F(t) <= 0 for certain: then no mean exceeds t (weak duality)."""
    excess, taken = _excess(choices, mean, ddof)
    if excess <= 0.0:
        return mean
    certain = choices.certain - ddof
    fallback = up(mean + up(excess / certain))
    if 2 * certain > choices.records and excess > _CLEAR:
        return fallback  # no smaller step is tried: three times the excess over all selected records
    step = 3.0 * excess / (exact_sum(taken) - ddof)
    for _ in range(4):
        guess = up(mean + step)
        if guess >= fallback:
            break
        if _excess(choices, guess, ddof)[0] <= 0.0:
            return guess
        step *= 4.0
    return fallback


def _excess(choices: Choices, guess: float, ddof: int) -> tuple[float, Ints]:
    """An upper bound of F(guess), and the selection that reaches it."""
    gains = choices.values - guess  # one rounding; its sign is right
    taken = np.where(gains > 0.0, choices.most, choices.least)
    excess = quiet_bounds(taken * gains, 3, 1)[0].high
    return (up(excess + ddof * guess) if ddof else excess), taken
