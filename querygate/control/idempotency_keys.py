"""Questions that carry a key of their own (`Idempotency-Key`): one that is sent again is the same question.

Of a question only a digest is kept, and the id under which the log has it; and all of that for a day.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from querygate.control.ids import Clock, stamp_now
from querygate.control.ports import ControlDatabase

KEPT = timedelta(days=1)

_SWEEP = "DELETE FROM asked_once WHERE began < ?"
_FIND = "SELECT question, query_id, began, settled, problem, job FROM asked_once WHERE user = ? AND key = ?"
_PUT = """INSERT INTO asked_once (user, key, question, query_id, began) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (user, key) DO UPDATE SET query_id = excluded.query_id, began = excluded.began"""
_SETTLE = "UPDATE asked_once SET settled = 1, problem = ?, job = ? WHERE user = ? AND key = ? AND query_id = ?"
_FORGET = "DELETE FROM asked_once WHERE user = ? AND key = ? AND query_id = ?"


@dataclass(frozen=True, slots=True)
class Claim:
    """A question under its key. `is_own`: whoever got this is to answer it. `problem` and `job` are what came of it
    where that was no answer; `is_stale`: whoever was to answer it has not, for longer than that takes."""

    question: str
    query_id: str
    is_own: bool
    is_settled: bool = False
    is_stale: bool = False
    problem: str | None = None
    job: str | None = None


class AskedOnce:
    """The questions of the last day that carried a key."""

    def __init__(self, database: ControlDatabase, clock: Clock, patience: timedelta) -> None:
        self._database, self._clock, self._patience = database, clock, patience

    def claim(self, user: str, key: str, question: str, new_id: Callable[[], str], *, again: bool = False) -> Claim:
        """Take a question up, or learn who has. `again`: take up one that is stale."""
        stale = stamp_now(self._clock, -self._patience)
        with self._database.writing() as connection:
            connection.execute(_SWEEP, (stamp_now(self._clock, -KEPT),))
            row = connection.execute(_FIND, (user, key)).fetchone()
            if row is not None:
                is_settled, is_stale = bool(row["settled"]), not row["settled"] and row["began"] < stale
                if not (again and is_stale):
                    told = row["problem"], row["job"]
                    return Claim(row["question"], row["query_id"], False, is_settled, is_stale, *told)
            made = Claim(question, new_id(), is_own=True)
            connection.execute(_PUT, (user, key, question, made.query_id, stamp_now(self._clock)))
        return made

    def settle(self, user: str, key: str, claim: Claim, *, problem: str | None = None, job: str | None = None) -> None:
        """What came of it; neither of both where the log has an answer. It is nobody else's to say."""
        with self._database.writing() as connection:
            connection.execute(_SETTLE, (problem, job, user, key, claim.query_id))

    def forget(self, user: str, key: str, claim: Claim) -> None:
        """It may be asked anew: what went wrong was of the moment. It stays where another has taken it up since."""
        with self._database.writing() as connection:
            connection.execute(_FORGET, (user, key, claim.query_id))
