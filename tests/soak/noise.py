"""Noise at length: 100,000 releases on each of two neighbours, for every way to release something."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from typing import Any

from tests.report import row
from tests.unit.methods.dp.cases import EPSILON, EVERY, TIGHT, delta_of
from tests.unit.methods.dp.empirical import measured_epsilon, sample

RELEASES = int(os.environ.get("SOAK_RELEASES", "100000"))
CASES = [(name, 1.0) for name in EVERY] + [(name, 0.5) for name in TIGHT]


def run() -> list[dict[str, Any]]:
    began = time.monotonic()
    with multiprocessing.get_context("fork").Pool() as pool:
        measured = dict(zip(CASES, pool.map(_measured, CASES, chunksize=1), strict=True))
    print(f"{RELEASES:,} releases on each neighbour, {len(CASES)} cases, {time.monotonic() - began:.0f} s")
    return [_row(name, part, epsilon) for (name, part), epsilon in measured.items()]


def _measured(case: tuple[str, float]) -> float:
    name, part = case
    entropy = random.Random(f"soak {name} {part}")
    first, second = (sample(RELEASES, EVERY[name], which, part, entropy) for which in (0, 1))
    return measured_epsilon(first, second, delta_of(name))


def _row(name: str, part: float, epsilon: float) -> dict[str, Any]:
    """Epsilon is at most what was declared; with half the sensitivity it is more, or the test sees nothing."""
    told = f"epsilon of {name}" + ("" if part == 1 else ", half the sensitivity")
    met = epsilon <= EPSILON if part == 1 else epsilon > EPSILON
    return row(told, epsilon, "at least", "at most 1" if part == 1 else "more than 1", target=EPSILON, met=met)
