"""Polish: classes improve locally, in a fixed number of rounds, and keep everything they kept.

Two moves take turns. `exchange` reassigns single records between classes. `_resplit` joins two or three similar classes
and cuts the union again along another order, which is what changes the number of classes. Both keep what they find only
where the loss falls. Chance comes from a seed and the end from a count, never from a clock: two publications of one
table must be equal, since different ones could be intersected.

Polished boxes overlap more than before. That ends strictness, not k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.clusters.exchange import ExchangeBlock
from querygate.methods.anonymise.division.districts import districts_of
from querygate.methods.anonymise.division.mondrian import Progress
from querygate.methods.anonymise.division.node_cells import Batch, NodeCells, argsort_packed
from querygate.methods.anonymise.division.snake import (
    check_by_record,
    class_loss,
    cut_in_order,
    holding,
    join_pure,
    keys_of,
    shared,
    snake_order,
    snake_runs,
)
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import Table

ROUNDS, SMALL = 12, 50_000
"""Rounds unless told otherwise, for tables of fewer than so many records; larger ones have none."""

MOST_SWEEPS = 16
"""Sweeps of a round: so many for the largest classes."""

BLOCK = 200
"""Classes that exchange records among themselves in a sweep ..."""

PASSES = 2
"""... so many times."""

UNION = (2, 2, 3)
"""Numbers of classes that are joined and cut again, each as likely as the others. Two are cut in linear time."""

SHUFFLE = 1.5
"""Standard deviation of the logarithm by which the prices of keys change from one order to the next."""

NO_GAIN = 1e-9


def snake_polished(
    table: Table,
    k: int,
    guards: Sequence[Guard] = (),
    *,
    rounds: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Ints:
    """Snake order and dynamic programme, then the polish."""
    if rounds is None:
        rounds = ROUNDS if table.records < SMALL else 0
    labels = snake_runs(table, k, guards)
    return polish(table, labels, k, guards, rounds=rounds, seed=seed, progress=progress)


def polish(
    table: Table,
    labels: Ints,
    k: int,
    guards: Sequence[Guard] = (),
    *,
    rounds: int,
    seed: int = 0,
    progress: Progress | None = None,
) -> Ints:
    """Classes 0..m-1 of no greater loss: k, guards and the public cuts that `labels` keep are kept.

    A round without gain is the last.
    """
    check_by_record(table)
    if np.bincount(labels).min() < k:
        raise ValueError(f"a class has fewer than {k} records")
    # Equal records are interchangeable, so with rows in order of their codes the order in which they came is forgotten.
    order = np.lexsort((labels, *(a.codes for a in reversed(table.attributes))))
    ordered = Table(tuple(replace(a, codes=a.codes[order]) for a in table.attributes), table.counts)
    guards = [_Reordered(g, order) for g in guards]
    work = _Work(ordered, labels[order], k, guards, np.random.default_rng(seed))
    progress = progress or (lambda share: None)
    for done in range(rounds):
        progress(done / rounds)
        if work.round() <= NO_GAIN:
            break
    progress(1.0)
    worse = class_loss(ordered, work.labels).sum() > class_loss(ordered, labels[order]).sum()
    found = join_pure(ordered, labels[order] if worse else work.labels, guards)
    polished = np.empty_like(labels)
    polished[order] = _by_first_member(found)
    return polished


def _by_first_member(labels: Ints) -> Ints:
    """The same classes, numbered in the order in which they first occur."""
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[which.reshape(-1)]


class _Reordered:
    """A guard, asked about rows in another order."""

    def __init__(self, guard: Guard, order: Ints) -> None:
        self.name, self._guard, self._order = guard.name, guard, order

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        return self._guard.classes(self._order[rows], label, classes)


class _Work:
    """A partition and its improvements."""

    def __init__(
        self, table: Table, labels: Ints, k: int, guards: Sequence[Guard], random: np.random.Generator
    ) -> None:
        # Hierarchies are searched as lines (docs/decisions/0018), so that exchanges and unions see the same loss.
        self.table = Table(tuple(replace(a, tree=None) for a in table.attributes), table.counts)
        self.k, self.guards, self.random = k, guards, random
        self.district = districts_of(table, labels)
        self.keys = keys_of(table)
        self.labels = labels

    def round(self) -> float:
        """By how much the loss fell."""
        before = class_loss(self.table, self.labels).sum()
        # Few records of each class move in a sweep, so larger classes need more of them.
        for _ in range(min(MOST_SWEEPS, round(self.k**0.55))):
            self._sweep()
        return float(before - class_loss(self.table, self.labels).sum())

    def _sweep(self) -> None:
        typical = _typical(self.table, self.labels, self.district)
        self._exchange(self._similar(typical))
        self._resplit(self._similar(typical))

    def _similar(self, typical: Floats) -> Ints:
        """The classes of each district, sorted by their typical values, attributes in random order."""
        keys = self.random.permutation(typical.shape[0] - 1) + 1
        return np.lexsort((*typical[keys], typical[0]))

    def _exchange(self, similar: Ints) -> None:
        labels = self.labels.copy()
        for classes, rows, home in _blocks(self.labels, similar):
            block = ExchangeBlock(self.table, rows, home, self.district, self.guards)
            for _ in range(PASSES):
                block.exchange(self.k, self.random)
            labels[rows] = classes[block.home]
        self.labels = labels

    def _resplit(self, similar: Ints) -> None:
        """Join similar classes, cut the unions along a new order, and keep what is cheaper and holds."""
        union = self._unions(similar)
        group = union[self.labels]
        price = np.array([key.price for key in self.keys]) * np.exp(self.random.normal(0.0, SHUFFLE, len(self.keys)))
        keys = shared([self.keys[i] for i in np.argsort(-price, kind="stable")], behind=0)
        new = cut_in_order(self.table, snake_order(keys, group, self.k), group, self.k)
        union_of_new = np.empty(int(new.max()) + 1, dtype=np.int64)
        union_of_new[new] = group
        old_loss = np.bincount(union, class_loss(self.table, self.labels))
        new_loss = np.bincount(union_of_new, class_loss(self.table, new))
        better = new_loss < old_loss - NO_GAIN
        if self.guards:
            better[union_of_new[~holding(new, self.guards)]] = False
        mixed = np.where(better[group], union.size + new, self.labels)
        self.labels = np.unique(mixed, return_inverse=True)[1].reshape(-1)

    def _unions(self, similar: Ints) -> Ints:
        """Per class the union in which it takes part, numbered along `similar`; never across districts."""
        district = np.empty_like(similar)
        district[self.labels] = self.district
        size = self.random.choice(UNION, similar.size)
        begins = np.zeros(similar.size, dtype=np.bool_)
        begins[np.cumsum(size)[np.cumsum(size) < similar.size]] = True
        begins[1:] |= np.diff(district[similar]) != 0
        union = np.empty_like(similar)
        union[similar] = np.cumsum(begins)
        return union


def _typical(table: Table, labels: Ints, district: Ints) -> Floats:
    """Per class its district, and of each attribute the mean code of a number or the commonest value of a category."""
    classes = int(labels.max()) + 1
    batch = Batch.whole(table).relabelled(labels, classes)
    typical = np.empty((len(table.attributes) + 1, classes))
    typical[0][labels] = district
    for index, attribute in enumerate(table.attributes):
        cells = NodeCells.of(batch, index, attribute)
        if attribute.ordered:
            typical[index + 1] = np.bincount(cells.node, cells.code * cells.count) / cells.total
        else:
            most = np.lexsort((-cells.count, cells.node))
            typical[index + 1] = cells.code[most[cells.first]]
    return typical


def _blocks(labels: Ints, similar: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Classes in blocks along `similar`: these, the rows of their members, and the place of each member's class."""
    place = np.empty_like(similar)
    place[similar] = np.arange(similar.size)
    order, place = argsort_packed(place[labels])
    bounds = np.linspace(0, similar.size, max(1, round(similar.size / BLOCK)) + 1).astype(np.int64)
    for begin, end in pairwise(bounds.tolist()):
        members = slice(*np.searchsorted(place, [begin, end]))
        yield similar[begin:end], order[members], place[members] - begin
