"""Writers in a row, over threads, processes and forks."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from querygate.control import Database, Log
from querygate.control import database as database_module
from querygate.control.write_queue import WriteQueue, sync_file
from querygate.core.limits.turn import Turn
from tests.work import HANG_S


def forked(work: object) -> int:
    """The exit code of a child that does this and ends."""
    pid = os.fork()
    if not pid:
        try:
            assert callable(work)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_fork_has_a_turn_of_its_own(tmp_path: Path) -> None:
    """The lock of a descriptor that both sides share would let the other side in."""
    queue, came = WriteQueue(tmp_path / "lock"), tmp_path / "came"

    def write() -> None:
        with queue.turn():
            came.touch()

    with queue.turn():
        pass
    with WriteQueue(tmp_path / "lock").turn():
        waiting = threading.Thread(target=forked, args=(write,))
        waiting.start()
        waiting.join(0.2)
        assert not came.exists()
    waiting.join(HANG_S)
    assert came.exists()


def test_whoever_finds_it_free_goes_on_computing_and_whoever_waits_lets_others_compute(tmp_path: Path) -> None:
    queue, turn = WriteQueue(tmp_path / "lock"), Turn(lambda: 0.0)
    wrote, computed = threading.Event(), threading.Event()

    def write() -> None:
        with turn.taken(), queue.turn():
            wrote.set()

    def compute() -> None:
        with turn.taken():
            computed.set()

    with turn.taken(), queue.turn():
        beside = threading.Thread(target=compute)
        beside.start()
        assert not computed.wait(0.05)
    assert computed.wait(HANG_S)
    computed.clear()
    with WriteQueue(tmp_path / "lock").turn():  # as another process would hold it
        waiting = threading.Thread(target=write)
        waiting.start()
        assert not wrote.wait(0.05)
        compute()
        assert computed.is_set()
    assert wrote.wait(HANG_S)
    for thread in (beside, waiting):
        thread.join(HANG_S)


def test_a_writer_that_is_killed_lets_the_next_one_in(tmp_path: Path) -> None:
    def die() -> None:
        with WriteQueue(tmp_path / "lock").turn():
            os.kill(os.getpid(), 9)

    assert forked(die) == -9
    with WriteQueue(tmp_path / "lock").turn():
        pass


def test_only_its_owner_may_read_the_file(tmp_path: Path) -> None:
    with WriteQueue(tmp_path / "lock").turn():
        assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_not_there_needs_no_syncing(tmp_path: Path) -> None:
    sync_file(tmp_path / "nothing")


def test_a_closed_queue_opens_again(tmp_path: Path) -> None:
    queue = WriteQueue(tmp_path / "lock")
    for _ in range(2):
        with queue.turn():
            pass
        queue.close()


@pytest.mark.parametrize("read", ["answer", "query", "verify", "lines"])
def test_what_the_log_tells_somebody_is_on_disk(log: Log, read: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry can be seen before it is on disk; it is not told of before."""
    log.repeat("q_1", {"rows": []}, user="ann", dataset="p", version=1, sql="SELECT 1", mode="interval",
               canonical_hash="", policy_hash="")  # fmt: skip
    synced: list[Path] = []
    monkeypatch.setattr(database_module, "sync_file", synced.append)
    if read == "lines":
        next(iter(log.lines()))
    else:
        getattr(log, read)(*(["q_1"] if read != "verify" else []))

    assert [path.name for path in synced][:1] == ["control.db-wal"]


def test_entries_are_on_disk_before_the_caller_goes_on(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(database_module, "sync_file", synced.append)
    log.intend("q_1", user="ann", dataset="p", version=1, sql="SELECT 1", mode="interval", canonical_hash="",
               policy_hash="")  # fmt: skip
    assert len(synced) == 1
    log.conclude("q_1", "answered", answer={"rows": []})
    assert len(synced) == 2
    log.note("dry_run", user="ann")
    assert len(synced) == 3


def test_the_next_writer_need_not_wait_for_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(path)

    def sync(path: Path) -> None:
        with database.writing():  # would wait forever if the turn were still taken
            pass

    monkeypatch.setattr(database_module, "sync_file", sync)
    with database.appending() as connection:
        connection.execute("INSERT INTO users (name, role, created) VALUES ('ann', 'admin', '')")
    database.close()
