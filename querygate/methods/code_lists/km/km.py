"""k^m-anonymity: whoever knows up to m codes of somebody finds at least k records, or none.

Apriori anonymisation (Terrovitis, Mamoulis, Kalnis, VLDB 2008), global full-subtree recoding: for itemsets of one item,
of two, ... of m, nodes of the hierarchy take the place of what is under them until no itemset is rare, that is held by
some but fewer than k records.

Why it ends well. An itemset of a more general cut stands over itemsets of the same size of the earlier one, so what was
settled stays settled, and only itemsets with a node that is new have to be counted again. Every cut that settles a rare
itemset lifts one of its items at least; which ones is chosen for all rare itemsets found together, by a greedy cover of
least loss, where the paper decides on each as it meets it. Under the root alone there is one item, and all records with
codes hold it. What was lifted without need goes down again at the end: no node of the result could be replaced by its
children.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.cover import FREE
from querygate.methods.code_lists.km.km_refine import refined
from querygate.methods.code_lists.km.km_supports import Index
from querygate.methods.code_lists.subtrees import Subtrees
from querygate.methods.code_lists.unprotectable import check_enough

TOGETHER = 1_000_000
"""So many rare itemsets are settled together; more would take memory without choosing much better."""


def km_anonymous(baskets: Baskets, levels: Sequence[Ints], k: int, m: int) -> Items:
    """Items under which every itemset of up to m of them is held by at least k records or by none.

    >>> baskets = Baskets.of([[0, 1], [0, 1], [0, 2], [3]], size=4)
    >>> km_anonymous(baskets, [np.arange(4), np.array([0, 1, 1, 0]), np.zeros(4, dtype=np.int64)], k=2, m=1).groups()
    [(0, 3), (1, 2)]
    """
    tree = Subtrees.of(levels)
    check_enough(int(np.count_nonzero(np.diff(baskets.starts))), k)
    if m < 1:
        raise ValueError("m is at least 1")
    codes = Index.of(tree.ordered(baskets))
    cut = Cut(tree, codes)
    for size in range(1, m + 1):
        settle(cut, size, k)
    return tree.items(refined(tree, codes, cut.node, k, m))


class Cut:
    """The nodes that stand for each code now, and the records with them. An item is known by its first place."""

    def __init__(self, tree: Subtrees, index: Index) -> None:
        self.tree = tree
        self.node = tree.leaf.copy()
        self.index = index
        self._weight = np.concatenate([[0], np.cumsum(index.supports())])

    def losses(self, nodes: Ints) -> Floats:
        """What each node would cost over what its codes cost already."""
        loss, begin, end = self.tree.loss, self.tree.begin[nodes], self.tree.end[nodes]
        now = np.concatenate([[0.0], np.cumsum(np.diff(self._weight) * loss[self.node])])
        more: Floats = loss[nodes] * (self._weight[end] - self._weight[begin]) - (now[end] - now[begin])
        return more

    def lift(self, nodes: Ints) -> None:
        """Publish these nodes in place of what is under them. Places stay in order, so items of records do too."""
        for node in np.sort(nodes).tolist():
            self.node[self.tree.begin[node] : self.tree.end[node]] = node
        before = self.index.baskets
        item, record = self.tree.begin[self.node][before.members], before.of_record
        new = np.ones(item.size, dtype=np.bool_)
        new[1:] = (item[1:] != item[:-1]) | (record[1:] != record[:-1])
        upto = np.concatenate([[0], np.cumsum(new)])
        self.index = Index.of(Baskets(upto[before.starts], item[new], before.size))


def settle(cut: Cut, size: int, k: int, under: int | None = None) -> None:
    """Lift nodes until no itemset of the size is rare. `under` is a node that nothing is lifted beyond; all codes are
    under it, and it may be rare itself.

    `settled` items have no rare itemset among themselves. Frequent items are settled first: an item is then counted
    in few records against many others, or in many against few.
    """
    settled = np.zeros(cut.tree.size, dtype=np.bool_)
    waiting = _by_support(cut.index, np.flatnonzero(cut.index.supports()))
    while waiting.size:
        rare, counted = _collect(cut.index, waiting, settled, size, k)
        waiting = waiting[counted:]
        if under is not None:
            rare = rare[(cut.node[rare] != under).all(axis=1)]
        if len(rare):
            nodes = _choose(cut, rare)
            cut.lift(nodes)
            top = cut.tree.begin[cut.node]
            fresh = np.unique(top[cut.tree.begin[nodes]])
            settled[np.isin(top, fresh)] = False
            waiting = waiting[~np.isin(top[waiting], fresh)]
            waiting = _by_support(cut.index, np.concatenate([waiting, fresh]))


def _by_support(index: Index, items: Ints) -> Ints:
    return items[np.argsort(-index.supports()[items], kind="stable")]


def _collect(index: Index, waiting: Ints, settled: Bools, size: int, k: int) -> tuple[Ints, int]:
    """Rare itemsets of the next items with settled ones, until there are enough; and how many items that took."""
    found: list[Ints] = []
    total = 0
    for item in waiting.tolist():
        found.append(index.rare(item, settled, size, k))
        settled[item] = True
        total += len(found[-1])
        if total >= TOGETHER:
            break
    return np.concatenate(found), len(found)


def _choose(cut: Cut, rare: Ints) -> Ints:
    """Nodes to lift such that each rare itemset has an item under one of them: most itemsets for least loss first."""
    tree = cut.tree
    items, flat = np.unique(rare, return_inverse=True)
    flat, width = flat.ravel(), rare.shape[1]
    nodes = np.unique(tree.parent[cut.node[items]])
    first, last = np.searchsorted(items, tree.begin[nodes]), np.searchsorted(items, tree.end[nodes])
    by_item = np.argsort(flat, kind="stable") // width
    edge = np.searchsorted(np.sort(flat), np.arange(items.size + 1))
    loss = cut.losses(nodes) + FREE
    open_, hits, chosen = np.ones(len(rare), dtype=np.bool_), np.diff(edge), []
    while open_.any():
        upto = np.concatenate([[0], np.cumsum(hits)])
        best = int(np.argmax((upto[last] - upto[first]) / loss))
        touched = by_item[edge[first[best]] : edge[last[best]]]
        touched = np.unique(touched[open_[touched]])
        open_[touched] = False
        hits = hits - np.bincount(flat.reshape(-1, width)[touched].ravel(), minlength=items.size)
        chosen.append(int(nodes[best]))
    return np.array(chosen, dtype=np.int64)
