"""How much one protected unit, added or removed, can change a count, a sum or a mean; and noisy sums and means.

Values are clamped to a public domain and taken in whole steps of a public grid before they are added. Sums of floats
depend on the order of addition, and one row can change the rounding of all the others: far more than its own value
(Casacuberta and others 2022). Sums of whole steps are exact, and noise on whole numbers needs no float either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from querygate.core.budget_types import Cost
from querygate.methods.dp.exact_floats import at_least, exact, rounded_down, rounded_up
from querygate.methods.dp.mechanisms import DEFAULT, LEVEL, MECHANISMS, Mechanism, Noisy
from querygate.methods.dp.quotient_interval import quotient_interval
from querygate.methods.dp.sampler import Entropy


def count_sensitivity(rows_per_person: int = 1) -> int:
    """How much a count of rows can change."""
    if rows_per_person < 1:
        raise ValueError(f"a person has at least one row, not {rows_per_person}")
    return rows_per_person


@dataclass(frozen=True, slots=True)
class Grid:
    """A public domain [low, high] in steps. All of it comes from the policy, nothing from the data.

    >>> grid = Grid(40, 300, 1)
    >>> grid.steps(1000), grid.sum_sensitivity(), grid.centred_sensitivity()
    (300, 300, 260)
    """

    low: float
    high: float
    step: float
    first: int = field(init=False, repr=False)
    """The low end in steps from zero."""
    last: int = field(init=False, repr=False)
    """The high end in steps from zero."""

    def __post_init__(self) -> None:
        if not all(math.isfinite(number) for number in (self.low, self.high, self.step)):
            raise ValueError("a domain has finite ends and a finite step")
        if not (self.low < self.high and self.step > 0):
            raise ValueError(f"a domain has its low end below the high one, and a step above 0: {self}")
        for name, end in (("first", self.low), ("last", self.high)):
            object.__setattr__(self, name, round(exact(end) / exact(self.step)))
        if self.first == self.last:
            raise ValueError(f"a step is no wider than the domain: {self}")

    def steps(self, value: float) -> int:
        """A value clamped to the domain, in steps from zero."""
        near = min(max(value, self.low), self.high)
        return min(max(round(Fraction(near) / exact(self.step)), self.first), self.last)

    def sum_sensitivity(self, rows_per_person: int = 1) -> int:
        """How much a sum of steps can change: a row comes or goes, with the largest value there can be."""
        return max(abs(self.first), abs(self.last)) * count_sensitivity(rows_per_person)

    def centred_sensitivity(self, rows_per_person: int = 1) -> int:
        """How much the sum of distances from the middle of the domain can change, in half steps."""
        return (self.last - self.first) * count_sensitivity(rows_per_person)


def noisy_sum(
    total: int,
    grid: Grid,
    *,
    epsilon: float,
    entropy: Entropy,
    delta: float = 0.0,
    rows_per_person: int = 1,
    mechanism: str = DEFAULT,
) -> Noisy:
    """A sum, given in steps, with noise and in the unit of the values."""
    member = _unbounded(mechanism)
    sensitivity = grid.sum_sensitivity(rows_per_person)
    noisy = member.release(total, sensitivity=sensitivity, epsilon=epsilon, delta=delta, entropy=entropy)
    step = exact(grid.step)
    value, low, high = (step * Fraction(number) for number in (noisy.value, noisy.low95, noisy.high95))
    whole = member.whole and step.denominator == 1
    return Noisy(
        int(value) if whole else float(value),
        noisy.mechanism,
        noisy.scale * grid.step,
        rounded_down(low),
        rounded_up(high),
    )


def noisy_mean(
    total: int,
    count: int,
    grid: Grid,
    *,
    epsilon: float,
    entropy: Entropy,
    delta: float = 0.0,
    rows_per_person: int = 1,
    mechanism: str = DEFAULT,
) -> Noisy:
    """A mean, from the sum of `count` values in steps: a noisy sum over a noisy count, each with half of the budget.

    What is added up are distances from the middle of the domain, so that a row weighs half the width of the domain at
    most, in place of its largest value (Li, Lyu, Su and Yang 2016).

    The interval is that of the quotient (see `quotient_interval`), in the domain. Where the noise has left no mean
    possible, sum and count are each within their own interval of level 97.5 %, and the mean is between the least and
    the largest quotient of the two. It holds if there is any row; the mean of none is not a
    number, and what is shown then is somewhere in the domain. `scale` is that of the noise on the sum over the noisy
    count.
    """
    member = _unbounded(mechanism)
    half, part = exact(epsilon) / 2, delta / 2
    centred = 2 * total - (grid.first + grid.last) * count  # in half steps
    apart, rows = grid.centred_sensitivity(rows_per_person), count_sensitivity(rows_per_person)
    top = member.release(centred, sensitivity=apart, epsilon=half, delta=part, entropy=entropy)
    bottom = member.release(count, sensitivity=rows, epsilon=half, delta=part, entropy=entropy)
    above, below = Fraction(top.value), max(Fraction(bottom.value), Fraction(1))
    farthest = grid.last - grid.first
    ends = quotient_interval(above, Fraction(bottom.value), top.scale, bottom.scale, farthest, member.family, LEVEL)
    if ends is None:
        level = (1 + LEVEL) / 2
        off_top = Fraction(member.half_width(sensitivity=apart, epsilon=half, delta=part, level=level))
        off_bottom = Fraction(member.half_width(sensitivity=rows, epsilon=half, delta=part, level=level))
        ends = _quotients(above - off_top, above + off_top, below, off_bottom)
    quotient = above / below
    ends = min(ends[0], quotient), max(ends[1], quotient)  # of a count that is no count, what is shown may be neither
    low, shown, high = (_placed(grid, end) for end in (ends[0], quotient, ends[1]))
    return Noisy(
        float(shown), member.name, top.scale * grid.step / 2 / float(below), rounded_down(low), rounded_up(high)
    )


def _quotients(low: Fraction, high: Fraction, below: Fraction, off: Fraction) -> tuple[Fraction, Fraction]:
    """The least and the largest quotient of two numbers, each in an interval; the second is 1 at least."""
    least, most = max(below - off, Fraction(1)), below + off
    return low / (least if low < 0 else most), high / (most if high < 0 else least)


def mean_cost(*, epsilon: float, delta: float = 0.0, mechanism: str = DEFAULT) -> Cost:
    """What a noisy mean costs: its two halves, whose rhos add up."""
    half = _unbounded(mechanism).cost(epsilon=at_least(exact(epsilon) / 2), delta=delta / 2)
    return Cost(epsilon, delta, at_least(2 * exact(half.rho)))


def _placed(grid: Grid, half_steps: Fraction) -> Fraction:
    """A distance from the middle, in half steps, as a value of the domain."""
    place = min(max((half_steps + grid.first + grid.last) / 2, Fraction(grid.first)), Fraction(grid.last))
    return place * exact(grid.step)


def _unbounded(name: str) -> Mechanism:
    member = MECHANISMS.get(name)
    if member.bounded:
        raise ValueError(f"{name} has bounds, which a sum or a mean has not; take geometric, or a Gaussian mechanism")
    return member
