"""Proportions and two-by-two tables: P(B|A), risk difference, risk ratio, odds ratio, chi-square. All sharp, even where
the selection is uncertain. Proof: docs/explanation/proofs/tables.md.

A table has n11 records with exposure and outcome, n10 with exposure only, n01 with outcome only, n00 with neither. Each
of the statistics rises with n11 and n00 and falls with n10 and n01, and in every class the latter two can be minimal at
once. What remains is one whole number t = n11 with n11 + n00 = K fixed, and a function of t with one peak.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from querygate.core.registry import Registry
from querygate.core.types import Ints, Range
from querygate.stats.numerics import UNIT, down, enclose, exact_sum, up
from querygate.stats.registry import PROOFS

_PROOF = f"{PROOFS}/tables.md"


@dataclass(frozen=True, slots=True)
class TableCells:
    """Per class: how many records can at most be exposed, unexposed, with the outcome, without it; and how many are
    selected, `least` to `most`. Records for which exposure or outcome is NULL are not selected."""

    exposed: Ints
    unexposed: Ints
    with_outcome: Ints
    without: Ints
    least: Ints
    most: Ints

    def __post_init__(self) -> None:
        if np.any(self.least > self.most) or np.any(np.minimum(self._by_exposure, self._by_outcome) < self.least):
            raise ValueError("a table needs room for the least number of records")

    @classmethod
    def certain(cls, size: Ints, exposed: tuple[Ints, Ints], outcome: tuple[Ints, Ints]) -> TableCells:
        """Classes of known size, all selected, with ranges of the numbers exposed and with the outcome.

        >>> TableCells.certain(np.array([9]), (np.array([2]), np.array([5])), (np.array([3]), np.array([3]))).unexposed
        array([7])
        """
        return cls(exposed[1], size - exposed[0], outcome[1], size - outcome[0], size, size)

    @property
    def _by_exposure(self) -> Ints:
        return self.exposed + self.unexposed

    @property
    def _by_outcome(self) -> Ints:
        return self.with_outcome + self.without

    @property
    def other_exposure(self) -> TableCells:
        """Exposed and unexposed swapped."""
        return replace(self, exposed=self.unexposed, unexposed=self.exposed)

    @property
    def other_outcome(self) -> TableCells:
        """With and without the outcome swapped."""
        return replace(self, with_outcome=self.without, without=self.with_outcome)


@dataclass(frozen=True, slots=True)
class TableStatistic:
    """A statistic of a two-by-two table: its range over classes, and where the proof is."""

    name: str
    range: Callable[[TableCells], Range]
    proof: str
    summary: str


TABLE_STATISTICS: Registry[TableStatistic] = Registry("statistic of a table")


def _table_statistic(
    name: str, summary: str
) -> Callable[[Callable[[TableCells], Range]], Callable[[TableCells], Range]]:
    def register(algorithm: Callable[[TableCells], Range]) -> Callable[[TableCells], Range]:
        TABLE_STATISTICS.register(name, TableStatistic(name, algorithm, _PROOF, summary))
        return algorithm

    return register


class Frontier(NamedTuple):
    """The tables that no other table beats: n10 and n01 minimal, n11 = t and n00 = both - t, first <= t <= last."""

    n10: int
    n01: int
    both: int
    first: int
    last: int

    def clip(self, t: float) -> tuple[int, ...]:
        """Whole numbers at which a function with one peak near t can be largest. Ends and their neighbours are there
        because a quotient may be undefined at an end."""
        near = math.floor(t) if math.isfinite(t) else self.first
        tried = (near, near + 1, self.first, self.first + 1, self.last - 1, self.last)
        return tuple({min(max(choice, self.first), self.last) for choice in tried})


def frontier(cells: TableCells) -> Frontier:
    """Class by class in closed form; classes are independent, so sums are reached together."""
    n10 = np.maximum(0, cells.least - cells.with_outcome - cells.unexposed)
    n01 = np.maximum(0, cells.least - cells.without - cells.exposed)
    room11 = np.minimum(cells.exposed - n10, cells.with_outcome - n01)
    room00 = np.minimum(cells.unexposed - n01, cells.without - n10)
    both = np.minimum(cells.most - n10 - n01, room11 + room00)
    first, last = np.maximum(0, both - room00), np.minimum(both, room11)
    return Frontier(*(exact_sum(part) for part in (n10, n01, both, first, last)))


def _can_be_empty(cells: TableCells) -> tuple[bool, bool]:
    """Whether there may be nobody exposed, and nobody unexposed."""
    nobody = exact_sum(np.maximum(0, cells.least - cells.unexposed)) == 0
    everybody = exact_sum(np.maximum(0, cells.least - cells.exposed)) == 0
    return nobody, everybody


def _are_impossible(cells: TableCells) -> bool:
    """Whether one of the two groups is empty for certain."""
    sides = (cells.exposed, cells.unexposed)
    return any(not np.minimum(side, np.minimum(cells.most, cells._by_outcome)).any() for side in sides)


# -- proportion ------------------------------------------------------------------------------------------


@_table_statistic("proportion", "share with the outcome among the exposed")
def proportion(cells: TableCells) -> Range:
    """Range of n11 / (n11 + n10).

    Ensures: sharp, exact up to the one rounding of the quotient; NULL where nobody may be exposed.

    >>> proportion(TableCells.certain(np.array([9]), (np.array([2]), np.array([4])), (np.array([1]), np.array([1]))))
    Range(low=0.0, high=0.5, attained_low=0.0, attained_high=0.5, sharp=True, may_be_null=False)
    """
    if not np.minimum(cells.exposed, cells.most).any():
        return Range.null()
    high, low = _largest_share(cells), 1 - _largest_share(cells.other_outcome)
    ends = enclose(low).low, enclose(high).high
    return Range(*ends, *ends, may_be_null=_can_be_empty(cells)[0])


def _largest_share(cells: TableCells) -> Fraction:
    n11 = exact_sum(np.minimum(np.minimum(cells.exposed, cells.with_outcome), cells.most))
    n10 = exact_sum(np.maximum(0, cells.least - cells.with_outcome - cells.unexposed))
    return Fraction(n11, n11 + n10) if n11 else Fraction(0)


# -- comparisons of two groups ---------------------------------------------------------------------------


class Peak(NamedTuple):
    """The largest value on a frontier, or infinity, and whether a table is known that has it."""

    value: Fraction
    reached: bool
    infinite: bool = False


INFINITE = Peak(Fraction(0), True, True)


def _shares(table: Frontier, t: int) -> tuple[Fraction, Fraction, bool]:
    """P(B|A) and P(B|not A). For an empty group 0 and 1 are the best bounds; the last value says whether one is
    empty."""
    exposed, unexposed = t + table.n10, table.n01 + table.both - t
    first = Fraction(t, exposed) if exposed else Fraction(0)
    second = Fraction(table.n01, unexposed) if unexposed else Fraction(1)
    return first, second, bool(exposed and unexposed)


@_table_statistic("risk_difference", "share with the outcome, exposed minus unexposed")
def risk_difference(cells: TableCells) -> Range:
    """Range of n11 / (n11 + n10) - n01 / (n01 + n00).

    Ensures: sharp up to three roundings; NULL where one of the groups may be empty.
    """
    if _are_impossible(cells):
        return Range.null()
    high, low = _largest_difference(frontier(cells)), _largest_difference(frontier(cells.other_exposure))
    top, bottom = enclose(high.value).high, -enclose(low.value).high
    return Range(
        max(-1.0, bottom - 4 * UNIT),
        min(1.0, top + 4 * UNIT),
        bottom if low.reached else None,
        top if high.reached else None,
        sharp=high.reached and low.reached,
        may_be_null=any(_can_be_empty(cells)),
    )


def _largest_difference(table: Frontier) -> Peak:
    root10, root01 = math.sqrt(table.n10), math.sqrt(table.n01)
    peak = (root10 * (table.both + table.n01) - table.n10 * root01) / ((root10 + root01) or math.nan)
    found = []
    for t in table.clip(peak):
        first, second, reached = _shares(table, t)
        found.append((first - second, reached))
    return Peak(*max(found))


@_table_statistic("risk_ratio", "share with the outcome, exposed over unexposed")
def risk_ratio(cells: TableCells) -> Range:
    """Range of the quotient of the two shares; infinite where nobody unexposed need have the outcome.

    Ensures: sharp up to three roundings; NULL where one of the groups may be empty or both shares may be 0.
    """
    if _are_impossible(cells):
        return Range.null()
    table, other = frontier(cells), frontier(cells.other_exposure)
    may_be_null = any(_can_be_empty(cells)) or table.n01 == 0
    return _ratio_range(_largest_risk_ratio(table), _largest_risk_ratio(other), may_be_null)


def _largest_risk_ratio(table: Frontier) -> Peak:
    found = []
    for t in table.clip(-table.n10 + math.sqrt(table.n10**2 + table.n10 * (table.n01 + table.both))):
        first, second, reached = _shares(table, t)
        if second == 0 and first > 0:
            return INFINITE
        found.append((first / second if second else Fraction(0), reached and second > 0))
    return Peak(*max(found))


@_table_statistic("odds_ratio", "odds of the outcome, exposed over unexposed")
def odds_ratio(cells: TableCells) -> Range:
    """Range of n11 n00 / (n10 n01); infinite where n10 or n01 may be 0.

    Ensures: sharp up to four roundings; NULL where numerator and denominator may both be 0.
    """
    if _are_impossible(cells):
        return Range.null()
    table, other = frontier(cells), frontier(cells.other_outcome)
    return _ratio_range(_largest_odds_ratio(table), _largest_odds_ratio(other), table.n10 * table.n01 == 0)


def _largest_odds_ratio(table: Frontier) -> Peak:
    """t (K - t) is largest next to K / 2."""
    product = max(t * (table.both - t) for t in table.clip(table.both / 2))
    if table.n10 * table.n01 == 0:
        return INFINITE if product else Peak(Fraction(0), False)
    return Peak(Fraction(product, table.n10 * table.n01), True)


def _ratio_range(high: Peak, inverse: Peak, may_be_null: bool) -> Range:
    """The range of a ratio whose largest value and that of its inverse are known, six roundings wider."""
    top = math.inf if high.infinite else enclose(high.value).high
    bottom = 0.0 if inverse.infinite else math.inf
    if inverse.value:
        bottom = enclose(1 / inverse.value).low
    if bottom > top:  # no table has a ratio: numerator and denominator are always 0
        return Range.null()
    return Range(
        down(bottom, 6) if 0.0 < bottom < math.inf else bottom,
        up(top, 6) if top > 0.0 else top,
        bottom if inverse.reached else None,
        top if high.reached else None,
        sharp=high.reached and inverse.reached,
        may_be_null=may_be_null,
    )


# -- chi-square ------------------------------------------------------------------------------------------


@_table_statistic("chi_square", "Pearson's chi-square of the table, without correction")
def chi_square(cells: TableCells) -> Range:
    """Range of N (n11 n00 - n10 n01)^2 / (product of the four margins).

    Ensures: the high end is sharp; the low end too, unless the association can have either sign: then it is 0, and the
             attained value is that of one table. NULL where a margin may be empty.
    """
    if _are_impossible(cells) or _are_impossible(_transposed(cells)):
        return Range.null()
    one, other = sorted(_largest_association(frontier(side)) for side in (cells, cells.other_outcome))
    # If all tables have the same sign, the smaller of the two is minus the least chi-square.
    low, high = enclose(max(-one.value, Fraction(0))).low, enclose(max(other.value, Fraction(0))).high
    low_reached = one.reached and one.value <= 0
    return Range(
        low / (1.0 + 24 * UNIT),
        high * (1.0 + 24 * UNIT),
        low if low_reached else None,
        high if other.reached else None,
        sharp=low_reached and other.reached,
        may_be_null=any(_can_be_empty(cells)) or any(_can_be_empty(_transposed(cells))),
    )


def _transposed(cells: TableCells) -> TableCells:
    """Exposure and outcome exchanged."""
    return TableCells(cells.with_outcome, cells.without, cells.exposed, cells.unexposed, cells.least, cells.most)


def _largest_association(table: Frontier) -> Peak:
    """Chi-square with the sign of the association, at its peak, the t next to K / 2.

    A table with an empty margin has no association of either sign.
    """
    found = []
    for t in table.clip(table.both / 2):
        n00, records = table.both - t, table.both + table.n10 + table.n01
        excess = t * n00 - table.n10 * table.n01
        margins = (t + table.n10) * (table.n01 + n00) * (t + table.n01) * (table.n10 + n00)
        value = Fraction(records * excess * abs(excess), margins) if margins else Fraction(0)
        found.append(Peak(value, margins > 0))
    return max(found)
