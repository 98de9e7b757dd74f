"""The served gate: really distinct and repeated grouped means a second, over HTTP, 32 connections of another process.

The demo study, published as views, served by two processes: by the version before, whose sources are taken from the
repository (`QUERYGATE_BENCH_BEFORE` names another commit), and by this one, in the same run. Rates are those of this
machine at this moment: what is comparable between runs is the processor time per request, of all processes that serve,
and what whoever asks takes beside them. What is synced is counted by strace in a run of its own, where there is one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from querygate.control import Actor, Grantee
from querygate.custody.policy import load_policy
from querygate.custody.roots.publish_version import publish_to
from querygate.demo import HERE
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from tests.places import ROOT
from tests.report import row
from tests.running_server import Served, served

SECONDS, WARM_S, COUNTED_S = 20.0, 5.0, 4.0
CONNECTIONS = 32
CORES = 2
TARGETS = {"distinct": (300.0, 160.0), "repeated": (1_500.0, 50.0)}
"""Requests a second at least, p99 in milliseconds at most."""

NO_LIMITS = {"concurrent_requests": 0, "requests_per_minute": 0}
"""One user asks for all."""

_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


COMMIT_BEFORE = os.environ.get("QUERYGATE_BENCH_BEFORE", "2138c28")


@dataclass(frozen=True)
class Setup:
    """A version, by its commit; none is the sources at hand."""

    name: str
    commit: str | None


NOW, BEFORE = Setup("now", None), Setup("before", COMMIT_BEFORE)


def run() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        site, key = make_site(Path(folder) / "site")
        rates: dict[str, float] = {}
        for setup in (BEFORE, NOW):
            copy = Path(shutil.copytree(site, Path(folder) / f"copy-{setup.name}"))
            code = None if setup.commit is None else sources_of(setup.commit, Path(folder) / "sources")
            with served(copy, "--store-only", code=code, processes=CORES, **NO_LIMITS) as running:
                for seed, kind in enumerate(TARGETS):
                    rows += measured(running, setup, kind, key, seed, rates)
                rows.append(row(f"http: {setup.name}, memory of all processes", memory_mb(running), "MB"))
                running.process.terminate()
                running.process.wait()
    return rows


def make_site(folder: Path) -> tuple[Path, str]:
    """The demo study and a researcher's key."""
    opened = open_gate(init_site(folder))
    publish_to(opened, load_policy(HERE / "survey.toml"), str(HERE / "survey.csv"), user="bench")
    opened.accounts.add_user("ada", "researcher")
    opened.grants.add(Grantee("user", "ada"), "survey", ("interval",), by=Actor("local"))
    key = opened.accounts.new_key("ada").secret
    opened.log.database.close()
    return folder, key


def sources_of(commit: str, folder: Path) -> Path:
    """The sources of a commit, in a folder of their own."""
    folder.mkdir()
    packed = subprocess.run(
        ["git", "archive", commit, "querygate", "adapters"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)
    return folder


def measured(
    running: Served, setup: Setup, kind: str, key: str, seed: int, rates: dict[str, float]
) -> list[dict[str, Any]]:
    """The rows of one kind of questions; `rates` are those found so far."""
    ask(running, key, WARM_S, kind, seed if kind == "repeated" else 100 + seed)
    before_s = processor_s(running)
    found = ask(running, key, SECONDS, kind, seed)
    used_ms = 1000 * (processor_s(running) - before_s) / found["requests"]
    synced = syncs_per_request(running, key, kind, 200 + seed)
    if found["refused"]:
        raise AssertionError(f"{found['refused']} requests were not answered")
    name, rate = f"http: {kind}, {setup.name}", found["per_s"]
    least, most_ms = TARGETS[kind]
    is_target = setup == NOW
    against = f"{rates[kind]:.0f} before" if kind in rates else f"{CONNECTIONS} connections"
    ratio = rate / rates[kind] if kind in rates else None
    rates[kind] = rate
    target = {"target": least, "met": rate >= least} if is_target else {}
    limit = {"target": most_ms, "met": found["p99_ms"] <= most_ms} if is_target else {}
    rows = [
        row(name, rate, "per s", against, ratio=ratio, **target),
        row(f"{name}, p50", found["p50_ms"], "ms"),
        row(f"{name}, p99", found["p99_ms"], "ms", **limit),
        row(f"{name}, processor time per request", used_ms, "ms"),
        row(f"{name}, processor time of whoever asks", found["own_ms"], "ms"),
    ]
    return rows if synced is None else [*rows, row(f"{name}, syncs per request", synced, "")]


def ask(running: Served, key: str, seconds: float, kind: str, seed: int) -> dict[str, float]:
    port = running.address.rpartition(":")[2]
    command = [sys.executable, "-m", "tests.http_load", port, key, str(seconds), str(CONNECTIONS), kind, str(seed)]
    found: dict[str, float] = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    return found


def serving(running: Served) -> list[int]:
    return [running.process.pid, *running.gates()]


def processor_s(running: Served) -> float:
    """What those that serve have used."""
    stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in serving(running))
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) * _TICK_S


def memory_mb(running: Served) -> float:
    """Of all of them; pages that they share count once (proportional set size)."""
    told = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in serving(running))
    return sum(int(re.findall(r"^Pss:\s+(\d+)", text, re.M)[0]) for text in told) / 1024


def syncs_per_request(running: Served, key: str, kind: str, seed: int) -> float | None:
    """None where they cannot be counted."""
    tracer = shutil.which("strace")
    if tracer is None:
        return None
    pids = [f"--attach={pid}" for pid in running.gates() or [running.process.pid]]
    command = [tracer, "-f", "-c", "-e", "trace=fsync,fdatasync", *pids]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracing:
        try:
            found = ask(running, key, COUNTED_S, kind, seed)
        finally:
            tracing.terminate()
        told = tracing.communicate()[1]
    calls = re.findall(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?f(?:data)?sync$", told, re.M)
    return sum(map(int, calls)) / found["requests"] if calls else None
