"""Local recoding: classes made by any method, published by the lowest nodes that hold their members.

A number without a hierarchy of its own is published as the interval of its codes, a category as a value, a node, or
any. Classes that come to be published alike are one class. Records that stretch their class more than they are worth
may be left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.anonymisers import ANONYMISERS
from querygate.methods.anonymise.clusters.merge import merge_until_kept
from querygate.methods.anonymise.clusters.top_down import rows_of
from querygate.methods.anonymise.division.mondrian import Progress, check_feasible
from querygate.methods.anonymise.division.node_cells import starts_of
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.recode.hierarchy import Hierarchy
from querygate.methods.anonymise.recode.recoder import RecodedTable, Scale, Stretches, relative_weights
from querygate.methods.anonymise.recode.suppression import Promise, recode
from querygate.methods.anonymise.table import Attribute, Infeasible, Table

OUT = -1
"""The class of what is left out."""


def local(
    table: Table,
    k: int,
    guards: Sequence[Guard] = (),
    *,
    method: str = "mondrian",
    suppress: float = 0.0,
    cells: float = 0.0,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    progress: Progress | None = None,
) -> RecodedTable:
    """Classes by an anonymiser of the registry, and their nodes.

    A method that divides records wants one combination for each record.
    """
    divide = ANONYMISERS.get(method)
    if divide.by_record and int(table.counts.max(initial=1)) > 1:
        raise ValueError(f"{method} divides records: it wants a table with one combination for each")
    check_feasible(table, k, guards)
    scales, searched = _scales(table, hierarchies or {}), _searched(table, hierarchies or {})

    def make(promise: Promise) -> Stretches:
        labels = divide(searched, k, guards, progress=progress)
        tries = [labels]
        without = ~_stretching(table, scales, labels, promise)
        if not without.all():
            rest = np.flatnonzero(without)
            again = np.full(labels.size, OUT)
            with contextlib.suppress(Infeasible):  # the remaining records may break a guard that all records keep
                again[rest] = divide(rows_of(searched, rest), k, [Among(guard, rest) for guard in guards])
                tries.append(again)
        drafts = [_settled(table, scales, _shrunk(table, scales, labels, promise), promise) for labels in tries]
        return min(drafts, key=lambda draft: draft.loss)

    return recode(make, table, k, guards, suppress, cells)


def _scales(table: Table, hierarchies: Mapping[str, Hierarchy]) -> tuple[Scale, ...]:
    def scale(attribute: Attribute) -> Scale:
        tree = hierarchies.get(attribute.name)
        return Scale.of(attribute, tree, free=attribute.ordered and attribute.tree is None and tree is None)

    return tuple(map(scale, table.attributes))


def _searched(table: Table, hierarchies: Mapping[str, Hierarchy]) -> Table:
    """What the methods see: a category as leaves of its hierarchy on a line (docs/decisions/0018).

    One without a hierarchy stays a set of values: small sets have a single value, and so do the classes, more often.
    """

    def seen(a: Attribute) -> Attribute:
        tree = None if a.ordered else hierarchies.get(a.name)
        return a if tree is None else Attribute.hierarchical(a.name, a.codes, tree, a.weight)

    return Table(tuple(map(seen, table.attributes)), table.counts)


def _settled(table: Table, scales: tuple[Scale, ...], labels: Ints, promise: Promise) -> Stretches:
    """Publish; where classes that look alike break a guard together, join further until none does."""
    kept = np.flatnonzero(labels != OUT)
    label = np.unique(labels[kept], return_inverse=True)[1].reshape(-1)
    part = rows_of(table, kept)
    while True:
        first, last = published(part, scales, label)
        codes = np.stack([a.codes for a in table.attributes])
        draft = Stretches(table, scales, codes.copy(), codes, labels == OUT)
        draft.first[:, kept], draft.last[:, kept] = first[:, label], last[:, label]
        label = draft.groups_of(kept)
        if promise.kept(kept, label).all():
            return draft
        label = merge_until_kept(part, label, promise.k, [Among(guard, kept) for guard in promise.guards])


class Among:
    """A guard of the whole table, asked about some of its rows."""

    def __init__(self, guard: Guard, rows: Ints) -> None:
        self._guard, self._rows = guard, rows

    @property
    def name(self) -> str:
        return self._guard.name

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        return self._guard.classes(self._rows[rows], label, classes)


def published(table: Table, scales: Sequence[Scale], label: Ints) -> tuple[Ints, Ints]:
    """First and last place that each class 0..m-1 publishes: attributes x classes."""
    order = np.argsort(label, kind="stable")
    starts = starts_of(label[order])
    ends = []
    for scale, attribute in zip(scales, table.attributes, strict=True):
        codes = attribute.codes[order]
        ends.append(np.stack(scale.covers(np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts))))
    first, last = np.stack(ends, axis=1)
    return first, last


# -- records that stretch their class ----------------------------------------------------------------------------------


def _worth(table: Table, scales: Sequence[Scale], labels: Ints) -> Floats:
    """What would be saved if a combination alone were left out of its class, less what its records lose by it.

    Of each class and attribute the two lowest and the two highest places tell its stretch without any one member.
    """
    kept = np.flatnonzero(labels != OUT)
    label = np.unique(labels[kept], return_inverse=True)[1].reshape(-1)
    part = rows_of(table, kept)
    size = np.bincount(label, part.counts)
    first, last = published(part, scales, label)
    before, after = np.zeros(kept.size), np.zeros(kept.size)
    for place, (scale, weight) in enumerate(zip(scales, relative_weights(table), strict=True)):
        before += weight * scale.widths(first[place], last[place])[label]
        after += weight * scale.widths(*scale.covers(*_without_each(part.attributes[place].codes, label)))
    saved = np.full(labels.size, -np.inf)
    saved[kept] = size[label] * before - (size[label] - part.counts) * after - part.counts
    saved[kept[np.bincount(label)[label] == 1]] = -np.inf  # a class of one combination, which nothing stretches
    return saved


def _without_each(codes: Ints, label: Ints) -> tuple[Ints, Ints]:
    """Lowest and highest code of the class of each row without the row; its own where it is alone."""
    order = np.lexsort((codes, label))
    starts = starts_of(label[order])
    ends = np.append(starts[1:], label.size) - 1
    low, high = codes[order[starts]][label], codes[order[ends]][label]
    next_low, next_high = codes[order[np.minimum(starts + 1, ends)]], codes[order[np.maximum(ends - 1, starts)]]
    low[order[starts]], high[order[ends]] = next_low, next_high
    return low, high


def _stretching(table: Table, scales: Sequence[Scale], labels: Ints, promise: Promise) -> Bools:
    """The combinations most worth leaving out, whatever happens to their class, within the limit."""
    out = np.zeros(labels.size, dtype=np.bool_)
    if promise.limit:
        worth = _worth(table, scales, labels)
        order = np.argsort(-worth / table.counts, kind="stable")
        order = order[worth[order] > 0]
        out[order[np.cumsum(table.counts[order]) <= promise.limit]] = True
    return out


def _shrunk(table: Table, scales: Sequence[Scale], labels: Ints, promise: Promise) -> Ints:
    """Leave out, one in each class at a time, who is most worth it, while the class keeps every promise."""
    labels = labels.copy()
    closed = np.zeros(labels.size, dtype=np.bool_)
    left = promise.limit - int(table.counts[labels == OUT].sum())
    while left > 0:
        worth = _worth(table, scales, labels)
        size = np.bincount(labels[labels != OUT], table.counts[labels != OUT], labels.size + 1)
        possible = (worth > 0) & ~closed & (size[labels] - table.counts >= promise.k) & (table.counts <= left)
        rows = np.flatnonzero(possible)
        rows = rows[np.argsort(-worth[rows] / table.counts[rows], kind="stable")]
        rows = rows[np.sort(np.unique(labels[rows], return_index=True)[1])]
        rows = rows[np.cumsum(table.counts[rows]) <= left]
        if not rows.size:
            break
        good = _still_kept(labels, rows, promise)
        closed[rows[~good]] = True
        labels[rows[good]] = OUT
        left -= int(table.counts[rows[good]].sum())
    return labels


def _still_kept(labels: Ints, rows: Ints, promise: Promise) -> Bools:
    """Whether the class of each row keeps every promise without it."""
    touched = np.isin(labels, labels[rows])
    touched[rows] = False
    members = np.flatnonzero(touched)
    names, label = np.unique(labels[members], return_inverse=True)
    return promise.kept(members, label.reshape(-1))[np.searchsorted(names, labels[rows])]
