"""The served gate: really distinct and repeated grouped means a second, over HTTP, 32 connections of another process.

The demo study, published as views, served by two processes of this version and by two of the version before, whose
sources are taken from the repository: `make bench ONLY=http BEFORE=v1.2` names a tag or a commit, and in silence it is
the newest tag, or else ten commits ago. Both are up at once and are asked in turns, a few seconds each, so that
whatever else the machine does meets both of them. Rates are those of this machine at this moment: what is comparable
between runs is the processor time per request, of all processes that serve, and what whoever asks takes beside them.
What is synced is counted by strace in a run of its own, where there is one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from querygate.control import Actor, Grantee
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.demo import HERE
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from tests.places import ROOT
from tests.report import row
from tests.running_server import Served, served

ROUNDS, ROUND_S, WARM_S, COUNTED_S = 4, 5.0, 5.0, 4.0
CONNECTIONS = 32
CORES = 2
TARGETS = {"distinct": (300.0, 160.0), "repeated": (1_500.0, 50.0)}
"""Requests a second at least, p99 in milliseconds at most."""

NO_LIMITS = {"concurrent_requests": 0, "requests_per_minute": 0}
"""One user asks for all."""

SPELLINGS = 100
"""Seeds that far apart ask the same in other texts: see `distinct_statements`."""

_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass
class Version:
    """A version that serves, and what it was found to do, round by round."""

    name: str
    running: Served
    rounds: list[dict[str, float]] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return sum(found["requests"] for found in self.rounds) / sum(found["lasted_s"] for found in self.rounds)

    def usual(self, figure: str) -> float:
        return statistics.median(found[figure] for found in self.rounds)


def run() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    commit = commit_before()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        site, key = make_site(Path(folder) / "site")
        versions = []
        for name, code in ((f"before ({commit})", sources_of(commit, Path(folder) / "sources")), ("now", None)):
            copy = Path(shutil.copytree(site, Path(folder) / f"copy-{len(versions)}"))
            running = stack.enter_context(served(copy, "--store-only", code=code, processes=CORES, **NO_LIMITS))
            versions.append(Version(name, running))
        for kind in TARGETS:
            rows += measured(versions, kind, key)
        rows += [row(f"http: {one.name}, memory of all processes", memory_mb(one.running), "MB") for one in versions]
        for one in versions:
            one.running.process.terminate()
            one.running.process.wait()
    return rows


def commit_before() -> str:
    """What this version is compared with."""
    named = os.environ.get("QUERYGATE_BENCH_BEFORE")
    if named:
        return named
    newest = subprocess.run(
        ["git", "describe", "--tags", "--abbrev=0"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    return newest.stdout.strip() or "HEAD~10"


def make_site(folder: Path) -> tuple[Path, str]:
    """The demo study and a researcher's key."""
    opened = open_gate(init_site(folder))
    publish_to(opened, load_policy(HERE / "survey.toml"), str(HERE / "survey.csv"), user="bench")
    opened.accounts.add_user("ada", "researcher")
    opened.grants.add(Grantee("user", "ada"), "survey", ("interval",), by=Actor("local"))
    key = opened.accounts.keys.new("ada").secret
    opened.log.database.close()
    return folder, key


def sources_of(commit: str, folder: Path) -> Path:
    """The sources of a commit, in a folder of their own."""
    folder.mkdir()
    packed = subprocess.run(
        ["git", "archive", commit, "querygate", "adapters", "docs"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)
    return folder


def measured(versions: list[Version], kind: str, key: str) -> list[dict[str, Any]]:
    """The rows of one kind of questions: all versions in turns, then what each of them syncs."""
    rows: list[dict[str, Any]] = []
    for one in versions:
        one.rounds.clear()
        ask(one.running, key, WARM_S, kind, 0)
    for turn in range(1, ROUNDS + 1):
        seed = 0 if kind == "repeated" else turn * SPELLINGS
        for one in versions if turn % 2 else versions[::-1]:
            one.rounds.append(one_round(one.running, key, kind, seed))
    for one in versions:
        rows += figures(one, kind, versions[0])
        synced = syncs_per_request(one.running, key, kind, 0 if kind == "repeated" else (ROUNDS + 1) * SPELLINGS)
        if synced is not None:
            rows.append(row(f"http: {kind}, {one.name}, syncs per request", synced, ""))
    return rows


def one_round(running: Served, key: str, kind: str, seed: int) -> dict[str, float]:
    before_s = processor_s(running)
    found = ask(running, key, ROUND_S, kind, seed)
    if found["refused"]:
        raise AssertionError(f"{found['refused']} requests were not answered")
    used_ms = 1000 * (processor_s(running) - before_s) / found["requests"]
    return {**found, "lasted_s": found["requests"] / found["per_s"], "used_ms": used_ms}


def figures(one: Version, kind: str, before: Version) -> list[dict[str, Any]]:
    """What is promised is promised of this version."""
    name, (least, most_ms) = f"http: {kind}, {one.name}", TARGETS[kind]
    is_now = one is not before
    used_ms, p99_ms = one.usual("used_ms"), one.usual("p99_ms")
    target = {"target": least, "met": one.rate >= least} if is_now else {}
    limit = {"target": most_ms, "met": p99_ms <= most_ms} if is_now else {}
    faster, cheaper = (one.rate / before.rate, used_ms / before.usual("used_ms")) if is_now else (None, None)
    return [
        row(name, one.rate, "per s", f"{CONNECTIONS} connections", ratio=faster, **target),
        row(f"{name}, p50", one.usual("p50_ms"), "ms"),
        row(f"{name}, p99", p99_ms, "ms", **limit),
        row(f"{name}, processor time per request", used_ms, "ms", ratio=cheaper),
        row(f"{name}, processor time of whoever asks", one.usual("own_ms"), "ms"),
    ]


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
