"""The jobs of a site in `control.db`: put by gates, leased by workers, ended once.

Each step is one transaction, so a process that is killed has done it or has not. A lease that runs out is anybody's to
take. Who ends a job must still hold its lease, in the very transaction that ends it: of two workers that believe a job
is theirs, one is right.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from querygate.control.ids import Clock, Entropy, new_query_id, stamp_now
from querygate.control.log.entry_chain import canonical
from querygate.control.ports import Connection, ControlDatabase, Row
from querygate.core.jobs import COMMON, Job, JobKind, JobState

REVEALED: JobKind = "audit.reveal"
"""The kind whose result has values of people."""

MOST_ATTEMPTS = 3
"""So often a job is taken up. One that has ended so many workers would end the next one too."""

_PUT = "INSERT INTO job (id, kind, dataset, user, key, body, state, created) VALUES (?, ?, ?, ?, ?, ?, 'queued', ?)"
_SAME = """SELECT * FROM job WHERE key = ? AND (finished IS NULL OR state = 'done' AND finished > ?)
           ORDER BY number DESC LIMIT 1"""
_FIND = "SELECT * FROM job WHERE id = ?"
_LAST = "SELECT * FROM job WHERE key = ? ORDER BY number DESC LIMIT 1"
_NEXT = """SELECT id FROM job WHERE finished IS NULL AND is_cancelling = 0 AND attempt < ?
             AND (state = 'queued' OR lease <= ?) AND kind IN ({kinds})
           ORDER BY number LIMIT 1"""
_LEASE = "UPDATE job SET state = 'leased', worker = ?, lease = ?, attempt = attempt + 1 WHERE id = ?"
_STALE = """SELECT * FROM job WHERE finished IS NULL AND (state = 'queued' OR lease <= ?)
              AND (attempt >= ? OR is_cancelling = 1) ORDER BY number"""
_RENEW = """UPDATE job SET lease = ?, progress = coalesce(?, progress), fraction = coalesce(?, fraction)
            WHERE id = ? AND worker = ? AND state = 'leased'"""
_END = "UPDATE job SET state = ?, result = ?, finished = ?, lease = NULL WHERE id = ?"
_GIVE_BACK = """UPDATE job SET state = 'queued', worker = NULL, lease = NULL, attempt = attempt - 1
                WHERE worker = ? AND state = 'leased' AND id = ?"""
_CANCEL = "UPDATE job SET is_cancelling = 1 WHERE id = ? AND finished IS NULL"
_SWEEP = "DELETE FROM job WHERE finished < ?"
_FORGET = "DELETE FROM job WHERE id = ? AND finished IS NOT NULL"
_SWEEP_SEEN = "DELETE FROM job WHERE kind = ? AND finished < ?"
_LATEST = "SELECT * FROM job ORDER BY number DESC LIMIT ?"
_OWN = """SELECT * FROM job WHERE user = :user COLLATE NOCASE AND kind >= :family AND kind < :after
          AND :dataset IN ('', dataset) ORDER BY number DESC LIMIT :number"""
_WAITING = "SELECT count(*), min(created) FROM job WHERE state = 'queued'"


class Jobs:
    """The table of jobs. Safe to share between threads; any number of processes may work with one."""

    def __init__(self, database: ControlDatabase, clock: Clock, entropy: Entropy) -> None:
        self._database, self._clock, self._entropy = database, clock, entropy

    # -- whoever asks ------------------------------------------------------------------------------------

    def put(
        self, kind: JobKind, *, dataset: str, user: str, body: Mapping[str, Any], shared_s: float | None = None
    ) -> Job:
        """A new job. With `shared_s`, the same job of the same person if it is underway, or was done so lately; of a
        common kind, of anybody."""
        text, key = canonical(body), _key(kind, dataset, user, body)
        with self._database.writing() as connection:
            if shared_s is not None:
                same = connection.execute(_SAME, (key, self._now(-shared_s))).fetchone()
                if same is not None:
                    return _job(same)
            ident = new_query_id(self._clock, self._entropy).replace("q_", "j_", 1)
            connection.execute(_PUT, (ident, kind, dataset, user, key, text, self._now()))
            return _job(connection.execute(_FIND, (ident,)).fetchone())

    def last(self, kind: JobKind, dataset: str, user: str, body: Mapping[str, Any]) -> Job | None:
        """The newest job like this, however it stands; nothing is put."""
        rows = self._database.rows(_LAST, (_key(kind, dataset, user, body),))
        return _job(rows[0]) if rows else None

    def find(self, job_id: str) -> Job | None:
        rows = self._database.rows(_FIND, (job_id,))
        return _job(rows[0]) if rows else None

    def cancel(self, job_id: str) -> None:
        """Nobody takes it up any more, and who works on it stops at the next step."""
        with self._database.writing() as connection:
            connection.execute(_CANCEL, (job_id,))

    # -- whoever works -----------------------------------------------------------------------------------

    def lease(self, worker: str, kinds: Sequence[JobKind], lease_s: float) -> Job | None:
        """The oldest job of these kinds that nobody has, for so long."""
        wanted = (MOST_ATTEMPTS, self._now(), *kinds)
        oldest = _NEXT.format(kinds=", ".join("?" * len(kinds)))
        if not self._database.rows(oldest, wanted):  # most of the time, and it takes no lock
            return None
        with self._database.writing() as connection:
            row = connection.execute(oldest, wanted).fetchone()
            if row is None:
                return None
            connection.execute(_LEASE, (worker, self._now(lease_s), row["id"]))
            return _job(connection.execute(_FIND, (row["id"],)).fetchone())

    def renew(
        self, worker: str, job_id: str, lease_s: float, progress: str | None = None, fraction: float | None = None
    ) -> Job | None:
        """Hold the job for longer and tell how far it is; None if it is no longer this worker's."""
        with self._database.writing() as connection:
            held = connection.execute(_RENEW, (self._now(lease_s), progress, fraction, job_id, worker)).rowcount
            return _job(connection.execute(_FIND, (job_id,)).fetchone()) if held else None

    def give_back(self, worker: str, job_id: str) -> None:
        """Let somebody else do it, as if nobody had begun."""
        with self._database.writing() as connection:
            connection.execute(_GIVE_BACK, (worker, job_id))

    def end(
        self,
        job_id: str,
        state: JobState,
        result: Mapping[str, Any] | None,
        *,
        may: Callable[[Job], bool],
        then: Callable[[Connection, Job], None] = lambda connection, job: None,
    ) -> Job | None:
        """End a job, if it has not ended and `may` says so of it as it stands; None otherwise. What `then` does with
        the connection is done together with it, or neither is."""
        with self._database.writing() as connection:
            row = connection.execute(_FIND, (job_id,)).fetchone()
            if row is None or row["finished"] is not None or not may(_job(row)):
                return None
            text = None if result is None else canonical(result)
            connection.execute(_END, (state, text, self._now(), job_id))
            ended = _job(connection.execute(_FIND, (job_id,)).fetchone())
            then(connection, ended)
            return ended

    def stale(self) -> list[Job]:
        """Those that nobody holds and nobody will take up: cancelled, or tried too often."""
        return [_job(row) for row in self._database.rows(_STALE, (self._now(), MOST_ATTEMPTS))]

    def forget(self, job_id: str) -> None:
        """A job that has ended, with its result."""
        with self._database.writing() as connection:
            connection.execute(_FORGET, (job_id,))

    def sweep(self, older_s: float, shown_s: float) -> int:
        """Forget what ended so long ago; how many there were. Values of people are to be seen once, and soon."""
        with self._database.writing() as connection:
            connection.execute(_SWEEP_SEEN, (REVEALED, self._now(-shown_s)))
            return connection.execute(_SWEEP, (self._now(-older_s),)).rowcount

    def waiting(self) -> tuple[int, str | None]:
        """How many wait for a worker, and since when the first of them does."""
        count, since = self._database.rows(_WAITING)[0]
        return int(count), since

    def latest(self, number: int) -> list[Job]:
        """The newest jobs, whoever asked for them."""
        return [_job(row) for row in self._database.rows(_LATEST, (number,))]

    def own(self, user: str, family: str, dataset: str, number: int) -> list[Job]:
        """The newest of somebody's jobs of a family of kinds (`publish`), about one dataset or, without one, any."""
        wanted: dict[str, str | int] = {"user": user, "family": f"{family}.", "after": f"{family}/", "dataset": dataset}
        return [_job(row) for row in self._database.rows(_OWN, {**wanted, "number": number})]

    def is_over(self, job: Job) -> bool:
        """Whether the lease has run out."""
        return job.lease is None or job.lease <= self._now()

    def _now(self, later_s: float = 0) -> str:
        return stamp_now(self._clock, timedelta(seconds=later_s))


def _key(kind: JobKind, dataset: str, user: str, body: Mapping[str, Any]) -> str:
    """What makes two jobs the same."""
    whose = "" if kind in COMMON else user.lower()
    return hashlib.sha256(canonical([kind, dataset, whose, canonical(body)]).encode()).hexdigest()


def _job(row: Row) -> Job:
    return Job(
        id=row["id"],
        kind=row["kind"],
        dataset=row["dataset"],
        user=row["user"],
        body=json.loads(row["body"]),
        state=row["state"],
        created=row["created"],
        attempt=row["attempt"],
        worker=row["worker"],
        lease=row["lease"],
        progress=row["progress"],
        fraction=row["fraction"],
        is_cancelling=bool(row["is_cancelling"]),
        result=None if row["result"] is None else json.loads(row["result"]),
        finished=row["finished"],
    )
