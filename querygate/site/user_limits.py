"""What one user may use: requests a minute and at once, and bytes, rows and processor time a day.

Requests are counted by each process on its own; what is used on a day is counted for the whole site.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from querygate.control.usage import Usage, Used
from querygate.core.errors import NotPermitted
from querygate.core.limits.token_bucket import Throttle
from querygate.core.types import Principal
from querygate.site.open_gate import OpenSite, now

AGAIN_S = 1.0
"""How soon somebody may try again who had too many requests at once."""


@dataclass(slots=True)
class Given:
    """What a request was given."""

    bytes: int = 0
    rows: int = 0


class UserLimits:
    """The limits of a site, for one process. A limit of 0 is none."""

    def __init__(self, opened: OpenSite) -> None:
        settings = opened.site.settings
        per_minute: int = settings["requests_per_minute"]
        self._throttle = Throttle(per_minute) if per_minute else None
        self._at_once: int = settings["concurrent_requests"]
        self._most = {
            "bytes": settings["answer_mb_per_day"] * 2**20,
            "rows": settings["answer_rows_per_day"],
            "cpu_ms": settings["cpu_s_per_day"] * 1000,
        }
        self._running: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.usage = Usage(opened.log.database, now)

    @contextmanager
    def counted(self, principal: Principal) -> Iterator[Given]:
        """Around a request of theirs, within the limits; what it took is put on their account. Whoever answers it says
        how much was given."""
        began_s, given = time.thread_time(), Given()
        with self.admitted(principal):
            try:
                yield given
            finally:
                cpu_ms = max(0, round((time.thread_time() - began_s) * 1000))
                self.usage.add(principal.name, Used(given.bytes, given.rows, cpu_ms))

    @contextmanager
    def admitted(self, principal: Principal) -> Iterator[None]:
        """Around a request of theirs; QG318 where it is too many."""
        name = principal.name.lower()
        self._check_day(name)
        wait_s = self._throttle.wait_s(name, time.monotonic()) if self._throttle else 0.0
        if wait_s:
            raise too_much("You have sent more requests in a minute than this site allows.", wait_s)
        with self._lock:
            if self._at_once and self._running[name] >= self._at_once:
                raise too_much("You have more requests under way at once than this site allows.", AGAIN_S)
            self._running[name] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[name] -= 1
                if not self._running[name]:
                    del self._running[name]

    def _check_day(self, name: str) -> None:
        if not any(self._most.values()):
            return
        used = self.usage.today(name)
        for what, said in (("bytes", "bytes of answers"), ("rows", "rows of answers"), ("cpu_ms", "processor time")):
            if self._most[what] and getattr(used, what) >= self._most[what]:
                raise too_much(f"You have used what this site allows of {said} for today.", _seconds_of_today_left())


def too_much(detail: str, wait_s: float) -> NotPermitted:
    """QG318, with the time to wait."""
    refused = NotPermitted("QG318", detail, "Wait as long as the header Retry-After says; ask the custodian for more.")
    refused.retry_after_s = wait_s
    return refused


def _seconds_of_today_left() -> float:
    """Days end at midnight, in UTC."""
    moment = now()
    tomorrow = (moment + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return (tomorrow - moment).total_seconds()
