"""Following the log: answered queries from an entry on, whether in the database or archived."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from querygate.control.log.log import Log
from querygate.control.log.log_reader import read_segments
from querygate.control.log.query_entries import OUTCOME

_AFTER = """SELECT seq, time, query_id, user, body FROM log
            WHERE seq > ? AND kind = 'query.outcome' AND dataset = ? ORDER BY seq"""


@dataclass(frozen=True, slots=True)
class AnsweredQuery:
    """A query that was answered. `seq` is the number of its entry."""

    seq: int
    time: str
    query_id: str
    user: str
    version: int
    sql: str
    mode: str


def follow(log: Log, dataset: str, after: int = 0) -> Iterator[AnsweredQuery]:
    """Answered queries of a dataset whose entries come after this one, in the order of the log."""
    with log.database.snapshot() as connection:
        for segment in read_segments(connection):
            if segment.last <= after or segment.discarded is not None:
                continue
            for line in log.archives.lines(segment):
                entry = json.loads(line) if b'"query.outcome"' in line else {}
                if entry.get("kind") == OUTCOME and entry["dataset"] == dataset and entry["seq"] > after:
                    yield from _answered(entry["seq"], entry["time"], entry["query_id"], entry["user"], entry["body"])
        for seq, *texts in connection.execute(_AFTER, (after, dataset)):
            time, query_id, user, body = (text.decode() for text in texts)
            yield from _answered(seq, time, query_id, user, json.loads(body))


def _answered(seq: int, time: str, query_id: str, user: str, body: dict[str, object]) -> Iterator[AnsweredQuery]:
    if body["outcome"] == "answered" and isinstance(body["version"], int):
        yield AnsweredQuery(seq, time, query_id, user, body["version"], str(body["sql"]), str(body["mode"]))
