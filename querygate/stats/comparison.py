"""Two groups that exclude each other: difference of means, Welch's t and its two-sided p-value.

A record may be able to belong to either group, but not to both. Proof: docs/explanation/proofs/inference.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import NamedTuple

import numpy as np
import scipy  # loaded when it is first needed

from querygate.core.registry import Registry
from querygate.core.types import Cells, Floats, Ints, Range
from querygate.stats.cells import meet
from querygate.stats.numerics import UNIT, exact_sum, tree_sum
from querygate.stats.registry import PROOFS
from querygate.stats.sums_and_means import avg
from querygate.stats.variance.spread import var_samp

_LEVELS = 33  # data sets per group and selection that are tried for an attained t
_SPECIAL = 1e-10  # relative error that Student's distribution is trusted with


class ToldGroup(NamedTuple):
    """What is known about the values of one group besides its cells: the ranges of avg and var_samp."""

    mean: Range | None = None
    variance: Range | None = None


@dataclass(frozen=True, slots=True)
class GroupCells:
    """Classes of `size` records with values in [low, high]; with the least and most in the first and in the second
    group. `told` is what else is known about the first and the second."""

    low: Floats | Ints
    high: Floats | Ints
    size: Ints
    first_least: Ints
    first_most: Ints
    second_least: Ints
    second_most: Ints
    integer: bool = False
    told: tuple[ToldGroup, ToldGroup] = (ToldGroup(), ToldGroup())

    def __post_init__(self) -> None:
        if np.any(self.first_least + self.second_least > self.size):
            raise ValueError("groups that exclude each other need room for both")

    @property
    def first(self) -> Cells:
        most = np.minimum(self.first_most, self.size - self.second_least)
        return Cells(self.low, self.high, self.first_least, most, self.integer)

    @property
    def second(self) -> Cells:
        most = np.minimum(self.second_most, self.size - self.first_least)
        return Cells(self.low, self.high, self.second_least, most, self.integer)

    @property
    def exchanged(self) -> GroupCells:
        """The second group first."""
        return GroupCells(
            self.low, self.high, self.size,
            self.second_least, self.second_most, self.first_least, self.first_most, self.integer, self.told[::-1],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class GroupStatistic:
    """A statistic that compares two groups: its range over classes, and where the proof is."""

    name: str
    range: Callable[[GroupCells], Range]
    proof: str
    summary: str


GROUP_STATISTICS: Registry[GroupStatistic] = Registry("comparison of two groups")
Algorithm = Callable[[GroupCells], Range]


def comparison(name: str, summary: str, needs: int, proof: str = "inference.md") -> Callable[[Algorithm], Algorithm]:
    """Register the algorithm. It only sees groups that can each have `needs` records; NULL is handled here."""

    def register(algorithm: Algorithm) -> Algorithm:
        @wraps(algorithm)
        def guarded(cells: GroupCells) -> Range:
            groups = cells.first, cells.second
            if any(group.count_high < needs for group in groups):
                return Range.null()
            found = algorithm(cells)
            return replace(found, may_be_null=found.may_be_null or any(group.count_low < needs for group in groups))

        GROUP_STATISTICS.register(name, GroupStatistic(name, guarded, f"{PROOFS}/{proof}", summary))
        return guarded

    return register


@comparison("mean_difference", "avg(x) of the first group minus avg(x) of the second", needs=1)
def mean_difference(cells: GroupCells) -> Range:
    """Range of avg(x) FILTER (first) - avg(x) FILTER (second).

    Requires: finite ends.
    Ensures:  sound: rounding is monotone, so the computed difference is between the differences of computed ends. Sharp
              if no class is too small for what both groups want of it; otherwise the attained value is that of a data
              set that gives such classes to one group.
    """
    first, second = (
        meet(avg(group), told.mean) for group, told in zip((cells.first, cells.second), cells.told, strict=True)
    )
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Range.null()
    low, high = first.low - second.high, first.high - second.low
    top, bottom = _attained(cells, first.high, second.low), _attained(cells.exchanged, second.high, first.low)
    sharp = all(end is not None and end.sharp for end in (top, bottom))
    return Range(low, high, None if bottom is None else -bottom.value, None if top is None else top.value, sharp=sharp)


class AttainedDifference(NamedTuple):
    """The difference of means of one data set, and whether it is the largest."""

    value: float
    sharp: bool


def _attained(cells: GroupCells, most: float, least: float) -> AttainedDifference | None:
    """The first group at its high ends, the second at its low ends; None where no data set was found."""
    low, high = cells.low.astype(np.float64), cells.high.astype(np.float64)
    wanted_first = np.where(high > most, cells.first.most, cells.first_least)
    wanted_second = np.where(low < least, cells.second.most, cells.second_least)
    if not wanted_first.any():
        wanted_first = _one(int(np.argmax(np.where(cells.first.most > 0, high, -np.inf))), high.size)
    if not wanted_second.any():
        wanted_second = _one(int(np.argmax(np.where(cells.second.most > 0, -low, -np.inf))), high.size)
    over = wanted_first + wanted_second > cells.size
    values = []
    for first, second in (
        (wanted_first, np.where(over, cells.size - wanted_first, wanted_second)),
        (np.where(over, cells.size - wanted_second, wanted_first), wanted_second),
    ):
        if first.any() and second.any():
            means = (tree_sum(n * x)[0] / exact_sum(n) for n, x in ((first, high), (second, low)))
            values.append(next(means) - next(means))
    return AttainedDifference(max(values), not over.any()) if values else None


def _one(index: int, size: int) -> Ints:
    """One record of one class."""
    chosen = np.zeros(size, dtype=np.int64)
    chosen[index] = 1
    return chosen


# -- Welch -----------------------------------------------------------------------------------------------


class Error(NamedTuple):
    """Range of var_samp / count of one group, with the range of the count."""

    low: float
    high: float
    fewest: int
    most: int


def _errors(cells: GroupCells) -> tuple[Error, Error]:
    return _error(cells.first, cells.told[0]), _error(cells.second, cells.told[1])


def _error(cells: Cells, told: ToldGroup) -> Error:
    variance, fewest, most = meet(var_samp(cells), told.variance), max(2, cells.count_low), cells.count_high
    low, high = float(variance.low or 0.0), float(math.inf if variance.high is None else variance.high)
    return Error(low / most * (1.0 - 4 * UNIT), high / fewest * (1.0 + 4 * UNIT), fewest, most)


@comparison("welch_t", "Welch's t of two groups", needs=2)
def welch_t(cells: GroupCells) -> Range:
    """Range of (avg1 - avg2) / sqrt(var_samp1 / n1 + var_samp2 / n2).

    Requires: finite ends.
    Ensures:  sound; difference and standard error are bounded separately, so not sharp. Infinite, and possibly NULL,
              where both variances may be 0.
    """
    difference, (first, second) = mean_difference(cells), _errors(cells)
    if difference.low is None or difference.high is None:
        return Range.null()
    least, most = math.sqrt(first.low + second.low), math.sqrt(first.high + second.high)
    low, high = -_quotient(-difference.low, least, most), _quotient(difference.high, least, most)
    attained = _attained_t(cells)
    return Range(
        low,
        high,
        min(attained, default=None),
        max(attained, default=None),
        sharp=False,
        may_be_null=least == 0.0,
    )


def _quotient(above: float, least: float, most: float) -> float:
    """The largest above / error, least <= error <= most, some roundings wider."""
    if above > 0.0:
        return above / least * (1.0 + 16 * UNIT) if least > 0.0 else math.inf
    if most == 0.0:
        return -math.inf if above < 0.0 else 0.0
    return above / most * (1.0 - 16 * UNIT)


def _attained_t(cells: GroupCells) -> list[float]:
    """Smallest and largest t of some data sets: each group is pulled towards a level, for all pairs of levels."""
    taken = np.minimum(cells.first_most, cells.size - cells.second_least)
    groups = [
        _levels(replace(cells.first, most=taken)),
        _levels(replace(cells.second, most=np.minimum(cells.second_most, cells.size - taken))),
    ]
    if any(group is None for group in groups):
        return []
    (first, first_error), (second, second_error) = (group for group in groups if group is not None)
    error = np.sqrt(first_error[:, None] + second_error[None, :])
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (first[:, None] - second[None, :]) / error
    values = values[error > 0.0]
    return [float(values.min()), float(values.max())] if values.size else []


def _levels(cells: Cells) -> tuple[Floats, Floats] | None:
    """Mean and var_samp / n of data sets with every value as near to a level as it can be, and of both ends."""
    records = exact_sum(cells.most)
    if records < 2:
        return None
    low, high = cells.low.astype(np.float64), cells.high.astype(np.float64)
    levels = np.linspace(float(low.min()), float(high.max()), _LEVELS)
    if cells.integer:
        levels = np.rint(levels)
    means, errors = [], []
    for level in levels:
        values = np.clip(level, low, high)
        mean = tree_sum(cells.most * values)[0] / records
        means.append(mean)
        errors.append(tree_sum(cells.most * (values - mean) ** 2)[0] / (records - 1) / records)
    return np.array(means), np.array(errors)


@comparison("welch_p", "two-sided p-value of Welch's t", needs=2)
def welch_p(cells: GroupCells) -> Range:
    """Range of the two-sided p-value, with the degrees of freedom of Welch and Satterthwaite.

    Requires: finite ends.
    Ensures:  sound: p falls with |t| and with the degrees of freedom, each at its end. Not sharp.
    """
    t, (first, second) = welch_t(cells), _errors(cells)
    if t.low is None or t.high is None:
        return Range.null()
    least = max(0.0, t.low, -t.high)
    most = max(abs(t.low), abs(t.high))
    fewest, largest = _freedom(first, second)
    low = 2.0 * float(scipy.special.stdtr(largest, -most)) if math.isfinite(most) else 0.0
    high = 2.0 * float(scipy.special.stdtr(fewest, -least))
    return Range(
        low * (1.0 - _SPECIAL), min(1.0, high * (1.0 + _SPECIAL)), None, None, sharp=False, may_be_null=t.may_be_null
    )


def _freedom(first: Error, second: Error) -> tuple[float, float]:
    """Range of the degrees of freedom 1 / (r^2 / (n1 - 1) + (1 - r)^2 / (n2 - 1)), r the share of the first error."""
    shares = []
    for one, two in ((first.low, second.high), (first.high, second.low)):
        shares.append(one / (one + two) if 0.0 < one + two < math.inf else (0.0 if one == first.low else 1.0))
    low, high = min(shares), max(shares)
    peak = (first.most - 1) / (first.most + second.most - 2)

    def freedom(share: float, n1: int, n2: int) -> float:
        return 1.0 / (share**2 / (n1 - 1) + (1.0 - share) ** 2 / (n2 - 1))

    fewest = min(freedom(share, first.fewest, second.fewest) for share in (low, high))
    largest = freedom(min(max(peak, low), high), first.most, second.most)
    return fewest * (1.0 - 1e-12), largest * (1.0 + 1e-12)
