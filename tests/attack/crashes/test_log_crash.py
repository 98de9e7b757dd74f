"""The gate is killed at any moment. What it said was on record is on record, and the chain is whole."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from querygate.control import Database, Log
from tests.forks import Forks, forks

ROUNDS = 10

IMPORTS = """
import os, secrets, signal
from datetime import UTC, datetime
from pathlib import Path
from querygate.control import Database, Log, new_query_id

request = {"user": "ann", "dataset": "p", "version": 1, "sql": "SELECT 1", "mode": "interval",
           "canonical_hash": "", "policy_hash": ""}

def now():
    return datetime.now(UTC)
"""

WRITE_UNTIL_KILLED = (
    IMPORTS
    + """
def act(path):
    log = Log(Database(Path(path)), now)
    while True:
        query = new_query_id(now, secrets.token_bytes)
        log.intend(query, **request)
        os.write(1, f"intended {query}\\n".encode())
        log.conclude(query, "answered", answer={"rows": ["x" * 3000]})
        os.write(1, f"concluded {query}\\n".encode())
"""
)

DIE_BETWEEN_INSERT_AND_COMMIT = (
    IMPORTS
    + """
def act(path):
    log = Log(Database(Path(path)), now)
    log.intend("q_1", **request)
    with log.database.appending() as connection:
        connection.create_function("die", 0, lambda: os.kill(os.getpid(), signal.SIGKILL))
        connection.execute("CREATE TEMP TRIGGER last AFTER INSERT ON log BEGIN SELECT die(); END")
    log.conclude("q_1", "answered", answer={})
"""
)


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "control.db"


def killed_writer(writers: Forks, path: Path, delay_s: float) -> Iterator[tuple[str, str]]:
    """What a writer reported until it was killed, `delay_s` after its first report."""
    writers.start(path)
    first = writers.line()
    time.sleep(delay_s)
    writers.kill()
    ended, rest = writers.end()
    assert ended == -signal.SIGKILL
    for line in [first, *rest]:
        step, query_id = line.split()
        yield step, query_id


def test_what_was_reported_survives_sigkill_at_any_moment(path: Path) -> None:
    dice = random.Random(20260301)
    intended: set[str] = set()
    concluded: set[str] = set()
    with forks(WRITE_UNTIL_KILLED) as writers:
        for kills in range(1, ROUNDS + 1):
            for step, query_id in killed_writer(writers, path, dice.uniform(0, 0.05)):
                (intended if step == "intended" else concluded).add(query_id)

            database = Database(path)
            log = Log(database, now)
            log.note("restart", user=None)
            entries = log.verify().entries
            queries = {query["id"]: query for query in log.queries()}
            assert intended <= queries.keys()
            assert {query_id for query_id in concluded if queries[query_id]["outcome"] != "answered"} == set()
            # At most one query per kill got further than its writer could say.
            assert len(queries.keys() - intended) <= kills
            assert len(list(log.events())) == entries
            database.close()
    assert len(intended) >= ROUNDS
    assert concluded <= intended


def test_an_answer_whose_commit_was_cut_off_is_not_half_there(path: Path) -> None:
    with forks(DIE_BETWEEN_INSERT_AND_COMMIT) as writers:
        assert writers.run(path) == -signal.SIGKILL

    database = Database(path)
    log = Log(database, now)
    assert log.verify().entries == 1
    assert [(query["id"], query["outcome"]) for query in log.queries()] == [("q_1", "failed")]
    assert log.answer("q_1") is None
    log.conclude("q_1", "failed")
    assert log.verify().entries == 2
    database.close()
