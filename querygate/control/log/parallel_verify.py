"""Checking a long log with several processes: if the hash before a part is known, that part can be checked alone.

This only saves time. If a part is wrong, nothing is concluded; the log is followed from its beginning, in one go, to
find the first wrong entry.
"""

from __future__ import annotations

import os
import pickle
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from querygate.control.log.archives import Archives, Segment
from querygate.control.log.entry_chain import START, Chain, ChainBroken, LogEvent, VerifiedChain
from querygate.control.log.entry_links import links_of_lines
from querygate.control.log.log_reader import AFTER_ALL, BEFORE_ALL, check_said, read_links, read_segments
from querygate.control.ports import Connection

ENOUGH = 200_000
"""Entries below which starting processes takes longer than they save."""


# Worker processes load this module and nothing else. `multiprocessing` would load the whole command line again in each
# of them, and that takes longer than the work.
_WORKER = """
import pickle, sys
from querygate.control.log.parallel_verify import follow
pickle.dump([follow(*job) for job in pickle.load(sys.stdin.buffer)], sys.stdout.buffer)
"""

End: TypeAlias = "tuple[VerifiedChain, list[LogEvent]] | None"
"""Where a part ends, and what it says of the log itself; None where it is broken."""


@dataclass(frozen=True, slots=True)
class LogPart:
    """Entries after `start`: those of an archive, or the rows of the database from `after` to `last`."""

    start: VerifiedChain
    segment: Segment | None = None
    after: int = 0
    last: int = 0


def verify_in_parts(
    connection: Connection, archives: Archives, known: VerifiedChain | None, file: Path | None
) -> VerifiedChain | None:
    """The end of an unbroken log; None if it is short, broken, in no file that other processes may read, or needs a
    closer look."""
    if file is None:
        return None
    workers = min(os.cpu_count() or 1, 8)
    segments = read_segments(connection)
    top = connection.execute("SELECT max(seq) FROM log").fetchone()[0] or 0
    kept = [segment for segment in segments if segment.discarded is None]
    since = kept[0].first if kept else segments[-1].last + 1 if segments else 1
    inside = known is None or since <= known.entries <= top
    if workers < 2 or top - since < ENOUGH or not inside:
        return None
    parts = _make_parts(connection, segments, top, workers)
    if not parts:
        return None
    jobs = [(part, str(file), archives.folder, known) for part in parts]
    ends: list[End] = [None] * len(jobs)
    with ThreadPoolExecutor(workers) as pool:
        for first, found in enumerate(pool.map(_run, [jobs[first::workers] for first in range(workers)])):
            ends[first::workers] = found
    at = parts[0].start
    said: list[LogEvent] = []
    for part, end in zip(parts, ends, strict=True):
        if end is None or (part.start.entries, part.start.head) != (at.entries, at.head):
            return None
        at = end[0]
        said += end[1]
    try:
        check_said(segments, said)
    except ChainBroken:
        return None
    return VerifiedChain(at.entries, at.head, since)


def _make_parts(connection: Connection, segments: list[Segment], top: int, workers: int) -> list[LogPart]:
    """Each archive, and the rows in as many parts as there are workers; none if the archives do not join."""
    parts, before = [], START
    for segment in segments:
        if (segment.first - 1, segment.prev) != (before.entries, before.head):
            return []
        if segment.discarded is None:
            parts.append(LogPart(VerifiedChain(segment.first - 1, segment.prev), segment))
        before = VerifiedChain(segment.last, segment.head)
    size = max((top - before.entries) // workers + 1, 1)
    starts = [before]
    for seq in range(before.entries + size, top, size):
        found = connection.execute("SELECT hash FROM log WHERE seq = ?", (seq,)).fetchone()
        if found:
            starts.append(VerifiedChain(seq, found[0].decode(errors="replace")))
    ends = [start.entries for start in starts[1:]] + [AFTER_ALL]
    afters = [BEFORE_ALL, *ends[:-1]]
    return parts + [LogPart(start, None, after, last) for start, after, last in zip(starts, afters, ends, strict=True)]


def _run(jobs: Sequence[tuple[LogPart, str, Path, VerifiedChain | None]]) -> list[End]:
    """Jobs in a process of their own."""
    search = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(  # noqa: S603  (this very program)
        [sys.executable, "-c", _WORKER],
        input=pickle.dumps(jobs),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": search},
    )
    ends: list[End] = pickle.loads(done.stdout) if done.returncode == 0 else [None] * len(jobs)  # noqa: S301
    return ends


def follow(part: LogPart, path: str, folder: Path, known: VerifiedChain | None) -> End:
    """Check one part."""
    here = known if known and part.start.entries < known.entries else None
    chain = Chain(here, part.start)
    try:
        if part.segment is not None:
            chain.follow(links_of_lines(Archives(folder).lines(part.segment)))
            if (chain.entries, chain.head) != (part.segment.last, part.segment.head):
                return None
        else:
            with closing(sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True)) as connection:
                connection.text_factory = bytes
                chain.follow(read_links(connection, part.after, part.last))
    except (ChainBroken, sqlite3.Error):
        return None
    return VerifiedChain(chain.entries, chain.head), chain.said
