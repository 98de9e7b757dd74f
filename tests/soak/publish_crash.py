"""A publisher killed at eighty random moments: the version before serves on, and nothing is left behind that grows.

Fifty publish classes, thirty publish views, and thirty publish classes as if memory held the cells of few.

The publishers are real processes (`querygate publish`), killed from outside (SIGKILL) between their start and their
end. All work on one site, so whatever one leaves lies there for the next. After each the served version is queried, the
log is verified and what lies about is measured; now and then one is let through to the end.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from querygate.core.ports import Limits
from querygate.core.types import Principal, Request
from querygate.gate.answer import answer
from querygate.gate.render import make_body
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import open_gate
from tests.policies import AGE, SBP, SEX, make_policy, quasi
from tests.report import row

MOMENTS, VIEW_MOMENTS = 50, 30
BETWEEN = 10
"""Moments after which a publisher is let through."""

ROWS = 60_000
STAGED_FILES = 4
"""A version's two files, each perhaps with its journal."""

GROWTH = 12.0
"""What is left may be so many times as large as a finished version: rows, and codes twice over, lie side by side."""

POLICY = make_policy(
    "t",
    {"age": AGE, "zip": quasi("integer", (0, 999)), "sex": SEX, "sbp": SBP},
    anonymise={"method": "mondrian"},
)
VIEWS = POLICY.but(anonymise=None, views={"spanning": [["age", "sex"], ["age", "zip"]]})
PEOPLE = """
SELECT CAST(floor(random() * 100) AS INTEGER) AS age, CAST(floor(1000 * random() * random()) AS INTEGER) AS zip,
    CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex, CAST(90 + floor(80 * random()) AS INTEGER) AS sbp
"""


@dataclass
class Found:
    """What was seen at all moments."""

    ended: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    most_files: int = 0
    most_bytes: int = 0


PUBLISHER = """
import runpy, sys
from querygate.core.publications import class_ranges
class_ranges.CELL_BYTES *= int(sys.argv.pop(1))
runpy.run_module("querygate", run_name="__main__", alter_sys=True)
"""
"""The command line, with cells that take up more memory than they do."""

LARGE_CELLS = 10_000
"""As if so much larger: a range has some thousand people."""


def run() -> list[dict[str, Any]]:
    return [
        *_told("classes", POLICY, MOMENTS),
        *_told("views", VIEWS, VIEW_MOMENTS),
        *_told("classes in ranges", POLICY, VIEW_MOMENTS, LARGE_CELLS),
    ]


def _told(what: str, policy: str, moments: int, larger: int = 1) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "publisher.py").write_text(PUBLISHER)
        (Path(folder) / "larger").write_text(str(larger))
        found, version_bytes = soak(Path(folder), policy, moments, random.Random(0))
    for text in found.wrong[:20]:
        print(text)
    ratio = found.most_bytes / version_bytes
    killed = f"{found.ended['killed']} killed, {found.ended['done']} done before"
    return [
        row(f"publish {what}: killed at a random moment", moments, "", killed),
        row(f"publish {what}: wrong after a kill", len(found.wrong), "of", f"{moments}", target=0,
            met=not found.wrong),
        row(f"publish {what}: files left behind", found.most_files, "", "at most", target=STAGED_FILES,
            met=found.most_files <= STAGED_FILES),
        row(f"publish {what}: bytes left behind", ratio, "versions", "at most", target=GROWTH, met=ratio <= GROWTH),
    ]  # fmt: skip


def soak(folder: Path, policy: str, moments: int, rng: random.Random) -> tuple[Found, int]:
    """Kill so many publishers of one site; what was found, and the bytes of a finished version."""
    site, found = folder / "site", Found()
    init_site(site)
    (folder / "policy.toml").write_text(policy)
    raw = duckdb.connect()
    raw.execute("SET threads = 1")
    raw.execute("SELECT setseed(0.5)")
    raw.execute(f"COPY ({PEOPLE} FROM range({ROWS})) TO '{folder / 'people.parquet'}' (FORMAT parquet)")
    began = time.monotonic()
    _complete(folder, found)
    longest = time.monotonic() - began
    version_bytes = sum(path.stat().st_size for path in site.rglob("v00001.duckdb"))
    for moment in range(moments):
        _kill_one(folder, rng.uniform(0.0, 1.1 * longest), found)
        if (moment + 1) % BETWEEN == 0:
            _complete(folder, found)
    _complete(folder, found)
    left = _staged(site)
    found.wrong += [f"left after a whole publication: {path.name}" for path in left]
    return found, version_bytes


def _publisher(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(folder / "publisher.py"), (folder / "larger").read_text()]
    command += ["publish", "--report", "none", "--site", str(folder / "site")]
    command += ["--policy", str(folder / "policy.toml"), "--source", str(folder / "people.parquet")]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))


def _kill_one(folder: Path, after_s: float, found: Found) -> None:
    before = _served(folder / "site", found)
    process = _publisher(folder)
    try:
        ended = process.wait(after_s)
        found.ended["done" if ended == 0 else "failed"] += 1
        found.wrong += [f"a publisher gave up with {ended}"] if ended else []
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        found.ended["killed"] += 1
    after = _served(folder / "site", found)
    if after not in (before, before + 1):
        found.wrong.append(f"version {after} is served after version {before}")
    left = _staged(folder / "site")
    found.most_files = max(found.most_files, len(left))
    found.most_bytes = max(found.most_bytes, sum(path.stat().st_size for path in left))


def _complete(folder: Path, found: Found) -> None:
    """Let one publisher through."""
    ended = _publisher(folder).wait()
    if ended:
        found.wrong.append(f"a publication that nobody disturbed ended with {ended}")
    elif _staged(folder / "site"):
        found.wrong.append("a whole publication left something behind")


def _served(site: Path, found: Found) -> int:
    """The version that is served; it must answer right, and the log must be whole."""
    opened = open_gate(open_site(site))
    release = opened.store.current("t")
    version = release.catalog.version
    for margin in range(len(release.catalog.margins)):
        if int(release.project((), Limits(), (), margin).n.sum()) != ROWS:
            found.wrong.append(f"version {version} has a margin that lacks records")
    request = Request(Principal("soak", "researcher"), "t", "SELECT COUNT(*) AS n FROM t")
    [answered] = make_body(answer(request, opened.gate))["rows"]
    if (answered["n"]["low"], answered["n"]["high"]) != (ROWS, ROWS):
        found.wrong.append(f"version {version} answers wrong")
    if not (site / "vault" / "t" / f"v{version:05d}.duckdb").is_file():
        found.wrong.append(f"version {version} has no vault")
    if opened.log.verify().entries == 0:
        found.wrong.append("the log is empty")
    return version


def _staged(site: Path) -> list[Path]:
    return [path for plane in ("store", "vault") for path in (site / plane).rglob("staged-*") if path.is_file()]
