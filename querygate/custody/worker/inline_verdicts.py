"""Verdicts of the inline auditor for a gate: one worker decides for all of its processes, so none misses another's.

A query that was let through counts as answered until the log says how it ended. A killed gate leaves no outcome, so
after a while a query without an outcome is assumed never to have been answered.
"""

from __future__ import annotations

import threading
import time

from querygate.core.ports import QueryLog
from querygate.core.types import Catalog
from querygate.custody.use_cases.audits.inline_auditor import Inline
from querygate.site.open_gate import OpenSite

LAPSE = 10
"""After this many times a statement's time limit, nobody is still computing."""


class InlineVerdicts:
    """Safe to share between threads. What is found is noted in the custodian's own log."""

    def __init__(self, opened: OpenSite, notes: QueryLog) -> None:
        self._opened, self._inline = opened, Inline(opened, notes)
        self._open: dict[str, float] = {}
        self._lock = threading.Lock()
        self._lapse_s = LAPSE * opened.gate.limits.timeout_s

    def judge(self, query_id: str, catalog: Catalog, user: str, sql: str) -> bool:
        """Could the answer single people out? See `core.ports.InlineAuditor`."""
        with self._lock:
            for other, since_s in list(self._open.items()):
                if self._opened.log.has_ended(other) or time.monotonic() - since_s > self._lapse_s:
                    self._inline.settle(other)
                    del self._open[other]
            could = self._inline.judge(query_id, catalog, user, sql)
            self._open[query_id] = time.monotonic()
            return could
