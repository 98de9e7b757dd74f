"""k^m-anonymity by local recoding (LRA: Terrovitis, Mamoulis, Kalnis, VLDB Journal 2011).

Records are put into an order in which neighbours have similar codes, cut into parts, and each part is made
k^m-anonymous on its own: a code that is rare in one part may stay as it is in another. What k records of each part
share, k records of the whole share. The order is that of a Gray code over the most frequent codes, so that neighbours
differ by few of them.

How many parts is best depends on the data: few leave rare codes with more of their kind, many let frequent ones be
told. Several numbers are tried, and the one with the least loss is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.types import Ints
from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.relational import codes_in_classes

PARTS = (1, 2, 4, 8, 16, 32)
FREQUENT = 64
"""Codes that make the order."""


def local_km(baskets: Baskets, levels: Sequence[Ints], k: int, m: int) -> LocalItems:
    """Local recoding under which every set of up to m items is published of k records at least, or of none.

    >>> levels = [np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)]
    >>> made = local_km(Baskets.of([[0, 2, 3], [1, 2], [1, 2, 3], [0, 1, 3]], size=4), levels, k=2, m=2)
    >>> [[made.groups[item] for item in items] for items in made.published.lists()]
    [[(2,), (3,), (0, 1)], [(2,), (0, 1)], [(2,), (3,), (0, 1)], [(3,), (0, 1)]]
    """
    order = gray_order(baskets)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    found = [
        codes_in_classes(baskets, place * parts // max(1, order.size), levels, k, m).codes
        for parts in PARTS
        if parts == 1 or order.size // parts >= 2 * k
    ]
    return min(found, key=lambda made: made.loss)


def gray_order(baskets: Baskets) -> Ints:
    """Records in the order of a reflected Gray code over the codes that most of them have, the most frequent first.

    >>> gray_order(Baskets.of([[1], [0], [0, 1], []], size=2))
    array([3, 0, 2, 1])
    """
    rank = np.full(baskets.size, FREQUENT, dtype=np.int64)
    frequent = np.argsort(-baskets.supports(), kind="stable")[:FREQUENT]
    rank[frequent] = np.arange(frequent.size)
    held = np.zeros((baskets.records, FREQUENT + 1), dtype=np.bool_)
    held[baskets.of_record, rank[baskets.members]] = True
    place = np.packbits(np.logical_xor.accumulate(held[:, :FREQUENT], axis=1), axis=1)
    return np.lexsort(place.T[::-1]).astype(np.int64)
