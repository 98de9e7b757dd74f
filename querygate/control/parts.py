"""A long log is checked by several processes at once: wherever the hash before a part is known, the part stands alone.

Only haste is gained here. Where a part is not as it should be, nothing is concluded; the log is followed from its
beginning, in one go, to find the first place.
"""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from querygate.control.chain import START, Chain, ChainBroken, Verified, links_of_lines
from querygate.control.segments import Archives, Segment
from querygate.control.walk import AFTER_ALL, BEFORE_ALL, check_said, read_links, read_segments

ENOUGH = 200_000
"""Entries below which starting processes takes longer than they save."""


@dataclass(frozen=True, slots=True)
class Part:
    """Entries after `start`: those of an archive, or the rows of the database from `after` to `last`."""

    start: Verified
    segment: Segment | None = None
    after: int = 0
    last: int = 0


def verify_in_parts(connection: sqlite3.Connection, archives: Archives, known: Verified | None) -> Verified | None:
    """The end of an unbroken log; None where it is short, where it is not unbroken, or where that must be looked at."""
    workers = min(os.cpu_count() or 1, 8)
    segments = read_segments(connection)
    top = connection.execute("SELECT max(seq) FROM log").fetchone()[0] or 0
    kept = [segment for segment in segments if segment.discarded is None]
    since = kept[0].first if kept else segments[-1].last + 1 if segments else 1
    inside = known is None or since <= known.entries <= top
    if workers < 2 or top - since < ENOUGH or not inside:
        return None
    parts = _make_parts(connection, segments, top, workers)
    path = connection.execute("PRAGMA database_list").fetchone()[2].decode()
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        ends = list(pool.map(_follow, parts, *([same] * len(parts) for same in (path, archives.folder, known))))
    at = parts[0].start
    said: list[dict[str, Any]] = []
    for part, end in zip(parts, ends, strict=True):
        if end is None or (part.start.entries, part.start.head) != (at.entries, at.head):
            return None
        at = end[0]
        said += end[1]
    try:
        check_said(segments, said)
    except ChainBroken:
        return None
    return Verified(at.entries, at.head, since)


def _make_parts(connection: sqlite3.Connection, segments: list[Segment], top: int, workers: int) -> list[Part]:
    """Each archive, and the rows in as many parts as there are workers."""
    parts, before = [], START
    for segment in segments:
        if segment.discarded is None:
            parts.append(Part(Verified(segment.first - 1, segment.prev), segment))
        before = Verified(segment.last, segment.head)
    size = max((top - before.entries) // workers + 1, 1)
    starts = [before]
    for seq in range(before.entries + size, top, size):
        found = connection.execute("SELECT hash FROM log WHERE seq = ?", (seq,)).fetchone()
        if found:
            starts.append(Verified(seq, found[0].decode(errors="replace")))
    ends = [start.entries for start in starts[1:]] + [AFTER_ALL]
    afters = [BEFORE_ALL, *ends[:-1]]
    return parts + [Part(start, None, after, last) for start, after, last in zip(starts, afters, ends, strict=True)]


def _follow(
    part: Part, path: str, folder: Path, known: Verified | None
) -> tuple[Verified, list[dict[str, Any]]] | None:
    """In a process of its own: where the part ends and what it says of the log itself; None where it is broken."""
    here = known if known and part.start.entries < known.entries else None
    chain = Chain(here, part.start)
    try:
        if part.segment is not None:
            chain.follow(links_of_lines(Archives(folder).lines(part.segment)))
            if (chain.entries, chain.head) != (part.segment.last, part.segment.head):
                return None
        else:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
                connection.text_factory = bytes
                chain.follow(read_links(connection, part.after, part.last))
    except (ChainBroken, sqlite3.Error):
        return None
    return Verified(chain.entries, chain.head), chain.said
