"""The auditor at scale: pairs in a log of 100,000 queries, the linear test over 700,000 records, and live.

Sets are honest ranges over two known columns; twins that differ by a few places, and hidden systems that no two close
sets give away, are planted among them and must be found.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.audit.answer_verdict import Watch
from querygate.methods.audit.differencing_pairs import near_pairs, packed
from querygate.methods.audit.linear_attack import known
from tests.report import row
from tests.unit.methods.audit.exact import atoms

K = 10
PAIR_SETS = (25_000, 50_000, 100_000)
LINEAR_SETS = (1_250, 2_500, 5_000)
LIVE_SETS = (250, 500, 1_000)
LIVE_SAMPLE = 200


def run() -> list[dict[str, Any]]:
    return [*pairs(), *linear(), *live()]


def honest(random: np.random.Generator, places: int, number: int) -> Bools:
    """Sets of places by a range of one column and a range of another."""
    age, region = random.integers(0, 100, places), random.integers(0, 500, places)
    sets = np.empty((number, places), dtype=np.bool_)
    for i in range(number):
        (a, b), (c, d) = np.sort(random.integers(0, 100, 2)), np.sort(random.integers(0, 500, 2))
        np.logical_and((age >= a) & (age <= b), (region >= c) & (region <= d), out=sets[i])
    return sets


def pairs() -> list[dict[str, Any]]:
    """Pairs below k among distinct sets over 20,000 places."""
    random = np.random.default_rng(1)
    places, weights = 20_000, np.random.default_rng(2).integers(1, 30, 20_000)
    weights[:2_000] = 1
    bits = np.concatenate([packed(honest(random, places, 5_000)) for _ in range(PAIR_SETS[-1] // 5_000)])
    twins = random.choice(PAIR_SETS[0], 400, replace=False).reshape(-1, 2)
    for one, other in twins:
        flipped = np.unpackbits(bits[one], count=places)
        flipped[random.choice(2_000, random.integers(1, K), replace=False)] ^= 1
        bits[other] = np.packbits(flipped)
    seconds, rows = [], []
    for number in PAIR_SETS:
        began = time.perf_counter()
        found = set(near_pairs(bits[:number], weights, K))
        seconds.append(time.perf_counter() - began)
    planted = {(min(i, j), max(i, j)) for i, j in twins.tolist()}
    hits = len(planted & found)
    against = f"{hits} of {len(planted)} planted twins; grows as n^{_growth(PAIR_SETS, seconds):.2f}"
    limit = 30.0
    rows.append(row("audit: pairs in 100,000 sets", seconds[-1], "s", against, target=limit, met=seconds[-1] <= limit))
    rows.append(row("audit: planted twins missed", len(planted) - hits, "", target=0, met=hits == len(planted)))
    return rows


def linear() -> list[dict[str, Any]]:
    """The linear test over 50,000 places that hold 700,000 records, with ten hidden systems planted."""
    random = np.random.default_rng(3)
    places = 50_000
    seconds, missed = [], 0
    for number in LINEAR_SETS:
        sets = honest(random, places, number - 60)
        hidden, targets = _hidden(random, places, 10)
        every = np.concatenate([sets, hidden])
        began = time.perf_counter()
        label, over = atoms(every)
        found = known(over)[label]
        seconds.append(time.perf_counter() - began)
        missed += int((~found[targets]).sum())
    against = f"{places:,} places, 700,000 records; grows as n^{_growth(LINEAR_SETS, seconds):.2f}"
    limit = 120.0
    return [
        row("audit: linear test, 5,000 sets", seconds[-1], "s", against, target=limit, met=seconds[-1] <= limit),
        row("audit: hidden targets missed", missed, "", target=0, met=missed == 0),
    ]


def _hidden(random: np.random.Generator, places: int, number: int) -> tuple[Bools, Ints]:
    """Systems of six sets each that fix one place although no two of them are close: t + b_i + b_j over a cycle."""
    sets, targets = [], random.choice(places, number, replace=False)
    for target in targets:
        band = random.integers(0, 5, places)
        parts = [(band == i) & (np.arange(places) != target) for i in range(5)]
        for i, j in ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)):
            union = parts[i] | parts[j]
            union[target] = True
            sets.append(union)
        every = np.ones(places, dtype=np.bool_)
        sets.append(every & (np.arange(places) != target))
    return np.array(sets), targets


def live() -> list[dict[str, Any]]:
    """What a query costs inline, with so many distinct sets of its project before it: judge, then take in."""
    random = np.random.default_rng(5)
    places = 20_000
    watch, times, used = Watch(random.integers(1, 30, places), K, LIVE_SETS[-1] * 2), [], []
    for i, members in enumerate(honest(random, places, LIVE_SETS[-1] + LIVE_SAMPLE)):
        began, processor = time.perf_counter(), time.process_time()
        watch.judge(members)
        watch.take(members, str(i))
        times.append((time.perf_counter() - began) * 1000)
        used.append((time.process_time() - processor) * 1000)
    at = [float(np.percentile(times[number : number + LIVE_SAMPLE], 95)) for number in LIVE_SETS]
    last, processor = times[LIVE_SETS[-1] :], float(np.percentile(used[LIVE_SETS[-1] :], 95))
    told = f"{processor:.1f} ms of processors; p50 {np.median(last):.1f} ms, worst {max(last):.0f} ms"
    told += f"; grows as n^{_growth(LIVE_SETS, at):.2f}"
    return [row("audit: live, p95 at 1,000 sets", at[-1], "ms", told, target=20.0, met=at[-1] <= 20.0)]


def _growth(sizes: tuple[int, ...], seconds: list[float]) -> float:
    return math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])
