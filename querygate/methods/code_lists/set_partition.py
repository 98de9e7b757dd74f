"""Complete k-anonymity of sets: what is published of a record is published of at least k - 1 others.

Greedy top-down partitioning (He & Naughton, VLDB 2009), local recoding: all records begin as one part in which the root
stands for any code. A part is split on one of its nodes: the node gives way to those of its children that a record
holds, and records that hold the same ones go on together. Records of sides under k stay as they were, with further ones
where they are fewer than k; such a rest may still be split on another node.

A record without codes has nothing to be generalised. Where there are fewer than k of those, the records with the fewest
codes are published empty beside them, and told of as `suppressed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets
from querygate.methods.code_lists.local_items import LocalItems, members_of, recoded
from querygate.methods.code_lists.subtrees import Subtrees
from querygate.methods.code_lists.unprotectable import Unprotectable


@dataclass(frozen=True)
class _Part:
    """Records that are published alike, the nodes that are published, and those that need no further try."""

    records: Ints
    nodes: frozenset[int]
    closed: frozenset[int] = field(default=frozenset())


def partitioned(baskets: Baskets, levels: Sequence[Ints], k: int) -> LocalItems:
    """Local recoding under which every record is published like at least k - 1 others.

    >>> baskets = Baskets.of([[0], [0], [1, 2], [1, 3]], size=4)
    >>> made = partitioned(baskets, [np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)], k=2)
    >>> [[made.groups[node] for node in nodes] for nodes in made.published.lists()]
    [[(0,)], [(0,)], [(1,), (2, 3)], [(1,), (2, 3)]]
    """
    if k < 1:
        raise ValueError("k is at least 1")
    if 0 < baskets.records < k:
        raise Unprotectable(f"There are {baskets.records:,} records, fewer than k = {k:,}.", "Use a smaller k.")
    tree = Subtrees.of(levels)
    filled = _filled(baskets, k)
    splitter = _Splitter(tree, tree.ordered(baskets), k)
    parts = splitter.run(_Part(filled, frozenset([tree.root]))) if filled.size else []
    return recoded(tree, splitter.baskets, splitter.nodes(parts))


def _filled(baskets: Baskets, k: int) -> Ints:
    """Records that are published with codes, none or at least k of them, so that of the others there are as many."""
    length = np.diff(baskets.starts)
    by_length = np.argsort(length, kind="stable")
    empty = int(np.count_nonzero(length == 0))
    if empty:
        empty = max(empty, k)
        empty = baskets.records if baskets.records - empty < k else empty
    return np.sort(by_length[empty:])


class _Splitter:
    def __init__(self, tree: Subtrees, baskets: Baskets, k: int) -> None:
        self.tree, self.baskets, self.k = tree, baskets, k
        self.children = tree.children()

    def run(self, part: _Part) -> list[_Part]:
        """Split until nothing can be split any more."""
        done, waiting = [], [part]
        while waiting:
            part = waiting.pop()
            open_ = [node for node in part.nodes - part.closed if self.children[node].size]
            if not open_ or part.records.size < self.k:
                done.append(part)
                continue
            waiting += self._split(part, self._widest(part, open_))
        return done

    def _widest(self, part: _Part, nodes: list[int]) -> int:
        """The node under which most is lost: by what its children would save in these records."""
        place, _ = self._held(part.records)
        number = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=self.tree.size))])

        def saved(node: int) -> float:
            below = self.children[node]
            under = number[self.tree.end[below]] - number[self.tree.begin[below]]
            return float(((self.tree.loss[node] - self.tree.loss[below]) * under).sum())

        return max(sorted(nodes), key=saved)

    def nodes(self, parts: list[_Part]) -> Ints:
        """The node that is published for each member; of records in no part none is."""
        made = np.full(self.baskets.members.size, SUPPRESSED, dtype=np.int64)
        for part in parts:
            of_place = np.full(self.tree.size, SUPPRESSED, dtype=np.int64)
            for node in part.nodes:
                of_place[self.tree.begin[node] : self.tree.end[node]] = node
            at, _ = members_of(self.baskets, part.records)
            made[at] = of_place[self.baskets.members[at]]
        return made

    def _held(self, records: Ints) -> tuple[Ints, Ints]:
        """Places of codes that records hold, and which of the records holds each."""
        at, record = members_of(self.baskets, records)
        return self.baskets.members[at], record

    def _split(self, part: _Part, node: int) -> list[_Part]:
        """Parts by which children of the node records hold; the rest keeps the node."""
        side, held = self._sides(part.records, node)
        size = np.bincount(side, minlength=len(held))
        rest = size[side] < self.k
        short = self.k - int(np.count_nonzero(rest))
        if 0 < short < self.k:
            rest |= self._borrowed(part.records, node, side, size, rest, short)
        closed = part.closed | {node}
        parts = [_Part(part.records[rest], part.nodes, closed)] if rest.any() else []
        for number, children in enumerate(held):
            inside = part.records[(side == number) & ~rest]
            if inside.size:
                parts.append(_Part(inside, (part.nodes - {node}) | children, part.closed))
        return parts

    def _sides(self, records: Ints, node: int) -> tuple[Ints, list[frozenset[int]]]:
        """The side of each record, and the children of the node that records of each side hold."""
        below = self.children[node]
        place, record = self._held(records)
        under = (place >= self.tree.begin[node]) & (place < self.tree.end[node])
        begins = self.tree.begin[below]
        by_begin = np.argsort(begins)
        child = by_begin[np.searchsorted(begins[by_begin], place[under], side="right") - 1]
        holds = np.zeros((records.size, below.size), dtype=np.bool_)
        holds[record[under], child] = True
        packed, side = np.unique(np.packbits(holds, axis=1), axis=0, return_inverse=True)
        rows = np.unpackbits(packed, axis=1, count=below.size).astype(np.bool_)
        return side.ravel().astype(np.int64), [frozenset(below[row].tolist()) for row in rows]

    def _borrowed(self, records: Ints, node: int, side: Ints, size: Ints, rest: Bools, short: int) -> Bools:
        """Records that stay behind so that the rest has k: those that lose least, or the smallest side where none can
        spare any."""
        taken = np.zeros(records.size, dtype=np.bool_)
        spare = np.where(size >= self.k, size - self.k, 0)
        if int(spare.sum()) < short:
            whole = np.where(size >= self.k, size, np.iinfo(np.int64).max)
            return side == int(np.argmin(whole)) if (size >= self.k).any() else taken
        place, record = self._held(records)
        under = (place >= self.tree.begin[node]) & (place < self.tree.end[node])
        loses = np.bincount(record[under], minlength=records.size)
        for one in np.lexsort((np.arange(records.size), loses)).tolist():
            if not rest[one] and spare[side[one]] > 0 and short:
                taken[one], short = True, short - 1
                spare[side[one]] -= 1
        return taken
