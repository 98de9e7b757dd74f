"""The process that moves old entries into archives is killed at any moment. No entry is lost, none is there twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from querygate.control import Database, Log, VerifiedChain, discard, load_key, rotate

ENTRIES = 600
ROUNDS = 12
NOW = datetime(2026, 6, 1, tzinfo=UTC)

ROTATE = """
import sys, os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from querygate.control import Database, Log, discard, load_key, rotate

folder, keep = Path(sys.argv[1]), int(sys.argv[2])
log = Log(Database(folder / "control.db"), lambda: datetime(2026, 6, 1, tzinfo=UTC))
key = load_key(folder)
os.write(1, b"begins\\n")
rotate(log, key, timedelta(days=keep), user="carl", most=40)
discard(log, timedelta(days=keep + 30), user="carl")
"""

# Dies at each step of one run: after so many of the things that change a disk.
DIE_AT = """
import os, signal, sys
from pathlib import Path
left = [int(sys.argv[3])]
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
from querygate.control.log import Log
Log.append = stepped(Log.append)
from querygate.control.database import Database
from contextlib import contextmanager
plain = Database.writing
@contextmanager
def writing(self):
    with plain(self) as connection:
        yield connection
        stepped(lambda: None)()  # before the commit
    stepped(lambda: None)()  # after it
Database.writing = writing
"""


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


def test_killed_at_any_moment(tmp_path: Path) -> None:
    log, known, lines = make_log(tmp_path)
    dice = random.Random(20260301)
    killed = 0
    for turn in range(ROUNDS):
        command = [sys.executable, "-c", ROTATE, str(tmp_path), str(90 - 5 * turn)]
        runner = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert runner.stdout is not None
        assert runner.stdout.readline() == b"begins\n"
        time.sleep(dice.uniform(0, 0.06))
        runner.kill()
        runner.communicate(timeout=60)
        killed += runner.returncode == -signal.SIGKILL
        check(log, known, lines)
    assert killed > ROUNDS / 3
    rotate(log, load_key(tmp_path), timedelta(days=20), user="carl", most=40)
    discard(log, timedelta(days=50), user="carl")
    check(log, known, lines)
    assert log.verify().since > 1
    log.database.close()


@pytest.mark.parametrize("step", range(24))
def test_killed_at_every_step(tmp_path: Path, step: int) -> None:
    log, known, lines = make_log(tmp_path)
    log.database.close()
    died = subprocess.run([sys.executable, "-c", DIE_AT + ROTATE, str(tmp_path), "80", str(step)], timeout=60)
    assert died.returncode == -signal.SIGKILL
    log = Log(Database(tmp_path / "control.db"), lambda: NOW)
    check(log, known, lines)
    rotate(log, load_key(tmp_path), timedelta(days=80), user="carl", most=40)
    check(log, known, lines)
    assert {file.suffix for file in (tmp_path / "logs").glob("segment-*")} == {".gz", ".sig"}
    log.database.close()
