"""Strict Mondrian, a level at a time over arrays (LeFevre, DeWitt, Ramakrishnan, ICDE 2006), by full information gain.

Every node takes, among the best feasible cut of each attribute, the one that lowers the loss over all attributes most.
Public cuts come first, so that a query aligned with them meets no class that lies on both sides. The result depends on
nothing but the combinations: not on their order, on time, or on chance, since two different partitions of one table
could be intersected.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.anonymise.division.cuts import Candidate, best_cut
from querygate.methods.anonymise.division.gain import loss_after, loss_of_nodes
from querygate.methods.anonymise.division.node_cells import Batch, NodeCells
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.parallel import side_by_side
from querygate.methods.anonymise.table import NULL, Infeasible, Table

Progress = Callable[[float], None]
"""Told the share of combinations whose class is final."""

LARGE = 100_000
"""Nodes of more combinations are divided one level after the other, all of them together."""

SMALL = 2_000
"""Then down to so few, and to the end, they go in groups ..."""

GROUP = 40_000
"""... of about this many, which stay in the processor's cache."""

MANY = 200_000
"""With more combinations processes divide groups at the same time; the numbers of the classes do not depend on it."""

NO_GAIN = 1e-12


def mondrian(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each combination, 0..m-1: at least k records in each, and every guard holds.

    Raises Infeasible if the table as a whole does not keep a promise.
    """
    return DivisionSearch(table, k, guards, progress).run(Batch.whole(table))


def check_feasible(table: Table, k: int, guards: Sequence[Guard]) -> None:
    """Raise Infeasible unless one class of everything keeps every promise."""
    if k < 1:
        raise ValueError("k is at least 1")
    if table.records < k:
        raise Infeasible(f"{k}-anonymity")
    rows = np.arange(table.combinations)
    for guard in guards:
        if not guard.classes(rows, np.zeros_like(rows), 1).all():
            raise Infeasible(guard.name)


def one_class(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """Everybody in one class: all that can be done where people are known by nothing that a box could hold.

    >>> one_class(Table((), counts=np.array([7])), k=5)
    array([0])
    """
    check_feasible(table, k, guards)
    return np.zeros(table.combinations, dtype=np.int64)


class DivisionSearch:
    """The classes found so far."""

    def __init__(self, table: Table, k: int, guards: Sequence[Guard], progress: Progress | None) -> None:
        check_feasible(table, k, guards)
        self.table, self.k, self.guards = table, k, guards
        self.progress = progress or (lambda share: None)
        self.labels = np.full(table.combinations, -1)
        self.classes = 0
        self.done = 0
        self._each: Callable[..., Iterable[Any]] = map

    def run(self, batch: Batch) -> Ints:
        """Divide from the root on; the class of each combination."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            self._each = pool.map  # a few large nodes: attributes side by side
            small, classes = self._divide(self.after_public_cuts(batch), LARGE)
        self._each = map  # many small ones: groups of them
        self._keep(classes)
        groups = list(Batch.join([*small, batch.none()]).by_node().groups(GROUP))
        del batch, small
        if self.table.combinations > MANY:
            finished = side_by_side(lambda place: self._finished(groups[place]), len(groups))
        else:
            finished = map(self._finished, groups)
        for classes in finished:
            self._keep(classes)
        return canonical(self.table, self.labels)

    def _keep(self, classes: Iterable[Batch]) -> None:
        for found in classes:
            self.labels[found.rows] = self.classes + found.node
            self.classes += found.nodes
            self.done += found.rows.size
        self.progress(self.done / self.table.combinations)

    def _finished(self, group: Batch) -> list[Batch]:
        """The classes of the nodes of a group, without codes."""
        small, classes = self._divide(group, SMALL)
        for part in Batch.join([*small, group.none()]).by_node().groups(GROUP):
            classes += self._divide(part, 0)[1]
        return [found.bare() for found in classes]

    def _divide(self, batch: Batch, most: int) -> tuple[list[Batch], list[Batch]]:
        """Level by level: the nodes of at most so many combinations, and those that are classes."""
        small, classes = [], []
        while batch.nodes:
            rows = np.bincount(batch.node, minlength=batch.nodes)
            small.append(batch.part(rows <= most))
            batch = batch.part(rows > most)
            if batch.nodes:
                batch, stopped = self.split(batch.by_node() if most >= LARGE else batch, public=False)
                classes.append(stopped)
        return small, classes

    def after_public_cuts(self, batch: Batch) -> Batch:
        """The nodes that remain when no public cut is feasible any more."""
        if not any(a.cuts for a in self.table.attributes):
            return batch
        whole = []
        while batch.nodes:
            batch, stopped = self.split(batch, public=True)
            whole.append(stopped)
        return Batch.join(whole)

    def split(self, batch: Batch, *, public: bool) -> tuple[Batch, Batch]:
        """One level: the children that may be split further, and the nodes that stay as they are."""
        attributes = self.table.attributes
        all_cells = list(self._each(NodeCells.of, repeat(batch), range(len(attributes)), attributes))
        candidates = self.candidates(batch, all_cells, public=public)
        loss = loss_after(batch, all_cells, candidates)
        choice = loss.argmin(axis=0)
        loss = loss[choice, np.arange(batch.nodes)]
        size = all_cells[0].total
        worth = np.isfinite(loss) if public else loss_of_nodes(all_cells) - loss > NO_GAIN * size
        choice = np.where(worth, choice, -1).astype(np.int16)[batch.node]
        right = np.zeros(choice.size, dtype=np.bool_)
        for i, candidate in enumerate(candidates):
            right |= (choice == i) & (candidate.right > 0)
        return self._divided(batch, right, worth)

    def candidates(self, batch: Batch, all_cells: Sequence[NodeCells], *, public: bool) -> list[Candidate]:
        """The cuts among which every node chooses."""
        cut = partial(best_cut, batch, k=self.k, guards=self.guards, public=public)
        return list(self._each(cut, [cells for cells in all_cells if cells.attribute.cuts or not public]))

    def _divided(self, batch: Batch, right: Bools, worth: Bools) -> tuple[Batch, Batch]:
        """Children in the order left, right; those under 2k records cannot be split again."""
        occupied = np.stack([np.ones_like(worth), worth], axis=1)
        number = (np.cumsum(occupied) - 1)[2 * batch.node + right]
        divided = batch.relabelled(number, int(occupied.sum()))
        dividable = np.repeat(worth, 1 + worth) & (divided.sizes() >= 2 * self.k)
        return divided.part(dividable), divided.part(~dividable)


def canonical(table: Table, labels: Ints) -> Ints:
    """Number the classes by their first combination in lexicographic order, whatever the order of the rows."""
    order = _lexicographic(table)
    first = np.empty(int(labels.max()) + 1, dtype=np.int64)
    first[labels[order][::-1]] = np.arange(order.size)[::-1]  # of several writes the last one stays
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[labels]


def _lexicographic(table: Table) -> Ints:
    """The order of the combinations by their codes, first attribute first."""
    if math.prod(a.size + 1 for a in table.attributes) >= 2**62:
        return np.lexsort([a.codes for a in reversed(table.attributes)])
    key = np.zeros(table.combinations, dtype=np.int64)
    for attribute in table.attributes:
        key = key * (attribute.size + 1) + (attribute.codes - NULL)
    return np.arange(key.size) if (key[1:] >= key[:-1]).all() else np.argsort(key, kind="stable")
