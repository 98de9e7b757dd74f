"""The log, page by page as it is chained, for somebody who keeps a copy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice

from querygate.control import Log
from querygate.control.log.entry_chain import LogEvent

MOST_ENTRIES = 500
MOST_BYTES = 4_000_000

_AFTER = "SELECT seq, time, kind, query_id, user, dataset, body, prev, hash FROM log WHERE seq > ? ORDER BY seq LIMIT ?"


def read_log_page(log: Log, after: int) -> list[LogEvent]:
    """Entries that come after this one, as many as fit a page; none if there are none."""
    page: list[LogEvent] = []
    size = 0
    for entry, length in islice(_entries(log, after), MOST_ENTRIES):
        size += length
        if page and size > MOST_BYTES:
            break
        page.append(entry)
    return page


def _entries(log: Log, after: int) -> Iterator[tuple[LogEvent, int]]:
    rows = log.database.rows(_AFTER, (after, MOST_ENTRIES))
    if rows and rows[0]["seq"] == after + 1:
        for row in rows:
            event: LogEvent = {**dict(row), "body": json.loads(row["body"])}  # type: ignore[typeddict-item]
            yield event, len(row["body"])
        return
    for line in log.lines():  # the next one lies in an archive
        event = json.loads(line)
        if event["seq"] > after:
            yield event, len(line)
