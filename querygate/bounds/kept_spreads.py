"""A cache of blocks spread over keys: many statements group the same block alike and differ only in their conditions.

A version's block never changes. What was made from it is dropped with it, and the oldest entries make room when the
cache is full.
"""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

from querygate.bounds.group_spread import ExpandedRows, Keys, spread
from querygate.core.block import Block

KEPT_BYTES = 64 * 2**20
"""Memory for this cache in one process."""


class KeptSpreads:
    """Spread blocks, by block and keys. Safe to share between threads.

    A block without keys need not be spread, and is not cached.
    """

    def __init__(self, most_bytes: int = KEPT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: WeakKeyDictionary[Block, dict[Keys, tuple[ExpandedRows, int]]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self, block: Block, keys: Keys) -> ExpandedRows:
        """The block spread over the keys, from the cache if possible."""
        if not keys:
            return spread(block, keys)
        with self._lock:
            known = self._kept.get(block, {}).get(keys)
        if known is not None:
            return known[0]
        made = spread(block, keys)
        size = made.nbytes
        if size <= self._most_bytes:
            with self._lock:
                self._kept.setdefault(block, {})[keys] = made, size
                self._make_room()
        return made

    @property
    def held_bytes(self) -> int:
        return sum(size for of_block in self._kept.values() for _, size in of_block.values())

    def _make_room(self) -> None:
        held = self.held_bytes
        for of_block in list(self._kept.values()):
            while of_block and held > self._most_bytes:
                held -= of_block.pop(next(iter(of_block)))[1]
