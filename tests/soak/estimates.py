"""Estimates at length: random statements about random tables of classes and of views, none of whose estimates may lie
outside its range, be missing without a reason, or cost the answer.

The environment variable ESTIMATED is the number of figures, 100,000 unless told; SOAK_LIMIT_S, SOAK_SEED and
SOAK_PROCESSES are as for other soaks.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.property.answered_statements import PER_TABLE, limit_s, processes
from tests.property.tally import Tally, try_table
from tests.property.view_cases import try_views
from tests.report import row

FIGURES = int(os.environ.get("ESTIMATED", "100000"))
FIRST_SEED = 9_000_000
USUAL_S = 4 * 3_600.0


def run() -> list[dict[str, Any]]:
    first = FIRST_SEED + 1_000_000 * int(os.environ.get("SOAK_SEED", "0"))
    began, tally = time.monotonic(), Tally()
    with multiprocessing.get_context("fork").Pool(processes()) as pool:
        for found in pool.imap_unordered(try_one, range(first, first + 1_000_000)):
            tally.add(found)
            if tally.figures >= FIGURES or time.monotonic() - began > limit_s(USUAL_S):
                pool.terminate()
                break
    print("\n".join(tally.wrong[:20]))
    return [
        row("estimates: figures", tally.figures, "", f"{tally.answered:,} statements within {limit_s(USUAL_S):.0f} s",
            target=FIGURES, met=tally.figures >= FIGURES),
        row("estimates: outside their ranges", len(tally.wrong), "of", f"{tally.figures:,} figures", target=0,
            met=not tally.wrong),
    ]  # fmt: skip


def try_one(seed: int) -> Tally:
    """A table of classes, or one of views."""
    with tempfile.TemporaryDirectory() as folder:
        return (try_views if seed % 2 else try_table)(seed, Path(folder), PER_TABLE)
