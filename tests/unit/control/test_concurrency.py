"""Many writers, one chain."""

import secrets
import subprocess
import sys
import threading
from datetime import UTC, datetime

from querygate.control import Database, Log, new_query_id
from tests.work import HANG_S

WRITER = """
import os, secrets, sys, threading
from datetime import UTC, datetime
from pathlib import Path
from querygate.control import Database, Log, new_query_id

now = lambda: datetime.now(UTC)
log = Log(Database(Path(sys.argv[1])), now)

def write():
    for _ in range(int(sys.argv[2])):
        query = new_query_id(now, secrets.token_bytes)
        log.intend(query, user=sys.argv[3], dataset="p", version=1, sql="SELECT 1", mode="interval",
                   canonical_hash="", policy_hash="")
        log.conclude(query, "answered", answer={"by": sys.argv[3]})
        os.write(1, f"{query}\\n".encode())  # in one piece, unlike print

threads = [threading.Thread(target=write) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def now() -> datetime:
    return datetime.now(UTC)


def test_threads_make_one_chain(database):
    log = Log(database, now)
    written = []

    def write() -> None:
        for _ in range(25):
            query = new_query_id(now, secrets.token_bytes)
            request = {"user": "ann", "dataset": "p", "version": 1, "sql": "SELECT 1", "mode": "interval"}
            log.intend(query, **request, canonical_hash="", policy_hash="")
            log.conclude(query, "answered", answer={})
            written.append(query)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert log.verify().entries == 400
    assert sorted(query["id"] for query in log.queries()) == sorted(written)
    assert {query["outcome"] for query in log.queries()} == {"answered"}
    times = [event["time"] for event in log.events()]
    assert times == sorted(times)


def test_processes_make_one_chain(path):
    command = [sys.executable, "-c", WRITER, str(path), "25"]
    writers = [subprocess.Popen([*command, f"u{number}"], stdout=subprocess.PIPE, text=True) for number in range(4)]
    written = [writer.communicate(timeout=HANG_S)[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 4
    assert [len(queries) for queries in written] == [50] * 4
    database = Database(path)
    log = Log(database, now)
    assert log.verify().entries == 400
    for number, queries in enumerate(written):
        assert sorted(query["id"] for query in log.queries(user=f"u{number}")) == sorted(queries)
        assert all(log.answer(query) == (f"u{number}", {"by": f"u{number}"}) for query in queries)
    database.close()
