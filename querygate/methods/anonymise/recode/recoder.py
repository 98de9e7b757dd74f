"""Recoding by hierarchy: what each attribute may publish, and what a finished recoding says.

A value is published as a *stretch* of codes (first, last): the leaves under a node of its hierarchy. A missing value is
the place -1 before the first code, and a child of the root: below the root it is published as missing, and the root,
the stretch from -1 on, says neither the value nor whether there is one.

>>> import numpy as np
>>> from querygate.methods.anonymise.table import Attribute
>>> zip_code = Attribute.hierarchical("zip", np.array([0, 1, 2, -1]), Hierarchy.of([("37203", "372", "*"),
...     ("37212", "372", "*"), ("38103", "381", "*")]))
>>> scale = Scale.of(zip_code)
>>> [list(zip(first.tolist(), last.tolist())) for first, last in zip(scale.first, scale.last)][1:]
[[(0, 1), (0, 1), (2, 2), (-1, -1)], [(0, 2), (0, 2), (0, 2), (-1, -1)], [(-1, 2), (-1, 2), (-1, 2), (-1, 2)]]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.class_boxes import ALL_NULLS, NO_NULLS, SOME_NULLS
from querygate.methods.anonymise.clusters.top_down import rows_of
from querygate.methods.anonymise.division.mondrian import Progress, canonical
from querygate.methods.anonymise.division.node_cells import argsort_packed
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.recode.hierarchy import Hierarchy
from querygate.methods.anonymise.recode.interval_levels import flat_hierarchy, interval_hierarchy
from querygate.methods.anonymise.table import NULL, Attribute, Table

DENSE = 8
"""Keys up to so many times the number of rows are counted instead of sorted."""


@dataclass(frozen=True)
class RecodedTable:
    """What would be published. A class is all records that are published alike.

    `labels` is the class of each combination, or -1 where its records are left out. Per attribute and class, `low` and
    `high` are the first and the last code published (-1: missing) and `nulls` says whether some of the values may be
    missing, as in `measures.Box`. `loss` is the mean over records and attributes, by their weights, of the width of
    what is published; a record that is left out loses everything. `starred` cells were replaced by `*` to keep records
    that would have been left out. `optimal`: no other choice of heights loses less.
    """

    labels: Ints
    low: Mapping[str, Ints]
    high: Mapping[str, Ints]
    nulls: Mapping[str, Ints]
    suppressed: int
    loss: float
    starred: int = 0
    optimal: bool = False


class Recoder(Protocol):
    """A way to recode: at most the share `suppress` of the records is left out, and at most the share `cells` of all
    cells is replaced by `*` in addition. Raises Infeasible if the whole table as one class breaks a promise."""

    def __call__(
        self,
        table: Table,
        k: int,
        guards: Sequence[Guard] = (),
        *,
        suppress: float = 0.0,
        cells: float = 0.0,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        progress: Progress | None = None,
    ) -> RecodedTable: ...


@dataclass(frozen=True, eq=False)
class Scale:
    """The stretches that one attribute may publish: `first[h][code]` and `last[h][code]` at height h.

    Arrays have a slot for each code and one behind them for a missing value, which the code -1 finds. `free`: any
    stretch of a number may be published, and not only nodes.
    """

    attribute: Attribute
    first: Ints
    last: Ints
    free: bool = False

    @classmethod
    def of(cls, attribute: Attribute, tree: Hierarchy | None = None, *, free: bool = False) -> Scale:
        """By the hierarchy given, the attribute's own, or the one that needs no file. Heights all differ."""
        tree = tree or attribute.tree
        if tree is None:
            tree = interval_hierarchy(attribute) if attribute.ordered else flat_hierarchy(attribute.size)
        if tree.size != attribute.size:
            raise ValueError(f"{attribute.name}: a hierarchy has one leaf per code")
        stretches = [_stretches(level) for level in tree.levels]
        root = np.full((2, attribute.size + 1), NULL if attribute.has_nulls else 0)
        root[1] = attribute.size - 1
        used = attribute.size + attribute.has_nulls
        pairs = zip(stretches, [*stretches[1:], root], strict=True)
        different = [one for one, above in pairs if (one != above)[:, :used].any()]
        first, last = np.stack([*different, root], axis=1)
        return cls(attribute, first, last, free)

    @property
    def heights(self) -> int:
        return len(self.first)

    @property
    def root(self) -> tuple[int, int]:
        return int(self.first[-1][0]), int(self.last[-1][0])

    def widths(self, first: Ints, last: Ints) -> Floats:
        """What each stretch loses, from 0 to 1: as `measures` has it, for the whole node."""
        attribute = self.attribute
        if attribute.ordered and attribute.tree is None:
            lower, upper = attribute.edges
            width = np.minimum((upper[last] - lower[np.maximum(first, 0)]) / (attribute.span or 1.0), 1.0)
        else:
            width = np.where(last > first, last - first + 1, 0) / attribute.size
        return np.where(last == NULL, 0.0, np.where(first == NULL, 1.0, width))

    def covers(self, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """The least stretch that may be published and holds the places low to high; -1 is a missing value."""
        first, last = low.copy(), high.copy()
        open_ = (low == NULL) & (high != NULL) if self.free else low != high
        for begin, end in zip(self.first, self.last, strict=True):
            first, last = np.where(open_, begin[low], first), np.where(open_, end[low], last)
            open_ = open_ & ((first > low) | (last < high))
        return first, last

    def children(self, first: int, last: int) -> list[tuple[int, int]]:
        """The stretches into which a node is divided at the next height below it; none of a leaf."""
        slots = np.arange(first, last + 1)
        for begin, end in zip(self.first[::-1], self.last[::-1], strict=True):
            parts = sorted(set(zip(begin[slots].tolist(), end[slots].tolist(), strict=True)))
            if len(parts) > 1:
                return parts
        return []


def scales_of(table: Table, hierarchies: Mapping[str, Hierarchy] | None) -> tuple[Scale, ...]:
    """A scale for each attribute; codes are places of the leaves of its hierarchy."""
    given = hierarchies or {}
    return tuple(Scale.of(attribute, given.get(attribute.name)) for attribute in table.attributes)


def _stretches(level: Ints) -> Ints:
    """First and last code of the node over each code; a missing value stays apart."""
    ends = np.searchsorted(level, level), np.searchsorted(level, level, side="right") - 1
    return np.stack([np.append(end, NULL) for end in ends])


@dataclass(frozen=True)
class Stretches:
    """A stretch for each attribute and combination (`first`, `last`: attributes x combinations), and who is left out.

    Those left out have stretches too: what they would publish if they were not.
    """

    table: Table
    scales: tuple[Scale, ...]
    first: Ints
    last: Ints
    out: Bools
    starred: int = 0
    optimal: bool = False

    @property
    def suppressed(self) -> int:
        return int(self.table.counts[self.out].sum())

    def widths(self) -> Floats:
        """Per attribute and combination, by weight, so that a record that loses everything loses 1."""
        weights = relative_weights(self.table)
        found = [
            scale.widths(first, last) for scale, first, last in zip(self.scales, self.first, self.last, strict=True)
        ]
        return np.stack(found) * weights[:, None]

    @property
    def loss(self) -> float:
        each = np.where(self.out, 1.0, self.widths().sum(axis=0))
        return float(each @ self.table.counts) / self.table.records

    def groups_of(self, rows: Ints) -> Ints:
        """A number 0..m-1 for each different row of stretches among these."""
        columns = []
        for scale, first, last in zip(self.scales, self.first[:, rows], self.last[:, rows], strict=True):
            size = scale.attribute.size + 1
            columns += [(first + 1, size), (last + 1, size)]
        return grouped(columns, rows.size)

    def recoded(self) -> RecodedTable:
        kept = np.flatnonzero(~self.out)
        labels = np.full(self.table.combinations, -1)
        low, high, nulls = {}, {}, {}
        if kept.size:
            labels[kept] = canonical(rows_of(self.table, kept), self.groups_of(kept))
        _, member = np.unique(labels[kept], return_index=True)
        for scale, first, last in zip(self.scales, self.first, self.last, strict=True):
            name, first, last = scale.attribute.name, first[kept[member]], last[kept[member]]
            nulls[name] = np.where(last == NULL, ALL_NULLS, np.where(first == NULL, SOME_NULLS, NO_NULLS))
            low[name], high[name] = np.where(last == NULL, NULL, np.maximum(first, 0)), last
        return RecodedTable(labels, low, high, nulls, self.suppressed, self.loss, self.starred, self.optimal)


def relative_weights(table: Table) -> Floats:
    weights = np.array([a.weight for a in table.attributes])
    return np.asarray(weights / weights.sum())


def grouped(columns: Iterable[tuple[Ints, int]], rows: int) -> Ints:
    """A number 0..m-1 for each different row of columns; each comes with a bound of its figures.

    >>> import numpy as np
    >>> grouped([(np.array([3, 0, 3]), 4), (np.array([1, 1, 1]), 2)], 3)
    array([1, 0, 1])
    """
    key, bound = np.zeros(rows, dtype=np.int64), 1
    for column, size in columns:
        if bound * size >= 2**62:
            key, bound = _numbered(key, bound), rows
        key, bound = key * size + column, bound * size
    return _numbered(key, bound)


def _numbered(key: Ints, bound: int) -> Ints:
    if bound <= DENSE * key.size:
        there = np.bincount(key, minlength=bound) > 0
        return (np.cumsum(there) - 1)[key]
    order, key = argsort_packed(key)
    number = np.empty_like(order)
    number[order] = np.cumsum(np.diff(key, prepend=key[:1]) != 0)
    return number
