"""Records that hold sets of codes, and items: the sets of codes that are published in their place.

A code belongs to one item at most. Where a record has a code of an item, the item is published of it; a code that
belongs to none is suppressed.

>>> import numpy as np
>>> baskets = Baskets.of([[0, 1, 2], [], [0, 2]], size=3)
>>> items = Items(np.array([0, 0, 1]))
>>> items.publish(baskets).lists()
[[0, 1], [], [0, 1]]
>>> Items(np.array([0, 0, -1])).publish(baskets).lists()
[[0], [], [0]]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Ints

SUPPRESSED = -1


@dataclass(frozen=True)
class Baskets:
    """Record i holds codes members[starts[i] : starts[i + 1]], rising and each once; codes are 0..size-1."""

    starts: Ints
    members: Ints
    size: int

    @classmethod
    def of(cls, lists: Iterable[Sequence[int]], size: int) -> Baskets:
        sets = [sorted(set(one)) for one in lists]
        starts = np.concatenate([[0], np.cumsum([len(one) for one in sets], dtype=np.int64)]).astype(np.int64)
        return cls(starts, np.array([code for one in sets for code in one], dtype=np.int64), size)

    @property
    def records(self) -> int:
        return self.starts.size - 1

    @property
    def of_record(self) -> Ints:
        """The record that each member is of."""
        return np.repeat(np.arange(self.records), np.diff(self.starts))

    def supports(self) -> Ints:
        """How many records hold each code."""
        return np.bincount(self.members, minlength=self.size).astype(np.int64)

    def lists(self) -> list[list[int]]:
        return [part.tolist() for part in np.split(self.members, self.starts[1:-1])] if self.records else []


@dataclass(frozen=True)
class Items:
    """The item of each code, numbered 0..m-1; -1 where the code is suppressed."""

    of: Ints

    @classmethod
    def unchanged(cls, size: int) -> Items:
        return cls(np.arange(size, dtype=np.int64))

    @property
    def number(self) -> int:
        return int(self.of.max(initial=SUPPRESSED)) + 1

    def publish(self, baskets: Baskets) -> Baskets:
        """What is published of each record: its items, rising and each once."""
        item = self.of[baskets.members]
        kept = item != SUPPRESSED
        key = np.sort(baskets.of_record[kept] * max(1, self.number) + item[kept])
        key = key[np.diff(key, prepend=-1) > 0]  # np.unique takes twenty times as long
        record, members = np.divmod(key, max(1, self.number))
        starts = np.searchsorted(record, np.arange(baskets.records + 1))
        return Baskets(starts.astype(np.int64), members, max(1, self.number))

    def groups(self) -> list[tuple[int, ...]]:
        """The codes of each item."""
        found: list[list[int]] = [[] for _ in range(self.number)]
        for code, item in enumerate(self.of.tolist()):
            if item != SUPPRESSED:
                found[item].append(code)
        return [tuple(codes) for codes in found]
