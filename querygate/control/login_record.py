"""Failed logins on record, by address and minute, so that a flood of them cannot fill the log.

The first failure of an address in a minute is on disk at once; how many more there were follows when the minute is
over. Of more addresses than are named in one minute, the others are counted together.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime

from querygate.control.ids import stamp
from querygate.control.log.log import Log

KIND = "login.failed"
OTHERS = "other addresses"
NAMED_IN_A_MINUTE = 20


@dataclass(slots=True)
class _Tally:
    """What is not on record yet of one address."""

    failed: int = 0
    throttled: int = 0


class LoginRecord:
    """The failed logins of one process. Safe to share between threads."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._minute: datetime | None = None
        self._tallies: dict[str, _Tally] = {}

    def failed(self, address: str, *, throttled: bool = False) -> None:
        """A key did not open, or was not even looked at because there were too many."""
        self.turn()
        with self._lock:
            is_first = address not in self._tallies and len(self._tallies) < NAMED_IN_A_MINUTE
            named = address if is_first or address in self._tallies else OTHERS
            is_first = named not in self._tallies
            tally = self._tallies.setdefault(named, _Tally())
            if not is_first:
                tally.throttled += throttled
                tally.failed += not throttled
        if is_first:
            self._note(named, _Tally(failed=not throttled, throttled=throttled))

    def turn(self, *, end: bool = False) -> None:
        """Write down what is known of a minute that is over; or of this one, at the end of a process."""
        now = self._log.clock().replace(second=0, microsecond=0)
        with self._lock:
            if now == self._minute and not end:
                return
            over, self._tallies, since, self._minute = self._tallies, {}, self._minute, now
        for address, tally in over.items():
            if tally.failed or tally.throttled:
                self._note(address, tally, since)

    def _note(self, address: str, tally: _Tally, since: datetime | None = None) -> None:
        body: dict[str, object] = {"address": address, "failed": int(tally.failed), "throttled": int(tally.throttled)}
        if since is not None:
            body["minute"] = stamp(since)
        self._log.note(KIND, user=None, body=body)
