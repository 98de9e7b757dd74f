"""Frontiers: which nodes of a tree are the classes that are published. Coarsening a view is collapsing a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from querygate.core.types import Array, Bools, Floats, Ints
from querygate.methods.views.tree import ROOT, Tree


@dataclass(frozen=True)
class Frontier:
    """`top` is the node that is the class of each leaf."""

    tree: Tree
    top: Ints

    @classmethod
    def finest(cls, tree: Tree) -> Frontier:
        return cls(tree, tree.leaf_nodes)

    @cached_property
    def nodes(self) -> Ints:
        """The nodes that are classes, in order."""
        return np.unique(self.top)

    @cached_property
    def label(self) -> Ints:
        """The class of each leaf, 0..classes-1."""
        return np.searchsorted(self.nodes, self.top)

    @property
    def classes(self) -> int:
        return int(self.nodes.size)

    @property
    def is_root(self) -> bool:
        return bool(self.top[0] == ROOT)

    def of(self, leaf: Ints) -> Ints:
        """The class of each of these leaves."""
        return self.label[leaf]

    def collapsed(self, node: int) -> Frontier:
        """One class in the place of all below the node."""
        top = self.top.copy()
        top[self.tree.first[node] : self.tree.last[node]] = node
        return replace(self, top=top)

    @cached_property
    def is_above(self) -> Bools:
        """Per node whether it has more than one class below it."""
        above: Bools = self.top[self.tree.first] != self.top[self.tree.last - 1]
        return above

    @cached_property
    def loss(self) -> Floats:
        """Per node what its collapse would lose: the worth of all splits below it that still stand."""
        before = np.append(0.0, np.cumsum(np.where(self.is_above, self.tree.worth, 0.0)))
        below: Floats = before[self.tree.behind] - before[:-1]
        return below

    def divides(self, figures: Array) -> Bools:
        """Per row of figures (by class) and per node: has it classes with different figures below it?"""
        by_leaf = figures[:, self.label]
        steps = np.cumsum(by_leaf[:, 1:] != by_leaf[:, :-1], axis=1)
        steps = np.concatenate([np.zeros((len(figures), 1), dtype=np.int64), steps], axis=1)
        apart: Bools = steps[:, self.tree.last - 1] > steps[:, self.tree.first]
        return apart


@dataclass(frozen=True)
class Collapse:
    """One collapse: in which view, at which node, for which reason, and how many problems it ended."""

    view: int
    node: int
    reason: str
    problems: int


def collapse_greedily(
    frontiers: Sequence[Frontier], hits: Sequence[Bools], reason: str
) -> tuple[list[Frontier], list[Collapse]]:
    """Collapse nodes until every problem is ended; those first that end most for what they lose.

    `hits` says per view which problem (row) the collapse of which node (column) ends; that of a node above it does so
    too. A problem that nothing ends is left.
    """
    found, done = list(frontiers), []
    hits = [np.asfortranarray(one) for one in hits]  # all problems of a node side by side
    is_open = np.logical_or.reduce([one.any(axis=1) for one in hits])
    ends = [one.sum(axis=0) for one in hits]  # open problems by node
    while is_open.any():
        best = (-1.0, 0, 0)
        for view, ended in enumerate(ends):
            score = np.where(ended > 0, ended / np.maximum(found[view].loss, 1e-9), -1.0)
            node = int(np.argmax(score))
            if score[node] > best[0]:
                best = (float(score[node]), view, node)
        _, view, node = best
        found[view] = found[view].collapsed(node)
        done.append(Collapse(view, node, reason, int(ends[view][node])))
        ended_now = np.flatnonzero(is_open & hits[view][:, found[view].tree.below(node)].any(axis=1))
        is_open[ended_now] = False
        for one, ended in zip(hits, ends, strict=True):
            ended -= one[ended_now].sum(axis=0)
    return found, done
