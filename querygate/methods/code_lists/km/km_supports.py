"""Itemsets that few records support, counted where they can be and nowhere else.

Itemsets of one item with others are looked for in the records that hold this item alone. Nothing is kept of those that
enough records support.

>>> baskets = Baskets.of([[0, 1, 2], [0, 1], [0, 1], [2]], size=3)
>>> Index.of(baskets).rare(2, np.ones(3, dtype=np.bool_), size=2, k=2).tolist()
[[2, 0], [2, 1]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from querygate.core.types import Bools, Ints
from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.local_items import members_of

WORD = 64
SPARSE = 8.0
"""What one step of a sparse product costs, in steps over packed words."""


@dataclass(frozen=True)
class Index:
    """Records with their items, and items with their records."""

    baskets: Baskets
    starts: Ints
    records: Ints  # those of item i are records[starts[i] : starts[i + 1]]

    @classmethod
    def of(cls, baskets: Baskets) -> Index:
        ones = np.ones(baskets.members.size, dtype=np.bool_)
        by_record = csr_array((ones, baskets.members, baskets.starts), shape=(baskets.records, baskets.size))
        by_item = by_record.tocsc()
        return cls(baskets, by_item.indptr.astype(np.int64), by_item.indices.astype(np.int64))

    def supports(self) -> Ints:
        return np.diff(self.starts)

    def holders(self, item: int) -> Ints:
        """The records that hold an item."""
        return self.records[self.starts[item] : self.starts[item + 1]]

    def beside(self, item: int, allowed: Bools) -> Baskets:
        """The records that hold an item, with what else they hold of what is allowed."""
        return restricted(self.baskets, self.holders(item), item, allowed)

    def rare(self, item: int, allowed: Bools, size: int, k: int) -> Ints:
        """Itemsets of the item and size - 1 allowed others that some, but fewer than k records hold; one per row."""
        support = int(self.starts[item + 1] - self.starts[item])
        if size == 1:
            return np.array([[item]] if 0 < support < k else [], dtype=np.int64).reshape(-1, 1)
        others = rare_sets(self.beside(item, allowed), size - 1, k)
        return np.concatenate([np.full((len(others), 1), item, dtype=np.int64), others], axis=1)


def restricted(baskets: Baskets, records: Ints, without: int, allowed: Bools) -> Baskets:
    """Some of the records, with what they hold of what is allowed, apart from one item."""
    at, record = members_of(baskets, records)
    members = baskets.members[at]
    kept = allowed[members] & (members != without)
    starts = np.concatenate([[0], np.cumsum(np.bincount(record[kept], minlength=records.size))])
    return Baskets(starts.astype(np.int64), members[kept], baskets.size)


def rare_sets(baskets: Baskets, size: int, k: int) -> Ints:
    """All itemsets of a size that some, but fewer than k records hold; one per row, rising."""
    if size == 1:
        supports = baskets.supports()
        return np.flatnonzero((supports > 0) & (supports < k)).reshape(-1, 1)
    held, dense = np.unique(baskets.members, return_inverse=True)
    if held.size < size:
        return np.empty((0, size), dtype=np.int64)
    packed = Baskets(baskets.starts, dense.astype(np.int64), held.size)
    if size == 2:
        return held[_rare_pairs(packed, k)]
    index, before = Index.of(packed), np.zeros(held.size, dtype=np.bool_)
    found = []
    for item in range(held.size):
        found.append(np.roll(index.rare(item, before, size, k), -1, axis=1))
        before[item] = True
    return held[np.concatenate(found)]


def _rare_pairs(baskets: Baskets, k: int) -> Ints:
    """Pairs by a sparse product, or by comparing packed rows where records are long."""
    lengths = np.diff(baskets.starts)
    words = -(-baskets.records // WORD)
    if SPARSE * float(np.square(lengths).sum()) <= baskets.size**2 / 2 * words:
        return _sparse_pairs(baskets, k)
    return _packed_pairs(baskets, words, k)


def _sparse_pairs(baskets: Baskets, k: int) -> Ints:
    ones = np.ones(baskets.members.size, dtype=np.int32)
    held = csr_array((ones, baskets.members, baskets.starts), shape=(baskets.records, baskets.size))
    together = (held.T @ held).tocoo()
    rare = (together.row < together.col) & (together.data < k)
    return np.stack([together.row[rare], together.col[rare]], axis=1).astype(np.int64)


def _packed_pairs(baskets: Baskets, words: int, k: int) -> Ints:
    bits = np.zeros((baskets.size, words * WORD), dtype=np.bool_)
    bits[baskets.members, baskets.of_record] = True
    rows = np.packbits(bits, axis=1).view(np.uint64)
    found = []
    for item in range(baskets.size - 1):
        together = np.bitwise_count(rows[item + 1 :] & rows[item]).sum(axis=1, dtype=np.int64)
        rare = item + 1 + np.flatnonzero((together > 0) & (together < k))
        found.append(np.stack([np.full(rare.size, item), rare], axis=1))
    return np.concatenate(found)
