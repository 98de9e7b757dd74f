"""The whole log, wherever its entries are: archives from the oldest on, then the database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from querygate.control.database import decoded
from querygate.control.log.archives import COLUMNS, Archives, Segment
from querygate.control.log.entry_chain import Chain, ChainBroken, EntryLinks, LogBody, LogEvent, VerifiedChain
from querygate.control.log.entry_links import STRETCH, lines_of, links_of_lines, links_of_rows
from querygate.control.ports import Connection

ROTATED, DISCARDED = "log.rotate", "log.discard"

_SEGMENTS = f"SELECT {', '.join(COLUMNS)} FROM segment ORDER BY number"  # noqa: S608
_ROWS = """SELECT seq, time, kind, query_id, user, dataset, body, prev, hash FROM log
           WHERE seq > ? AND seq <= ? ORDER BY seq"""

BEFORE_ALL, AFTER_ALL = -(2**63), 2**63 - 1
"""Whatever numbers somebody may have given to rows of the table, they are between these."""


def read_segments(connection: Connection) -> list[Segment]:
    """All archives that ever existed, oldest first."""
    return [Segment(*decoded(row, "replace")) for row in connection.execute(_SEGMENTS)]


def read_links(connection: Connection, after: int = BEFORE_ALL, last: int = AFTER_ALL) -> Iterator[EntryLinks]:
    """The entries in the database from the one after `after` to `last`, in order."""
    cursor = connection.execute(_ROWS, (after, last))
    while rows := cursor.fetchmany(STRETCH):
        yield links_of_rows(rows)


def read_lines(connection: Connection, archives: Archives, after: int = BEFORE_ALL) -> Iterator[bytes]:
    """Every entry after the one with this number, as a line of an exported log, without the line end."""
    for segment in read_segments(connection):
        if segment.discarded is None and segment.last > after:
            lines = (line.rstrip(b"\n") for line in archives.lines(segment))
            yield from islice(lines, max(after - segment.first + 1, 0), None)
    for links in read_links(connection, after):
        yield from lines_of(links)


Told = Callable[[int], None]
"""Is told of the number of an entry that the check has come to."""


def verify_log(
    connection: Connection,
    archives: Archives,
    known: VerifiedChain | None = None,
    told: Told = lambda entries: None,
) -> VerifiedChain:
    """Follow the chain through all archives and the database.

    What a row says about an archive must also be in the chain. Otherwise somebody who can write the file could pass off
    removed entries as archived and discarded.
    """
    chain = Chain(known)
    segments = read_segments(connection)
    for segment in segments:
        if segment.first != chain.entries + 1 or segment.prev != chain.head:
            raise ChainBroken(segment.first, "its archive does not follow the previous one")
        if segment.discarded is None:
            chain.follow(_telling(links_of_lines(archives.lines(segment)), told))
        else:
            chain.skip(segment.last, segment.head)
        if (chain.entries, chain.head) != (segment.last, segment.head):
            raise ChainBroken(segment.last, "its archive ends at another entry")
    try:
        chain.follow(_telling(read_links(connection), told))
    except sqlite3.DatabaseError as error:
        if not is_damaged(error):
            raise
        raise ChainBroken(chain.entries + 1, "the database cannot be read at this entry") from None
    check_said(segments, chain.said)
    return chain.end()


def _telling(stretches: Iterable[EntryLinks], told: Told) -> Iterator[EntryLinks]:
    for links in stretches:
        if links.seqs:
            told(int(links.seqs[0]))
        yield links


def is_damaged(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is damaged."""
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def check_said(segments: Sequence[Segment], said: Iterable[LogEvent]) -> None:
    """Entries about earlier discarded archives were in later ones, which are gone too."""
    rotated: list[LogBody] = []
    discarded = 0
    for entry in said:
        if entry["kind"] == ROTATED:
            rotated.append(entry["body"])
        elif entry["kind"] == DISCARDED:
            discarded = max(discarded, entry["body"]["archives"][-1]["number"])
    gone = max((segment.number for segment in segments if segment.discarded), default=0)
    for segment in segments:
        if segment.number >= gone and segment.told() not in rotated:
            raise ChainBroken(segment.first, "the log has no record that it was archived")
        if segment.discarded and segment.number > discarded:
            raise ChainBroken(segment.first, "the log has no record that its archive was discarded")


# -- queries in archives ---------------------------------------------------------------------------------------


def queries_in(
    archives: Archives,
    segments: Sequence[Segment],
    *,
    since: str | None,
    before: str | None,
    user: str | None,
    dataset: str | None,
    limit: int | None,
) -> list[LogEvent]:
    """Entries that represent queries, oldest first; with a limit, only that many of the latest.

    A query is represented by its outcome or, if there is none, by its intent: both are always in the same archive.
    """
    found: list[LogEvent] = []
    for segment in reversed(segments):
        if segment.discarded or (limit is not None and len(found) >= limit):
            continue
        here: dict[str, LogEvent] = {}
        for line in archives.lines(segment):
            if b'"kind":"query.' not in line[45:90]:
                continue
            entry = json.loads(line)
            here.pop(entry["query_id"], None)  # the outcome stands where it came
            here[entry["query_id"]] = entry
        found[:0] = [
            entry
            for entry in here.values()
            if (since is None or entry["time"] >= since)
            and (before is None or entry["time"] < before)
            and (user is None or entry["user"] == user)
            and (dataset is None or entry["dataset"] == dataset)
        ]
    return found if limit is None else found[max(len(found) - limit, 0) :]
