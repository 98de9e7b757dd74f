"""Means that some selection certainly exceeds: where one does, no range that holds for it can end below.

What several readings say of a mean is met, and most of them say less than the best. A selection that is quickly made
shows that: the bound of a reading is no lower than the mean of any selection that the reading allows, so where that
exceeds what is known already, the bound need not be searched for.
"""

from __future__ import annotations

import numpy as np

from querygate.core.plan import SelectedAmong
from querygate.core.types import Bools, Cells, ClassCells, Floats, Ints, Range

_CLEARLY = 1e-9
"""The part of what was added by which a mean must exceed: far beyond roundings."""


def cells_reach(cells: Cells, among: SelectedAmong | None, found: Range) -> bool:
    """Do means of these cells exceed both ends of a range?"""
    if found.low is None or found.high is None:
        return False
    if among is None:
        return _exceeds(cells.high, cells, found.high) and _exceeds(-cells.low, cells, -found.low)
    filled = _Filled(cells.least, cells.most, among.place, among.least, among.most)
    return filled.exceeds(cells.high, found.high) and filled.exceeds(-cells.low, -found.low)


def classes_reach(cells: ClassCells, found: Range) -> bool:
    """The same of classes with sums."""
    if found.low is None or found.high is None:
        return False
    least, most = cells.total_least, cells.total_most
    if least is None or most is None:
        least, most = (np.bincount(cells.group, counts, cells.sum_low.size) for counts in (cells.least, cells.most))
    filled = _Filled(cells.least, cells.most, cells.group, least, most)
    up, down = (cells.high, cells.floor, cells.sum_high), (-cells.low, -cells.ceiling, -cells.sum_low)
    return filled.exceeds_capped(*up, cells.size, found.high) and filled.exceeds_capped(*down, cells.size, -found.low)


def _exceeds(value: Floats | Ints, cells: Cells, level: float) -> bool:
    """Where nothing ties rows together, all that exceed are taken."""
    gain = value - level
    gains = np.where(gain > 0, cells.most, cells.least) * gain
    return bool(gains.sum() > _CLEARLY * np.abs(gains).sum())


class _Filled:
    """Selections that take of a place those first who exceed a level, all of them or no more than there must be."""

    def __init__(self, least: Ints, most: Ints, place: Ints, fewest: Ints, greatest: Ints) -> None:
        self.least, self.free, self.place, self.places = least, most - least, place, fewest.size
        certain, free = self._added(self.least), self._added(self.free)
        self.fewest, self.greatest = (np.minimum(np.maximum(n - certain, 0.0), free) for n in (fewest, greatest))
        self.certain, self.all_free = certain, free

    def _added(self, numbers: Floats | Ints) -> Floats:
        return np.bincount(self.place, numbers, self.places).astype(np.float64, copy=False)

    def exceeds(self, value: Floats | Ints, level: float) -> bool:
        self._fill(value > level)
        return self._gains(self._totals(value), level)

    def exceeds_capped(self, value: Floats | Ints, base: Floats | Ints, cap: Floats, size: Ints, level: float) -> bool:
        """Whoever is not selected has at least `base` of what all members of a class have together, at most `cap`."""
        self._fill(value > level)
        rest = cap - self._added(size * base)
        return self._gains(np.minimum(self._totals(value), rest + self._totals(base)), level)

    def _fill(self, exceeding: Bools) -> None:
        """How many more than are certain, and which part of those who exceed the level and of the others."""
        self.first = self.free * exceeding
        first = self._added(self.first)
        self.more = np.empty((2, self.places))
        self.more[0] = self.fewest
        np.minimum(np.maximum(first, self.fewest), self.greatest, out=self.more[1])
        taken = np.minimum(self.more, first)
        self.part = taken / np.maximum(first, 1.0), (self.more - taken) / np.maximum(self.all_free - first, 1.0)

    def _totals(self, value: Floats | Ints) -> Floats:
        first = self._added(self.first * value)
        others = self._added(self.free * value) - first
        totals: Floats = self._added(self.least * value) + self.part[0] * first + self.part[1] * others
        return totals

    def _gains(self, totals: Floats, level: float) -> bool:
        """Of each place the better of both selections."""
        needed = level * (self.certain + self.more)
        gains = totals - needed
        better = np.maximum(gains[0], gains[1])
        return bool(better.sum() > _CLEARLY * (np.abs(totals) + np.abs(needed)).sum())
