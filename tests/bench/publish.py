"""Publishing one and ten million rows with five quasi-identifiers, source to served cells: time, memory, growth.

Each publication is a process of its own, so that its peak of memory, with that of its helpers, is its own. Seconds of
each step are printed, and the exponent with which time grows from one million rows to ten. The same people are then
published with little memory, which divides them part by part.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb

from querygate.core.types import Principal, Request
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.gate.render import make_body
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.policies import AGE, ILLNESS, SBP, SEX, diverse, make_policy, quasi
from tests.report import row

MILLION = 1_000_000
TARGET_S = {MILLION: 10.0, 10 * MILLION: 90.0}
TARGET_MB = 4096.0
TARGET_EXPONENT = 1.15
LITTLE_MB = {MILLION: 256, 10 * MILLION: 1024}
"""The setting publish_memory_mb of the publications with little memory."""

WATCH_S = 0.2

POLICY = make_policy(
    "people",
    {
        "age": AGE,
        "zip": quasi("integer", (0, 999), grid=1),
        **dict.fromkeys(("sex", "race", "education"), quasi("category")),
        "sbp": SBP,
    },
)

PEOPLE = """
SELECT CAST(floor(random() * 100) AS INTEGER) AS age, CAST(floor(1000 * random() * random()) AS INTEGER) AS zip,
    CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex, 'race ' || floor(6 * random() * random()) AS race,
    'level ' || floor(16 * random()) AS education, CAST(90 + floor(80 * random()) AS INTEGER) AS sbp
"""

# Numbers with missing values, a wide and a narrow category, a sensitive number and a sensitive category.
MIXED_POLICY = make_policy(
    "people",
    {
        "age": AGE,
        "weight": quasi("number", (0, 200), grid=1),
        "county": quasi("category"),
        "sex": SEX,
        "admitted": quasi("date", ("2020-01-01", "2024-12-31"), grid=7),
        "sbp": SBP,
        "disease": ILLNESS | diverse("distinct", l=2),
    },
)

MIXED = """
SELECT CASE WHEN random() < 0.95 THEN CAST(floor(random() * 100) AS INTEGER) END AS age,
    CASE WHEN random() < 0.9 THEN 40 + 100 * random() * random() END AS weight,
    'county ' || floor(200 * random() * random()) AS county,
    CASE WHEN random() < 0.48 THEN 'F' WHEN random() < 0.96 THEN 'M' END AS sex,
    DATE '2020-01-01' + CAST(floor(random() * 1800) AS INTEGER) AS admitted,
    CASE WHEN random() < 0.97 THEN CAST(90 + floor(80 * random()) AS INTEGER) END AS sbp,
    'disease ' || floor(30 * random() * random()) AS disease
"""


@dataclass(frozen=True, slots=True)
class Published:
    """What one publication took, and what came of it."""

    seconds: float
    steps: dict[str, float]
    classes: int
    cells: int
    k: int
    parts: int
    loss: float
    processor_s: float
    frame_cells: int = 0
    most_classes: int = 0
    peak_mb: float = 0.0


def run() -> list[dict[str, Any]]:
    rows, seconds = [], {}
    for number, target_s in TARGET_S.items():
        made = published(POLICY, f"{PEOPLE} FROM range({number})", number)
        seconds[number] = made.seconds
        name = f"publish {number // MILLION} million rows x 5 quasi-identifiers"
        rows.append(row(name, made.seconds, "s", _told(made), ratio=made.seconds / target_s, target=1.0))
        rows.append(row(f"{name}: memory", made.peak_mb, "MB", "peak", ratio=made.peak_mb / TARGET_MB, target=1.0))
    exponent = math.log10(seconds[10 * MILLION] / seconds[MILLION])
    rows.append(row("publish: growth exponent", exponent, "", "1 to 10 million rows", ratio=exponent / TARGET_EXPONENT,
                    target=1.0))  # fmt: skip
    for number, memory_mb in LITTLE_MB.items():
        made = published(POLICY, f"{PEOPLE} FROM range({number})", number, memory_mb)
        name = f"publish {number // MILLION} million rows with publish_memory_mb = {memory_mb}"
        rows.append(row(name, made.seconds, "s", f"{_told(made)}, {made.parts} parts, loss {made.loss:.2%}"))
        rows.append(row(f"{name}: memory", made.peak_mb, "MB", "peak, the program itself with about 110 MB"))
    made = published(MIXED_POLICY, f"{MIXED} FROM range({MILLION})", MILLION)
    rows.append(row("publish 1 million rows, mixed and with missing values", made.seconds, "s", _told(made)))
    return rows


def published(policy: str, people: str, rows: int, memory_mb: int = 4096) -> Published:
    """Publish the random people that a statement makes, so many, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        raw = duckdb.connect()
        raw.execute("SET threads = 1")  # the same people every time
        raw.execute("SELECT setseed(0.5)")
        raw.execute(f"COPY ({people}) TO '{folder}/people.parquet' (FORMAT parquet)")
        Path(folder, "policy.toml").write_text(policy)
        command = [sys.executable, "-m", "tests.bench.publish", folder, str(rows)]
        settings = {**os.environ, "QUERYGATE_PUBLISH_MEMORY_MB": str(memory_mb)}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings)
        peak_mb = 0.0
        while process.poll() is None:
            peak_mb = max(peak_mb, sum(map(held_mb, family(process.pid))))
            time.sleep(WATCH_S)
        if process.returncode or process.stdout is None:
            raise AssertionError("the publication failed")
        made = Published(**json.loads(process.stdout.read()) | {"peak_mb": peak_mb})
    print(f"{rows:,} rows: " + ", ".join(f"{step} {seconds:.1f} s" for step, seconds in made.steps.items()), flush=True)
    return made


def family(process: int) -> Iterator[int]:
    """A process and those that it started."""
    yield process
    for listed in Path("/proc").glob(f"{process}/task/*/children"):
        try:
            children = listed.read_text().split()
        except OSError:  # it has ended
            continue
        for child in children:
            yield from family(int(child))


def held_mb(process: int) -> float:
    """What a process holds; what it shares with others counts for its share."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))


def _publish(folder: Path, rows: int) -> Published:
    opened = open_gate(init_site(folder / "site"))
    times: list[tuple[str, float]] = []

    def tell(step: str, share: float | None = None, /) -> None:
        if not times or times[-1][0] != step:
            times.append((step, time.perf_counter()))

    began = time.perf_counter()
    policy = load_policy(folder / "policy.toml")
    report = publish_to(opened, policy, str(folder / "people.parquet"), user="bench", progress=tell)
    _check_served(opened, rows)
    times.append(("", time.perf_counter()))
    steps = {step: end - at for (step, at), (_, end) in pairwise(times)}
    parts = sum(1 for step in steps if step.startswith("making classes: part ")) or 1
    loss = sum(report.loss.values()) / max(1, len(report.loss))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor_s = sum(one.ru_utime + one.ru_stime for one in used)
    figures = report.classes, report.cells, report.measured.k, parts, loss, processor_s
    cells = (report.views.frame_cells, report.views.most_classes) if report.views is not None else ()
    return Published(times[-1][1] - began, steps, *figures, *cells)


def _check_served(opened: OpenSite, rows: int) -> None:
    request = Request(Principal("bench", "researcher"), "people", "SELECT COUNT(*) AS n FROM people")
    [found] = make_body(answer(request, opened.gate))["rows"]
    if (found["n"]["low"], found["n"]["high"]) != (rows, rows):
        raise AssertionError("what is served is not what was published")


def _told(made: Published) -> str:
    return f"{made.classes:,} classes, {made.cells:,} cells, k = {made.k}"


if __name__ == "__main__":
    print(json.dumps(asdict(_publish(Path(sys.argv[1]), int(sys.argv[2])))))
