"""What outsiders see of a partition: the box of each class, and how much information was lost.

>>> import numpy as np
>>> from querygate.methods.anonymise.table import Attribute, Table
>>> age = Attribute.ordered_by("age", np.array([0, 1, 3]), edges=np.array([0.0, 10, 20, 30, 40]))
>>> sex = Attribute.nominal("sex", np.array([0, 1, 1]), size=2)
>>> table, labels = Table((age, sex), counts=np.array([1, 1, 2])), np.array([0, 0, 1])
>>> ages, sexes = boxes(table, labels)
>>> ages.low, ages.high, sexes.of(0), sexes.of(1)
(array([0, 3]), array([1, 3]), (0, 1), (1,))
>>> ncp(table, labels)
0.4375
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.anonymise.division.node_cells import argsort_packed, starts_of
from querygate.methods.anonymise.table import NULL, Attribute, Table

NO_NULLS, SOME_NULLS, ALL_NULLS = 0, 1, 2
"""Whether the members of a class miss the value: none, some or all of them."""


@dataclass(frozen=True)
class Intervals:
    """For an ordered attribute: smallest and largest code of each class (-1 if all members miss the value)."""

    name: str
    low: Ints
    high: Ints
    nulls: Ints


@dataclass(frozen=True)
class ValueSets:
    """For a nominal attribute: the codes that occur in class i are codes[starts[i] : starts[i + 1]], ascending."""

    name: str
    starts: Ints
    codes: Ints
    nulls: Ints

    def of(self, label: int) -> tuple[int, ...]:
        return tuple(self.codes[self.starts[label] : self.starts[label + 1]].tolist())

    def numbered(self) -> tuple[Ints, list[tuple[int, ...]]]:
        """The number of each class's set, and the different sets by number, in order of first use."""
        size, length = int(self.codes.max(initial=0)) + 2, np.diff(self.starts)
        number = np.zeros(length.size, dtype=np.int64)  # sets that agree up to their j-th code share a number
        for j in range(int(length.max(initial=0))):
            longer = np.flatnonzero(length > j)
            key = number[longer] * size + self.codes[self.starts[longer] + j] + 1
            number[longer] = np.unique(key, return_inverse=True)[1].reshape(-1) + (int(number.max()) + 1)
        _, first, number = np.unique(number, return_index=True, return_inverse=True)
        use = np.argsort(first)
        rank = np.empty_like(use)
        rank[use] = np.arange(use.size)
        return rank[number.reshape(-1)], [self.of(label) for label in first[use].tolist()]


Box: TypeAlias = Intervals | ValueSets


def boxes(table: Table, labels: Ints) -> tuple[Box, ...]:
    """Per attribute the values of the classes 0..m-1, shrunk to their members."""
    order, labels = argsort_packed(labels)
    starts = starts_of(labels)
    return tuple(_box(a, labels, a.codes[order], starts) for a in table.attributes)


def join_boxes(parts: Sequence[tuple[Box, ...]]) -> tuple[Box, ...]:
    """The boxes of several tables with the same attributes, as of one table; classes are numbered consecutively."""
    return tuple(_joined(boxes) for boxes in zip(*parts, strict=True))


def _joined(boxes: Sequence[Box]) -> Box:
    nulls = np.concatenate([box.nulls for box in boxes])
    sets = [box for box in boxes if isinstance(box, ValueSets)]
    if sets:
        offsets = np.cumsum([0, *(box.codes.size for box in sets[:-1])])
        starts = [box.starts[:-1] + offset for box, offset in zip(sets, offsets, strict=True)]
        codes = np.concatenate([box.codes for box in sets])
        return ValueSets(boxes[0].name, np.append(np.concatenate(starts), codes.size), codes, nulls)
    low, high = (
        np.concatenate([getattr(box, end) for box in boxes if isinstance(box, Intervals)]) for end in ("low", "high")
    )
    return Intervals(boxes[0].name, low, high, nulls)


def _box(attribute: Attribute, labels: Ints, codes: Ints, starts: Ints) -> Box:
    """The box of one attribute; labels are sorted and each class begins at its start."""
    high = np.maximum.reduceat(codes, starts)
    nulls = np.where(high == NULL, ALL_NULLS, np.minimum.reduceat(codes, starts) == NULL)
    if attribute.ordered:
        low = np.minimum.reduceat(np.where(codes == NULL, attribute.size, codes), starts)
        return Intervals(attribute.name, np.where(high == NULL, NULL, low), high, nulls)
    known = codes != NULL
    pairs = np.sort(labels[known] * attribute.size + codes[known])
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    bounds = np.searchsorted(pairs, np.arange(starts.size + 1) * attribute.size)
    return ValueSets(attribute.name, bounds, pairs % attribute.size, nulls)


def loss_by_attribute(table: Table, labels: Ints, known: tuple[Box, ...] | None = None) -> Floats:
    """Per attribute the mean over records of width divided by span; weights play no part. `known` are the boxes.

    A single category and a class of missing values have width 0; values and missing values together have width 1.
    """
    return widths(table, labels, known) @ np.bincount(labels, table.counts) / table.records


def widths(table: Table, labels: Ints, known: tuple[Box, ...] | None = None) -> Floats:
    """Per attribute and class the width divided by the span: what `loss_by_attribute` takes the mean of."""
    found = known or boxes(table, labels)
    each = [_width(attribute, box) for attribute, box in zip(table.attributes, found, strict=True)]
    return np.stack(each) if each else np.zeros((0, int(labels.max()) + 1))


def ncp(table: Table, labels: Ints) -> float:
    """Normalised certainty penalty as a share: the mean loss over records and attributes (Xu et al., KDD 2006)."""
    return float(loss_by_attribute(table, labels).mean())


def _width(attribute: Attribute, box: Box) -> Floats:
    if isinstance(box, ValueSets):
        holds = np.ones(attribute.size) if attribute.holds is None else attribute.holds
        number = np.diff(np.concatenate(([0], np.cumsum(holds[box.codes])))[box.starts])
        width = np.where(number > 1, number, 0) / (attribute.span if attribute.holds is None else holds.sum())
    elif attribute.tree is not None:
        width = attribute.tree.widths(box.low, box.high)
    else:
        lower, upper = attribute.edges
        width = (upper[box.high] - lower[box.low]) / (attribute.span or 1.0)
    return np.where(box.nulls == ALL_NULLS, 0.0, np.where(box.nulls == SOME_NULLS, 1.0, width))
