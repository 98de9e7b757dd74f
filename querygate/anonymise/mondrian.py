"""Strict Mondrian, a level at a time over arrays (LeFevre, DeWitt, Ramakrishnan, ICDE 2006), by full information gain.

Every node takes, among the best feasible cut of each attribute, the one that lowers the loss over all attributes most.
Public cuts come first, so that a query aligned with them meets no class that lies on both sides. The result depends on
nothing but the combinations: not on their order, on time, or on chance, since two different partitions of one table
could be intersected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from querygate.anonymise.cells import Batch, Cells, argsort_packed, starts_of
from querygate.anonymise.cuts import best_cut
from querygate.anonymise.gain import loss_after, loss_of_nodes
from querygate.anonymise.guards import Guard
from querygate.anonymise.table import Infeasible, Table
from querygate.core.types import Bools, Ints

Progress = Callable[[float], None]
"""Told the share of combinations whose class is final."""

SMALL = 2_000
"""Nodes of so few combinations leave the common batch ..."""

GROUP = 40_000
"""... and are finished in groups of about this many, which stay in the processor's cache."""

NO_GAIN = 1e-12


def mondrian(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each combination, 0..m-1: at least k records in each, and every guard holds.

    Raises Infeasible if the table as a whole does not keep a promise.
    """
    if k < 1:
        raise ValueError("k is at least 1")
    check_feasible(table, k, guards)
    search = _Search(table, k, guards, progress)
    small = []
    batch = search.after_public_cuts(Batch.whole(table))
    while batch.nodes:
        rows = np.bincount(batch.node, minlength=batch.nodes)
        small.append(batch.part(rows <= SMALL))
        batch = search.level(batch.part(rows > SMALL))
    for group in _groups(small):
        while group.nodes:
            group = search.level(group)
    return _canonical(table, search.labels)


def check_feasible(table: Table, k: int, guards: Sequence[Guard]) -> None:
    """Raise Infeasible unless one class of everything keeps every promise."""
    if table.records < k:
        raise Infeasible(f"{k}-anonymity")
    rows = np.arange(table.combinations)
    for guard in guards:
        if not guard.classes(rows, np.zeros_like(rows), 1).all():
            raise Infeasible(guard.name)


class _Search:
    """The classes found so far."""

    def __init__(self, table: Table, k: int, guards: Sequence[Guard], progress: Progress | None) -> None:
        self.table, self.k, self.guards = table, k, guards
        self.progress = progress or (lambda share: None)
        self.labels = np.full(table.combinations, -1)
        self.classes = 0
        self.done = 0

    def after_public_cuts(self, batch: Batch) -> Batch:
        """The nodes that remain when no public cut is feasible any more."""
        if not any(a.cuts for a in self.table.attributes):
            return batch
        whole = []
        while batch.nodes:
            batch, stopped = self.split(batch, public=True)
            whole.append(stopped)
        return Batch.join(whole)

    def level(self, batch: Batch) -> Batch:
        """Split each node at its best cut; those without one are classes."""
        if not batch.nodes:
            return batch
        batch, stopped = self.split(batch, public=False)
        self.labels[stopped.rows] = self.classes + stopped.node
        self.classes += stopped.nodes
        self.done += stopped.rows.size
        self.progress(self.done / self.table.combinations)
        return batch

    def split(self, batch: Batch, *, public: bool) -> tuple[Batch, Batch]:
        """One level: the children that may be split further, and the nodes that stay as they are."""
        all_cells = [Cells.of(batch, i, a) for i, a in enumerate(self.table.attributes)]
        candidates = [
            best_cut(batch, cells, self.k, self.guards, public=public)
            for cells in all_cells
            if cells.attribute.cuts or not public
        ]
        loss = loss_after(batch, all_cells, candidates)
        choice = loss.argmin(axis=0)
        loss = loss[choice, np.arange(batch.nodes)]
        size = all_cells[0].total
        worth = np.isfinite(loss) if public else loss_of_nodes(all_cells) - loss > NO_GAIN * size
        choice = np.where(worth, choice, -1)[batch.node]
        right = sum((c.right * (choice == i) for i, c in enumerate(candidates)), np.zeros_like(choice))
        return self._divided(batch, right, worth)

    def _divided(self, batch: Batch, right: Ints, worth: Bools) -> tuple[Batch, Batch]:
        """Children in the order left, right; those under 2k records cannot be split again."""
        occupied = np.stack([np.ones_like(worth), worth], axis=1)
        number = (np.cumsum(occupied) - 1)[2 * batch.node + right]
        divided = batch.relabelled(number, int(occupied.sum()))
        dividable = np.repeat(worth, 1 + worth) & (divided.sizes() >= 2 * self.k)
        return divided.part(dividable), divided.part(~dividable)


def _groups(batches: Sequence[Batch]) -> Iterator[Batch]:
    """The nodes of several batches in groups of about GROUP combinations."""
    everything = Batch.join(batches)
    order, node = argsort_packed(everything.node)
    starts = np.append(starts_of(node), node.size)
    begin = 0
    while begin < everything.nodes:
        end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + GROUP, side="right")) - 1)
        members = order[starts[begin] : starts[end]]
        yield Batch(
            everything.rows[members],
            everything.node[members] - begin,
            end - begin,
            tuple(c[members] for c in everything.codes),
            everything.counts[members],
        )
        begin = end


def _canonical(table: Table, labels: Ints) -> Ints:
    """Number the classes by their first combination in lexicographic order, whatever the order of the rows."""
    order = np.lexsort([a.codes for a in reversed(table.attributes)])
    first = np.full(int(labels.max()) + 1, table.combinations)
    np.minimum.at(first, labels[order], np.arange(order.size))
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[labels]
