"""The log of everything that was asked and done: append-only, chained, and on disk before the caller continues.

A query makes two entries: `intend` before anything is computed, `conclude` before any byte is sent. So every answer
that somebody saw is in the log, and a query without a conclusion counts as asked (fail closed).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TextIO, Unpack, cast

from querygate.control.database import decoded
from querygate.control.ids import Clock, stamp, stamp_now
from querygate.control.log.archive_seals import check_sealed
from querygate.control.log.archives import COLUMNS, Archives, Segment
from querygate.control.log.entry_chain import (
    GENESIS,
    START,
    ChainBroken,
    Entry,
    LogEvent,
    VerifiedChain,
    canonical,
    chained_text,
    digest,
    storable,
)
from querygate.control.log.log_reader import Told, queries_in, read_lines, read_segments, verify_log
from querygate.control.log.parallel_verify import verify_in_parts
from querygate.control.log.query_entries import (
    INTENT,
    OUTCOME,
    Intent,
    QueryLine,
    RecentIntents,
    query_line,
    request_named,
)
from querygate.control.ports import NO_LIMIT, Connection, ControlDatabase
from querygate.core.answer_bodies import AnswerBody
from querygate.core.ports import AskedQuery, Outcome

_LAST = "SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1"
_LAST_ARCHIVED = "SELECT last, head FROM segment ORDER BY number DESC LIMIT 1"
_ARCHIVES = f"SELECT {', '.join(COLUMNS)} FROM segment WHERE last > ? ORDER BY number"  # noqa: S608
_OF_QUERY = "SELECT * FROM log WHERE query_id = ? AND kind = ?"
_AT = "SELECT * FROM log WHERE seq = ?"
_OTHERS = "kind NOT IN ('query.intent', 'query.outcome')"  # as the index has it
_POLICY = "SELECT json_extract(body, '$.policy_hash') FROM log WHERE query_id = ? AND kind = 'query.intent'"
_LAST_OF = f"SELECT * FROM log WHERE kind = ? AND dataset = ? AND {_OTHERS} ORDER BY seq DESC LIMIT 1"  # noqa: S608
_ALL_OF = f"SELECT * FROM log WHERE kind = ? AND dataset = ? AND {_OTHERS} ORDER BY seq"  # noqa: S608
_FAMILY = f"SELECT * FROM log WHERE kind >= :first AND kind < :after AND {_OTHERS} ORDER BY seq"  # noqa: S608
_INSERT = """INSERT INTO log (seq, time, kind, query_id, user, dataset, body, prev, hash)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
# A query shows as its outcome or, where there is none, as its intent. The newest come first, for the limit.
_QUERIES = """SELECT seq FROM log AS entry
  WHERE (kind = 'query.outcome' OR kind = 'query.intent' AND NOT EXISTS (
           SELECT 1 FROM log AS outcome WHERE outcome.query_id = entry.query_id AND outcome.kind = 'query.outcome'))
    AND (:since IS NULL OR time >= :since)
    AND (:before IS NULL OR time < :before)
    AND (:user IS NULL OR user = :user)
    AND (:dataset IS NULL OR dataset = :dataset)
  ORDER BY seq DESC LIMIT :limit"""


class Log:
    """The site's log. Any number of threads and processes can write; they make one chain.

    Older entries may be in `archives`; reading the log includes them.
    """

    def __init__(self, database: ControlDatabase, clock: Clock, archives: Path | None = None) -> None:
        self.database = database
        self.clock = clock
        self.archives = Archives(archives or database.path.parent / "logs")
        self._intents, self._answered = RecentIntents(), RecentIntents()

    # -- writing -----------------------------------------------------------------------------------------

    def intend(self, query_id: str, **asked: Unpack[AskedQuery]) -> None:
        """Log a query before it is computed."""
        intent = Intent.of(asked)
        self._append(INTENT, query_id, *intent)
        self._intents.add(query_id, intent)

    def repeat(self, query_id: str, answer: AnswerBody, **asked: Unpack[AskedQuery]) -> None:
        """Log a query with an answer that was computed before: both entries, on disk at once."""
        intent = Intent.of(asked)
        outcome = {**intent.body, "outcome": "answered", "code": None, "answer": answer, "epsilon": None}
        bodies = canonical(intent.body), canonical(outcome)  # before others wait for us
        with self.database.appending() as connection:
            link = self._last(connection)
            for kind, body in zip((INTENT, OUTCOME), bodies, strict=True):
                link = self._put(connection, link, kind, query_id, intent.user, intent.dataset, body)
        self._answered.add(query_id, intent)

    def conclude(
        self,
        query_id: str,
        outcome: Outcome,
        *,
        code: str | None = None,
        answer: AnswerBody | None = None,
        epsilon: float | None = None,
        user: str | None = None,
        dataset: str | None = None,
        version: int | None = None,
        sql: str | None = None,
        mode: str | None = None,
    ) -> None:
        """Log how a query ended, before anything is sent.

        The intent says who asked what. For a query refused before it had one (its SQL could not be read), pass `user`,
        `sql` and what else is known; it cannot be "answered".
        """
        result = {"outcome": outcome, "code": code, "answer": answer, "epsilon": epsilon}
        intent = self._intents.take(query_id) or self._find_intent(query_id)
        if intent is not None:
            self._append(OUTCOME, query_id, intent.user, intent.dataset, {**intent.body, **result})
            if outcome == "answered":
                self._answered.add(query_id, intent)
        elif outcome == "answered" or user is None or sql is None:
            raise ValueError(f"{query_id} has no intent")
        else:
            request = {"version": version, "sql": sql, "mode": mode, **request_named()}
            self._append(OUTCOME, query_id, user, dataset, {**request, **result})

    def note(
        self,
        kind: str,
        *,
        user: str | None,
        dataset: str | None = None,
        body: Mapping[str, object] | None = None,
        query_id: str | None = None,
    ) -> None:
        """Log an event other than a query: `publish`, `user.add`, `key.revoke` ... Never pass a secret. With a
        query's id, the event can be found by it."""
        if kind.startswith("query."):
            raise ValueError(f"{kind} is not an administrative event")
        self._append(kind, query_id, user, dataset, body or {})

    def _append(
        self, kind: str, query_id: str | None, user: str | None, dataset: str | None, body: Mapping[str, object]
    ) -> None:
        text = canonical(body)  # before others wait for us
        with self.database.appending() as connection:
            self._put(connection, self._last(connection), kind, query_id, user, dataset, text)

    def append(
        self,
        connection: Connection,
        kind: str,
        query_id: str | None,
        user: str | None,
        dataset: str | None,
        body: Mapping[str, object],
    ) -> None:
        """Add the next entry, within the caller's transaction."""
        self._put(connection, self._last(connection), kind, query_id, user, dataset, canonical(body))

    @staticmethod
    def _last(connection: Connection) -> tuple[int, str]:
        """Number and hash of the last entry, to which the next one is chained."""
        found = connection.execute(_LAST).fetchone() or connection.execute(_LAST_ARCHIVED).fetchone() or (0, GENESIS)
        return found[0], found[1]

    def _put(
        self,
        connection: Connection,
        last: tuple[int, str],
        kind: str,
        query_id: str | None,
        user: str | None,
        dataset: str | None,
        body: str,
    ) -> tuple[int, str]:
        """Write one entry after the last, with a body in canonical spelling."""
        told = (last[0] + 1, stamp_now(self.clock), kind, query_id, storable(user), storable(dataset), body)
        hashed = digest(chained_text(*told, last[1]))
        connection.execute(_INSERT, (*told, last[1], hashed))
        return told[0], hashed

    # -- reading -----------------------------------------------------------------------------------------

    def queries(
        self,
        since: datetime | None = None,
        user: str | None = None,
        dataset: str | None = None,
        limit: int | None = None,
        before: datetime | None = None,
    ) -> Iterator[QueryLine]:
        """The query log, oldest first; with a limit, only the latest ones. A query without an outcome has "failed"."""
        first, end = None if since is None else stamp(since), None if before is None else stamp(before)
        about = {"user": user, "dataset": dataset}
        wanted = {"since": first, "before": end, **about, "limit": NO_LIMIT if limit is None else limit}
        with self.database.snapshot() as connection:
            found = [seq for (seq,) in connection.execute(_QUERIES, wanted)]
            segments = [one for one in read_segments(connection) if first is None or one.until >= first]
            left = None if limit is None else limit - len(found)
            archived = queries_in(self.archives, segments, since=first, before=end, **about, limit=left)
            yield from map(query_line, archived)
            # One read each: answers may be large.
            for seq in reversed(found):
                yield query_line(Entry(*decoded(connection.execute(_AT, (seq,)).fetchone())).event())

    def answer(self, query_id: str) -> tuple[str, AnswerBody] | None:
        """Who asked and what was answered; None if there was no answer."""
        entry = self._of_query(query_id, OUTCOME)
        body = json.loads(entry.body) if entry else {}
        if entry is None or entry.user is None or body["answer"] is None:
            return None
        return entry.user, body["answer"]

    def entry(self, seq: int) -> LogEvent | None:
        """One entry by its number; None if there is none outside the archives."""
        rows = self.database.settled_rows(_AT, (seq,))
        return Entry(*rows[0]).event() if rows else None

    def noted(self, query_id: str, kind: str) -> LogEvent | None:
        """What was noted about a query; None if there is nothing outside the archives."""
        entry = self._of_query(query_id, kind)
        return entry.event() if entry else None

    def has_ended(self, query_id: str) -> bool:
        """Whether the outcome of a query is in the log, not counting archives."""
        return self._of_query(query_id, OUTCOME) is not None

    def query(self, query_id: str) -> QueryLine | None:
        """One line of the query log; None if there is none outside the archives."""
        entry = self._of_query(query_id, OUTCOME) or self._of_query(query_id, INTENT)
        if entry is None:
            return None
        return query_line(entry.event())

    def policy_hash(self, query_id: str) -> str | None:
        """The hash of the policy at the time of a query; None if there is none outside the archives."""
        known = self._answered.take(query_id)
        if known is not None:
            return cast("str | None", known.body.get("policy_hash"))
        rows = self.database.rows(_POLICY, (query_id,))
        return str(rows[0][0]) if rows and rows[0][0] is not None else None

    def last(self, kind: str, dataset: str) -> LogEvent | None:
        """The latest event of a kind about a dataset, except queries; None if there is none outside the archives."""
        rows = self.database.settled_rows(_LAST_OF, (kind, dataset))
        return Entry(*rows[0]).event() if rows else None

    def events_of(self, kind: str, dataset: str, *, archived: bool = True) -> Iterator[LogEvent]:
        """Every event of a kind about a dataset, except queries, oldest first. An archive that cannot be read is
        skipped, so that callers keep working; `verify` names it. Reading archives takes time, so callers can leave them
        out.
        """
        with self.database.snapshot() as connection:
            for segment in read_segments(connection) if archived else ():
                with suppress(ChainBroken):
                    lines = self.archives.lines(segment) if segment.discarded is None else ()
                    events = (json.loads(line) for line in lines if kind.encode() in line)
                    yield from (event for event in events if (event["kind"], event["dataset"]) == (kind, dataset))
            for row in connection.execute(_ALL_OF, (kind, dataset)):
                yield Entry(*decoded(row)).event()

    def events_in(self, family: str) -> Iterator[LogEvent]:
        """Every event whose kind has this first word, oldest first, archives included."""
        with self.database.snapshot() as connection:
            mark = f'"kind":"{family}.'.encode()
            for segment in read_segments(connection):
                lines = self.archives.lines(segment) if segment.discarded is None else ()
                yield from (json.loads(line) for line in lines if mark in line[45:90])
            for row in connection.execute(_FAMILY, {"first": f"{family}.", "after": f"{family}/"}):
                yield Entry(*decoded(row)).event()

    def lines_after(self, seq: int) -> Iterator[bytes]:
        """Every entry after this one, as a line of an exported log, without discarded ones."""
        with self.database.snapshot() as connection:
            yield from read_lines(connection, self.archives, seq)

    def discarded_until(self) -> str:
        """The time of the last discarded entry; "" if there is none."""
        rows = self.database.rows("SELECT max(until) FROM segment WHERE discarded IS NOT NULL")
        return rows[0][0] or ""

    def head(self) -> VerifiedChain:
        """Where the log ends, according to the database. Nothing is verified."""
        for sql in (_LAST, _LAST_ARCHIVED):
            if rows := self.database.settled_rows(sql):
                return VerifiedChain(rows[0][0], rows[0][1])
        return START

    def hash_at(self, seq: int) -> str | None:
        """The hash of an entry, wherever it is; None if there is no such entry, or no longer."""
        with self.database.snapshot() as connection:
            row = connection.execute("SELECT hash FROM log WHERE seq = ?", (seq,)).fetchone()
            if row is not None:
                return str(decoded(row, "replace")[0])
            for segment in read_segments(connection):
                if segment.last == seq:
                    return segment.head
                if segment.first <= seq < segment.last and segment.discarded is None:
                    start = f'{{"seq":{seq},'.encode()
                    found = (line for line in self.archives.lines(segment) if line.startswith(start))
                    return str(json.loads(next(found))["hash"])
        return None

    def events(self) -> Iterator[LogEvent]:
        """Every entry in the order of the chain, queries and administration alike."""
        return map(json.loads, self.lines())

    def lines(self) -> Iterator[bytes]:
        """Every entry as a line of an exported log, archives first, without discarded ones."""
        with self.database.snapshot() as connection:
            yield from read_lines(connection, self.archives)

    def export(self, stream: TextIO) -> None:
        """Write every entry as one line of JSON: what `verify_lines` reads."""
        for line in self.lines():
            stream.write(line.decode() + "\n")

    def verify(self, known: VerifiedChain | None = None) -> VerifiedChain:
        """Check the whole chain, archives included. Raises ChainBroken; see `Chain` for `known`."""
        with self.database.snapshot() as connection:
            try:
                found = verify_in_parts(connection, self.archives, known, self.database.file)
            except sqlite3.DatabaseError:
                found = None  # the long way shows at which entry
            found = found or verify_log(connection, self.archives, known)
            check_sealed(self.archives, read_segments(connection))
            return found

    def verify_telling(self, told: Told) -> VerifiedChain:
        """The same from first entry to last in one go, reporting progress. Raises ChainBroken."""
        with self.database.snapshot() as connection:
            found = verify_log(connection, self.archives, told=told)
            check_sealed(self.archives, read_segments(connection))
            return found

    def check_sealed(self, after: int = 0) -> None:
        """Raise ChainBroken if an archive with entries after this one is not signed by the site's key."""
        check_sealed(self.archives, (Segment(*row) for row in self.database.rows(_ARCHIVES, (after,))))

    def _find_intent(self, query_id: str) -> Intent | None:
        """An entry that another process wrote."""
        entry = self._of_query(query_id, INTENT)
        return None if entry is None else Intent(entry.user, entry.dataset, json.loads(entry.body))

    def _of_query(self, query_id: str, kind: str) -> Entry | None:
        rows = self.database.settled_rows(_OF_QUERY, (query_id, kind))
        return Entry(**dict(rows[0])) if rows else None
