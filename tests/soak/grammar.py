"""Containment over the whole grammar at length: other seeds than the test suite's, and the accepted share by construct.

Tables are spread over all cores. The environment variable SOAK_LIMIT_S is the time limit, in seconds, and SOAK_SEED a
number that makes it other tables and statements.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.property.tally import Tally, try_table
from tests.report import row

ANSWERED = 10_000
PER_TABLE = 40
TABLES = 2 * ANSWERED // PER_TABLE
FIRST_SEED = 7_000_000
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
                print(f"grammar: {tally.answered:,} of {ANSWERED:,} answered, wrong: {len(tally.wrong)}", flush=True)
            if tally.answered >= ANSWERED or passed > limit:
                pool.terminate()
                break
    return report(tally, limit)


def try_one(seed: int) -> Tally:
    with tempfile.TemporaryDirectory() as folder:
        return try_table(seed, Path(folder), PER_TABLE)


def report(tally: Tally, limit: float) -> list[dict[str, Any]]:
    """The offenders, the accepted share of the statements with each construct, then the rows."""
    print("\n".join(tally.wrong[:20]))
    print(f"refused: {dict(tally.refused.most_common())}; DuckDB fails on {tally.skipped}")
    shares = {name: tally.accepted[name] / number for name, number in tally.written.items()}
    for name in sorted(shares, key=lambda name: (shares[name], name)):
        print(f"{name:20} {shares[name]:6.1%} of {tally.written[name]:,}")
    answered = f"{tally.answered:,} answered"
    return [
        row("grammar: statements answered", tally.answered, "", f"within {limit:.0f} s", target=ANSWERED,
            met=tally.answered >= ANSWERED),
        row("grammar: violations", len(tally.wrong), "of", answered, target=0, met=not tally.wrong),
        row("grammar: accepted share", tally.share, "of", f"{tally.asked:,} statements", target=0.6,
            met=tally.share >= 0.6),
    ]  # fmt: skip
