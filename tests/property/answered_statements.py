"""Random tables tried side by side until enough statements about them are answered.

The environment variable SOAK_LIMIT_S is the time limit, in seconds, SOAK_SEED a number that makes it other tables and
statements, and SOAK_PROCESSES how many of them are tried at once: one for each core unless told.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable

from tests.property.tally import Tally

ANSWERED = 10_000
PER_TABLE = 100
"""Publishing costs as much as some forty answers: many questions are asked of each table."""
TELL_S = 30.0


def limit_s(usual: float = 3_600.0) -> float:
    return float(os.environ.get("SOAK_LIMIT_S", usual))


def processes() -> int | None:
    told = os.environ.get("SOAK_PROCESSES")
    return int(told) if told else None


def answer_many(name: str, try_one: Callable[[int], Tally], first_seed: int, tables: int) -> Tally:
    """`try_one` answers up to PER_TABLE statements about the table of a seed."""
    limit, began, told = limit_s(), time.monotonic(), 0.0
    first = first_seed + tables * int(os.environ.get("SOAK_SEED", "0"))
    tally = Tally()
    with multiprocessing.get_context("fork").Pool(processes()) as pool:
        for found in pool.imap_unordered(try_one, range(first, first + tables)):
            tally.add(found)
            passed = time.monotonic() - began
            if passed - told > TELL_S:
                told = passed
                done = f"{tally.answered:,} of {ANSWERED:,} answered, {tally.figures:,} figures"
                print(f"{name}: {done}, wrong: {len(tally.wrong)}", flush=True)
            if tally.answered >= ANSWERED or passed > limit:
                pool.terminate()
                break
    print("\n".join(tally.wrong[:20]))
    print(f"refused: {dict(tally.refused.most_common())}; DuckDB fails on {tally.skipped}")
    return tally
