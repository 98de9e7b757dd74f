"""Whatever is done to a byte or a line of the log, in an export, in the database or in an archive, it is found."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from querygate.control import ChainBroken, Database, Log, VerifiedChain, make_key, rotate, verify_lines

ENTRIES = 24
BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
MANY = settings(
    max_examples=150,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
COLUMNS = ("seq", "time", "kind", "query_id", "user", "dataset", "body", "prev", "hash")


class Kept:
    """A log of which half is archived, and everything that is needed to put it back as it was."""

    def __init__(self, folder: Path) -> None:
        self.moment = BEGAN
        self.path = folder / "control.db"
        database = Database(self.path)
        self.log = Log(database, lambda: self.moment)
        for number in range(ENTRIES // 2):
            more = {"user": f"u{number % 3}", "dataset": "p", "version": 1, "sql": "SELECT 'ä'", "mode": "interval"}
            self.log.intend(f"q_{number}", **more, canonical_hash="c", policy_hash="d")
            self.log.conclude(f"q_{number}", "answered", answer={"low": number, "high": 2.5})
            self.moment += timedelta(days=1)
        self.lines = [line + b"\n" for line in self.log.lines()]
        rotate(self.log, make_key(folder), timedelta(days=6), user="carl", most=6)
        self.known = self.log.verify()
        self.archives = sorted((folder / "logs").glob("*.gz"))
        database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for (name,) in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            self.rows = connection.execute("SELECT * FROM log ORDER BY seq").fetchall()

    def put(self, rows: list[tuple[Any, ...]]) -> None:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            connection.execute("DELETE FROM log")
            connection.executemany(f"INSERT INTO log VALUES ({', '.join('?' * len(COLUMNS))})", rows)
            connection.execute("COMMIT")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


def is_found(lines: list[bytes], known: VerifiedChain | None = None) -> bool:
    try:
        verify_lines(lines, known)
    except ChainBroken:
        return True
    return False


# -- an export -------------------------------------------------------------------------------------------------------


@MANY
@given(data=st.data())
def test_any_flipped_byte_of_an_export_is_found(kept: Kept, data: st.DataObject) -> None:
    whole = bytearray(b"".join(kept.lines))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    assert is_found(list(io.BytesIO(whole)))


@MANY
@given(data=st.data())
def test_removed_moved_repeated_and_cut_lines_are_found(kept: Kept, data: st.DataObject) -> None:
    lines = list(kept.lines)
    known = verify_lines(lines)
    place, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    what = data.draw(st.sampled_from(["remove", "move", "repeat", "cut off", "cut in"]))
    if what == "remove":
        del lines[place]
    elif what == "move":
        lines.insert(other, lines.pop(place))
    elif what == "repeat":
        lines.insert(other, lines[place])
    elif what == "cut off":
        del lines[place:]
    else:
        lines[place] = lines[place][: data.draw(st.integers(0, len(lines[place]) - 2))]
    if lines == kept.lines:
        return
    assert is_found(lines, known)


# -- the database ----------------------------------------------------------------------------------------------------


def _changed(value: Any, by: int) -> Any:
    if isinstance(value, int):
        return value + by
    if value is None:
        return "x"
    place = by % len(value)
    return value[:place] + chr(ord(value[place]) ^ (1 + by % 7)) + value[place + 1 :]


@MANY
@given(data=st.data())
def test_changed_removed_and_moved_rows_are_found(kept: Kept, data: st.DataObject) -> None:
    rows = [list(row) for row in kept.rows]
    place, other = (data.draw(st.integers(0, len(rows) - 1)) for _ in range(2))
    what = data.draw(st.sampled_from(["change", "remove", "close up", "swap", "cut off"]))
    if what == "change":
        column = data.draw(st.integers(0, len(COLUMNS) - 1))
        rows[place][column] = _changed(rows[place][column], data.draw(st.integers(1, 10_000)))
    elif what == "remove":
        del rows[place]
    elif what == "close up":
        del rows[place]
        rows = [[row[0] - (i >= place), *row[1:]] for i, row in enumerate(rows)]
    elif what == "swap":
        rows[place][1:], rows[other][1:] = rows[other][1:], rows[place][1:]
    else:
        del rows[place:]
    if [tuple(row) for row in rows] == kept.rows or len({row[0] for row in rows}) < len(rows):
        return
    try:
        kept.put([tuple(row) for row in rows])
        with pytest.raises(ChainBroken):
            kept.log.verify(kept.known)
    except sqlite3.IntegrityError:
        return  # the database itself refused (two outcomes of one query)
    finally:
        kept.put(kept.rows)


# -- the archives ----------------------------------------------------------------------------------------------------


@MANY
@given(data=st.data())
def test_any_flipped_byte_or_lost_end_of_an_archive_is_found(kept: Kept, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(kept.archives))
    whole = file.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        altered = whole[:place]
    else:
        altered = whole[:place] + bytes([whole[place] ^ data.draw(st.integers(1, 255))]) + whole[place + 1 :]
    try:
        file.write_bytes(altered)
        with pytest.raises(ChainBroken):
            kept.log.verify()
    finally:
        file.write_bytes(whole)


def test_swapped_archives_are_found_and_the_log_itself_is_whole(kept: Kept) -> None:
    first, second = (file.read_bytes() for file in kept.archives[:2])
    try:
        kept.archives[0].write_bytes(second)
        kept.archives[1].write_bytes(first)
        with pytest.raises(ChainBroken):
            kept.log.verify()
    finally:
        kept.archives[0].write_bytes(first)
        kept.archives[1].write_bytes(second)
    assert kept.log.verify() == kept.known
