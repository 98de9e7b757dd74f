"""A mark outside the control database: how long its log was. A database that is behind its mark is an old copy.

A restored backup has a sound log that ends too early, and budgets that have forgotten later spending. Nothing inside it
shows this. The mark does: a small file, written at intervals and after each spend, and set back only by `querygate
restore`.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from querygate.control.budgets.ledger_evidence import LAST_TOLD
from querygate.control.ids import stamp_now
from querygate.control.log.archive_seals import NotSealed
from querygate.control.log.entry_chain import ChainBroken
from querygate.control.log.log import Log
from querygate.core.errors import ConfigError
from querygate.core.files.full_disk import is_full_disk

MARK = "head.mark"

_MARKED = "SELECT (SELECT hash FROM log WHERE seq = ?), min(seq) FROM log"
_NOTE = """INSERT INTO shipment (target, seq) VALUES (?, ?)
           ON CONFLICT (target) DO UPDATE SET seq = excluded.seq"""


@dataclass(frozen=True, slots=True)
class HeadMark:
    """How many entries the log had at that time, and the hash of the last; `told` is the hash of the last entry
    about budgets."""

    entries: int
    head: str
    time: str
    told: str | None = None

    def line(self) -> str:
        return json.dumps(asdict(self)) + "\n"


def read_mark(path: Path) -> HeadMark | None:
    """The mark in a file, or in its last line; None if there is none."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        said = json.loads(next(line for line in reversed(lines) if line.strip()))
        return HeadMark(int(said["entries"]), str(said["head"]), str(said["time"]), said.get("told"))
    except (FileNotFoundError, StopIteration):
        return None
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigError(
            "QG807",
            f"{path.name} should say how long the log is, but cannot be read.",
            "Restore the file, or see `querygate restore --help` for a site whose mark is lost.",
        ) from None


def set_mark(log: Log, path: Path, *, back: bool = False) -> HeadMark | None:
    """Mark where the log ends now. None, and nothing is done, where the mark is there already or further on; `back`
    sets it back."""
    with _alone(path.parent):
        head, known = log.head(), None if back else read_mark(path)
        if known is not None and known.entries >= head.entries:
            return None
        # What the mark before knew stays: an entry about budgets that is gone since must not be forgotten with it.
        later = log.database.rows(LAST_TOLD, (known.entries if known else 0,))
        told = later[0]["hash"] if later else known.told if known else None
        mark = HeadMark(head.entries, head.head, stamp_now(log.clock), told)
        try:
            staged = path.with_name(f".{path.name}.new")
            _write(staged, mark, os.O_CREAT | os.O_TRUNC)
            staged.replace(path)
        except OSError as error:
            # What was spent is on disk; it must not be lost to the asker because a new file has no room.
            if not is_full_disk(error) or not path.exists():
                raise
            _write(path, mark, 0)
    if back or last_marked(log) is None:
        note_marked(log, mark)
    return mark


def _write(path: Path, mark: HeadMark, flags: int) -> None:
    line = mark.line().encode()
    handle = os.open(path, os.O_WRONLY | flags, 0o600)
    try:
        if os.write(handle, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.ftruncate(handle, len(line))
        os.fsync(handle)
    finally:
        os.close(handle)


def note_marked(log: Log, mark: HeadMark) -> None:
    """Remember in the database too that there was a mark: one that is gone, or put back, is remarked upon then."""
    with log.database.writing() as connection:
        connection.execute(_NOTE, (MARK, mark.entries))


def mark_problem(log: Log, path: Path) -> str | None:
    """What is wrong with a mark although it matches: it is missing, or older than one that was there. A new site has
    none."""
    known, mark = last_marked(log), read_mark(path)  # in this order: the file is written first
    if known is None or (mark is not None and mark.entries >= known):
        return None
    if mark is None:
        return f"{path.name} is missing. It said that the log had at least {known:,} entries."
    return f"{path.name} is an old copy: it says {mark.entries:,} entries, and had said {known:,}."


def last_marked(log: Log) -> int | None:
    """How long the log was when the database last noted a mark; None if there never was one."""
    rows = log.database.rows("SELECT seq FROM shipment WHERE target = ?", (MARK,))
    return int(rows[0]["seq"]) if rows else None


def has_marked(log: Log, mark: HeadMark) -> bool:
    """Whether the log still has the entry of a mark. If its archive was discarded it counts as present; the caller
    must have checked that the archive is signed. Raises ChainBroken if an archive cannot be read."""
    found, first = log.database.rows(_MARKED, (mark.entries,))[0]
    if found is None and mark.entries < (first or 1):
        return log.hash_at(mark.entries) in (None, mark.head)
    return bool(found == mark.head)


def check_marked(log: Log, *paths: Path) -> None:
    """Raise ConfigError QG807 if the log ends before one of the marks, or is a different log."""
    for path in paths:
        mark = read_mark(path)
        if mark is None:
            continue
        head = log.head()
        if head.entries < mark.entries:
            raise _older(
                f"control.db is older than the log's mark: its log ends at entry {head.entries:,}, but had "
                f"{mark.entries:,} entries at {mark.time}."
            )
        try:
            log.check_sealed()
            found = log.hash_at(mark.entries)
        except NotSealed as broken:
            raise ConfigError("QG807", str(broken), broken.remedy) from None
        except ChainBroken as broken:
            raise _older(str(broken)) from None
        if found not in (None, mark.head):  # None: its archive was discarded
            raise _older(f"control.db does not match the log's mark: entry {mark.entries:,} of its log differs.")


def _older(detail: str) -> ConfigError:
    return ConfigError(
        "QG807",
        detail,
        "Budget that was spent since would be forgotten. Run `querygate restore --log FILE` with an export or the "
        "archives of the later log, or `querygate restore --write-off all`.",
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
