"""Moving old entries into archives, and deleting old archives, without breaking the chain.

Whenever the process dies, each entry is in exactly one place: the database, or an archive that the database knows. An
archive is complete, signed and on disk before a single transaction registers it, logs it and removes the entries. A
file that was not registered in time is made again by the next run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from querygate.control.budgets.ledger_evidence import OPENING
from querygate.control.budgets.logged_spending import NotedTotals
from querygate.control.ids import stamp_now
from querygate.control.log.archive_seals import is_sealed, sign_archive
from querygate.control.log.archives import COLUMNS, Segment
from querygate.control.log.entry_chain import START, Chain, VerifiedChain
from querygate.control.log.entry_links import lines_of
from querygate.control.log.log import Log
from querygate.control.log.log_reader import DISCARDED, ROTATED, read_links, read_segments, verify_log
from querygate.control.log.query_entries import INTENT, OUTCOME
from querygate.control.log.signature import SiteKey
from querygate.control.ports import Connection

SEALED = "log.seal"

MOST_ENTRIES = 100_000
"""In one archive: the gate waits while that many are removed from the database, which takes about a second."""

_HEADS = "SELECT seq, time, kind, query_id FROM log ORDER BY seq LIMIT ?"
_CONCLUDED = "SELECT 1 FROM log WHERE query_id = ? AND kind = ?"
_OPENED = """SELECT min(seq) FROM log WHERE kind IN ('budget.opening', 'budget.rebuild')
             AND kind NOT IN ('query.intent', 'query.outcome') AND seq > ?"""
_NOTE = f"INSERT INTO segment ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608


def rotate(
    log: Log, key: SiteKey, keep: timedelta, *, user: str, most: int = MOST_ENTRIES, shared: bool = False
) -> list[Segment]:
    """Archive all entries older than `keep`, and return the new archives. Raises ChainBroken if the log is broken.
    `shared` says that other gates spend from the same ledger of budgets."""
    limit = stamp_now(log.clock, -keep)
    made = []
    with log.archives.alone():
        while (segment := _archive(log, key, limit, most)) is not None:
            _take_note(log, segment, user, shared)
            made.append(segment)
        log.database.erased()
    return made


def discard(log: Log, keep: timedelta, *, user: str, shared: bool = False) -> list[Segment]:
    """Remove the files of archives whose last entry is older than `keep`. Their heads and signatures stay."""
    limit = stamp_now(log.clock, -keep)
    with log.archives.alone():
        with log.database.snapshot() as connection:
            segments = read_segments(connection)
        old: list[Segment] = []
        for segment in segments:
            if segment.until >= limit:
                break
            old += [segment] if segment.discarded is None else []
        if old:
            with log.database.writing() as connection:
                _carry_on(log, connection, old[-1].last, shared)
                for segment in old:
                    connection.execute(
                        "UPDATE segment SET discarded = ? WHERE number = ?", (stamp_now(log.clock), segment.number)
                    )
                log.append(connection, DISCARDED, None, user, None, {"archives": [one.told() for one in old]})
        # Also those that an earlier run took note of and did not get round to.
        for segment in [one for one in segments if one.discarded] + old:
            log.archives.remove(segment)
    return old


def seal(log: Log, key: SiteKey, *, user: str) -> list[Segment]:
    """Sign the archives that this key has not signed, and log it. The person who does so vouches for them: nothing
    else distinguishes an archive that was made here and discarded from one that never existed. Raises ChainBroken if
    the chain is broken."""
    with log.archives.alone():
        with log.database.snapshot() as connection:
            verify_log(connection, log.archives)
            unsigned = [one for one in read_segments(connection) if not is_sealed(log.archives, one, key.public)]
        for segment in unsigned:
            sign_archive(log.archives, segment, key)
        if unsigned:
            log.note(SEALED, user=user, body={"archives": [one.told() for one in unsigned]})
    return unsigned


def _archive(log: Log, key: SiteKey, limit: str, most: int) -> Segment | None:
    """The next archive, complete on disk; None if no entries are old enough."""
    with log.database.snapshot() as connection:
        segments = read_segments(connection)
        before = VerifiedChain(segments[-1].last, segments[-1].head) if segments else START
        last, until = _cut(connection, limit, most)
        if last <= before.entries:
            return None
        segment = Segment(len(segments) + 1, before.entries + 1, last, before.head, "", until, "", stamp_now(log.clock))
        chain = Chain(start=before)
        sealed = log.archives.write(segment.name, _lines(connection, chain, last), packed=True)
    segment = replace(segment, head=chain.head, sha256=sealed)
    sign_archive(log.archives, segment, key)
    return segment


def _cut(connection: Connection, limit: str, most: int) -> tuple[int, str]:
    """The last entry to archive, and its time. A query is not split: its intent stays as long as its outcome."""
    last, until = 0, ""
    times: dict[int, str] = {}
    open_since: dict[bytes, int] = {}
    for seq, time, kind, query_id in connection.execute(_HEADS, (most,)):
        if time.decode() >= limit:
            break
        last, times[seq] = seq, time.decode()
        if kind == INTENT.encode():
            open_since[query_id] = seq
        elif kind == OUTCOME.encode():
            open_since.pop(query_id, None)
    concluded = [
        seq
        for query_id, seq in open_since.items()
        if connection.execute(_CONCLUDED, (query_id.decode(), OUTCOME)).fetchone()
    ]
    last = min([last, *(seq - 1 for seq in concluded)])
    return last, times.get(last, until)


def _lines(connection: Connection, chain: Chain, last: int) -> Iterator[bytes]:
    """The lines up to the entry `last`, each checked before it is returned."""
    for links in read_links(connection, last=last):
        chain.follow((links,))
        for line in lines_of(links):
            yield line + b"\n"


def _take_note(log: Log, segment: Segment, user: str, shared: bool) -> None:
    """In one transaction: register the archive, log it, and remove its entries from the database."""
    with log.database.writing() as connection:
        log.database.erase(connection)
        connection.execute(_NOTE, tuple(getattr(segment, name) for name in COLUMNS))
        log.append(connection, ROTATED, None, user, None, segment.told())
        _carry_on(log, connection, segment.last, shared)
        connection.execute("DELETE FROM log WHERE seq <= ?", (segment.last,))


def _carry_on(log: Log, connection: Connection, last: int, shared: bool) -> None:
    """Log the spent budgets again, if the entries after `last` would no longer show them."""
    body = NotedTotals(log, shared=shared).body()
    opening = connection.execute(_OPENED, (last,)).fetchone()[0]
    said = None if opening is None else NotedTotals(log, shared=shared, since=opening).body()
    if body["charges"] and body != said:
        log.append(connection, OPENING, None, None, None, body)
