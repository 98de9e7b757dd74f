"""What each user has used on a day: bytes and rows of answers, and processor time.

Totals are in the control database, so that all processes of a site count together and a restart forgets nothing. A
process writes what it has counted every few seconds, not at every request: by so much a total can be behind.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import date, timedelta

from querygate.control.ids import Clock
from querygate.control.ports import ControlDatabase

WRITTEN_EVERY_S = 5.0
"""How long a process keeps what it has counted before it is written down."""

KEPT_DAYS = 32

_READ = "SELECT bytes, rows, cpu_ms FROM usage WHERE user = ? AND day = ?"
_ADD = """INSERT INTO usage (user, day, bytes, rows, cpu_ms) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (user, day) DO UPDATE
  SET bytes = usage.bytes + excluded.bytes, rows = usage.rows + excluded.rows,
      cpu_ms = usage.cpu_ms + excluded.cpu_ms"""
_SWEEP = "DELETE FROM usage WHERE day <= ?"


@dataclass(frozen=True, slots=True)
class Used:
    """What was used, or may be."""

    bytes: int = 0
    rows: int = 0
    cpu_ms: int = 0

    def __add__(self, other: Used) -> Used:
        return Used(self.bytes + other.bytes, self.rows + other.rows, self.cpu_ms + other.cpu_ms)


@dataclass(slots=True)
class _Account:
    """What a process knows of one user on one day: the total when it was last read, and what came since."""

    day: str
    read_s: float
    total: Used
    since: Used = Used()


class Usage:
    """The use of a site. Safe to share between threads."""

    def __init__(self, database: ControlDatabase, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._lock = threading.Lock()
        self._accounts: dict[str, _Account] = {}

    def today(self, user: str) -> Used:
        """What they have used so far, as far as it is known here."""
        with self._lock:
            account = self._account(user)
            return account.total + account.since

    def add(self, user: str, used: Used) -> None:
        """Count it; and write it down if the last time was long ago."""
        with self._lock:
            account = self._account(user)
            account.since += used
            if self._now_s() - account.read_s >= WRITTEN_EVERY_S:
                self._write(user, account)

    def write_all(self) -> None:
        """At the end of a process."""
        with self._lock:
            for user, account in self._accounts.items():
                self._write(user, account)

    def _account(self, user: str) -> _Account:
        name, day = user.lower(), self._clock().date().isoformat()
        account = self._accounts.get(name)
        if account is not None and account.day != day:
            self._write(name, account)
            account = None
        if account is None:
            account = self._accounts[name] = _Account(day, self._now_s(), self._read(name, day))
        elif account.since == Used() and self._now_s() - account.read_s >= WRITTEN_EVERY_S:
            account.total, account.read_s = self._read(name, day), self._now_s()
        return account

    def _write(self, user: str, account: _Account) -> None:
        used = account.since
        if used != Used():
            with self._database.writing() as connection:
                connection.execute(_ADD, (user.lower(), account.day, used.bytes, used.rows, used.cpu_ms))
                oldest = date.fromisoformat(account.day) - timedelta(days=KEPT_DAYS)
                connection.execute(_SWEEP, (oldest.isoformat(),))
        account.since, account.total, account.read_s = Used(), self._read(user.lower(), account.day), self._now_s()

    def _read(self, user: str, day: str) -> Used:
        rows = self._database.rows(_READ, (user, day))
        return Used(**dict(rows[0])) if rows else Used()

    def _now_s(self) -> float:
        return self._clock().timestamp()
