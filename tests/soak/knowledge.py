"""Sums, squares and tight ends against all data sets of many small random classes, other seeds than the test suite's.

The time limit is that of the soak of statistics, SOAK_LIMIT_S in seconds, for all kinds together.
"""

from __future__ import annotations

import math
import os
import time
from itertools import product
from typing import Any

import numpy as np

from querygate.stats import knowledge
from tests.soak.statistics import CASES, LIMIT_S, Tally, report
from tests.unit.stats import test_knowledge as reference

FIRST_SEED = 3_000_000
MOST_DATA_SETS = 300
TRUTHS = {"sum": sum, "mean": reference.average, "var": reference.variance}


def check(case: reference.Case, kind: str, tallies: dict[str, Tally]) -> None:
    """All three statistics of one case; nothing where there are too many data sets."""
    options = case.selections(kind)
    if math.prod(map(len, options)) > MOST_DATA_SETS:
        return
    every = [tuple(x for part in parts for x in part) for parts in product(*options)]
    classes = case.classes(kind)
    for name, truth in TRUTHS.items():
        values = [float(truth(data)) for data in every if data]
        compute = getattr(knowledge, name)
        tallies[f"{name} with {kind}"].try_(
            lambda compute=compute: compute(classes).range, values, len(values) < len(every), case
        )


def run() -> list[dict[str, Any]]:
    limit, began = float(os.environ.get("SOAK_LIMIT_S", LIMIT_S)), time.monotonic()
    tallies = {f"{name} with {kind}": Tally() for kind in reference.KINDS for name in TRUTHS}
    seed = FIRST_SEED
    while min(tally.cases for tally in tallies.values()) < CASES and time.monotonic() - began <= limit:
        random = np.random.default_rng(seed)
        case = reference.random_case(random, whole=seed % 4 == 0)
        for kind in reference.KINDS:
            check(case, kind, tallies)
        seed += 1
    return report("knowledge", tallies, limit)
