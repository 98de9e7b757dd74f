"""A site under load whose gate and worker are killed at random: nothing delivered is missing from the log, no budget is
overspent, and no job is done twice.

Clients ask for ranges, noisy answers (new ones and old ones), prices and budgets, all mixed; what is answered with a
job is followed to its end. Every now and then the gate or the worker gets SIGKILL; the gate is started again by the
soak, the worker by the gate. In the end what the clients have in hand is compared with the log and the ledger.
SERVICE_REQUESTS, SERVICE_CLIENTS and SERVICE_EVERY_S change the size.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from querygate.core.budget_rules import LedgerBroken
from querygate.custody.jobs.open_noise import open_budgets
from querygate.custody.worker.job_handlers import JobHandlers
from querygate.custody.worker.worker import Worker
from querygate.site.job_exchange import JobExchange
from tests.report import row
from tests.served_site import ServedSite, make_served_site, started

REQUESTS = int(os.environ.get("SERVICE_REQUESTS", "20000"))
CLIENTS = int(os.environ.get("SERVICE_CLIENTS", "64"))
EVERY_S = float(os.environ.get("SERVICE_EVERY_S", "20"))
LIMIT_S = 3_600.0
TOTAL = 30.0
"""Epsilon of the dataset: enough for 300 noisy answers, which is less than what is asked for."""

TIMEOUT_S = 120.0

TWICE = """SELECT count(*) FROM (
             SELECT query_id FROM log WHERE kind = 'query.outcome' GROUP BY query_id HAVING count(*) > 1)"""


@dataclass
class Found:
    """What clients and killers have seen."""

    told: Counter[str] = field(default_factory=Counter)
    answers: dict[str, Any] = field(default_factory=dict)
    noisy: dict[str, set[str]] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)
    recovered_s: list[float] = field(default_factory=list)
    left: int = REQUESTS
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> bool:
        with self.lock:
            self.left -= 1
            return self.left >= 0


class Gate:
    """The serving process, started again whenever it is killed."""

    def __init__(self, site: ServedSite) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._site = site
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        process = started("serve", "--site", str(self._site.folder), "--port", str(self.port))
        threading.Thread(target=process.communicate, daemon=True).start()  # nobody reads what it says
        return process

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process = self._start()

    def kill_worker(self) -> None:
        for path in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            for pid in path.read_text().split():
                with suppress(OSError):
                    if b"\0work\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                        os.kill(int(pid), signal.SIGKILL)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        site = make_served_site(Path(folder), total=TOTAL)
        gate, found, over = Gate(site), Found(), threading.Event()
        wait_for(gate)
        began_s = time.monotonic()
        clients = [threading.Thread(target=ask, args=(site, gate, found, seed)) for seed in range(CLIENTS)]
        killer = threading.Thread(target=kill, args=(gate, found, over))
        for thread in (*clients, killer):
            thread.start()
        for thread in clients:
            thread.join(max(0.0, LIMIT_S - (time.monotonic() - began_s)))
        over.set()
        killer.join()
        gate.stop()
        return rows_of(site, found, time.monotonic() - began_s)


# -- clients and killers ---------------------------------------------------------------------------------------------


def call(site: ServedSite, gate: Gate, name: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {site.keys[name]}"}
    wait_for(gate)
    request = urllib.request.Request(f"http://127.0.0.1:{gate.port}{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def ask(site: ServedSite, gate: Gate, found: Found, seed: int) -> None:
    rng = random.Random(seed)
    name = ("ann", "bob")[seed % 2]
    while found.next():
        kind = rng.choices(("range", "noisy", "old", "check", "budget"), (60, 10, 15, 10, 5))[0]
        age, low = rng.randrange(1, 100), rng.randrange(60, 180)
        sql = f"SELECT sex, COUNT(*) AS n FROM patients WHERE age > {age} AND sbp > {low} GROUP BY sex"
        if kind == "old":
            sql = f"SELECT COUNT(*) AS n FROM patients WHERE age > {age % 10}"
        options = {} if kind == "range" else {"mode": "laplace"}
        question = {"dataset": "patients", "sql": sql, "options": options}
        try:
            if kind == "budget":
                status, body = call(site, gate, name, "GET", "/api/v1/budget?dataset=patients")
            else:
                path = "/api/v1/query/check" if kind == "check" else "/api/v1/query"
                status, body = call(site, gate, name, "POST", path, question)
                if status == 202:
                    status, body = follow(site, gate, name, body["job"])
        except (OSError, ValueError):  # it was killed on the way
            with found.lock:
                found.told["cut off"] += 1
            time.sleep(0.2)
            continue
        note(found, kind, sql, status, body)


def follow(site: ServedSite, gate: Gate, name: str, job: str) -> tuple[int, Any]:
    until_s = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until_s:
        with suppress(OSError, ValueError):
            status, body = call(site, gate, name, "GET", f"/api/v1/jobs/{job}")
            if status != 200 or body["finished"] is not None:
                return (200, body["result"]) if "result" in body else (500, body.get("problem", body))
        time.sleep(0.2)
    return 504, {"code": "never ended"}


def note(found: Found, kind: str, sql: str, status: int, body: Any) -> None:
    with found.lock:
        found.told[str(body.get("code", status)) if status != 200 else "answered"] += 1
        if status == 200 and "query_id" in body:
            found.answers[body["query_id"]] = body
            if kind in ("noisy", "old"):
                found.noisy.setdefault(sql, set()).add(json.dumps(body["rows"], sort_keys=True))


def kill(gate: Gate, found: Found, over: threading.Event) -> None:
    rng = random.Random(11)
    while not over.wait(rng.uniform(0.5, 1.5) * EVERY_S):
        victim = rng.choice(("gate", "worker"))
        (gate.kill if victim == "gate" else gate.kill_worker)()
        found.killed[victim] += 1
        if victim == "gate":
            found.recovered_s.append(wait_for(gate))


def wait_for(gate: Gate) -> float:
    """Until the gate is ready; how long that took."""
    began_s = time.monotonic()
    while time.monotonic() - began_s < TIMEOUT_S:
        with suppress(OSError), socket.create_connection(("127.0.0.1", gate.port), timeout=5):
            break
        time.sleep(0.05)
    return time.monotonic() - began_s


# -- what is true in the end -------------------------------------------------------------------------------------------


def rows_of(site: ServedSite, found: Found, seconds: float) -> list[dict[str, Any]]:
    opened = site.opened
    exchange = JobExchange(opened)
    until_s = time.monotonic() + TIMEOUT_S
    while open_jobs(site) and time.monotonic() < until_s:  # leases of the dead run out
        Worker(exchange, JobHandlers(opened).table(), threads=1, lease_s=5.0, poll_s=0.01).work_off()
        time.sleep(0.2)
    missing = sum(1 for ident, body in found.answers.items() if (opened.log.answer(ident) or ("", None))[1] != body)
    several = sum(1 for answers in found.noisy.values() if len(answers) > 1)
    entries = opened.log.verify().entries
    ledger = open_budgets(opened)
    try:
        ledger.verify()
        broken = 0
    except LedgerBroken:
        broken = 1
    spent = max((one.epsilon for one in ledger.spent("patients") if one.scope.kind == "dataset"), default=0.0)
    twice = opened.log.database.rows(TWICE)[0][0]
    print(dict(found.told), dict(found.killed), f"{entries:,} entries, {seconds:.0f} s")
    recovered = found.recovered_s or [0.0]
    return [
        row(
            "service: requests", sum(found.told.values()), "", f"{CLIENTS} clients, {sum(found.killed.values())} kills"
        ),
        row("service: answers delivered", len(found.answers), ""),
        row("service: delivered and not in the log", missing, "", target=0, met=missing == 0),
        row("service: noisy questions with two answers", several, "", target=0, met=several == 0),
        row("service: queries with two outcomes", twice, "", target=0, met=twice == 0),
        row("service: epsilon spent", spent, "", "at most", target=TOTAL, met=spent <= TOTAL and not broken),
        row("service: jobs left open", open_jobs(site), "", target=0, met=open_jobs(site) == 0),
        row("service: gate ready again, median", median(recovered), "s"),
        row("service: gate ready again, longest", max(recovered), "s"),
    ]


def open_jobs(site: ServedSite) -> int:
    """Jobs that have not ended; those that nobody takes up any more are ended on the way."""
    JobExchange(site.opened)._end_stale()
    return int(site.opened.log.database.rows("SELECT count(*) FROM job WHERE finished IS NULL")[0][0])
