"""Keys that were accepted a moment ago, so that only the first request with a key waits until it is compared."""

from __future__ import annotations

import hmac
import threading
from collections import OrderedDict

REMEMBERED = 4096


class VerifiedKeys:
    """Keys that were compared and accepted, so that only the first request with a key waits for it.

    Kept as HMAC-SHA-256 under a pepper that lives and dies with the process; the least recently used goes first.
    The stored hash belongs to the entry, so a key whose row has changed is verified anew.
    """

    def __init__(self, pepper: bytes) -> None:
        self._pepper = pepper
        self._hashes: OrderedDict[bytes, str] = OrderedDict()
        self._lock = threading.Lock()

    def has(self, presented: str, hashed: str) -> bool:
        mark = self._mark(presented)
        with self._lock:
            if self._hashes.get(mark) != hashed:
                return False
            self._hashes.move_to_end(mark)
            return True

    def add(self, presented: str, hashed: str) -> None:
        with self._lock:
            self._hashes[self._mark(presented)] = hashed
            if len(self._hashes) > REMEMBERED:
                self._hashes.popitem(last=False)

    def _mark(self, presented: str) -> bytes:
        return hmac.digest(self._pepper, presented.encode(), "sha256")
