"""Sums, squares and tight ends against all data sets of many small random classes, other seeds than the test suite's.

Cores, time limit and report are those of the soak of statistics.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from itertools import product
from typing import Any

import numpy as np

from querygate.core.types import Range
from querygate.stats import knowledge
from tests.soak.statistics import BATCH, SEEDS, Tallies, soak
from tests.unit.stats import test_knowledge as reference
from tests.unit.stats.tally import Tally

FIRST_SEED = 3_000_000
MOST_DATA_SETS = 300
TRUTHS = {"sum": sum, "mean": reference.average, "var": reference.variance}


def run() -> list[dict[str, Any]]:
    return soak("knowledge", try_batch)


def try_batch(number: int) -> Tallies:
    """Cases until each kind of knowledge has had a batch of them."""
    tallies: Tallies = defaultdict(Tally)
    for kind in reference.KINDS:
        seed = FIRST_SEED + number * SEEDS
        while tallies[f"sum with {kind}"].cases < BATCH:
            case = reference.random_case(np.random.default_rng(seed), whole=seed % 4 == 0)
            try_case(case, kind, tallies)
            seed += 1
    return dict(tallies)


def try_case(case: reference.Case, kind: str, tallies: Tallies) -> None:
    """All three statistics of one case; nothing where there are too many data sets."""
    options = case.selections(kind)
    if math.prod(map(len, options)) > MOST_DATA_SETS:
        return
    every = [tuple(x for part in parts for x in part) for parts in product(*options)]
    classes = case.classes(kind)
    for name, truth in TRUTHS.items():
        tally, began = tallies[f"{name} with {kind}"], time.process_time()

        def compute(name: str = name) -> Range:
            found: Range = getattr(knowledge, name)(classes).range
            return found

        tally.try_(compute, [truth(data) if data else None for data in every], case)
        tally.seconds += time.process_time() - began
