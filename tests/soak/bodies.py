"""One user sends 10,000 small bodies to a real server for ten minutes: statements, dry runs and prices, heavy and
spoiled ones among them.

The process stays as large as it was, nothing takes longer than the limit of time allows, no answer is larger than its
limit, and the server can be asked how it is all the while. SOAK_LIMIT_S is the time in seconds, SOAK_SEED makes it
other bodies.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np

from querygate.site.open_gate import OpenSite
from tests.adapters.test_same_answers import POLICY
from tests.report import row
from tests.soak.fuzz import WAYS
from tests.sql.study import CATALOG, POOLS, samples
from tests.unit.custody.publish.publications import new_site, put

LIMIT_S, BODIES = 600.0, 10_000
WARM = 300
GROWTH_MB, HEALTH_MS, OVER_S = 300.0, 200.0, 3.0
ROWS = 20_000

HEAVY = (
    "SELECT {f} AS a, COUNT(*) FROM patients GROUP BY 1",
    "SELECT COUNT(*) FROM patients WHERE {f} = {f2}",
    "SELECT SUM(LENGTH({f})) FROM patients",
    "SELECT born, sbp, COUNT(*), AVG(weight), STDDEV_SAMP(weight), CORR(weight, sbp) FROM patients GROUP BY born, sbp",
    "SELECT born, age, AVG(weight), MEDIAN(weight), VAR_SAMP(sbp), SUM(sbp), MIN(weight), MAX(weight) "
    "FROM patients GROUP BY born, age",
    "SELECT CORR(weight, sbp), REGR_SLOPE(weight, sbp) FROM patients GROUP BY age, city, sex, smoker",
    "SELECT COUNT(*) FROM patients WHERE " + " AND ".join(["{f} <> '{n}'"] * 12),
    "SELECT COUNT(DISTINCT {f}), COUNT(DISTINCT {f2}) FROM patients GROUP BY age",
    "SELECT age, sex, city, smoker, COUNT(*), AVG(sbp) FROM patients GROUP BY CUBE (age, sex, city, smoker)",
    "SELECT WIDTH_BUCKET(weight, 0, 500, {n}), COUNT(*), AVG(sbp) FROM patients GROUP BY 1",
)
FUNCTIONS = (
    "REPLACE(REPLACE(REPLACE(CAST(born AS VARCHAR), '1', '{n}{n}{n}{n}'), '{m}', '{n}{n}{n}{n}{n}'), '0', '{n}{n}{n}')",
    "REGEXP_REPLACE(REGEXP_REPLACE(CAST(born AS VARCHAR), '.', '{n}{n}{n}', 'g'), '.', '{n}{n}{n}', 'g')",
    "CAST(LEVENSHTEIN(REGEXP_REPLACE(CAST(born AS VARCHAR), '.', '{n}{n}{n}', 'g'), '{n}{m}{n}') AS VARCHAR)",
    "MD5(CAST(born AS VARCHAR) || '{n}')",
    "REPLACE(REPLACE(city, 'i', '{n}{n}{n}{n}'), '{m}', '{n}{n}{n}{n}{n}')",
    "REGEXP_REPLACE(CAST(born AS VARCHAR), '([0-9]+)-([0-9]+)', '{n}')",
    "CAST(born + {m} AS VARCHAR)",
    "STRFTIME(born, '%Y week {m} of %B')",
    "UPPER(city) || '{n}'",
    "CAST(EXTRACT(year FROM born) * {n} AS VARCHAR)",
)


@dataclass
class Found:
    """What came back."""

    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    largest_bytes: int = 0
    slowest_s: float = 0.0
    warm_mb: float = 0.0
    most_mb: float = 0.0
    health_ms: list[float] = field(default_factory=list)


def run() -> list[dict[str, Any]]:
    limit, seed = float(os.environ.get("SOAK_LIMIT_S", LIMIT_S)), int(os.environ.get("SOAK_SEED", "0"))
    with tempfile.TemporaryDirectory() as folder:
        opened = make_site(Path(folder), np.random.default_rng(seed))
        opened.accounts.add_user("eve", "researcher")
        key = opened.accounts.keys.new("eve").secret
        with serving(opened.site.folder) as (port, pid):
            found = send(port, pid, key, limit, random.Random(seed), opened.site.settings["query_timeout_s"])
        log_mb = sum(path.stat().st_size for path in opened.site.folder.glob("control.db*")) / 2**20
    print("\n".join(found.wrong[:20]))
    tried, growth = found.statuses.total(), found.most_mb - found.warm_mb
    p99 = float(np.percentile(found.health_ms, 99))
    print(f"{dict(found.statuses.most_common())}; largest answer {found.largest_bytes:,} bytes, log {log_mb:.0f} MB")
    return [
        row("bodies: sent", tried, "", f"in {limit:.0f} s"),
        row("bodies: wrong", len(found.wrong), "of", f"{tried:,}", target=0, met=not found.wrong),
        row("bodies: slowest", found.slowest_s, "s", "the limit of time is 10 s"),
        row("bodies: growth of memory", growth, "MB", f"after {WARM} bodies", target=GROWTH_MB,
            met=growth <= GROWTH_MB),
        row("bodies: healthz p99", p99, "ms", f"{len(found.health_ms):,} times", target=HEALTH_MS,
            met=p99 <= HEALTH_MS),
    ]  # fmt: skip


def make_site(folder: Path, rng: np.random.Generator) -> OpenSite:
    """The study of the corpus with many more rows, answering with ranges and with noise."""
    noise = {"epsilon_total": 100, "epsilon_per_user": 100, "epsilon_per_query": 0.1}
    opened = new_site(folder)
    columns: dict[str, list[Any]] = {
        name: [pool[i] for i in rng.integers(len(pool), size=ROWS)] for name, pool in POOLS.items()
    }
    columns["age"] = [int(age) for age in rng.integers(0, 121, ROWS)]
    columns["weight"] = [None if at < 0.05 else round(40 + 100 * at, 1) for at in rng.random(ROWS)]
    put(opened, POLICY.but(answers={"modes": ["interval", "laplace"]}, laplace=noise), columns)
    return opened


@contextmanager
def serving(folder: Path) -> Iterator[tuple[int, int]]:
    """A server of its own: its port and its process."""
    command = [sys.executable, "-m", "querygate", "serve", "--port", "0", "--site", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            port = int(re.findall(r":(\d+)", process.stdout.readline())[-1])
            yield port, process.pid
        finally:
            process.terminate()


def send(port: int, pid: int, key: str, limit: float, rng: random.Random, timeout_s: float) -> Found:
    found, began, over = Found(), time.monotonic(), threading.Event()
    texts = [sample.sql for folder in ("accepted", "refused") for sample in samples(folder)]
    watcher = threading.Thread(target=watch, args=(port, over, found), daemon=True)
    watcher.start()
    pause = limit / BODIES
    while time.monotonic() - began < limit and found.statuses.total() < BODIES:
        path, body = make_body(rng, texts)
        started = time.monotonic()
        status, content = post(port, key, path, body)
        took = time.monotonic() - started
        found.slowest_s = max(found.slowest_s, took)
        found.largest_bytes = max(found.largest_bytes, len(content))
        code = "" if status == 200 else f" {json.loads(content)['code']}"
        found.statuses[f"{status}{code}"] += 1
        if status == 500 or took > timeout_s + OVER_S:
            found.wrong.append(f"{status}{code}, {took:.1f} s: {path} {body!r}")
        found.most_mb = max(found.most_mb, memory_mb(pid))
        if found.statuses.total() == WARM:
            found.warm_mb = found.most_mb = memory_mb(pid)
        time.sleep(max(0.0, pause - took))
    over.set()
    watcher.join()
    return found


def make_body(rng: random.Random, texts: list[str]) -> tuple[str, dict[str, Any]]:
    if rng.random() < 0.2:
        one, two = (rng.choice(FUNCTIONS).format(n=rng.randint(2, 900), m=rng.randint(1, 9)) for _ in range(2))
        sql = rng.choice(HEAVY).format(f=one, f2=two, n=rng.randint(2, 900))
    elif rng.random() < 0.5:
        sql = rng.choice(texts)
    else:
        sql = rng.choice(WAYS)(rng, texts)
    sql = sql.encode("utf-8", "replace").decode()
    path = rng.choice(("query", "query", "query/check", "query/price"))
    body: dict[str, Any] = {"dataset": CATALOG.dataset, "options": {"mode": "laplace"}}
    if path == "query/price":
        return path, body | {"statements": [sql] * rng.choice((1, 1, 20))}
    return path, body | {"sql": sql} | ({"options": {"mode": "interval"}} if rng.random() < 0.7 else {})


def post(port: int, key: str, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("POST", f"/api/v1/{path}", json.dumps(body), headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, content


def watch(port: int, over: threading.Event, found: Found) -> None:
    """How the server is, four times a second."""
    while not over.wait(0.25):
        began = time.monotonic()
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        connection.close()
        found.health_ms.append((time.monotonic() - began) * 1000)


def memory_mb(pid: int) -> float:
    """What the process holds now."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", text)[0]) / 1024
