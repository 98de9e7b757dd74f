"""Utility loss of a published item: UL = (2^|item| - 1) / (2^M - 1) x weight x support / N (Loukides et al. 2010).

The M codes may be thousands, and 2^M is no number a computer adds. Losses are kept as logarithms of base 2: they
compare as the losses do, and sums are taken relative to the largest.

>>> log_loss(size=2, support=2, records=3, codes=6) == math.log2(3 / 63 * 2 / 3)
True
>>> total([-2000.0, -2000.0])
-1999.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from pyroaring import BitMap

from querygate.core.types import Ints
from querygate.methods.code_lists.supports import Supports

Weight: TypeAlias = "Callable[[Sequence[int]], float]"
"""How far apart the codes of an item are, such as `CodeTree.spread`: 0 or more."""


def log_loss(size: int, support: int, records: int, codes: int, weight: float = 1.0) -> float:
    """Base-2 logarithm of UL; minus infinity where no record has the item or it weighs nothing."""
    if not support or not weight:
        return -math.inf
    return _log_sets(size) - _log_sets(codes) + math.log2(weight) + math.log2(support / records)


def _log_sets(size: int) -> float:
    """log2(2^size - 1): the sets of codes that an item may stand for. Exact to a rounding from 53 codes on."""
    return math.log2(2**size - 1) if size < 53 else float(size)


def total(losses: Iterable[float]) -> float:
    """The logarithm of the sum of losses given by their logarithms."""
    found = [loss for loss in losses if loss > -math.inf]
    largest = max(found, default=-math.inf)
    return largest + math.log2(sum(2.0 ** (loss - largest) for loss in found)) if found else largest


class Partners:
    """Which items an item may join under a utility policy, and what that costs."""

    def __init__(self, supports: Supports, group: Ints, weight: Weight | None) -> None:
        self.supports = supports
        self.weight = weight
        self._group = group.tolist()
        self._items: dict[int, set[int]] = {}
        for code, number in enumerate(self._group):
            self._items.setdefault(number, set()).add(code)

    def of(self, item: int) -> set[int]:
        """The items that it may join."""
        return self._items[self._group[item]] - {item}

    def loss(self, item: int, other: int) -> float:
        """What the two would cost as one item."""
        codes = self.supports.codes[item] + self.supports.codes[other]
        union = self.supports.records[item].union_cardinality(self.supports.records[other])
        return log_loss(
            len(codes), union, self.supports.total, len(self._group), self.weight(codes) if self.weight else 1
        )

    def cheapest(self, item: int) -> tuple[float, int] | None:
        """The least loss of a joint item and the partner; nothing where the item has its group for itself."""
        return min(((self.loss(item, other), other) for other in self.of(item)), default=None)

    def whole(self, item: int) -> BitMap:
        """Records that have the item or a partner of it."""
        return BitMap.union(self.supports.records[item], *(self.supports.records[other] for other in self.of(item)))

    def join(self, item: int, other: int) -> None:
        self._items[self._group[other]].discard(other)
        self.supports.merge(item, other)

    def drop(self, item: int) -> None:
        """Suppress the item."""
        self._items[self._group[item]].discard(item)
        self.supports.suppress(item)
