"""Boxes of classes that can be compared and joined: what methods that build from below work on.

>>> import numpy as np
>>> from querygate.methods.anonymise.table import Attribute, Table
>>> age = Attribute.ordered_by("age", np.array([0, 1, 3]), edges=np.array([0.0, 10, 20, 30, 40]))
>>> hulls = Hulls.of(Table((age,), counts=np.array([1, 1, 2])), labels=np.array([0, 1, 2]))
>>> hulls.union_width(0, np.array([1, 2]))
array([0.5, 1. ])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.table import NULL, Attribute, Table

Which: TypeAlias = Ints | slice


@dataclass
class _Numbers:
    """Ends of each class; an empty one reaches from infinity to minus infinity."""

    low: Floats
    high: Floats
    span: float

    def own(self) -> Floats:
        return np.maximum(self.high - self.low, 0.0) / self.span

    def union(self, one: int, others: Which) -> Floats:
        high = np.maximum(self.high[others], self.high[one])
        low = np.minimum(self.low[others], self.low[one])
        width: Floats = np.maximum(high - low, 0.0)
        return width / self.span

    def join(self, one: int, other: int) -> None:
        self.low[one] = min(self.low[one], self.low[other])
        self.high[one] = max(self.high[one], self.high[other])

    def some(self) -> Bools:
        return np.isfinite(self.low)


@dataclass
class _Names:
    """Which values each class has, 64 of them in a word."""

    members: NDArray[np.uint64]
    span: float

    def own(self) -> Floats:
        return self._widths(self.members)

    def union(self, one: int, others: Which) -> Floats:
        return self._widths(self.members[others] | self.members[one])

    def _widths(self, members: NDArray[np.uint64]) -> Floats:
        number = np.bitwise_count(members).sum(axis=1, dtype=np.int64)
        return np.where(number > 1, number, 0) / self.span

    def join(self, one: int, other: int) -> None:
        self.members[one] |= self.members[other]

    def some(self) -> Bools:
        return np.asarray(self.members.any(axis=1))


@dataclass
class Hulls:
    """The box of every class, and its records. `join` changes them in place."""

    records: Ints
    weights: Sequence[float]
    axes: Sequence[_Numbers | _Names]
    nulls: Sequence[Bools]
    values: Sequence[Bools]

    @classmethod
    def of(cls, table: Table, labels: Ints) -> Hulls:
        """The boxes of the classes 0..m-1."""
        classes = int(labels.max()) + 1
        axes = [_axis(a, labels, classes) for a in table.attributes]
        nulls = [np.bincount(labels[a.codes == NULL], minlength=classes) > 0 for a in table.attributes]
        records = np.bincount(labels, table.counts, classes).astype(np.int64)
        return cls(records, [a.weight for a in table.attributes], axes, nulls, [axis.some() for axis in axes])

    def union_width(self, one: int, others: Which = slice(None)) -> Floats:
        """Weighted width of the union of a class with each of the others, or of all.

        Values and missing values together have full width; missing values alone have none, as has a single category.
        """
        total = np.zeros(self.records[others].size)
        for weight, axis, nulls, values in zip(self.weights, self.axes, self.nulls, self.values, strict=True):
            width = axis.union(one, others)
            mixed = (nulls[others] | nulls[one]) & (values[others] | values[one])
            total += weight * np.where(mixed, 1.0, width)
        return total

    def widths(self) -> Floats:
        """Weighted width of every class."""
        total = np.zeros(self.records.size)
        for weight, axis, nulls, values in zip(self.weights, self.axes, self.nulls, self.values, strict=True):
            total += weight * np.where(nulls & values, 1.0, axis.own())
        return total

    def join(self, one: int, other: int) -> None:
        """Make `one` the union of both; `other` stays as it is and is not to be used any more."""
        self.records[one] += self.records[other]
        for axis, nulls, values in zip(self.axes, self.nulls, self.values, strict=True):
            axis.join(one, other)
            nulls[one] |= nulls[other]
            values[one] |= values[other]


def _axis(attribute: Attribute, labels: Ints, classes: int) -> _Numbers | _Names:
    known = attribute.codes != NULL
    codes, labels = attribute.codes[known], labels[known]
    if not attribute.ordered:
        members = np.zeros((classes, -(-attribute.size // 64)), dtype=np.uint64)
        bits = np.left_shift(np.uint64(1), (codes % 64).astype(np.uint64))
        np.bitwise_or.at(members, (labels, codes // 64), bits)
        return _Names(members, attribute.span)
    low, high = np.full(classes, np.inf), np.full(classes, -np.inf)
    np.minimum.at(low, labels, attribute.edges[0][codes])
    np.maximum.at(high, labels, attribute.edges[1][codes])
    return _Numbers(low, high, attribute.span or 1.0)
