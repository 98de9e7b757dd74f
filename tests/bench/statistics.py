"""CPU seconds of every registered statistic, both ends, at 10^4, 10^5 and 10^6 cells, and how they grow.

60 % of the cells are selected for certain, 15 % possibly, 25 % not at all; boxes are nested and overlap. One thread:
the numbers come from a process of its own, started with the thread pools of BLAS set to one.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from querygate.core.types import Cells, Ints
from querygate.stats import MODELS, PAIR_STATISTICS, STATISTICS, PairCells, RegressionCells
from tests.places import ROOT
from tests.report import row

SIZES = (10_000, 100_000, 1_000_000)
PARAMETERS = {"p": 0.3, "threshold": 140.0}
DEFAULT = 0.95  # of a parameter without an entry: a level of confidence, a share
PATIENCE_S = 60.0  # a size that would take longer than this is left out, and the row says so

TARGETS: dict[tuple[str, int], float] = {
    **{(name, 1_000_000): 1.0 for name in ("var_pop", "var_samp", "stddev_pop", "stddev_samp")},
    ("median", 1_000_000): 0.4,
    ("covar_pop", 1_000_000): 4.0,
    ("covar_samp", 1_000_000): 4.0,
    **{(name, size): limit for name in ("corr", "regr_slope") for size, limit in ((100_000, 1.0), (1_000_000, 8.0))},
}


def make_cells(size: int, centre: float = 125.0, seed: int = 1) -> Cells:
    """Blood pressures in nested boxes, a few records each."""
    random = np.random.default_rng(seed)
    middle, width = random.normal(centre, 18.0, size), random.exponential(8.0, size)
    low, high = np.maximum(middle - width, 30.0), np.maximum(middle + width * random.random(size), 31.0)
    return Cells(low, high, *_membership(size))


def make_pairs(size: int) -> PairCells:
    """Two correlated columns."""
    random, x = np.random.default_rng(3), make_cells(size)
    middle, width = 0.5 * (x.low + x.high) * 0.6 + random.normal(0.0, 9.0, size), random.exponential(4.0, size)
    low, high = np.maximum(middle - width, 1.0), np.maximum(middle + width, 2.0)
    return PairCells(x.low, x.high, low, high, x.least, x.most)


def make_regression(size: int) -> RegressionCells:
    """Blood pressure on two exact columns, age and weight."""
    random, y = np.random.default_rng(4), make_cells(size)
    x = np.stack([random.normal(50.0, 15.0, size), random.normal(75.0, 14.0, size)])
    shift = 0.4 * (x[0] - 50.0) + 0.2 * (x[1] - 75.0)
    return RegressionCells(x, x, y.low + shift, y.high + shift, y.least, y.most)


def _membership(size: int) -> tuple[Ints, Ints]:
    random = np.random.default_rng(2)
    kind, members = random.random(size), random.integers(1, 9, size)
    return np.where(kind < 0.6, members, 0), np.where(kind < 0.75, members, 0)


def calls() -> dict[str, Callable[[int], Callable[[], object]]]:
    """For each statistic: a size makes its data, and what is returned is what is timed."""

    def one(name: str, size: int) -> Callable[[], object]:
        member, cells = STATISTICS.get(name), make_cells(size)
        given = [PARAMETERS.get(parameter, DEFAULT) for parameter in member.parameters]
        return lambda: member.range(cells, *given)

    def two(name: str, size: int) -> Callable[[], object]:
        cells = make_pairs(size)
        return lambda: PAIR_STATISTICS.get(name).range(cells)

    def many(name: str, size: int) -> Callable[[], object]:
        cells = make_regression(size)
        return lambda: MODELS.get(name).ranges(cells, True)

    return {
        **{name: lambda size, name=name: one(name, size) for name in STATISTICS},
        **{name: lambda size, name=name: two(name, size) for name in PAIR_STATISTICS},
        **{name: lambda size, name=name: many(name, size) for name in MODELS},
    }


def measure(only: list[str]) -> dict[str, dict[int, float | None]]:
    """The least of three CPU times, or the only one where it is long."""
    found: dict[str, dict[int, float | None]] = {}
    for name, prepare in calls().items():
        if only and name not in only:
            continue
        found[name] = {}
        last = 0.0
        for size in SIZES:
            if last * 10 > PATIENCE_S:
                found[name][size] = None
                continue
            work, seconds = prepare(size), math.inf
            for _ in range(3):
                began = time.process_time()
                work()
                seconds = min(seconds, time.process_time() - began)
                if seconds > 0.5:
                    break
            found[name][size] = last = seconds
    return found


def growth(times: dict[int, float | None]) -> float | None:
    """The exponent between the smallest and the largest size measured."""
    measured = [(size, seconds) for size, seconds in times.items() if seconds]
    if len(measured) < 2:
        return None
    (small, first), (large, last) = measured[0], measured[-1]
    return math.log(last / first) / math.log(large / small)


def run(only: list[str] | None = None) -> list[dict[str, Any]]:
    """One row per statistic at the largest size measured, and one per further size that has a target."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.statistics", *(only or [])],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, **threads},
    )
    rows = []
    for name, by_size in json.loads(done.stdout).items():
        times = {int(size): seconds for size, seconds in by_size.items()}
        exponent = growth(times)
        for size, seconds in times.items():
            limit = TARGETS.get((name, size))
            if limit is None and size != max(s for s, t in times.items() if t is not None):
                continue
            others = ", ".join(f"{s:.0e}: {'too long' if t is None else f'{t:.3g} s'}" for s, t in times.items())
            against = f"{others}; grows as n^{exponent:.2f}" if exponent is not None else others
            met = None if limit is None else seconds is not None and seconds <= limit
            value = math.inf if seconds is None else seconds
            rows.append(row(f"{name}, {size:.0e} cells", value, "CPU s", against, target=limit, met=met))
    return rows


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1:])))
