"""A budget that many processes spend while they are killed: it is never overspent, and no answer leaves unpaid.

`make soak ONLY=budget` does the same with 10,000 requests.
"""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from querygate.control import Database, SqliteBudgets
from querygate.core.budget_ledger import Ledger
from querygate.core.budget_types import EPSILON_PLACES, Cost, PriorAnswer, Reservation, Scope, Sequential, SpentTotal
from tests.postgres import Server
from tests.soak.budget import PROCESSES, Found, judge, read_line, scopes_of, soak, spend
from tests.work import HANG_S

REQUESTS = 320
OFTEN = 0.03
"""Few requests, so that processes die more often."""

DIE_BEFORE_THE_COMMIT = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from querygate.control import Database, SqliteBudgets
from querygate.core.budget_types import Cost, Scope

database = Database(Path(sys.argv[1]))
budgets = SqliteBudgets(database, lambda: datetime.now(UTC))
limits = [Scope("user", "ann", "p", 1.0), Scope("dataset", "p", "p", 1.0)]
budgets.reserve("q_1", "k1", limits, Cost(0.1))
with database.writing() as connection:
    connection.create_function("die", 0, lambda: os.kill(os.getpid(), signal.SIGKILL))
    connection.execute(f"CREATE TEMP TRIGGER last AFTER INSERT ON {sys.argv[2]} BEGIN SELECT die(); END")
budgets.reserve("q_2", "k2", limits, Cost(0.1))
budgets.record("q_2", "{}")
"""

LIMITS = [Scope("user", "ann", "p", 1.0), Scope("dataset", "p", "p", 1.0)]


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "control.db"


def check(found: Found) -> None:
    assert found.wrong == []
    assert found.told["asked"] >= REQUESTS // PROCESSES * PROCESSES
    assert found.told["left"] > 0
    assert found.told["held"] > 0
    assert found.told["QG401"] > 0
    assert found.killed > 0


def test_processes_killed_at_any_moment_do_not_overspend_on_sqlite(path: Path, tmp_path: Path) -> None:
    check(soak(str(path), tmp_path, REQUESTS, random.Random(1), OFTEN))


def test_processes_killed_at_any_moment_do_not_overspend_on_postgresql(postgres: Server, tmp_path: Path) -> None:
    check(soak(postgres.url(database=postgres.new_database()), tmp_path, REQUESTS, random.Random(2), OFTEN))


@pytest.mark.parametrize(
    ("table", "reservations", "answers"), [("reservation", 1, 0), ("charge", 1, 0), ("noisy_answer", 2, 0)]
)
def test_what_was_cut_off_before_its_commit_is_not_half_there(
    path: Path, table: str, reservations: int, answers: int
) -> None:
    died = subprocess.run([sys.executable, "-c", DIE_BEFORE_THE_COMMIT, str(path), table], timeout=HANG_S)
    assert died.returncode == -signal.SIGKILL
    database = Database(path)
    budgets = SqliteBudgets(database, now, patience_s=0.0)
    assert budgets.verify() == (reservations, answers, 2)
    assert budgets.left(LIMITS) == (1.0 - reservations / 10,) * 2
    # Whoever asks again draws anew, and pays anew for what was reserved: nothing is lost but budget.
    assert isinstance(budgets.reserve("q_3", "k2", LIMITS, Cost(0.1)), Reservation)
    assert budgets.record("q_3", "drawn anew") == "drawn anew"
    assert budgets.reserve("q_4", "k2", LIMITS, Cost(0.1)) == PriorAnswer("drawn anew")
    assert budgets.verify() == (reservations + 1, 1, 2)
    database.close()


# -- with the defence switched off -----------------------------------------------------------------------------------


class Slow(Sequential):
    """Takes its time between reading a total and writing the new one."""

    def fits(self, total: SpentTotal, scope: Scope) -> bool:
        time.sleep(0.002)
        return super().fits(total, scope)


class Careless(SqliteBudgets):
    """Lets others in meanwhile: each statement is a transaction of its own."""

    @contextmanager
    def _writing(self, dataset: str) -> Iterator[Any]:
        with self._reading() as page:
            yield page


def spend_in_threads(ledger: Ledger) -> Found:
    notes: list[str] = []

    def ask(seed: int) -> None:
        rng = random.Random(seed)
        while sum(note.startswith("asked") for note in notes) < REQUESTS:
            try:
                spend(ledger, rng, REQUESTS, 1, notes.append)
            except sqlite3.IntegrityError:
                notes.append("refused by the store")

    threads = [threading.Thread(target=ask, args=[seed]) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = Found()
    for note in notes:
        read_line(note, found)
    return found


def test_without_one_transaction_the_store_itself_still_refuses(path: Path) -> None:
    database = Database(path)
    found = spend_in_threads(Careless(database, now, Slow(), patience_s=0.0))
    assert found.told["refused"] > 0
    budgets, everybody = SqliteBudgets(database, now), scopes_of(0, REQUESTS)[-1]
    assert sum(one.epsilon for one in budgets.spent("p") if one.scope.kind == "dataset") <= everybody.epsilon
    database.close()


def test_without_either_the_budget_is_overspent_and_found_to_be(path: Path) -> None:
    database = Database(path)
    with database.writing() as connection:
        [(table,)] = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'charge'").fetchall()
        connection.execute("DROP TABLE charge")  # and its triggers
        keys = "PRIMARY KEY (dataset, kind, name, number),", "UNIQUE (query_id, kind, name)"
        connection.execute(table.replace(keys[0], "").replace(keys[1], "CHECK (true)"))
    found = spend_in_threads(Careless(database, now, Slow(), patience_s=0.0))
    [(spent,)] = database.rows("SELECT sum(epsilon) FROM reservation")
    assert spent > scopes_of(0, REQUESTS)[-1].epsilon * 10**EPSILON_PLACES
    assert any("does not add up" in text for text in judge(SqliteBudgets(database, now), REQUESTS, found).wrong)
    database.close()
