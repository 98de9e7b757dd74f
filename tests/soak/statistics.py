"""Every registered statistic against all data sets of many small random cells, other seeds than the test suite's.

Per statistic: how many ranges miss a value that some data set has (must be none), how many that are called sharp are
not (must be none), and how much wider than the truth the others are, in the middle case. Every second case of a column
is one of real numbers: then the data sets are some of many, so that only missed values count. Batches of cases are
spread over all cores; the time limit is the environment variable SOAK_LIMIT_S, in seconds.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

from tests.report import row
from tests.unit.stats.kinds import KINDS, Kind
from tests.unit.stats.tally import Tally

CASES = 20_000
BATCH = 20
LIMIT_S = 7_200.0
FIRST_SEED = 2_000_000
SEEDS = 100 * BATCH  # set apart for a batch: not every seed makes a case
TELL_S = 30.0  # between two lines about progress
Tallies = dict[str, Tally]


def run() -> list[dict[str, Any]]:
    return soak("statistics", try_batch)


def try_batch(number: int) -> Tallies:
    """A batch of cases of each kind, for every statistic of the kind."""
    tallies: Tallies = defaultdict(Tally)
    for kind in KINDS.values():
        cases = islice(kind.cases(FIRST_SEED + number * SEEDS), BATCH)
        for turn, (seed, (cells, every)) in enumerate(cases):
            for name in kind.registry:
                try_one(kind, name, cells, every, turn, tallies[name], seed)
    return dict(tallies)


def try_one(kind: Kind, name: str, cells: Any, every: list[Any], turn: int, tally: Tally, seed: int) -> None:
    """One case: parameters take turns, and so do whole and real numbers."""
    began = time.process_time()
    choices, real = kind.given(name), kind.doubles is not None and turn % 2 == 1
    given = choices[turn // 2 % len(choices)]
    cells = kind.doubles(cells) if kind.doubles is not None and real else cells
    compute = partial(kind.range, name, cells, given)
    tally.try_(compute, kind.truth(name, every, given), (seed, cells, given), complete=not real)
    tally.seconds += time.process_time() - began


# -- what soaks of statistics share ------------------------------------------------------------------------


def soak(title: str, batch: Callable[[int], Tallies]) -> list[dict[str, Any]]:
    """Batches on all cores until every statistic has had its cases, or time is up; then what was found."""
    limit, began, told = float(os.environ.get("SOAK_LIMIT_S", LIMIT_S)), time.monotonic(), 0.0
    tallies: Tallies = defaultdict(Tally)
    with multiprocessing.get_context("fork").Pool() as pool:
        for found in pool.imap_unordered(batch, range(-(-CASES // BATCH))):
            for name, tally in found.items():
                tallies[name].add(tally)
            passed = time.monotonic() - began
            if passed - told > TELL_S:
                told = passed
                tell(title, tallies, passed)
            if passed > limit:
                pool.terminate()
                break
    return report(title, tallies, limit)


def tell(title: str, tallies: Tallies, passed: float) -> None:
    """One line about how far it is, and one about each statistic that failed."""
    done = min(tally.cases for tally in tallies.values())
    left = passed * (CASES - done) / max(done, 1) / 60
    wrong = {name: len(tally.unsound) for name, tally in tallies.items() if tally.unsound}
    print(f"{title}: {done:,} of {CASES:,} cases each, {left:.0f} minutes left; unsound: {wrong or 'none'}", flush=True)


def report(title: str, tallies: Tallies, limit: float) -> list[dict[str, Any]]:
    """How many cases there was time for, what took the time, then what was found."""
    fewest = min(tally.cases for tally in tallies.values())
    whole = sum(tally.seconds for tally in tallies.values())
    slowest = sorted(tallies.items(), key=lambda item: -item[1].seconds)[:8]
    parts = ", ".join(f"{name} {tally.seconds / whole:.0%}" for name, tally in slowest if whole)
    print(f"{whole:.0f} s of one core, {1000 * whole / fewest:.0f} ms for a case of each: {parts}")
    rows = [row(f"{title}: cases each", fewest, "", f"within {limit:.0f} s", target=CASES, met=fewest >= CASES)]
    return rows + [line for name, tally in tallies.items() for line in _rows(name, tally)]


def _rows(name: str, tally: Tally) -> list[dict[str, Any]]:
    """What was found about one statistic, for the report; the first offenders are printed."""
    for text in (tally.unsound + tally.blunt)[:5]:
        print(f"{name}: {text}")
    cases = f"{tally.cases:,} cases"
    rows = [
        row(f"{name}: unsound", len(tally.unsound), "of", cases, target=0, met=not tally.unsound),
        row(f"{name}: wrongly sharp", len(tally.blunt), "of", f"{tally.sharp:,} sharp", target=0, met=not tally.blunt),
    ]
    if tally.blurred:
        rows.append(row(f"{name}: median gap", tally.median_gap, "of the width", tally.blur))
    return rows
