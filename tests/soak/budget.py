"""Sixteen processes that spend one budget, and are killed at any moment: 10,000 requests, on SQLite and on PostgreSQL.

A process asks, draws, records and lets the answer out, which is a line in its report. It kills itself now and then
between any two of these steps, and is killed from outside in the middle of one; another one takes its place. Requests
repeat, so that many meet over one key, and cost three times what there is. Afterwards the ledger and the reports are
compared: no limit was passed, each answer that left was paid for and is the only one of its key, and when there was
nothing left everything new was refused.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from querygate.control import Database, SqliteBudgets
from querygate.core.budget_ledger import Ledger, LedgerBroken
from querygate.core.budget_types import Cost, PriorAnswer, Scope
from querygate.core.errors import BudgetExhausted
from querygate_adapters.store.postgres_budgets import PostgresBudgets
from tests import postgres
from tests.report import row

PROCESSES = 16
REQUESTS = 10_000
LIMIT_S = 1_800.0
DATASET = "p"
USERS = 8
SUICIDE = 0.004
"""How often a process kills itself, at each of four moments of a request."""

EVERY_S = 0.3

Note = Callable[[str], None]


@dataclass
class Found:
    """What the reports tell."""

    told: Counter[str] = field(default_factory=Counter)
    left: dict[str, set[str]] = field(default_factory=dict)
    killed: int = 0
    wrong: list[str] = field(default_factory=list)


def run() -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("sqlite", "postgres"):
            reports = Path(folder, name)
            reports.mkdir()
            server = postgres.server() if name == "postgres" else None
            where = server.url(database=server.new_database()) if server else str(reports / "control.db")
            began = time.monotonic()
            found = soak(where, reports, REQUESTS, random.Random(0))
            print("\n".join(found.wrong[:20]))
            against = f"{found.told['asked']:,} requests, {found.killed} kills, {time.monotonic() - began:.0f} s"
            print(f"{name}: {against}, {dict(found.told)}")
            rows.append(row(f"budget on {name}: wrong", len(found.wrong), "of", against, target=0, met=not found.wrong))
    postgres.stop()
    return rows


def scopes_of(user: int, requests: int) -> list[Scope]:
    """A user's limit, that of their group and everybody's: a third of what all requests would cost."""
    total = requests // 2 * 2 / 100 / 3
    return [
        Scope("user", f"u{user}", DATASET, round(total / 6, 2)),
        Scope("group", f"g{user % 2}", DATASET, round(0.6 * total, 2)),
        Scope("dataset", DATASET, DATASET, round(total, 2)),
    ]


def cost_of(key: int) -> Cost:
    return Cost((1 + key % 3) / 100)


def open_ledger(where: str, patience_s: float = 0.5) -> Ledger:
    if where.startswith("postgresql://"):
        return PostgresBudgets(where, patience_s=patience_s)
    return SqliteBudgets(Database(Path(where)), lambda: datetime.now(UTC), patience_s=patience_s)


# -- the processes that spend --------------------------------------------------------------------------------------


def spend(ledger: Ledger, rng: random.Random, requests: int, count: int, note: Note, suicide: float = 0.0) -> None:
    """Ask so many of the requests, and report what happened."""

    def die() -> None:
        if rng.random() < suicide:
            os.kill(os.getpid(), signal.SIGKILL)

    for _ in range(count):
        key, query_id = rng.randrange(requests // 2), f"q_{rng.getrandbits(64):016x}"
        note(f"asked {key}")
        die()
        try:
            found = ledger.reserve(query_id, f"k{key}", scopes_of(rng.randrange(USERS), requests), cost_of(key))
        except BudgetExhausted as refused:
            note(f"{refused.code} {key}")
            continue
        die()
        if isinstance(found, PriorAnswer):
            note(f"held {key} {found.answer}")
            continue
        standing = ledger.record(query_id, f"{query_id}:{rng.getrandbits(32)}")
        die()
        note(f"left {key} {standing}")
        die()


def work(where: str, report: str, requests: int, count: int, seed: int, suicide: float) -> None:
    """What one process does."""
    file = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(text: str) -> None:
        os.write(file, f"{text}\n".encode())  # in one piece

    try:
        spend(open_ledger(where), random.Random(seed), requests, count, note, suicide)
    except Exception as error:
        note(f"error {error!r}".replace("\n", " "))


# -- who kills them, and looks at what is left ---------------------------------------------------------------------


def soak(where: str, reports: Path, requests: int, rng: random.Random, suicide: float = SUICIDE) -> Found:
    """Let the processes spend, killing one about every EVERY_S. What was found is wrong or it is not."""
    context = multiprocessing.get_context("forkserver")  # children of a process that has opened nothing
    context.set_forkserver_preload(["tests.soak.budget"])
    open_ledger(where).spent(DATASET)  # made once, before the rush
    shares = [requests // PROCESSES] * PROCESSES
    running: dict[int, BaseProcess] = {}
    found, until = Found(), time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        for number in range(PROCESSES):
            if number in running and not running[number].is_alive():
                found.killed += running.pop(number).exitcode == -signal.SIGKILL
            count = shares[number] - _asked(reports / f"{number}")
            if number not in running and count > 0:
                words = (where, str(reports / f"{number}"), requests, count, rng.getrandbits(64), suicide)
                running[number] = context.Process(target=work, args=words)
                running[number].start()
        if not running:
            break
        time.sleep(rng.uniform(0, 2 * EVERY_S))
        victim = rng.choice(list(running.values()))
        if victim.is_alive():
            victim.kill()
    read_reports(reports, found)
    return judge(open_ledger(where, patience_s=0.0), requests, found)


def _asked(report: Path) -> int:
    return report.read_text().count("asked ") if report.exists() else 0


def read_reports(reports: Path, found: Found) -> None:
    for number in range(PROCESSES):
        for line in (reports / f"{number}").read_text().splitlines():
            read_line(line, found)


def read_line(line: str, found: Found) -> None:
    what, key, *rest = line.split(maxsplit=2)
    found.told[what] += 1
    if what in ("held", "left"):
        found.left.setdefault(key, set()).update(rest)
    elif what not in ("asked", "QG401"):
        found.wrong.append(line)


def judge(ledger: Ledger, requests: int, found: Found) -> Found:
    """Compare the ledger with what left."""
    try:
        checked = ledger.verify()
    except LedgerBroken as broken:
        found.wrong.append(str(broken))
        return found
    limits = {(scope.kind, scope.name): scope for user in range(USERS) for scope in scopes_of(user, requests)}
    spendings = ledger.spent(DATASET)
    for one in spendings:
        limit = limits[one.scope.kind, one.scope.name].epsilon
        if one.epsilon > limit:
            found.wrong.append(f"{one.scope.kind} {one.scope.name} spent {one.epsilon} of {limit}")
    everybody = next(one for one in spendings if one.scope.kind == "dataset")
    paid = sum(round(100 * cost_of(int(key)).epsilon) for key in found.left)
    if paid > round(100 * everybody.epsilon):
        found.wrong.append(f"answers for {paid / 100} left, and {everybody.epsilon} was spent")
    if everybody.releases != checked.reservations or checked.answers > checked.reservations:
        found.wrong.append(f"{checked} for {everybody.releases} releases")
    if min(ledger.left([limits["dataset", DATASET]])) >= 0.03 or not found.told["QG401"]:
        found.wrong.append(f"the budget was not spent: {ledger.left([limits['dataset', DATASET]])[0]} is left")
    nothing = [Scope("user", "nobody", DATASET, 0.0)]
    for key, answers in found.left.items():
        if {ledger.reserve("q_after", f"k{key}", nothing, cost_of(int(key)))} != {PriorAnswer(one) for one in answers}:
            found.wrong.append(f"key {key} had {len(answers)} answers, or another one than stands")
    return found
