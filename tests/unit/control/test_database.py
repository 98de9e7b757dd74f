"""The door to control.db."""

import sqlite3
import subprocess
import sys
import threading

import pytest

from querygate.control import Database
from querygate.control.schema import MIGRATIONS
from querygate.core.errors import ConfigError
from tests.work import HANG_S

ADD_USER = "INSERT INTO users (name, role, created) VALUES (?, 'researcher', '')"


def names(database):
    return [row["name"] for row in database.rows("SELECT name FROM users ORDER BY name")]


def test_only_the_owner_can_read_what_it_makes(tmp_path):
    path = tmp_path / "new" / "site" / "control.db"
    database = Database(path)
    with database.writing() as connection:
        connection.execute(ADD_USER, ("ann",))
    made = [tmp_path / "new", tmp_path / "new" / "site"]
    assert [folder.stat().st_mode & 0o777 for folder in made] == [0o700, 0o700]
    files = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert files == dict.fromkeys(("control.db", "control.db-wal", "control.db-shm", "control.db-lock"), 384)
    database.close()


def test_commits_are_durable_and_keys_are_checked(database):
    settings = [database.rows(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous", "foreign_keys")]
    assert settings == ["wal", 2, 1]
    with pytest.raises(sqlite3.IntegrityError), database.writing() as connection:
        connection.execute("INSERT INTO keys (id, user, hash, created) VALUES ('a', 'nobody', '', '')")


def test_it_opens_again_with_what_was_written(database, path):
    with database.writing() as connection:
        connection.execute(ADD_USER, ("ann",))
    database.close()
    again = Database(path)
    assert names(again) == ["ann"]
    assert again.rows("PRAGMA user_version")[0][0] == len(MIGRATIONS)
    again.close()


def test_a_failed_block_leaves_no_trace_and_the_next_one_works(database):
    with pytest.raises(sqlite3.IntegrityError), database.writing() as connection:
        connection.executemany(ADD_USER, [("ann",), ("ann",)])
    assert names(database) == []
    with database.writing() as connection:
        connection.execute(ADD_USER, ("bob",))
    assert names(database) == ["bob"]


def test_an_older_database_is_brought_up_to_date(path):
    path.parent.mkdir()
    old = sqlite3.connect(path, isolation_level=None)
    for statement in MIGRATIONS[0]:
        old.execute(statement)
    old.execute(ADD_USER, ("ann",))
    old.execute("PRAGMA user_version = 1")
    old.close()
    database = Database(path)
    assert names(database) == ["ann"]
    assert database.rows("SELECT count(*) FROM log")[0][0] == 0
    database.close()


def test_a_failed_migration_leaves_the_version_before(path, monkeypatch):
    broken = (*MIGRATIONS, ("CREATE TABLE half (a TEXT) STRICT", "CREATE TABLE half (a TEXT) STRICT"))
    monkeypatch.setattr("querygate.control.database.MIGRATIONS", broken)
    with pytest.raises(ConfigError):
        Database(path)
    monkeypatch.undo()
    database = Database(path)
    assert database.rows("SELECT name FROM sqlite_schema WHERE name = 'half'") == []
    database.close()


def test_a_newer_database_is_left_alone(database, path):
    database.close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 999")
    newer.close()
    with pytest.raises(ConfigError, match="newer version") as refused:
        Database(path)
    assert refused.value.code == "QG804"


def test_what_is_no_database_is_a_site_that_is_not_ready(tmp_path):
    text = tmp_path / "control.db"
    text.write_text("not a database, and longer than the header of one " * 10)
    for path in (text, tmp_path):
        with pytest.raises(ConfigError) as refused:
            Database(path)
        assert refused.value.code == "QG804"
        assert str(path) in refused.value.detail


def test_each_thread_has_its_own_connection(database):
    failures = []

    def write(thread: int) -> None:
        try:
            for number in range(20):
                with database.writing() as connection:
                    connection.execute(ADD_USER, (f"u{thread}-{number}",))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(names(database)) == 160


def test_closing_reaches_the_connections_of_other_threads(database, path):
    held, done = threading.Event(), threading.Event()

    def read() -> None:
        database.rows("SELECT 1")
        held.set()
        done.wait()

    thread = threading.Thread(target=read)
    thread.start()
    held.wait()
    database.close()
    # SQLite removes these with the last connection.
    assert [file.name for file in path.parent.iterdir()] == ["control.db"]
    done.set()
    thread.join()


OPEN_AT_ONCE = """
import sys
from pathlib import Path
from querygate.control import Database
print("ready", flush=True)
sys.stdin.readline()
database = Database(Path(sys.argv[1]))
with database.writing() as connection:
    connection.execute("INSERT INTO users (name, role, created) VALUES (?, 'researcher', '')", (sys.argv[2],))
"""


def test_processes_may_make_the_database_at_the_same_time(path):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_AT_ONCE, str(path), f"u{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=HANG_S)
    assert [writer.returncode for writer in writers] == [0] * 4
    database = Database(path)
    assert names(database) == ["u0", "u1", "u2", "u3"]
    database.close()


FORK = """
import os, sys
from pathlib import Path
from querygate.control import Database
database = Database(Path(sys.argv[1]))
if sys.argv[2] == "used":
    database.rows("SELECT 1")
child = os.fork()
if child == 0:
    try:
        database.rows("SELECT 1")
    except RuntimeError:
        os._exit(7)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize(("before", "code"), [("unused", 0), ("used", 7)])
def test_a_fork_is_safe_before_the_first_use_and_refused_after_it(path, before, code):
    assert subprocess.run([sys.executable, "-c", FORK, str(path), before], timeout=HANG_S).returncode == code
