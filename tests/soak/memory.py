"""Ten minutes of questions to a real server, half of them new: its processes stay as large as they were.

Compared are the middle of the time, when everything that is kept has been kept, and its end. SOAK_LIMIT_S is the time
in seconds, SOAK_SEED makes it other questions.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.http import NO_LIMITS, ask, make_site, memory_mb
from tests.report import row
from tests.running_server import served

LIMIT_S = 600.0
GROWTH = 0.05
"""The part by which memory may grow in the second half."""


def run() -> list[dict[str, Any]]:
    limit_s, seed = float(os.environ.get("SOAK_LIMIT_S", LIMIT_S)), int(os.environ.get("SOAK_SEED", "0"))
    with tempfile.TemporaryDirectory() as folder:
        site, key = make_site(Path(folder) / "site")
        with served(site, "--store-only", processes=2, **NO_LIMITS) as running:
            found = [ask(running, key, limit_s / 2, "mixed", seed)]
            middle_mb = memory_mb(running)
            found.append(ask(running, key, limit_s / 2, "mixed", seed + 1000))
            end_mb = memory_mb(running)
    asked, refused = (sum(int(each[name]) for each in found) for name in ("requests", "refused"))
    grown = end_mb / middle_mb - 1
    return [
        row("memory: questions answered", asked - refused, "", f"{refused} were not", met=refused == 0),
        row("memory: of all processes in the middle", middle_mb, "MB"),
        row("memory: grown in the second half", 100 * grown, "%", f"{end_mb:.0f} MB", target=100 * GROWTH,
            met=grown <= GROWTH),
    ]  # fmt: skip
