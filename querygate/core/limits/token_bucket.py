"""How often something may happen, by whoever does it: a bucket of tokens each, which fills again with time.

The time is passed in. What is remembered is bounded: of too many names, those that were quiet longest go first, and
their buckets would be nearly full by then.

>>> throttle = Throttle(per_minute=60, at_once=2)
>>> [throttle.wait_s("ann", now_s=0.0) for _ in range(3)], throttle.wait_s("bob", now_s=0.0)
([0.0, 0.0, 1.0], 0.0)
>>> throttle.wait_s("ann", now_s=1.0)
0.0
"""

from __future__ import annotations

import threading
from collections import OrderedDict

REMEMBERED = 10_000


class Throttle:
    """At most so many a minute for each name, of which some may come at once. Safe to share between threads."""

    def __init__(self, per_minute: float, at_once: float | None = None) -> None:
        self._per_s = per_minute / 60
        self._most = max(1.0, per_minute if at_once is None else at_once)
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, name: str, now_s: float) -> float:
        """Take a token, if there is one: 0. Otherwise how long until there is."""
        with self._lock:
            level = self._level(name, now_s)
            taken = level >= 1
            self._keep(name, level - 1 if taken else level, now_s)
        return 0.0 if taken else (1 - level) / self._per_s

    def left_s(self, name: str, now_s: float) -> float:
        """How long until there is a token; none is taken."""
        with self._lock:
            return max(0.0, (1 - self._level(name, now_s)) / self._per_s)

    def _level(self, name: str, now_s: float) -> float:
        level, at_s = self._levels.get(name, (self._most, now_s))
        return min(self._most, level + max(0.0, now_s - at_s) * self._per_s)

    def _keep(self, name: str, level: float, now_s: float) -> None:
        self._levels[name] = (level, now_s)
        self._levels.move_to_end(name)
        if len(self._levels) > REMEMBERED:
            self._levels.popitem(last=False)
