"""Ten minutes of questions to a real server, half of them new: its processes stay as large as they were.

Memory is printed every minute. Its slope is that of a line through the second half, when everything that is kept has
been kept. SOAK_LIMIT_S is the time in seconds, SOAK_SEED makes it other questions.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.http import NO_LIMITS, ask, make_site, memory_mb
from tests.report import row
from tests.running_server import served

LIMIT_S = 600.0
PARTS = 10
GROWTH = 0.05
"""The part by which memory may grow in the second half."""

SETTINGS = {"answer_cache_mb": 4, "query_timeout_s": 120.0}
"""What is kept of answers is full long before the end, on a busy machine too; nobody is stopped for waiting there."""


def run() -> list[dict[str, Any]]:
    limit_s, seed = float(os.environ.get("SOAK_LIMIT_S", LIMIT_S)), int(os.environ.get("SOAK_SEED", "0"))
    part_s = limit_s / PARTS
    held_mb: list[float] = []
    asked = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        site, key = make_site(Path(folder) / "site")
        with served(site, "--store-only", processes=2, **SETTINGS, **NO_LIMITS) as running:
            for part in range(PARTS):
                found = ask(running, key, part_s, "mixed", seed + 1000 * part)
                asked, refused = asked + int(found["requests"]), refused + int(found["refused"])
                held_mb.append(memory_mb(running))
                print(f"after {(part + 1) * part_s:.0f} s: {held_mb[-1]:.1f} MB, {asked:,} questions", flush=True)
            running.process.terminate()  # all of them have ended before their folder is removed
            running.process.wait()
    half = PARTS // 2
    middle_mb, end_mb = held_mb[half - 1], held_mb[-1]
    grown = end_mb / middle_mb - 1
    slope = float(np.polyfit(np.arange(half, PARTS) * part_s / 60, held_mb[half:], 1)[0])
    return [
        row("memory: questions answered", asked - refused, "", f"{refused} were not", met=refused == 0),
        row("memory: of all processes in the middle", middle_mb, "MB"),
        row("memory: slope in the second half", slope, "MB a minute"),
        row("memory: grown in the second half", 100 * grown, "%", f"{end_mb:.0f} MB", target=100 * GROWTH,
            met=grown <= GROWTH),
    ]  # fmt: skip
