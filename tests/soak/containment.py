"""Containment at length: other seeds than the test suite's, many more of them."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.property.random_cases import make_case, random_query, violations
from tests.report import row

TABLES = 1_000
QUERIES = 40
FIRST_SEED = 1_000_000
LIMIT_S = 1_800


def run() -> list[dict[str, Any]]:
    began = time.monotonic()
    asked, wrong = 0, []
    for seed in range(FIRST_SEED, FIRST_SEED + TABLES):
        if time.monotonic() - began > LIMIT_S:
            break
        with tempfile.TemporaryDirectory() as folder:
            case = make_case(seed, Path(folder))
            if case is None:
                continue
            rng = random.Random(seed)
            for _ in range(QUERIES):
                sql = random_query(rng, case)
                wrong += [f"seed {seed}: {text}" for text in violations(case, sql)]
                asked += 1
            case.truth.close()
    print("\n".join(wrong[:20]))
    return [row("containment violations", len(wrong), "of", f"{asked:,} queries", target=0, met=not wrong)]
