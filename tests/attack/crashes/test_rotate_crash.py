"""The process that moves old entries into archives is killed at any moment. No entry is lost, none is there twice."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from querygate.control import Database, Log, VerifiedChain, discard, load_key, rotate
from tests.forks import Forks, forks

ENTRIES = 600
ROUNDS = 12
NOW = datetime(2026, 6, 1, tzinfo=UTC)

ACT = """
import os, signal
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from querygate.control import Database, Log, discard, load_key, rotate

def rotate_and_discard(log, folder, keep):
    rotate(log, load_key(folder), timedelta(days=keep), user="carl", most=40)
    discard(log, timedelta(days=keep + 30), user="carl")

def die_at(steps):
    \"\"\"Die after so many of the things that change a disk.\"\"\"
    left = [steps]
    def stepped(function):
        def step(*arguments, **more):
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return function(*arguments, **more)
        return step
    os.fsync = stepped(os.fsync)
    os.open = stepped(os.open)
    Path.replace = stepped(Path.replace)
    Path.unlink = stepped(Path.unlink)
    Log.append = stepped(Log.append)
    plain = Database.writing
    @contextmanager
    def writing(self):
        with plain(self) as connection:
            yield connection
            stepped(lambda: None)()  # before the commit
        stepped(lambda: None)()  # after it
    Database.writing = writing

def act(folder, keep, steps):
    folder = Path(folder)
    if steps != "any":
        die_at(int(steps))
    log = Log(Database(folder / "control.db"), lambda: datetime(2026, 6, 1, tzinfo=UTC))
    if steps != "any":
        return rotate_and_discard(log, folder, int(keep))
    load_key(folder)
    os.write(1, b"begins\\n")
    for day in range(5):
        rotate_and_discard(log, folder, int(keep) - day)
    signal.pause()  # whoever was to kill it is late
"""


@pytest.fixture(scope="module")
def rotators() -> Iterator[Forks]:
    with forks(ACT) as rotators:
        yield rotators


def make_log(folder: Path) -> tuple[Log, VerifiedChain, list[str]]:
    """Entries of 100 days, and what they are."""
    moment = [NOW - timedelta(days=100)]
    log = Log(Database(folder / "control.db"), lambda: moment[0])
    load_key(folder)
    with log.database.writing() as connection:
        for number in range(ENTRIES):
            log.append(connection, "publish", None, "ann", "p", {"number": number, "text": "x" * (number % 50)})
            moment[0] += timedelta(days=100) / ENTRIES
    moment[0] = NOW
    return log, log.verify(), [line.decode() for line in log.lines()]


def check(log: Log, known: VerifiedChain, lines: list[str]) -> None:
    """All entries are there, once each, apart from those that were discarded and are told of."""
    verified = log.verify(known)
    seen = [line.decode() for line in log.lines()]
    assert len(seen) == verified.entries - verified.since + 1
    assert seen[: ENTRIES - verified.since + 1] == lines[verified.since - 1 :]
    inside = {row["seq"] for row in log.database.rows("SELECT seq FROM log")}
    [archived] = log.database.rows("SELECT coalesce(max(last), 0) AS last FROM segment")
    assert inside == set(range(archived["last"] + 1, verified.entries + 1))


def test_killed_at_any_moment(rotators: Forks, tmp_path: Path) -> None:
    log, known, lines = make_log(tmp_path)
    dice = random.Random(20260301)
    for turn in range(ROUNDS):
        rotators.start(tmp_path, 90 - 5 * turn, "any")
        assert rotators.line() == "begins"
        time.sleep(dice.uniform(0, 0.06))
        rotators.kill()
        assert rotators.end() == (-signal.SIGKILL, [])
        check(log, known, lines)
    rotate(log, load_key(tmp_path), timedelta(days=20), user="carl", most=40)
    discard(log, timedelta(days=50), user="carl")
    check(log, known, lines)
    assert log.verify().since > 1
    log.database.close()


@pytest.mark.parametrize("step", range(24))
def test_killed_at_every_step(rotators: Forks, tmp_path: Path, step: int) -> None:
    log, known, lines = make_log(tmp_path)
    log.database.close()
    assert rotators.run(tmp_path, 80, step) == -signal.SIGKILL
    log = Log(Database(tmp_path / "control.db"), lambda: NOW)
    check(log, known, lines)
    rotate(log, load_key(tmp_path), timedelta(days=80), user="carl", most=40)
    check(log, known, lines)
    assert {file.suffix for file in (tmp_path / "logs").glob("segment-*")} == {".gz", ".sig"}
    log.database.close()
