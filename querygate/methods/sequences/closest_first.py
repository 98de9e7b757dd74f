"""DNALA and its like: the closest first.

*DNALA* (Malin 2005): of all sequences not yet in a pair, the two closest by summed lattice distance become a pair. For
larger groups (`k`) the two closest grow by whoever adds fewest steps until they are k.

A number that k does not divide leaves some over. The last k and they become one group, unless some of them are cheaper
in others: the last are outliers, and an outlier in a group of three generalises two others.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.sequences.alignment import Alignment, joins
from querygate.methods.sequences.bad_sequences import check_enough
from querygate.methods.sequences.distance_matrix import SequenceDistances, nearest
from querygate.methods.sequences.letter_lattice import Codes, LetterLattice

KNOWN = 32
"""So many nearest sequences are remembered for each; only when all of them are taken are others looked for."""


def closest(alignment: Alignment, k: int = 2, distances: SequenceDistances | None = None) -> Ints:
    """The number of the group of each sequence: groups of k, apart from those that take in the left-overs.

    >>> from querygate.methods.sequences.alignment import of_texts
    >>> closest(of_texts(["AAAA", "CCCC", "AAAC", "CCCG", "CCGG"])).tolist()
    [0, 1, 0, 1, 1]
    """
    check_enough(alignment.sequences, k)
    free = _Free(SequenceDistances(alignment) if distances is None else distances)
    labels = np.full(alignment.sequences, -1, dtype=np.int64)
    closure, codes = alignment.lattice.closure, alignment.codes
    for number, pair in enumerate(free.pairs(2 * k)):
        group = list(pair)
        common = closure[np.bitwise_or(*codes[group])]
        while len(group) < k:
            others = free.near(group)
            best = int(others[np.argmin(_added(alignment.lattice, common[None], len(group), codes[others]))])
            common = closure[common | codes[best]]
            group.append(best)
            free.take([best])
        labels[group] = number
    return _with_the_last(alignment, labels, k)


def _with_the_last(alignment: Alignment, labels: Ints, k: int) -> Ints:
    """The last k or more, not yet in a group, become one; while they are more than k, one may join another group.

    Each time it is the one whose leaving saves most steps, those that it adds elsewhere taken off.
    """
    last, groups = np.flatnonzero(labels < 0), int(labels.max()) + 1
    if groups:
        grouped = np.flatnonzero(labels >= 0)
        common = joins(Alignment(alignment.codes[grouped], ("",) * grouped.size, alignment.lattice), labels[grouped])
        sizes = np.bincount(labels[grouped])
        while last.size > k:
            rows = alignment.codes[last]
            added = np.stack([_added(alignment.lattice, common, sizes, row[None]) for row in rows])
            without = [_steps(alignment.lattice, np.delete(rows, place, axis=0)) for place in range(last.size)]
            total = added.min(axis=1) + without
            place = int(np.argmin(total))
            if total[place] >= _steps(alignment.lattice, rows):
                break
            best = int(np.argmin(added[place]))
            labels[last[place]] = best
            common[best] = alignment.lattice.closure[common[best] | rows[place]]
            sizes[best] += 1
            last = np.delete(last, place)
    labels[last] = groups
    return labels


def _steps(lattice: LetterLattice, codes: Codes) -> int:
    """Of sequences up to what all of them have in common."""
    return int(len(codes) * lattice.level[np.bitwise_or.reduce(codes)].sum() - lattice.level[codes].sum())


def _added(lattice: LetterLattice, common: Codes, size: Ints | int, codes: Codes) -> Ints:
    """The steps that a sequence adds to a group: those of its members further up, and its own."""
    joined = lattice.level[common | codes].sum(axis=1)
    added: Ints = (size + 1) * joined - size * lattice.level[common].sum(axis=1) - lattice.level[codes].sum(axis=1)
    return added


class _Free:
    """The sequences without a group, and for each the nearest of them."""

    def __init__(self, distances: SequenceDistances) -> None:
        self._distances = distances
        every = np.arange(distances.size)
        self._keys, self._near = nearest(distances, every, every, KNOWN)
        self._next = np.zeros(distances.size, dtype=np.int64)
        self._free: Bools = np.ones(distances.size, dtype=np.bool_)
        self._left = distances.size

    def take(self, members: list[int]) -> None:
        self._free[members] = False
        self._left -= len(members)

    def pairs(self, least: int) -> Iterator[tuple[int, int]]:
        """Take the two closest, while that many are free.

        Who stands first in the queue may have lost the nearest to another; the next nearest is further away or as far,
        so to put it back with that keeps the order, and what comes out is the closest pair of all that are free.
        """
        queue = [(int(self._keys[one, 0]), one) for one in range(self._distances.size)]
        heapq.heapify(queue)
        while self._left >= least:
            _, one = heapq.heappop(queue)
            if not self._free[one]:
                continue
            place = int(self._next[one])
            other = int(self._near[one, place])
            if other >= 0 and self._free[other]:
                self.take([one, other])
                yield one, other
            else:
                heapq.heappush(queue, (self._advance(one), one))

    def near(self, group: list[int]) -> Ints:
        """Free sequences near the members of a group."""
        found = np.unique(self._near[group])
        found = found[found >= 0]
        found = found[self._free[found]]
        if found.size:
            return found
        self._advance(group[0])
        return self.near(group[:1])

    def _advance(self, one: int) -> int:
        """To the nearest that is free, looked for among all when none is remembered; the key of the pair."""
        near = self._near[one]
        ahead = np.flatnonzero((near >= 0) & self._free[near])
        if not ahead.size:
            others = np.flatnonzero(self._free)
            keys, found = nearest(self._distances, np.array([one]), others, KNOWN)
            self._keys[one], self._near[one] = keys[0], found[0]
            ahead = np.array([0])
        self._next[one] = ahead[0]
        return int(self._keys[one, ahead[0]])
