"""How publishing grows: rows x 5 quasi-identifiers from Parquet within 4 GB, and an increment of one per cent.

Seconds, processor time and peak memory of each size, with each step as it begins, and the exponent with which processor
time grows from one size to the next. Then the same people and one per cent more are published as an increment, beside
what it takes to publish all of them again so that classes of the version before stay together.

    SCALE_ROWS=1000000,10000000,100000000 make bench ONLY=scale     (the last of these needs 60 GB of disk and hours)
    SCALE_INCREMENT_ROWS=10000000                                   (0: none)
    SCALE_SPARK=1                                                   the first size again from a Spark source, local[2],
                                                                    into a file and inside Spark
    SCALE_FOLDER                                                    where there is room; everything in it goes again
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
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb

from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import open_gate
from tests.bench.publish import PEOPLE, POLICY, WATCH_S, family, held_mb
from tests.policies import IDENTIFIER
from tests.report import row

ROWS = tuple(int(text) for text in os.environ.get("SCALE_ROWS", "1000000,10000000,100000000").split(","))
INCREMENT_ROWS = int(os.environ.get("SCALE_INCREMENT_ROWS", "10000000"))
TARGET_EXPONENT, TARGET_MB, TARGET_SHARE = 1.1, 4096.0, 0.1
MEMORY_MB = 3072
"""The setting publish_memory_mb: the program itself, boxes and cells come on top."""

SPARK = "--master local[2] --driver-memory 2g pyspark-shell"

MORE = 0.01
BY_PERSON = POLICY.but(person="mrn", columns={"mrn": IDENTIFIER})


@dataclass(frozen=True, slots=True)
class Step:
    """One publication in a process of its own."""

    seconds: float
    processor_s: float
    classes: int
    cells: int
    anew: str  # what the report says of the division
    peak_mb: float = 0.0


def run() -> list[dict[str, Any]]:
    rows, found = [], {}
    for number in ROWS:
        [one] = _published(number, [f"people:{POLICY}"])
        found[number] = one
        name = f"scale: {number:,} rows x 5 quasi-identifiers"
        told = f"{one.processor_s:.0f} s of processors, {one.classes:,} classes, {one.cells:,} cells"
        rows.append(row(name, one.seconds, "s", told))
        rows.append(row(f"{name}: memory", one.peak_mb, "MB", "peak", ratio=one.peak_mb / TARGET_MB, target=1.0))
    for fewer, more in pairwise(ROWS):
        exponent = math.log(found[more].processor_s / found[fewer].processor_s) / math.log(more / fewer)
        against = f"of processor time, {fewer:,} to {more:,} rows"
        rows.append(row("scale: growth exponent", exponent, "", against, ratio=exponent / TARGET_EXPONENT, target=1.0))
    if os.environ.get("SCALE_SPARK"):
        for name, inside in (("from Spark local[2]", False), ("inside Spark local[2]", True)):
            [one] = _published(ROWS[0], [f"people:{POLICY}"], spark=True, inside=inside)
            ratio = one.processor_s / found[ROWS[0]].processor_s
            told = f"{one.processor_s:.0f} s of processors, embedded = 1; {one.classes:,} classes, {one.cells:,} cells"
            rows.append(row(f"scale: {ROWS[0]:,} rows {name}", one.seconds, "s", told, ratio=ratio))
            rows.append(row(f"scale: {ROWS[0]:,} rows {name}: memory", one.peak_mb, "MB", "peak of all processes"))
    return rows + (_increments(INCREMENT_ROWS) if INCREMENT_ROWS else [])


def _increments(number: int) -> list[dict[str, Any]]:
    """One per cent of newcomers, taken in by each of the two ways."""
    rows, spent = [], {}
    for way in ("extend", "sticky"):
        policy = BY_PERSON.but(republish={"on_overlap": way})
        first, second = _published(number, [f"first:{policy}", f"people:{policy}"])
        spent["first"], spent[way] = first.processor_s, second.processor_s
        told = f"{second.processor_s:.1f} s of processors, the first version {first.processor_s:.1f}; {second.anew}"
        rows.append(row(f"scale: {number:,} rows and 1 % more, {way}", second.seconds, "s", told))
    for against, what in (("sticky", "publishing all again beside the first version"), ("first", "a first version")):
        ratio = spent["extend"] / spent[against]
        rows.append(row("scale: an increment", ratio, "", f"{what} = 1", ratio=ratio, target=TARGET_SHARE))
    return rows


def _published(number: int, steps: list[str], *, spark: bool = False, inside: bool = False) -> list[Step]:
    """Publish these files under these policies, one after the other, into one site; `first` has one per cent fewer."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("SCALE_FOLDER")) as folder:
        people = PEOPLE.replace("SELECT", "SELECT CAST(10000000 + range AS VARCHAR) AS mrn,", 1)
        more = round(number * MORE) if len(steps) > 1 else 0
        with duckdb.connect(config={"threads": 1, "memory_limit": "1GB"}) as raw:  # the same people every time
            raw.execute("SELECT setseed(0.5)")
            raw.execute(f"COPY ({people} FROM range({number + more})) TO '{folder}/people.parquet' (FORMAT parquet)")
            raw.execute(
                f"COPY (SELECT * FROM '{folder}/people.parquet' LIMIT {number}) TO '{folder}/first.parquet' "
                "(FORMAT parquet)"
            )
        init_site(Path(folder, "site"))
        return [_step(Path(folder), *step.split(":", 1), spark=spark, inside=inside) for step in steps]


def _step(folder: Path, file: str, policy: str, *, spark: bool, inside: bool) -> Step:
    (folder / "policy.toml").write_text(policy)
    source = f"spark:{folder}/{file}.parquet" if spark else f"{folder}/{file}.parquet"
    command = [sys.executable, "-m", "tests.bench.scale", str(folder), source]
    command += [f"spark:{folder}/vault"] if inside else []
    settings = {**os.environ, "QUERYGATE_PUBLISH_MEMORY_MB": str(MEMORY_MB), "PYSPARK_SUBMIT_ARGS": SPARK}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings) as process:
        peak_mb, spent = 0.0, dict[int, float]()
        while process.poll() is None:
            here = list(family(process.pid))
            peak_mb = max(peak_mb, sum(map(held_mb, here)))
            spent |= {one: max(_spent_s(one), spent.get(one, 0.0)) for one in here}
            time.sleep(WATCH_S)
        if process.returncode or process.stdout is None:
            raise AssertionError("the publication failed")
        told = json.loads(process.stdout.read().splitlines()[-1]) | {"peak_mb": peak_mb}
        if spark:  # nobody waits for Spark's own processes, so what they used is known from watching alone
            told["processor_s"] = sum(spent.values())
        made = Step(**told)
    print(f"{file}: {made}", flush=True)
    return made


def _spent_s(process: int) -> float:
    """Processor time of one process, in user and system mode; 0 if it has ended."""
    try:
        user, system = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    except OSError:
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _publish(folder: Path, source: str, vault: str = "") -> Step:
    opened = open_gate(open_site(folder / "site"))
    began, before_s = time.perf_counter(), _processor_s()
    said = [""]

    def tell(step: str, share: float | None = None, /) -> None:
        if step != said[0]:
            said[0] = step
            print(
                f"  {time.perf_counter() - began:.0f} s, {_processor_s():.0f} s of processors: {step}", file=sys.stderr
            )

    report = publish_to(opened, load_policy(folder / "policy.toml"), source, user="bench", vault=vault, progress=tell)
    seconds = time.perf_counter() - began
    processor_s = _processor_s() - before_s
    anew = next((f"{one.classes:,} {one.note}" for one in report.comparison), "")
    return Step(seconds, processor_s, report.classes, report.cells, anew)


def _processor_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    print(json.dumps(asdict(_publish(Path(sys.argv[1]), *sys.argv[2:]))))
