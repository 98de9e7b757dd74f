"""Better groups by exchange: two sequences of different groups swap places, or one moves, while that saves steps."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints
from querygate.methods.sequences.alignment import Alignment
from querygate.methods.sequences.bad_sequences import check_enough
from querygate.methods.sequences.closest_first import closest
from querygate.methods.sequences.distance_matrix import SequenceDistances, nearest
from querygate.methods.sequences.letter_lattice import Codes

TRIED = 8
"""Groups of so many nearest sequences are tried for each."""


def refined(
    alignment: Alignment, k: int = 2, distances: SequenceDistances | None = None, labels: Ints | None = None
) -> Ints:
    """The groups of `closest` (or those given), improved until no exchange near a sequence saves a step.

    Every exchange takes fewer steps than before, so it ends. The number of groups and of their left-overs stays: of
    pairs and one group of three there is still one of three.

    >>> from querygate.methods.sequences.alignment import of_texts, loss
    >>> chain = of_texts(["AAAAAA", "AAAACC", "AAACCC", "CCCCCC"])
    >>> loss(chain, closest(chain)), loss(chain, refined(chain))
    (14, 10)
    """
    check_enough(alignment.sequences, k)
    far = SequenceDistances(alignment) if distances is None else distances
    start = closest(alignment, k, far) if labels is None else labels
    groups = _Groups(alignment, start, k)
    every = np.arange(alignment.sequences)
    near = nearest(far, every, every, min(TRIED, alignment.sequences - 1))[1].tolist()
    waiting = set(range(alignment.sequences))
    while waiting:
        again: set[int] = set()
        for one in sorted(waiting):
            for other in near[one]:
                again |= groups.improve(one, other)
        waiting = again
    return groups.labels


class _Groups:
    """Groups whose members change places, and the steps of each."""

    def __init__(self, alignment: Alignment, labels: Ints, k: int) -> None:
        codes = alignment.codes
        self._codes: Codes = codes[:, (codes != codes[0]).any(axis=0)]
        self._level = alignment.lattice.level.astype(np.uint8)
        self._own: list[int] = self._level[self._codes].sum(axis=1, dtype=np.int64).tolist()
        self._k = k
        self.labels = labels.copy()
        self._members = [np.flatnonzero(labels == group).tolist() for group in range(int(labels.max()) + 1)]
        self._now = [self._steps(members) for members in self._members]

    def _steps(self, members: list[int]) -> int:
        common = np.bitwise_or.reduce(self._codes[members], axis=0)
        up = len(members) * int(self._level[common].sum(dtype=np.int64))
        return up - sum(self._own[one] for one in members)

    def improve(self, one: int, other: int) -> set[int]:
        """Bring one into the group of the other if that saves steps; the members of the groups that changed."""
        here, there = int(self.labels[one]), int(self.labels[other])
        if here == there:
            return set()
        mine = [member for member in self._members[here] if member != one]
        yours = self._members[there]
        ways = [([*mine, out], [*(member for member in yours if member != out), one]) for out in yours if out != other]
        if len(mine) >= self._k:
            ways.append((mine, [*yours, one]))
        best, least = None, self._now[here] + self._now[there]
        for way in ways:
            steps = self._steps(way[0]), self._steps(way[1])
            if sum(steps) < least:
                best, least = (way, steps), sum(steps)
        if best is None:
            return set()
        way, steps = best
        for place, members, now in zip((here, there), way, steps, strict=True):
            self._members[place], self._now[place] = members, now
            self.labels[members] = place
        return {*self._members[here], *self._members[there]}
