"""Full-subtree recoding: every attribute a cut through its hierarchy, so that equal values are recoded alike.

Top-down specialisation (Fung, Wang, Yu, ICDE 2005), on the loss of Iyengar (KDD 2002): of all nodes of the cuts, the
one whose children save most takes their place, while every promise is kept. It begins twice, from the best full-domain
recoding and from the roots, and the better end is taken: the loss is never above that of the best full-domain recoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.division.mondrian import Progress, check_feasible
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.recode.full_domain import HeightLattice
from querygate.methods.anonymise.recode.hierarchy import Hierarchy
from querygate.methods.anonymise.recode.recoder import RecodedTable, Stretches, grouped, relative_weights, scales_of
from querygate.methods.anonymise.recode.suppression import Promise, recode
from querygate.methods.anonymise.table import Table

NO_GAIN = 1e-12


def full_subtree(
    table: Table,
    k: int,
    guards: Sequence[Guard] = (),
    *,
    suppress: float = 0.0,
    cells: float = 0.0,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    progress: Progress | None = None,
) -> RecodedTable:
    """A cut for each attribute: a node, or nodes below it, with a loss at most that of `full_domain`."""
    check_feasible(table, k, guards)
    scales = scales_of(table, hierarchies)

    def make(promise: Promise) -> Stretches:
        lattice = HeightLattice(table, scales, promise, progress)
        starts = {lattice.best(): None, tuple(n - 1 for n in lattice.shape): None}
        return min((Specialisation(lattice.draft(start), promise).run() for start in starts), key=lambda d: d.loss)

    return recode(make, table, k, guards, suppress, cells)


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a cut: the rows under it, the child each row belongs to, and what the child saves of a row's loss."""

    place: int
    rows: Ints
    child: Ints
    saves: Floats
    first: Ints
    last: Ints
    most: float  # what is saved if nobody has to be left out for it


@dataclass(frozen=True)
class SubtreeStep:
    """A node replaced by its children: new classes of its rows, and which of them stand."""

    node: Node
    label: Ints
    standing: Bools
    saved: float


class Specialisation:
    """Cuts that become finer."""

    def __init__(self, draft: Stretches, promise: Promise) -> None:
        self.draft, self.promise = draft, promise
        self.first, self.last, self.out = draft.first.copy(), draft.last.copy(), draft.out.copy()
        self.counts = draft.table.counts
        self.weights = relative_weights(draft.table)
        self.lost = draft.widths().sum(axis=0)
        self.label = draft.groups_of(np.arange(self.counts.size))
        self.classes = int(self.label.max()) + 1
        self.left_out = draft.suppressed

    def run(self) -> Stretches:
        nodes = [node for place in range(len(self.first)) for node in self._nodes(place, np.arange(self.counts.size))]
        while step := self._best(nodes):
            nodes.remove(step.node)
            nodes.extend(self._take(step))
        return replace(self.draft, first=self.first, last=self.last, out=self.out, optimal=False)

    def _nodes(self, place: int, rows: Ints) -> Iterator[Node]:
        """The nodes of one attribute's cut over these rows that can be divided."""
        scale = self.draft.scales[place]
        ends = self.first[place][rows], self.last[place][rows]
        which = grouped([(end + 1, scale.attribute.size + 1) for end in ends], rows.size)
        order = np.argsort(which, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
            first, last = (int(end[members[0]]) for end in ends)
            parts = np.array(scale.children(first, last))
            if not parts.size:
                continue
            under = rows[members]
            child = np.searchsorted(parts[:, 0], scale.attribute.codes[under], side="right") - 1
            width = scale.widths(np.array([first]), np.array([last]))
            saves = (self.weights[place] * (width - scale.widths(parts[:, 0], parts[:, 1])))[child]
            most = float(saves @ self.counts[under])
            yield Node(place, under, child, saves, parts[child, 0], parts[child, 1], most)

    def _best(self, nodes: list[Node]) -> SubtreeStep | None:
        """The step that saves most. One that breaks a monotone promise is forgotten: finer cuts break it as well."""
        best: SubtreeStep | None = None
        for node in sorted(nodes, key=lambda node: -node.most):
            if best is not None and node.most <= best.saved:
                break
            step = self._tried(node)
            if step is None:
                if not self.promise.others:
                    nodes.remove(node)
            elif step.saved > (best.saved if best else NO_GAIN * self.promise.table.records):
                best = step
        return best

    def _tried(self, node: Node) -> SubtreeStep | None:
        """A class lies under one node as a whole, so only classes under this one change."""
        rows = node.rows
        label = grouped([(self.label[rows], self.classes), (node.child, int(node.child.max()) + 1)], rows.size)
        standing = self.promise.kept(rows, label)
        out = ~standing[label]
        left_out = self.left_out + int(self.counts[rows] @ (out.astype(np.int64) - self.out[rows]))
        if left_out > self.promise.limit:
            return None
        before = np.where(self.out[rows], 1.0, self.lost[rows])
        after = np.where(out, 1.0, self.lost[rows] - node.saves)
        return SubtreeStep(node, label, standing, float((before - after) @ self.counts[rows]))

    def _take(self, step: SubtreeStep) -> Iterator[Node]:
        rows, place = step.node.rows, step.node.place
        out = ~step.standing[step.label]
        self.left_out += int(self.counts[rows] @ (out.astype(np.int64) - self.out[rows]))
        self.out[rows] = out
        self.lost[rows] -= step.node.saves
        self.label[rows] = self.classes + step.label
        self.classes += step.standing.size
        self.first[place][rows], self.last[place][rows] = step.node.first, step.node.last
        return self._nodes(place, rows)
