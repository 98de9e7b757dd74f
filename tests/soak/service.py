"""A site under load whose gates and worker are killed at random, and whose PostgreSQL server restarts once: nothing
delivered is missing from the log, no budget is overspent, and no job is done twice.

Clients ask for ranges (new ones and old ones), noisy answers (new ones and old ones), what is refused, prices, budgets
and previews of extracts, all mixed; what is answered with a job is followed to its end. Every now and then the whole
gate, one of its processes or the worker gets SIGKILL; the gate is started again by the soak, as systemd would, and the
others by the gate. Half way through, the server with the published store is stopped and started again. In the end what
the clients have in hand is compared with the log and the ledger. SERVICE_REQUESTS, SERVICE_CLIENTS, SERVICE_EVERY_S
and SERVICE_PROCESSES change the size; after SERVICE_LIMIT_S no more is asked. With SERVICE_CONTROL=postgres log, ledger
and jobs are on that server as well.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from statistics import median
from typing import Any

from querygate.control import stamp
from querygate.core.budget_ledger import LedgerBroken
from querygate.custody.use_cases.copy_store import copy_store
from querygate.custody.use_cases.open_noise import open_budgets
from querygate.site.budget_evidence import compare_ledger
from querygate.site.control_database import move_control
from querygate.site.layout import open_site
from querygate.site.open_gate import now, open_gate
from tests import postgres
from tests.postgres import Server
from tests.report import row
from tests.served_site import ServedSite, make_served_site, serving, started

REQUESTS = int(os.environ.get("SERVICE_REQUESTS", "20000"))
CLIENTS = int(os.environ.get("SERVICE_CLIENTS", "64"))
PROCESSES = int(os.environ.get("SERVICE_PROCESSES", "16"))
EVERY_S = float(os.environ.get("SERVICE_EVERY_S", "20"))
LIMIT_S = float(os.environ.get("SERVICE_LIMIT_S", "3600"))
CONTROL = os.environ.get("SERVICE_CONTROL", "")
TOTAL = 30.0
"""Epsilon of the dataset: enough for 300 noisy answers, which is less than what is asked for."""

TIMEOUT_S = 120.0
PAUSE_S = 0.5
NEVER_ENDED = "never ended"
DOWN_S = 3.0
"""How long PostgreSQL is gone."""

SETTINGS = f"""
processes = {PROCESSES}
worker_threads = 2
requests_per_minute = 0
concurrent_requests = 0
anchor_minutes = 1
"""
REFUSED = ("SELECT age FROM patients", "SELECT COUNT(* FROM patients {}", "SELECT AVG(x) FROM y")
RESEARCHERS = [f"user{number}" for number in range(8)]
KINDS = {"range": 45, "same": 15, "noisy": 8, "old": 10, "refused": 8, "check": 8, "budget": 5, "preview": 1}

TWICE = """SELECT count(*) FROM (
             SELECT query_id FROM log WHERE kind = 'query.outcome' GROUP BY query_id HAVING count(*) > 1) AS twice"""


@dataclass
class Found:
    """What clients and killers have seen."""

    told: Counter[str] = field(default_factory=Counter)
    answers: dict[str, Any] = field(default_factory=dict)
    noisy: dict[str, set[str]] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)
    recovered_s: list[float] = field(default_factory=list)
    working_again_s: list[float] = field(default_factory=list)
    store_again_s: list[float] = field(default_factory=list)
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
        self._lock, self._is_over, self._is_up = threading.Lock(), False, threading.Event()
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        self._is_up.clear()
        process = started("serve", "--site", str(self._site.folder), "--port", str(self.port))
        threading.Thread(target=self._listen, args=(process,), daemon=True).start()
        return process

    def _listen(self, process: subprocess.Popen[str]) -> None:
        """It says when all of its processes take requests; those of the one before may do so a while longer."""
        for line in process.stdout or ():
            if "QueryGate is at" in line:
                self._is_up.set()

    def wait_until_up(self) -> float:
        """Since when it is waited for, however often it has to be started."""
        began_s = time.monotonic()
        while not self._is_up.wait(0.2) and time.monotonic() - began_s < TIMEOUT_S:
            self.keep()
        return time.monotonic() - began_s

    def kill(self) -> None:
        with self._lock:
            self.process.kill()
            self.process.wait()
            self.process = self._start()

    def keep(self) -> None:
        """Start it again where it has ended by itself: processes of the one before may still have the port."""
        with self._lock:
            if self.process.poll() is not None and not self._is_over:
                self.process = self._start()

    def kill_worker(self) -> None:
        for pid in self._children(lambda words: b"work" in words):
            os.kill(pid, signal.SIGKILL)

    def kill_process(self) -> None:
        """One of those that serve."""
        for pid in self._children(lambda words: b"work" not in words)[:1]:
            os.kill(pid, signal.SIGKILL)

    def _children(self, wanted: Callable[[list[bytes]], bool]) -> list[int]:
        found = []
        for path in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            with suppress(OSError):
                for pid in path.read_text().split():
                    if wanted(Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")):
                        found.append(int(pid))
        return found

    def stop(self) -> None:
        with self._lock:
            self._is_over = True
            self.process.terminate()
            self.process.wait()


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder, served_from_postgres(Path(folder)) as (site, server):
        request = to_review(site)
        gate, found, over = Gate(site), Found(), threading.Event()
        wait_for(gate)
        began_s = time.monotonic()
        clients = [threading.Thread(target=ask, args=(site, gate, found, seed, request)) for seed in range(CLIENTS)]
        beside = [
            threading.Thread(target=kill, args=(site, gate, found, over)),
            threading.Thread(target=restart, args=(server, site, gate, found, over)),
        ]
        try:
            for thread in (*clients, *beside):
                thread.start()
            for thread in clients:
                thread.join(max(0.0, LIMIT_S - (time.monotonic() - began_s)))
            with found.lock:
                found.left = 0
            for thread in clients:
                thread.join()
        finally:
            over.set()
            for thread in beside:
                thread.join()
            drained_s = wait_for_jobs(site, gate)
            gate.stop()
        return rows_of(site, found, time.monotonic() - began_s, drained_s)


@contextmanager
def served_from_postgres(folder: Path) -> Iterator[tuple[ServedSite, Server]]:
    """A site whose published store is on a server of its own."""
    running = postgres.server()
    try:
        made = make_served_site(folder, total=TOTAL, settings=SETTINGS)
        location = running.url(database=running.new_database())
        copy_store(made.opened, location, user="carl")
        with (made.folder / "querygate.toml").open("a") as stream:
            stream.write(f'\nstore = "{location}"\n')
            stream.write(f'control = "{location}"\n' if CONTROL else "")
        made.opened.log.database.close()
        if CONTROL:
            move_control(open_site(made.folder))
        opened = open_gate(open_site(made.folder))
        for name in RESEARCHERS:
            opened.accounts.add_user(name, "researcher")
        keys = {name: opened.accounts.keys.new(name).secret for name in RESEARCHERS}
        yield ServedSite(opened, {**made.keys, **keys}), running
    finally:
        postgres.stop()


def to_review(site: ServedSite) -> str:
    """A request for an extract, to be previewed."""
    wish = {"dataset": "patients", "purpose": "soak", "columns": ["age", "sex"]}
    with serving(site) as door:
        ident = str(door.call("ann", "POST", "/api/v1/exports", wish)[1]["id"])
        for name, act in (("ann", "submit"), ("carl", "take")):
            status, told = door.call(name, "POST", f"/api/v1/exports/{ident}/{act}", {})
            assert status == 200, told
    return ident


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


def ask(site: ServedSite, gate: Gate, found: Found, seed: int, request: str) -> None:
    rng = random.Random(seed)
    while found.next():
        kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
        name = "carl" if kind == "preview" else RESEARCHERS[seed % len(RESEARCHERS)]
        age, low = rng.randrange(1, 100), rng.randrange(60, 180)
        sql = f"SELECT sex, COUNT(*) AS n FROM patients WHERE age > {age} AND sbp > {low} GROUP BY sex"
        if kind in ("old", "same"):
            sql = f"SELECT COUNT(*) AS n FROM patients WHERE age > {age % 10}"
        elif kind == "refused":
            sql = rng.choice(REFUSED).format(age)
        options = {"mode": "laplace"} if kind in ("noisy", "old", "check") else {}
        question = {"dataset": "patients", "sql": sql, "options": options}
        try:
            if kind == "budget":
                status, body = call(site, gate, name, "GET", "/api/v1/budget?dataset=patients")
            elif kind == "preview":
                status, body = call(site, gate, name, "GET", f"/api/v1/exports/{request}?preview=true")
                if status == 202:
                    status, body = follow(site, gate, name, body["job"])
            else:
                path = "/api/v1/query/check" if kind == "check" else "/api/v1/query"
                status, body = call(site, gate, name, "POST", path, question)
                if status == 202:
                    status, body = follow(site, gate, name, body["job"])
        except (OSError, ValueError, HTTPException):  # it was killed on the way
            with found.lock:
                found.told["cut off"] += 1
            time.sleep(0.2)
            continue
        note(found, kind, sql, status, body)
        if status in (429, 503):  # as whoever is told to try again later
            time.sleep(PAUSE_S)


def follow(site: ServedSite, gate: Gate, name: str, job: str) -> tuple[int, Any]:
    until_s = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until_s:
        with suppress(OSError, ValueError, HTTPException):
            status, body = call(site, gate, name, "GET", f"/api/v1/jobs/{job}")
            if status != 200 or body["finished"] is not None:
                return (200, body["result"]) if "result" in body else (500, body.get("problem", body))
        time.sleep(0.2)
    stuck = site.opened.log.database.rows("SELECT * FROM job WHERE id = ?", (job,))
    print("never ended:", [{**dict(one), "body": ""} for one in stuck], flush=True)
    return 504, {"code": NEVER_ENDED}


def note(found: Found, kind: str, sql: str, status: int, body: Any) -> None:
    with found.lock:
        found.told[str(body.get("code", status)) if status != 200 else "answered"] += 1
        if status == 200 and "query_id" in body:
            found.answers[body["query_id"]] = body
            if kind in ("noisy", "old"):
                found.noisy.setdefault(sql, set()).add(json.dumps(body["rows"], sort_keys=True))


def kill(site: ServedSite, gate: Gate, found: Found, over: threading.Event) -> None:
    rng = random.Random(11)
    while not over.wait(rng.uniform(0.5, 1.5) * EVERY_S):
        victim = rng.choice(("gate", "process", "process", "worker", "worker"))
        {"gate": gate.kill, "process": gate.kill_process, "worker": gate.kill_worker}[victim]()
        found.killed[victim] += 1
        if victim == "gate":
            found.recovered_s.append(gate.wait_until_up())
        if victim == "worker":  # killed again before it has begun, it would never do anything
            found.working_again_s.append(wait_for_worker(site, over))


def wait_for_worker(site: ServedSite, over: threading.Event) -> float:
    """Until a job has ended that had not when its worker was killed."""
    began_s, killed = time.monotonic(), stamp(now())
    ended = "SELECT 1 FROM job WHERE finished > ? LIMIT 1"
    while not site.opened.log.database.rows(ended, (killed,)) and not over.wait(0.2):
        pass
    return time.monotonic() - began_s


def restart(server: Server, site: ServedSite, gate: Gate, found: Found, over: threading.Event) -> None:
    """Once, half way through: PostgreSQL goes, and comes back. How long until the gate answers from it again?"""
    while found.left > REQUESTS // 2 and not over.wait(0.2):
        pass
    server.halt()
    time.sleep(DOWN_S)
    server.resume()
    began_s = time.monotonic()
    question = {"dataset": "patients", "sql": "SELECT COUNT(*) FROM patients WHERE pulse > 100", "options": {}}
    while not over.is_set():
        with suppress(OSError, ValueError, HTTPException):
            if call(site, gate, "bob", "POST", "/api/v1/query", question)[0] == 200:
                break
        time.sleep(0.1)
    found.store_again_s.append(time.monotonic() - began_s)


def wait_for(gate: Gate) -> float:
    """Until the gate takes connections; how long that took."""
    began_s = time.monotonic()
    while time.monotonic() - began_s < TIMEOUT_S:
        with suppress(OSError), socket.create_connection(("127.0.0.1", gate.port), timeout=5):
            break
        gate.keep()
        time.sleep(0.05)
    return time.monotonic() - began_s


# -- what is true in the end -------------------------------------------------------------------------------------------


def rows_of(site: ServedSite, found: Found, seconds: float, drained_s: float) -> list[dict[str, Any]]:
    opened = site.opened
    missing = sum(1 for ident, body in found.answers.items() if (opened.log.answer(ident) or ("", None))[1] != body)
    several = sum(1 for answers in found.noisy.values() if len(answers) > 1)
    entries = opened.log.verify().entries
    ledger = open_budgets(opened)
    try:
        ledger.verify()
        broken = 0
    except LedgerBroken:
        broken = 1
    wrong = compare_ledger(opened).wrong
    spent = max((one.epsilon for one in ledger.spent("patients") if one.scope.kind == "dataset"), default=0.0)
    twice = opened.log.database.rows(TWICE)[0][0]
    print(dict(found.told), dict(found.killed), f"{entries:,} entries, {seconds:.0f} s")
    recovered, working = found.recovered_s or [0.0], found.working_again_s or [0.0]
    never = found.told[NEVER_ENDED]
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
        row("service: jobs that a client gave up on", never, "", target=0, met=never == 0),
        row("service: the last job ended after the last request", drained_s, "s"),
        row(
            "service: gate ready again after SIGKILL, median", median(recovered), "s", f"{len(found.recovered_s)} times"
        ),
        row("service: gate ready again, longest", max(recovered), "s"),
        row(
            "service: jobs end again after SIGKILL of the worker, median", median(working), "s", f"{len(working)} times"
        ),
        row("service: jobs end again, longest", max(working), "s"),
        row("service: store answers again after PostgreSQL", max(found.store_again_s, default=-1.0), "s"),
        row("service: entries of the log, unbroken", entries, ""),
        row("service: ledger and log disagree", len(wrong), "", target=0, met=not wrong),
        row("service: requests a second", sum(found.told.values()) / seconds, "/s"),
    ]


def wait_for_jobs(site: ServedSite, gate: Gate) -> float:
    """Until the site's own worker has ended all jobs; how long that took."""
    began_s = time.monotonic()
    while open_jobs(site) and time.monotonic() - began_s < TIMEOUT_S:
        gate.keep()
        time.sleep(0.2)
    return time.monotonic() - began_s


def open_jobs(site: ServedSite) -> int:
    return int(site.opened.log.database.rows("SELECT count(*) FROM job WHERE finished IS NULL")[0][0])
