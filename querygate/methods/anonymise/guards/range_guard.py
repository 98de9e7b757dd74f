"""Range diversity (Loukides, Shao, "Preventing range disclosure in k-anonymised data", Expert Systems with
Applications 38(4), 2011): the values of a class span a share of their domain, so that nobody's is known to lie close.

What a range is depends on the values: of ranks their distance, of leaves of a tree the node that joins them, and of
names without any order how many there are. A single value spans nothing. A missing value adds nothing. Ranges of
numbers are those of (k,e)-anonymity, in terms of the domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.guards.diversity import SLACK, Diversity, Sensitive


class Scale(Protocol):
    def spans(self, held: Bools) -> Floats:
        """By row of (class x value) the share of the domain that its values span."""


@dataclass(frozen=True)
class Names:
    """So many values without an order.

    >>> Names(4).spans(np.array([[True, False], [True, True]]))
    array([0. , 0.5])
    """

    values: int

    def spans(self, held: Bools) -> Floats:
        found: Ints = np.count_nonzero(held, axis=1)
        return np.minimum(1.0, np.where(found > 1, found, 0) / self.values)


@dataclass(frozen=True)
class Ranks:
    """Values in an order: `rank` of each, from 0 to `steps`.

    >>> Ranks(np.array([0, 3]), steps=4).spans(np.array([[True, False], [True, True]]))
    array([0.  , 0.75])
    """

    rank: Ints
    steps: int

    def spans(self, held: Bools) -> Floats:
        low = np.where(held, self.rank, self.steps + 1).min(axis=1, initial=self.steps + 1)
        high = np.where(held, self.rank, -1).max(axis=1, initial=-1)
        span: Floats = np.maximum(0, high - low) / max(1, self.steps)
        return span


@dataclass(frozen=True)
class Leaves:
    """Leaves of a tree: `levels[h]` has the ancestor of each at height h, and `share[h]` what lies under it."""

    levels: Sequence[Ints]
    share: Sequence[Floats]

    def spans(self, held: Bools) -> Floats:
        found = np.zeros(len(held))
        open_ = held.sum(axis=1) > 1
        first = held.argmax(axis=1)
        for level, share in zip(self.levels[1:], self.share[1:], strict=True):
            joined = ~(held & (level[None, :] != level[first][:, None])).any(axis=1)
            found = np.where(open_ & joined, share[first], found)
            open_ &= ~joined
        return found


class RangeDiversity(Diversity):
    """The values of a class span at least `share` of their domain. `known` tells which values are not missing."""

    def __init__(self, sensitive: Sensitive, share: float, scale: Scale, known: Bools) -> None:
        super().__init__(sensitive)
        self.share, self._scale, self._known = share, scale, known

    @property
    def name(self) -> str:
        return f"a range of {self.share} of the domain of {self.column}"

    def holds(self, counts: Floats) -> Bools:
        found: Bools = self._scale.spans((counts > 0) & self._known) >= self.share - SLACK
        return found
