"""(c,k)-safety: nobody's value is believed with more than a share c, whichever `pieces` (the paper's k) pieces of
knowledge somebody has (Martin, Kifer, Machanavajjhala, Gehrke, Halpern, "Worst-case background knowledge for
privacy-preserving data publishing", ICDE 2007).

A piece is any implication: if these people have these values, one of those has that. The paper shows that the worst
pieces all imply the value in question, from one person's value each, so that the belief is 1 / (1 + r), where r is the
chance that all these people miss all these values, over the chance of the value in question. People of one class are
worst taken with its commonest values; classes multiply. With f(j) the least chance that j such values are missed in a
class, and q the share of its commonest, r is a product of f(j) over classes, divided by q of the one in question, where
all j add up to pieces + 1.

A class does not know the others. So each has to keep f(j) >= x^j for j <= pieces and f(j) / q >= o x^(j - pieces - 1)
for j <= pieces + 1, with o = (1 - c) / c. Then every such product is at least o. x is such that what the first demands
of the commonest value is enough for the second: x^(pieces + 1) = o (1 - x). This is enough, and a little more than
needed; the verifier measures what is needed, over all classes together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from querygate.core.types import Bools, Floats
from querygate.methods.anonymise.guards.diversity import SLACK, Diversity, Sensitive


class Safety(Diversity):
    """No belief above a share, with so many pieces of knowledge."""

    def __init__(self, sensitive: Sensitive, share: float, pieces: int) -> None:
        super().__init__(sensitive)
        self.share, self.pieces = share, pieces
        self.odds = (1 - share) / share
        self.step = _step(self.odds, pieces)

    @property
    def name(self) -> str:
        return f"({self.share},{self.pieces})-safety of {self.column}"

    def holds(self, counts: Floats) -> Bools:
        missed = least_missed(counts, self.pieces + 1)
        n = counts.sum(axis=1)
        commonest = counts.max(axis=1) / n
        pieces = np.arange(self.pieces + 2)
        least = self.odds * self.step ** (pieces[1:] - self.pieces - 1.0)
        short = missed[:, :-1] < self.step ** pieces[:-1] - SLACK
        told = missed[:, 1:] < commonest[:, None] * least - SLACK
        return np.asarray(~(short.any(axis=1) | told.any(axis=1)), dtype=np.bool_)


def least_missed(counts: Floats, most: int) -> Floats:
    """Per row of counts (class x value), for j = 0 .. most, the least chance that j values of people are all missed.

    One person misses the commonest values, the next ones no more than that many; what the first has is gone for others.

    >>> least_missed(np.array([[2.0, 2.0, 1.0]]), 2)
    array([[1. , 0.6, 0.2]])
    """
    n = counts.sum(axis=1)
    ranked = -np.sort(-counts, axis=1)[:, :most]
    held = np.zeros((len(counts), most + 1))
    held[:, 1 : ranked.shape[1] + 1] = np.cumsum(ranked, axis=1)
    held[:, ranked.shape[1] + 1 :] = n[:, None]
    found = np.ones((len(counts), most + 1))
    for pieces in range(1, most + 1):
        for parts in _partitions(pieces, pieces):
            chance = np.ones(len(counts))
            for person, values in enumerate(parts):
                left = n - person
                chance *= np.where(left > 0, np.maximum(left - held[:, values], 0) / np.maximum(left, 1), 1.0)
            found[:, pieces] = np.minimum(found[:, pieces], chance)
    return found


def _partitions(number: int, most: int) -> Iterator[tuple[int, ...]]:
    """A number as a sum of falling parts.

    >>> list(_partitions(3, 3))
    [(3,), (2, 1), (1, 1, 1)]
    """
    if number == 0:
        yield ()
    for part in range(min(number, most), 0, -1):
        yield from ((part, *rest) for rest in _partitions(number - part, part))


def _step(odds: float, pieces: int) -> float:
    """The x with x^(pieces + 1) = odds (1 - x), between 0 and 1.

    >>> round(_step(1.0, 1), 6)
    0.618034
    """
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if middle ** (pieces + 1) < odds * (1 - middle) else (low, middle)
    return low
