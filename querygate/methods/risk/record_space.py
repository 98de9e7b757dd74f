"""How far apart records are, and which are nearest: numbers and categories in one distance.

Like Gower's ("A general coefficient of similarity and some of its properties", Biometrics 1971), every column counts
the same: a number by its difference as a share of the column's range, a category by 0 or 1; but squared, averaged over
columns and rooted, so that it is the Euclidean distance of encoded records. A category of c values becomes c features
of 0 or sqrt(1/2), whence two different values are at distance 1. An unknown number lies in the middle and has a feature
more, so it is at least 1 away from any known one and 0 away from another unknown.

The nearest are found by a k-d tree where features are few, and otherwise by products of matrices, block by block: with
many features a tree looks at almost every record, and slower. A category of many values is compared as a code, and not
spread over features.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial import KDTree

from querygate.core.types import Floats, Ints

Scale = Literal["range", "robust"]

MOST_SPREAD = 40
"""Values of a category above which it is compared as a code."""

TREE_FEATURES = 10
"""Up to which a k-d tree is the faster for tens of thousands of records."""

BLOCK = 1 << 20
"""Pairs of records held at once."""


@dataclass(frozen=True, slots=True)
class PointRecords:
    """Records as numbers (nan is unknown) and codes of categories, a row for each.

    Tables that are compared have the same columns in the same order, and the same code for the same value.
    """

    numbers: Floats
    codes: Ints

    def __post_init__(self) -> None:
        if self.numbers.ndim != 2 or self.codes.ndim != 2 or len(self.numbers) != len(self.codes):
            raise ValueError("numbers and codes have a row for each record and a column for each attribute")
        if np.isinf(self.numbers).any():
            raise ValueError("an infinite number is at no distance")

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def columns(self) -> int:
        return int(self.numbers.shape[1] + self.codes.shape[1])

    def take(self, rows: Ints) -> PointRecords:
        return PointRecords(self.numbers[rows], self.codes[rows])

    def kinds(self, *others: PointRecords) -> list[Ints]:
        """A label for each record of this and of others, the same for records that are equal in everything."""
        rows = np.concatenate([one.rows() for one in (self, *others)])
        label = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        return np.split(label, np.cumsum([len(one) for one in (self, *others)])[:-1])

    def rows(self) -> Ints:
        """Bits of everything, so that equality is exact; zeros and unknown numbers have one form each."""
        numbers = np.where(np.isnan(self.numbers), np.nan, self.numbers + 0.0)
        return np.concatenate([np.ascontiguousarray(numbers).view(np.int64), self.codes], axis=1)


class Nearest(NamedTuple):
    """For each record that asks, distances to its nearest and which those are, the nearest first."""

    distance: Floats
    which: Ints


class EncodedRecords(NamedTuple):
    features: Floats
    codes: Ints  # of categories with many values


class Space:
    """Distances scaled by a reference table, usually the original.

    >>> import numpy as np
    >>> table = PointRecords(np.array([[0.0], [5.0], [10.0]]), np.array([[0], [0], [1]]))
    >>> found = Space(table).nearest(table, PointRecords(np.array([[6.0]]), np.array([[1]])), 2)
    >>> found.which.tolist(), found.distance.round(3).tolist()
    ([[2, 1]], [[0.283, 0.711]])
    """

    def __init__(self, reference: PointRecords, scale: Scale = "range") -> None:
        self._columns = max(1, reference.columns)
        numbers = np.array([_scaling(column, scale) for column in reference.numbers.T]).reshape(-1, 2)
        self._middle, self._width = numbers.T

    def nearest(self, table: PointRecords, asking: PointRecords, count: int) -> Nearest:
        """The `count` nearest in `table` of each record of `asking`; fewer where the table has fewer.

        Distances are exact for the records that are named; of records nearly as near as one another (a part in 10^7 of
        the range) another may be named.
        """
        count = min(count, len(table))
        if not len(asking) or not count:
            return Nearest(np.zeros((len(asking), count)), np.zeros((len(asking), count), dtype=np.int64))
        there, here = self._encoded(table, asking)
        if not there.codes.size and there.features.shape[1] <= TREE_FEATURES:
            # Not balanced: medians of columns of a few values leave a tree that is slow to build and to ask.
            tree = KDTree(there.features, balanced_tree=False)
            distance, index = tree.query(here.features, k=np.arange(1, count + 1))
            return Nearest(distance / np.sqrt(self._columns), np.asarray(index, dtype=np.int64))
        step = max(1, BLOCK // len(table))
        squares = (there.features**2).sum(axis=1)
        found = [self._block(there, squares, _part(here, i, i + step), count) for i in range(0, len(asking), step)]
        return Nearest(*(np.concatenate(part) for part in zip(*found, strict=True)))

    def _block(self, there: EncodedRecords, squares: Floats, here: EncodedRecords, count: int) -> Nearest:
        apart = here.features @ there.features.T
        apart *= -2
        apart += squares
        for mine, theirs in zip(here.codes.T, there.codes.T, strict=True):
            apart += mine[:, None] != theirs
        index = np.empty((len(apart), count), dtype=np.int64)
        row = np.arange(len(apart))
        for place in range(count):  # as fast as one partition, for so few
            index[:, place] = apart.argmin(axis=1)
            apart[row, index[:, place]] = np.inf
        # |x|^2 + |y|^2 - 2xy cancels for near records: what was found is measured again.
        exact = ((here.features[:, None] - there.features[index]) ** 2).sum(axis=2)
        exact += (here.codes[:, None] != there.codes[index]).sum(axis=2)
        order = np.argsort(exact, axis=1, kind="stable")
        distance = np.sqrt(np.take_along_axis(exact, order, axis=1) / self._columns)
        return Nearest(distance, np.take_along_axis(index, order, axis=1))

    def _encoded(self, *tables: PointRecords) -> tuple[EncodedRecords, ...]:
        numbers, codes = (np.concatenate([getattr(one, part) for one in tables]) for part in ("numbers", "codes"))
        unknown = np.isnan(numbers)
        features = [np.where(unknown, 0.0, (numbers - self._middle) / self._width), unknown[:, unknown.any(axis=0)]]
        whole = []
        for column in codes.T:
            values = np.unique(column)
            if values.size > MOST_SPREAD:
                whole.append(column)
            elif values.size > 1:
                features.append((column[:, None] == values) * np.sqrt(0.5))
        spread = np.concatenate(features, axis=1)
        compared = np.array(whole, dtype=np.int64).reshape(-1, len(codes)).T
        begin = np.cumsum([0, *map(len, tables)]).tolist()
        return tuple(_part(EncodedRecords(spread, compared), *ends) for ends in pairwise(begin))


def _part(whole: EncodedRecords, begin: int, end: int) -> EncodedRecords:
    return EncodedRecords(whole.features[begin:end], whole.codes[begin:end])


def _scaling(column: Floats, scale: Scale) -> tuple[float, float]:
    """The middle and the width of a column; width 1 where all its values are one."""
    known = column[~np.isnan(column)]
    if not known.size:
        return 0.0, 1.0
    low, high = (float(known.min()), float(known.max()))
    if scale == "robust":
        inner = np.quantile(known, [0.05, 0.95])
        low, high = (float(inner[0]), float(inner[1])) if inner[1] > inner[0] else (low, high)
    return (low + high) / 2, (high - low) or 1.0
