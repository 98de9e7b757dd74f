"""k^m-anonymity by vertical partitioning (VPA: Terrovitis, Mamoulis, Kalnis, VLDB Journal 2011).

The groups right under the root of the hierarchy divide the codes. What records have of one group is made k^m-anonymous
by itself, as if nothing else were known, and never generalised beyond the group. Only then are sets looked for that
span groups. Most rare sets are gone by that time, so far fewer have to be held at once than where all codes are taken
together; what is lost is much the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.types import Ints
from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.confidence import part_of
from querygate.methods.code_lists.km.km import Cut, settle
from querygate.methods.code_lists.km.km_refine import refined
from querygate.methods.code_lists.km.km_supports import Index
from querygate.methods.code_lists.subtrees import Subtrees
from querygate.methods.code_lists.unprotectable import check_enough


def vertical_km(baskets: Baskets, levels: Sequence[Ints], k: int, m: int) -> Items:
    """Items under which every itemset of up to m of them is held by at least k records or by none.

    >>> levels = [np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)]
    >>> vertical_km(Baskets.of([[0, 2, 3], [1, 2], [1, 2, 3], [0, 1, 3]], size=4), levels, k=2, m=2).groups()
    [(0, 1), (2,), (3,)]
    """
    tree = Subtrees.of(levels)
    check_enough(int(np.count_nonzero(np.diff(baskets.starts))), k)
    if m < 1:
        raise ValueError("m is at least 1")
    codes = Index.of(tree.ordered(baskets))
    cut = Cut(tree, codes)
    for group in tree.children()[tree.root].tolist():
        cut.lift(_settled(tree, codes.baskets, group, k, m))
    for size in range(1, m + 1):
        settle(cut, size, k)
    return tree.items(refined(tree, codes, cut.node, k, m))


def _settled(tree: Subtrees, ordered: Baskets, group: int, k: int, m: int) -> Ints:
    """The nodes that stand for the codes of a group, where nothing but codes of the group is known."""
    place = np.arange(tree.size)
    part = Cut(tree, Index.of(part_of(ordered, (place >= tree.begin[group]) & (place < tree.end[group]))))
    for size in range(1, m + 1):
        settle(part, size, k, under=group)
    return np.unique(part.node[tree.begin[group] : tree.end[group]])
