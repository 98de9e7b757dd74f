"""rho-uncertainty by generalising public codes and suppressing what is left (TDControl: Cao, Karras, Raïssi, Tan, VLDB
2010).

Sensitive codes are never generalised: a group of them would be a secret too. Public codes begin as one item, the root
of their hierarchy, and nodes give way to their children from the top down, those that cost most first. After each step
what would still be inferred is suppressed, as suppression alone does it. A step stays if it loses less in all than it
saves: finer items reveal more, and their suppression may cost more than they keep. Each node is tried once; in the
end suppression alone is compared, which no single step may lead to.

Loss is counted per code of a record: of a generalised code the share of codes in its item, of a suppressed one 1.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from querygate.core.types import Ints
from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets, Items
from querygate.methods.code_lists.confidence import sensitive_mask
from querygate.methods.code_lists.rho_uncertainty import MOST, rho_uncertain
from querygate.methods.code_lists.subtrees import Subtrees, halved
from querygate.methods.code_lists.unprotectable import Unprotectable


def td_control(
    baskets: Baskets,
    sensitive: Ints,
    rho: float,
    length: int | None = None,
    levels: Sequence[Ints] = (),
    most: int = MOST,
) -> Items:
    """Items of public codes, and sensitive codes on their own, so that none is told with more confidence than rho.

    >>> baskets = Baskets.of([[0, 4], [0, 4], [0, 4], [1], [1], [2], [3]], size=5)
    >>> levels = [np.arange(5), np.array([0, 0, 1, 1, 2]), np.zeros(5, dtype=np.int64)]
    >>> td_control(baskets, np.array([4]), rho=0.6, levels=levels).groups()
    [(0, 1), (2,), (3,), (4,)]
    """
    public = np.flatnonzero(~sensitive_mask(sensitive, baskets.size))
    if not public.size:
        return rho_uncertain(baskets, sensitive, rho, length, most)
    search = _Search(baskets, public, sensitive, rho, length, levels, most)
    search.descend()
    items, loss = search.published(search.tree.leaf)
    return items if loss < search.loss else search.items


class _Search:
    """The nodes of public codes now, what is published with them, and what that loses."""

    def __init__(
        self,
        baskets: Baskets,
        public: Ints,
        sensitive: Ints,
        rho: float,
        length: int | None,
        levels: Sequence[Ints],
        most: int,
    ) -> None:
        self.baskets, self.public, self.sensitive = baskets, public, sensitive
        self.rho, self.length, self.most = rho, length, most
        self.tree = Subtrees.of(halved([level[public] for level in levels]))
        self.weight = baskets.supports()
        self.node = np.full(public.size, self.tree.root, dtype=np.int64)
        self.items, self.loss = self.published(self.node)

    def descend(self) -> None:
        children = self.tree.children()
        waiting = [(-self._lost(self.tree.root), self.tree.root)]
        while waiting:
            _, one = heapq.heappop(waiting)
            below = children[one].tolist()
            if not below:
                continue
            node = self.node.copy()
            for child in below:
                node[self.tree.begin[child] : self.tree.end[child]] = child
            try:
                items, loss = self.published(node)
            except Unprotectable:  # too many sets to go through: the node stays
                continue
            if loss < self.loss:
                self.node, self.items, self.loss = node, items, loss
                for child in below:
                    heapq.heappush(waiting, (-self._lost(child), child))

    def _lost(self, node: int) -> float:
        """What the codes under a node lose by it."""
        codes = self.public[list(self.tree.codes(node))]
        return float(self.tree.loss[node] * self.weight[codes].sum())

    def published(self, node: Ints) -> tuple[Items, float]:
        """Items under the cut that may stay, and the loss of all codes of all records."""
        general = np.empty(self.baskets.size, dtype=np.int64)
        general[self.public] = self.tree.items(node).of
        general[self.sensitive] = general[self.public].max() + 1 + np.arange(self.sensitive.size)
        coarse = Items(general)
        told = rho_uncertain(
            coarse.publish(self.baskets), general[self.sensitive], self.rho, self.length, self.most
        ).of[general]
        share = np.zeros(self.baskets.size)
        share[self.public[self.tree.order]] = self.tree.loss[node]
        lost = np.where(told == SUPPRESSED, 1.0, share)
        return _in_order(told), float((lost * self.weight).sum())


def _in_order(told: Ints) -> Items:
    """Items numbered by their first code."""
    kept = told != SUPPRESSED
    item = np.full(told.size, SUPPRESSED, dtype=np.int64)
    if kept.any():
        _, first, which = np.unique(told[kept], return_index=True, return_inverse=True)
        item[kept] = np.argsort(np.argsort(first))[which.ravel()]
    return Items(item)
