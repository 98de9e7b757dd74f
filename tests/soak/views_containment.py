"""Containment over views at length: other tables and statements than the test suite's, spread over all cores.

The environment variable SOAK_LIMIT_S is the time limit, in seconds, and SOAK_SEED a number that makes it other tables.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.property.tally import Tally
from tests.property.view_cases import try_views
from tests.report import row

ANSWERED = 10_000
PER_TABLE = 40
TABLES = 3 * ANSWERED // PER_TABLE
FIRST_SEED = 4_000_000
LIMIT_S = 3_600.0
TELL_S = 30.0


def run() -> list[dict[str, Any]]:
    limit, began, told = float(os.environ.get("SOAK_LIMIT_S", LIMIT_S)), time.monotonic(), 0.0
    first = FIRST_SEED + TABLES * int(os.environ.get("SOAK_SEED", "0"))
    tally = Tally()
    with multiprocessing.get_context("fork").Pool() as pool:
        for found in pool.imap_unordered(try_one, range(first, first + TABLES)):
            tally.add(found)
            passed = time.monotonic() - began
            if passed - told > TELL_S:
                told = passed
                print(f"views: {tally.answered:,} of {ANSWERED:,} answered, wrong: {len(tally.wrong)}", flush=True)
            if tally.answered >= ANSWERED or passed > limit:
                pool.terminate()
                break
    print("\n".join(tally.wrong[:20]))
    print(f"refused: {dict(tally.refused.most_common())}; DuckDB fails on {tally.skipped}")
    return [
        row("views: statements answered", tally.answered, "", f"within {limit:.0f} s", target=ANSWERED,
            met=tally.answered >= ANSWERED),
        row("views: ranges without the truth", len(tally.wrong), "of", f"{tally.answered:,} answered", target=0,
            met=not tally.wrong),
    ]  # fmt: skip


def try_one(seed: int) -> Tally:
    with tempfile.TemporaryDirectory() as folder:
        return try_views(seed, Path(folder), PER_TABLE)
