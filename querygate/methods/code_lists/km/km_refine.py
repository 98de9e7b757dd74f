"""From a k^m-anonymous cut of a hierarchy down to one of which no node can be replaced by its children.

A split that leaves a rare itemset leaves one under every finer cut too: where few records hold a child with X and Y,
few hold it with some parts of X and Y. So each node is tried once, those with the most to gain first, and what comes
out is maximal: no single split keeps the promise.
"""

from __future__ import annotations

import heapq

import numpy as np

from querygate.core.types import Ints
from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.km.km_supports import Index, rare_sets
from querygate.methods.code_lists.local_items import members_of
from querygate.methods.code_lists.subtrees import Subtrees


def from_root(tree: Subtrees, ordered: Baskets, k: int, m: int) -> Ints:
    """The node of each place, from the root down. The records, ordered by the tree, with a code are none or at least k.

    For few records: this counts little where the cut stays near the root, and there loses hardly more than the way up.
    """
    return refined(tree, Index.of(ordered), np.full(tree.size, tree.root, dtype=np.int64), k, m)


def refined(tree: Subtrees, index: Index, node: Ints, k: int, m: int) -> Ints:
    """The node of each place after all splits that keep k^m. The index is of the codes themselves, by place."""
    node, children = node.copy(), tree.children()
    weight: Ints = np.concatenate([[0], np.cumsum(index.supports())])

    def gain(one: int) -> float:
        below = children[one]
        held: int = weight[tree.end[one]] - weight[tree.begin[one]]
        under: Ints = weight[tree.end[below]] - weight[tree.begin[below]]
        return float(tree.loss[one] * held - (tree.loss[below] * under).sum())

    waiting = [(-gain(one), one) for one in np.unique(node).tolist()]
    heapq.heapify(waiting)
    while waiting:
        lost, one = heapq.heappop(waiting)
        if lost < 0 and _splits(tree, index, node, children[one], k, m):
            for child in children[one].tolist():
                node[tree.begin[child] : tree.end[child]] = child
                heapq.heappush(waiting, (-gain(child), child))
    return node


def _splits(tree: Subtrees, index: Index, node: Ints, children: Ints, k: int, m: int) -> bool:
    """Is no itemset with a child rare? Rare children are seen first, in few records."""
    top = tree.begin[node].copy()
    for child in children.tolist():
        top[tree.begin[child] : tree.end[child]] = tree.begin[child]
    begin, end = tree.begin[children], tree.end[children]
    holders = [np.unique(index.records[index.starts[a] : index.starts[b]]) for a, b in zip(begin, end, strict=True)]
    number = np.array([one.size for one in holders])
    if np.any((number > 0) & (number < k)):
        return False
    for at in np.argsort(number).tolist():
        beside = _beside(index.baskets, holders[at], top, int(begin[at]))
        if any(len(rare_sets(beside, size, k)) for size in range(1, m)):
            return False
    return True


def _beside(baskets: Baskets, records: Ints, top: Ints, item: int) -> Baskets:
    """What else some records hold under a cut: first places of items, each once in a record."""
    at, record = members_of(baskets, records)
    held = top[baskets.members[at]]
    kept = held != item
    kept[1:] &= (held[1:] != held[:-1]) | (record[1:] != record[:-1])
    starts = np.concatenate([[0], np.cumsum(np.bincount(record[kept], minlength=records.size))])
    return Baskets(starts.astype(np.int64), held[kept], baskets.size)
